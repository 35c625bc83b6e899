/** Addresses as clients and proxies write them; fetch would mend them, so they are sent as bytes. */
import { sendRaw } from '../system/attacks/raw';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const ask = (line: string, headers: string[] = []) => sendRaw(fitgraph.url, line, headers);

const MUSCLE = '/api/v2/muscle/1/';
const MUSCLES = '/api/v2/muscle/?limit=1';

test.each([
  ['repeated slashes', `/${MUSCLE}`],
  ['repeated slashes within', '/api//v2///muscle/1//'],
  ['escaped letters', '/api/v2/%6Duscle/1/'],
  ['escaped letters of the base', '/%61pi/%76%32/muscle/1/'],
  ['escaped slashes', '/api/v2/muscle%2F1%2f/'],
  ['an escaped suffix', '/api/v2/muscle/1%2ejson'],
  ['a fragment', `${MUSCLE}#name`],
  ['the whole address', `http://fitgraph.example${MUSCLE}`],
  ['the whole address in capitals', `HTTPS://FITGRAPH.EXAMPLE/${MUSCLE}`],
])('%s', async (_what, target) => {
  const plain = await ask(`GET ${MUSCLE}`);
  expect(plain.status).toBe(200);
  expect(await ask(`GET ${target}`)).toMatchObject({ status: 200, body: plain.body });
});

test('links name the path as it is usually written', async () => {
  const { body } = await ask('GET //api/v2/%6Duscle//?limit=1');
  expect(body).toBe((await ask(`GET ${MUSCLES}`)).body);
});

test('the query is left as it is', async () => {
  const { body } = await ask('GET //api/v2/muscle/?limit=1&x=//a%2Fb#c');
  expect(JSON.parse(body).next).toMatch(/\/api\/v2\/muscle\/\?limit=1&offset=1&x=%2F%2Fa%2Fb$/);
});

test('the host of a whole address is not that of the links', async () => {
  const { body } = await ask(`GET http://one.example:81${MUSCLES}`, ['Host: two.example']);
  expect(JSON.parse(body).next).toMatch(/^http:\/\/two\.example\/api/);
});

test('a whole address without a path is that of the start page', async () => {
  const [page, whole, query] = [await ask('GET /'), await ask('GET http://a.example'), await ask('GET http://a.example?x=1')];
  expect([whole.status, query.status]).toEqual([page.status, page.status]);
});

test('GraphQL and pages are found the same way', async () => {
  expect(await ask('GET //graphql?query={__typename}', ['Apollo-Require-Preflight: 1'])).toMatchObject({ status: 200 });
  expect(await ask('GET //health///live')).toMatchObject({ status: 200 });
});

test('a redirect to the slash stays on this host', async () => {
  const { status, head } = await ask('GET //api//v2/muscle');
  expect(status).toBe(301);
  expect(head).toMatch(/^location: \/api\/v2\/muscle\/\r?$/im);
});
