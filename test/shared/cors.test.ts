import WebSocket from 'ws';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { sendRaw } from '../setup/raw-request';

const APP = 'https://app.example.com';
const EXPOSED =
  'Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Estimated-Cost, X-Request-Id';
const QUERY = `query=${encodeURIComponent('{ exercises(first: 1) { nodes { id } } }')}`;

const open = fitgraphForThisFile({ content: 'catalogue', environment: { BUDGET: 'on' } });
const narrow = fitgraphForThisFile({
  environment: { CORS_ORIGINS: `${APP}, https://other.example.com:8443` },
});

const ask = (
  fitgraph: { url: string },
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body?: string,
) => fetch(`${fitgraph.url}${path}`, { method, headers, body, redirect: 'manual' });
const preflight = (
  fitgraph: { url: string },
  path: string,
  origin: string,
  requestedHeaders = 'authorization',
) =>
  ask(
    fitgraph,
    path,
    {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': requestedHeaders,
    },
    'OPTIONS',
  );
const allowedHeaders = ({ headers }: Response) =>
  headers.get('access-control-allow-headers')!.split(', ');
const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');

const PATHS = [
  '/api/v2/exercise/',
  '/api/v2/exercise',
  '/api/v2/nothing/',
  `/graphql?${QUERY}`,
  '/graphql/export.csv?query=x',
];

describe('without CORS_ORIGINS', () => {
  test('lets pages of all origins read responses of REST and GraphQL, exports and errors', async () => {
    for (const path of PATHS) {
      const response = await ask(open, path, { Origin: APP, 'Apollo-Require-Preflight': '1' });

      expect({
        path,
        origin: allowed(response),
        exposed: response.headers.get('access-control-expose-headers'),
      }).toEqual({
        path,
        origin: '*',
        exposed: EXPOSED,
      });
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('adds no CORS header without an Origin, and none to pages', async () => {
    for (const path of PATHS) expect(allowed(await ask(open, path, {}))).toBeNull();

    for (const path of ['/', '/login', '/playground', '/graphqlx']) {
      expect(allowed(await ask(open, path, { Origin: APP }))).toBeNull();
    }
  });

  test('allows preflight requests of REST and GraphQL without authentication', async () => {
    for (const path of ['/api/v2/workout/', '/api/v2/schema', '/graphql', '/graphql/export.csv']) {
      const response = await preflight(open, path, APP);

      expect([path, response.status, await response.text(), allowed(response)]).toEqual([
        path,
        200,
        '',
        '*',
      ]);
      expect([path, response.headers.get('access-control-allow-methods')]).toEqual([
        path,
        path.startsWith('/graphql')
          ? 'GET, OPTIONS, POST'
          : 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
      ]);
      expect(allowedHeaders(response)).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
      );
      expect(response.headers.get('access-control-max-age')).toBe('86400');
    }
  });

  test.each(['/api/v2/workout/', '/graphql'])(
    'allows a preflight request of %s whatever headers the page asks for',
    async (path) => {
      const usual = allowedHeaders(await preflight(open, path, APP));
      const asked = 'authorization,baggage, Pragma,sentry-trace,traceparent,x-my_Header.2';
      const allowed = allowedHeaders(await preflight(open, path, APP, asked));

      expect(allowed).toEqual([
        ...usual,
        'baggage',
        'pragma',
        'sentry-trace',
        'traceparent',
        'x-my_header.2',
      ]);
    },
  );

  test.each([
    ['names that are no tokens', 'a b, (c), d:e, "f", , *, ü'],
    ['a list of more than 1,000 characters', `x-${'y'.repeat(1_000)}`],
  ])('does not repeat %s in the response to a preflight request', async (_what, asked) => {
    const usual = allowedHeaders(await preflight(open, '/graphql', APP));

    expect(
      allowedHeaders(await preflight(open, '/graphql', APP, Buffer.from(asked).toString('latin1'))),
    ).toEqual(usual);
  });

  test('lets pages read the rejection of a request with a repeated header', async () => {
    const { status, head } = await sendRaw(open.url, 'GET /graphql', [
      `Origin: ${APP}`,
      'Authorization: Token a',
      'Authorization: Token b',
    ]);

    expect([status, head]).toEqual([
      400,
      expect.stringMatching(/^access-control-allow-origin: \*\r?$/im),
    ]);
  });

  test('lets a page of another origin subscribe by server-sent events', async () => {
    const body = JSON.stringify({ query: 'subscription { changes { __typename } }' });
    const response = await ask(
      open,
      '/graphql',
      { Origin: APP, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
      'POST',
      body,
    );

    expect([response.headers.get('content-type'), allowed(response)]).toEqual([
      expect.stringContaining('text/event-stream'),
      '*',
    ]);
    await response.body!.cancel();
  });

  test('runs a GET with an Authorization header, which has been preflighted, and rejects one that any page could send', async () => {
    const ann = await open.user('ann');
    const path = `/graphql?${QUERY}`;
    const signedIn = await ask(open, path, { Origin: APP, Authorization: `Bearer ${ann.token!}` });

    expect([signedIn.status, await signedIn.json()]).toEqual([
      200,
      { data: { exercises: { nodes: [{ id: expect.any(String) }] } } },
    ]);
    expect((await ask(open, path, { Origin: APP })).status).toBe(400);
    expect((await ask(open, path, { Origin: APP, Cookie: 'sessionid=x' })).status).toBe(400);
  });
});

describe('with CORS_ORIGINS', () => {
  test.each([APP, 'https://other.example.com:8443'])('allows %s', async (origin) => {
    for (const path of PATHS) {
      const response = await ask(narrow, path, { Origin: origin, 'Apollo-Require-Preflight': '1' });

      expect([path, allowed(response)]).toEqual([path, origin]);
      expect(response.headers.get('vary')).toContain('Origin');
    }

    expect(
      (await ask(narrow, `/graphql?${QUERY}`, { 'Apollo-Require-Preflight': '1' })).headers.get(
        'vary',
      ),
    ).toContain('Origin');
    expect(allowed(await preflight(narrow, '/graphql', origin))).toBe(origin);
  });

  test.each(['https://evil.example', 'http://app.example.com', `${APP}.evil.example`, 'null'])(
    'does not allow %s',
    async (origin) => {
      for (const path of PATHS) {
        expect([path, allowed(await ask(narrow, path, { Origin: origin }))]).toEqual([path, null]);
      }

      for (const path of ['/graphql', '/api/v2/workout/']) {
        expect(allowed(await preflight(narrow, path, origin))).toBeNull();
      }
    },
  );

  test.each([
    [APP, APP],
    ['https://evil.example', undefined],
  ])(
    'answers a request of %s that cannot be parsed with the origin %s',
    async (origin, expected) => {
      const { status, head } = await sendRaw(narrow.url, 'GET /graphql?ö', [`Origin: ${origin}`]);
      const [, allowedOrigin] = /^access-control-allow-origin: (.*)\r$/im.exec(head) ?? [];

      expect([status, allowedOrigin]).toEqual([400, expected]);
      expect(head).toMatch(/^vary: origin\r?$/im);
    },
  );

  test('rejects WebSockets from pages of other origins', async () => {
    const handshake = (headers: Record<string, string>) =>
      new Promise((resolve) => {
        const socket = new WebSocket(
          `${narrow.url.replace('http', 'ws')}/graphql`,
          'graphql-transport-ws',
          { headers },
        );

        socket
          .on('open', () => resolve('open'))
          .on('unexpected-response', (_request, response) => resolve(response.statusCode));
        socket.on('error', () => undefined);
      });

    expect(await handshake({ Origin: 'https://evil.example' })).toBe(403);

    for (const headers of [{ Origin: APP }, { Origin: narrow.url }, {}] as Record<
      string,
      string
    >[]) {
      expect(await handshake(headers)).toBe('open');
    }
  });
});
