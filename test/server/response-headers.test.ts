/** The response headers Cache-Control, Vary and Strict-Transport-Security. */
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile({ environment: { TRUSTED_PROXIES: '127.0.0.1, ::1' } });
const PRIVATE = 'private, no-store';

let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

const cacheControl = async (person: Person, method: string, path: string, body?: unknown) =>
  (await person.send(method, path, body)).headers.get('cache-control');

describe('the Cache-Control header', () => {
  test.each([
    ['GET', '/api/v2/weightentry/', undefined],
    ['HEAD', '/api/v2/weightentry/', undefined],
    ['OPTIONS', '/api/v2/weightentry/', undefined],
    ['GET', '/api/v2/weightentry/1/', undefined],
    ['GET', '/api/v2/nutritionplan/1/nutritional_values/', undefined],
    ['POST', '/api/v2/login/', { username: 'ann', password: PASSWORD }],
  ])('forbids caching of %s %s for all clients', async (method, path, body) => {
    expect(await cacheControl(ann, method, path, body)).toBe(PRIVATE);
    expect(await cacheControl(fitgraph.anonymous, method, path, body)).toBe(PRIVATE);
  });

  test.each([
    ['/api/v2/exercise/?limit=1'],
    ['/api/v2/'],
    ['/api/v2/nothing/'],
    ['/api/v2/exercise/search/?term=press'],
  ])('forbids caching of GET %s only with a token or cookie, valid or not', async (path) => {
    expect(await cacheControl(ann, 'GET', path)).toBe(PRIVATE);
    const some: Record<string, string>[] = [
      { Authorization: 'Token no' },
      { Authorization: 'Bearer no' },
      { Cookie: 'fitgraph=no' },
    ];

    for (const headers of some) {
      expect(await cacheControl(fitgraph.anonymous.withHeaders(headers), 'GET', path)).toBe(
        PRIVATE,
      );
    }

    const found = (await fitgraph.anonymous.get(path.slice('/api/v2'.length))).status === 200;

    expect(await cacheControl(fitgraph.anonymous, 'GET', path)).toBe(
      found ? 'public, no-cache' : null,
    );
  });

  test('forbids caching of all GraphQL responses, which vary by credentials', async () => {
    const get = { 'apollo-require-preflight': 'yes' };
    const query = `/graphql?query=${encodeURIComponent('{ viewer { username } }')}`;
    const uncachedRequests: [Person, string, string, unknown?][] = [
      [ann.withHeaders(get), 'GET', query],
      [fitgraph.anonymous.withHeaders(get), 'GET', query],
      [fitgraph.anonymous, 'GET', query],
      [ann, 'POST', '/graphql', { query: '{ viewer { username } }' }],
      [ann, 'POST', '/graphql', { query: '{' }],
      [ann, 'POST', '/graphql', '{'],
      [
        ann.withHeaders({ Authorization: 'Token no' }),
        'POST',
        '/graphql',
        { query: '{ viewer { username } }' },
      ],
      [ann, 'POST', '/graphql/stream', { query: '{ viewer { username } }' }],
    ];

    for (const [person, method, path, body] of uncachedRequests) {
      const { headers } = await person.send(method, path, body);

      expect([path, headers.get('cache-control')]).toEqual([path, PRIVATE]);
      expect(headers.get('vary')!.split(', ')).toEqual(
        expect.arrayContaining(['Accept', 'Accept-Language', 'Authorization', 'Cookie']),
      );
    }
  });

  test('forbids caching of event streams', async () => {
    const end = new AbortController();
    const response = await fetch(`${fitgraph.url}/graphql/stream`, {
      method: 'POST',
      signal: end.signal,
      headers: {
        Accept: 'text/event-stream',
        'Content-Type': 'application/json',
        Authorization: `Token ${ann.token}`,
      },
      body: JSON.stringify({ query: 'subscription { changed { cursor } }' }),
    });

    expect([response.status, response.headers.get('cache-control')]).toEqual([200, PRIVATE]);
    end.abort();
  });

  test('forbids caching of HTML pages', async () => {
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn('ann');

    for (const path of [
      '/',
      '/user/api-key',
      '/catalogue',
      '/catalogue/ingredient/new',
      '/api/v2/exercise/',
      '/playground',
      '/pages/suggestions?type=Exercise&text=a',
    ]) {
      expect([path, (await visitor.get(path)).headers.get('cache-control')]).toEqual([
        path,
        PRIVATE,
      ]);
    }
  });
});

describe('the Strict-Transport-Security header', () => {
  const hstsHeader = async (
    headers: Record<string, string>,
    path: string,
    { anonymous } = fitgraph as Pick<Fitgraph, 'anonymous'>,
  ) =>
    (await anonymous.withHeaders(headers).send('GET', path)).headers.get(
      'strict-transport-security',
    );

  test('is sent only when a trusted proxy reports HTTPS', async () => {
    for (const path of [
      '/',
      '/api/v2/exercise/?limit=1',
      '/graphql',
      '/media/none.png',
      '/health/live',
    ]) {
      expect([path, await hstsHeader({ 'X-Forwarded-Proto': 'https' }, path)]).toEqual([
        path,
        'max-age=31536000',
      ]);

      for (const headers of [{}, { 'X-Forwarded-Proto': 'http' }]) {
        expect(await hstsHeader(headers as Record<string, string>, path)).toBeNull();
      }
    }
  });

  test('is not sent behind an untrusted proxy or when HSTS_DAYS is 0', async () => {
    const other = await Fitgraph.start({ sameDatabaseAs: fitgraph });
    const withoutHsts = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { TRUSTED_PROXIES: '127.0.0.1, ::1', HSTS_DAYS: '0' },
    });

    try {
      for (const instance of [other, withoutHsts]) {
        expect(await hstsHeader({ 'X-Forwarded-Proto': 'https' }, '/', instance)).toBeNull();
      }
    } finally {
      await other.stop();
      await withoutHsts.stop();
    }
  });
});
