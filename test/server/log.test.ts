/** The log of a server process: one line per request, never with secrets or user content. */
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../src/database/embedded';
import { build, Installation, type Server } from './running';
import { until } from '../setup/waits';

const installation = new Installation();
let server: Server;
let token: string;

/** Content that a user writes. It must not appear in the log. */
const WRITTEN = 'xyzzyx';
const PASSWORD = 'plughplugh';

beforeAll(async () => {
  build();
  // The first start prints the credentials of the demo account, so its output is not examined.
  const first = await installation.start();
  first.process.kill('SIGTERM');
  await first.ended;
  const { stdout } = await installation.command('user', 'create', 'ann', '--password', PASSWORD);
  token = /[0-9a-f]{40}/.exec(stdout)![0];
  server = await installation.start({ LOG_LEVEL: 'debug' });
});
afterAll(() => installation.remove());

const lines = () =>
  server.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

function expectNoSecrets(): void {
  for (const secret of [token, PASSWORD, WRITTEN]) {
    expect(server.stdout).not.toContain(secret);
    expect(server.stderr).not.toContain(secret);
  }
}

test('logs one line per request with method, path, status, user, duration and statements', async () => {
  await server.signedIn(token).get('/workout/?comment=anything');
  await server.anonymous.query('{ viewer { name } }');
  const requestLines = () => lines().filter(({ msg }) => msg === 'request');
  await until('both requests are logged', () => requestLines().length === 2);
  const requests = requestLines();
  expect(requests).toEqual([
    expect.objectContaining({
      method: 'GET',
      path: '/api/v2/workout/',
      status: 200,
      user: expect.any(Number),
      statements: expect.any(Number),
    }),
    expect.objectContaining({ method: 'POST', path: '/graphql', status: 200, user: null }),
  ]);
  for (const { id, ms } of requests) {
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(ms).toBeGreaterThan(0);
  }
});

test('logs no secret and no body, for successful and failed requests', async () => {
  const ann = server.signedIn(token);
  expect((await server.anonymous.post('/login/', { username: 'ann', password: PASSWORD })).status).toBe(200);
  expect((await server.anonymous.post('/login/', { username: 'ann', password: `${PASSWORD}!` })).status).toBe(401);
  expect((await ann.post('/workout/', { comment: WRITTEN })).status).toBe(201);
  expect((await ann.get(`/workout/?comment=${WRITTEN}`)).body.count).toBe(1);
  expect((await ann.post('/workout/', `{"comment": "${WRITTEN}"`)).status).toBe(400);
  expect((await ann.post('/weightentry/', { date: WRITTEN, weight: WRITTEN })).status).toBe(400);
  expect((await server.signedIn(`${token} ${token}`).get('/workout/')).status).toBe(403);
  const login = 'mutation ($password: String!) { login(username: "ann", password: $password) { token } }';
  expect((await server.anonymous.query(login, { password: PASSWORD })).data.login.token).toBe(token);
  expect((await ann.query(`mutation { createWorkout(input: { name: "${WRITTEN}" }) { errors { path } } }`)).errors).toBeUndefined();
  expect((await ann.query(`mutation { createWorkout(input: { name: ${WRITTEN} }) { errors { path } } }`)).status).toBe(400);
  await until('all requests are logged', () => lines().length >= 12);
  expectNoSecrets();
});

test('logs an unexpected error with its id and stack trace but without user content', async () => {
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const client = new Client(connection);
  await client.connect();
  // A constraint that the server does not know makes the write fail.
  await client.query(`ALTER TABLE "workout" ADD CONSTRAINT "unforeseen" CHECK ("comment" <> '${WRITTEN}') NOT VALID`);
  const ann = server.signedIn(token);
  const answer = await ann.post('/workout/', { comment: WRITTEN });
  expect(answer.status).toBe(500);
  const graphql = await ann.query(`mutation ($comment: String!) { createWorkout(input: { name: $comment }) { errors { path } } }`, {
    comment: WRITTEN,
  });
  expect(graphql.code).toBe('INTERNAL_SERVER_ERROR');
  await client.query('ALTER TABLE "workout" DROP CONSTRAINT "unforeseen"');
  await client.end();
  await release();

  await until('both errors are logged', () => lines().filter(({ msg }) => msg === 'unexpected error').length === 2);
  const errors = lines().filter(({ msg }) => msg === 'unexpected error');
  for (const { err } of errors) {
    expect(err.message).toContain('unforeseen');
    expect(err.stack).toContain('insertRows');
  }
  // The response contains only the id under which the error was logged.
  expect(answer.body).toEqual({ detail: `Internal server error (id ${errors[0].id}).` });
  expect(answer.headers.get('x-request-id')).toBe(errors[0].id);
  expect(graphql.errors![0]!.extensions.id).toBe(errors[1].id);
  expect(graphql.headers.get('x-request-id')).toBe(errors[1].id);
  expectNoSecrets();
});
