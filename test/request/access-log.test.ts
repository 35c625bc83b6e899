/** Request ids in responses and in the log, and the other properties that the log records. */
import { createLogger, prettyDestination } from '../../src/shared/logging';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import net from 'node:net';
import WebSocket from 'ws';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({
  environment: { TRUSTED_PROXIES: '127.0.0.1,::1', LOGIN_RATE: '3/min' },
});
let ann: Person;

beforeAll(async () => (ann = await fitgraph.user('ann')));

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CLIENT = '198.51.100.7';

/**
 * Waits for the log line of a response, which is written when the connection has accepted the
 * response, and returns it parsed.
 */
async function lineOf(
  { headers }: { headers: Headers },
  msg = 'request',
): Promise<Record<string, unknown>> {
  const id = headers.get('x-request-id')!;
  const loggedLine = () =>
    fitgraph.logged
      .map((line) => JSON.parse(line))
      .find((line) => line.id === id && line.msg === msg);

  await until('the request is logged', () => loggedLine() !== undefined);
  return loggedLine()!;
}

test.each<{ what: string; method: string; path: string; body?: unknown }>([
  { what: 'a list', method: 'GET', path: '/api/v2/exercise/' },
  { what: 'an unknown path', method: 'GET', path: '/api/v2/nothing/' },
  { what: 'a redirect', method: 'GET', path: '/api/v2/exercise' },
  { what: 'an invalid body', method: 'POST', path: '/api/v2/weightentry/', body: '{' },
  { what: 'a query', method: 'POST', path: '/graphql', body: { query: '{ viewer { name } }' } },
  { what: 'an unparsable document', method: 'POST', path: '/graphql', body: { query: '{' } },
  { what: 'a page', method: 'GET', path: '/' },
  { what: 'a missing image', method: 'GET', path: '/media/nothing.png' },
  { what: 'a health check', method: 'GET', path: '/health/live' },
])(
  'returns an X-Request-Id for $what and logs the request under it',
  async ({ method, path, body }) => {
    const answer = await ann.send(method, path, body);

    expect(answer.headers.get('x-request-id')).toMatch(UUID);
    expect(await lineOf(answer)).toMatchObject({ level: 30, method, path, status: answer.status });
  },
);

test('returns an X-Request-Id for a CORS preflight request', async () => {
  const answer = await fitgraph.anonymous
    .withHeaders({ 'Access-Control-Request-Method': 'GET', Origin: 'https://a.example' })
    .options('/exercise/');

  expect(answer.headers.get('x-request-id')).toMatch(UUID);
});

test('returns an X-Request-Id for a WebSocket handshake', async () => {
  const socket = new WebSocket(
    `${fitgraph.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const id = await new Promise((resolve) =>
    socket.once('upgrade', ({ headers }) => resolve(headers['x-request-id'])),
  );

  socket.terminate();
  expect(id).toMatch(UUID);
});

test.each([
  ['to another path', '/other', '', '404 Not Found'],
  [
    'with two Authorization headers',
    '/graphql',
    'Authorization: Token a\r\nAuthorization: Token b\r\n',
    '400 Bad Request',
  ],
])('closes the connection of a WebSocket handshake %s', async (_what, path, headers, status) => {
  const socket = net.connect({
    port: Number(new URL(fitgraph.url).port),
    host: 'localhost',
    allowHalfOpen: true,
  });
  let text = '';
  let isClosed = false;

  socket
    .on('data', (chunk: Buffer) => (text += chunk.toString()))
    .on('error', () => undefined)
    .on('close', () => (isClosed = true));
  const handshake =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${handshake}${headers}\r\n`);
  // The connection is reset when the client sends something after the server has closed its side
  // completely.
  await until('the connection is closed', () => {
    if (text !== '' && !isClosed) socket.write('x');

    return isClosed;
  });
  expect(text).toContain(`HTTP/1.1 ${status}`);
});

const REQUESTED = 'proxy-1/4a58:8a4c+0b7a=@7e.6e_7d';

test('adopts the X-Request-Id of a trusted proxy', async () => {
  const answer = await ann.withHeaders({ 'X-Request-Id': REQUESTED }).get('/exercise/');

  expect(answer.headers.get('x-request-id')).toBe(REQUESTED);
  expect(await lineOf(answer)).toMatchObject({ path: '/api/v2/exercise/' });
});

test.each([
  ['with a space', 'a b'],
  ['with quotation marks', '"msg"'],
  ['with two values', 'one, two'],
  ['that is empty', ''],
  ['that is too long', 'a'.repeat(129)],
])('ignores an X-Request-Id %s', async (_what, id) => {
  expect(
    (await ann.withHeaders({ 'X-Request-Id': id }).get('/exercise/')).headers.get('x-request-id'),
  ).toMatch(UUID);
});

test('ignores the X-Request-Id of an untrusted client', async () => {
  const withoutTrustedProxy = await Fitgraph.start({ sameDatabaseAs: fitgraph });
  const answer = await withoutTrustedProxy.anonymous
    .withHeaders({ 'X-Request-Id': REQUESTED })
    .get('/exercise/');

  expect(answer.headers.get('x-request-id')).toMatch(UUID);
  await withoutTrustedProxy.stop();
});

test('logs the client address and the operation name but no variables', async () => {
  const fromClient = ann.withHeaders({ 'X-Forwarded-For': `${CLIENT}, 127.0.0.1` });
  const answer = await fromClient.query(
    'query Mine($comment: String) { workouts(where: { name: { eq: $comment } }) { totalCount } }',
    {
      comment: 'xyzzyx',
    },
  );
  const line = await lineOf(answer);

  expect(line).toMatchObject({ operation: 'Mine', address: CLIENT, user: ann.id });
  expect(JSON.stringify(line)).not.toContain('xyzzyx');
  const other = await lineOf(await fromClient.query('{ viewer { name } }'));

  expect(other).not.toHaveProperty('operation');
});

test('truncates operation names, paths and client addresses in the log', async () => {
  const long = 'a'.repeat(5_000);
  const query = await lineOf(await ann.query(`query ${long} { viewer { name } }`));

  expect(query.operation).toBe('a'.repeat(200));
  const path = await lineOf(await ann.send('GET', `/${long}`));

  expect(path.path).toHaveLength(200);
  const zone = await lineOf(
    await ann.withHeaders({ 'X-Forwarded-For': `fe80::1%${long}` }).get('/exercise/'),
  );

  expect(zone.address).toHaveLength(45);
});

test('logs failed and rate-limited logins as warnings with the client address but no password', async () => {
  const fromClient = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': CLIENT });
  const wrong = { username: 'ann', password: 'not the password' };
  const rest = await fromClient.post('/login/', wrong);

  expect(await lineOf(rest, 'login failed')).toMatchObject({
    level: 40,
    address: CLIENT,
    code: 'UNAUTHENTICATED',
  });
  const graphql = await fromClient.query(
    `mutation { login(username: "ann", password: "${wrong.password}") { token } }`,
  );

  expect(await lineOf(graphql, 'login failed')).toMatchObject({ level: 40, address: CLIENT });
  expect((await fromClient.post('/login/', wrong)).status).toBe(401);
  const rejected = await fromClient.post('/login/', wrong);

  expect(rejected.status).toBe(429);
  expect(await lineOf(rejected, 'too many logins')).toMatchObject({
    level: 40,
    address: CLIENT,
    code: 'TOO_MANY_REQUESTS',
  });
  const change =
    'mutation { changePassword(oldPassword: "wrong wrong", newPassword: "quite another") { token } }';
  const changed = await ann.query(change);

  expect(await lineOf(changed, 'login failed')).toMatchObject({
    level: 40,
    user: ann.id,
    code: 'WRONG_PASSWORD',
  });
  expect(fitgraph.logged.filter((line) => line.includes(wrong.password))).toEqual([]);
});

test('formats a request as one short line on a terminal, and other messages with their values', () => {
  let text = '';
  const log = createLogger(
    'info',
    prettyDestination((line) => (text += line)),
  );
  const request = {
    id: 'abc',
    method: 'POST',
    path: '/graphql',
    status: 200,
    user: 7,
    address: CLIENT,
    operation: 'Mine',
  };

  log.info({ ...request, ms: 12.3, statements: 3 }, 'request');
  log.info({ port: 8000 }, 'ready');
  // eslint-disable-next-line no-control-regex -- colours
  const lines = text.replace(/\x1b\[\d+m/g, '').split('\n');

  expect(lines).toEqual([
    expect.stringMatching(
      /^\[.*\] INFO: 200 POST \/graphql Mine {2}12\.3 ms, 3 statements, user 7 at 198\.51\.100\.7$/,
    ),
    expect.stringMatching(/^\[.*\] INFO: ready \{"port":8000\}$/),
    '',
  ]);
});
