/** HTTP methods of the GraphQL endpoints (RFC 9110, sections 9.3.2, 10.2.1 and 15.5.6). */
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const QUERY = `query=${encodeURIComponent('{ exercises(first: 1) { nodes { id } } }')}`;

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(fitgraph.url + path, {
    method,
    redirect: 'manual',
    headers: { 'Apollo-Require-Preflight': '1', ...headers },
  });

describe.each([
  ['/graphql', 'GET, HEAD, POST, OPTIONS'],
  ['/graphql/', 'GET, HEAD, POST, OPTIONS'],
  ['/graphql/stream', 'GET, POST, OPTIONS'],
  ['/graphql/export.csv', 'GET, HEAD, POST, OPTIONS'],
  ['/graphql/export.jsonl', 'GET, HEAD, POST, OPTIONS'],
])('%s', (path, methods) => {
  test('names its methods in the response to OPTIONS', async () => {
    for (const accept of ['*/*', 'text/html', 'text/event-stream']) {
      const response = await ask('OPTIONS', path, { Accept: accept });

      expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
        204,
        methods,
        '',
      ]);
    }
  });

  test.each(['PUT', 'PATCH', 'DELETE'])('rejects %s and names its methods', async (method) => {
    const response = await ask(method, path);
    const { errors } = (await response.json()) as { errors: { extensions: unknown }[] };

    expect([response.status, response.headers.get('allow'), errors[0]!.extensions]).toEqual([
      405,
      methods,
      { code: 'METHOD_NOT_ALLOWED' },
    ]);
  });
});

test('answers HEAD like GET, without a body', async () => {
  for (const query of [QUERY, 'query={', '']) {
    const headersOf = async (method: string) => {
      const response = await ask(method, `/graphql?${query}`);
      const { headers, status } = response;
      const text = await response.text();

      return {
        text,
        described: [
          status,
          ...['content-type', 'content-length', 'cache-control', 'vary'].map((name) =>
            headers.get(name),
          ),
        ],
      };
    };

    const got = await headersOf('GET');
    const head = await headersOf('HEAD');

    expect([head.text, head.described]).toEqual(['', got.described]);
    expect(got.text).not.toBe('');
  }
});

test('rejects HEAD for an event stream, which has no end', async () => {
  const response = await ask('HEAD', `/graphql/stream?${QUERY}`, { Accept: 'text/event-stream' });

  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS']);
});
