/**
 * Unusual request targets of clients and proxies, sent as raw bytes because fetch would normalize
 * them.
 */
import { sendRaw } from '../setup/raw-request';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const ask = (line: string, headers: string[] = []) => sendRaw(fitgraph.url, line, headers);

const MUSCLE = '/api/v2/muscle/1/';
const MUSCLES = '/api/v2/muscle/?limit=1';

test.each([
  ['repeated slashes', `/${MUSCLE}`],
  ['repeated slashes inside', '/api//v2///muscle/1//'],
  ['escaped letters', '/api/v2/%6Duscle/1/'],
  ['escaped letters in the base path', '/%61pi/%76%32/muscle/1/'],
  ['escaped slashes', '/api/v2/muscle%2F1%2f/'],
  ['an escaped suffix', '/api/v2/muscle/1%2ejson'],
  ['a fragment', `${MUSCLE}#name`],
  ['an absolute URL', `http://fitgraph.example${MUSCLE}`],
  ['an absolute URL in capitals', `HTTPS://FITGRAPH.EXAMPLE/${MUSCLE}`],
])('serves the same row for a target with %s', async (_what, target) => {
  const plain = await ask(`GET ${MUSCLE}`);

  expect(plain.status).toBe(200);
  expect(await ask(`GET ${target}`)).toMatchObject({ status: 200, body: plain.body });
});

test('writes the normalized path in pagination links', async () => {
  const { body } = await ask('GET //api/v2/%6Duscle//?limit=1');

  expect(body).toBe((await ask(`GET ${MUSCLES}`)).body);
});

test('does not normalize slashes in the query', async () => {
  const { body } = await ask('GET //api/v2/muscle/?limit=1&x=//a%2Fb#c');

  expect(JSON.parse(body).next).toMatch(/\/api\/v2\/muscle\/\?limit=1&offset=1&x=%2F%2Fa%2Fb$/);
});

test('uses the Host header, not the host of an absolute URL, in links', async () => {
  const { body } = await ask(`GET http://one.example:81${MUSCLES}`, ['Host: two.example']);

  expect(JSON.parse(body).next).toMatch(/^http:\/\/two\.example\/api/);
});

test('serves the start page for an absolute URL without a path', async () => {
  const [page, whole, query] = [
    await ask('GET /'),
    await ask('GET http://a.example'),
    await ask('GET http://a.example?x=1'),
  ];

  expect(page).toMatchObject({ status: 200, body: expect.stringContaining('as data') });
  expect([whole.status, whole.body]).toEqual([200, page.body]);
  expect([query.status, query.body]).toEqual([200, (await ask('GET /?x=1')).body]);
});

test('normalizes targets of GraphQL and of health checks as well', async () => {
  expect(
    await ask('GET //graphql?query={__typename}', ['Apollo-Require-Preflight: 1']),
  ).toMatchObject({ status: 200 });
  expect(await ask('GET //health///live')).toMatchObject({ status: 200 });
});

test('redirects to the trailing slash on the same host when the path begins with two slashes', async () => {
  const { status, head } = await ask('GET //api//v2/muscle');

  expect(status).toBe(301);
  expect(head).toMatch(/^location: \/api\/v2\/muscle\/\r?$/im);
});
