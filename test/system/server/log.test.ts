/** The log of a server process: one line per request, never with secrets or user content. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import sharp from 'sharp';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { build, Installation, type Server } from '../../setup/server-process';
import { until } from '../../setup/waits';

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

  expect(
    (await server.anonymous.post('/login/', { username: 'ann', password: PASSWORD })).status,
  ).toBe(200);
  expect(
    (await server.anonymous.post('/login/', { username: 'ann', password: `${PASSWORD}!` })).status,
  ).toBe(401);
  expect((await ann.post('/workout/', { comment: WRITTEN })).status).toBe(201);
  expect((await ann.get(`/workout/?comment=${WRITTEN}`)).body.count).toBe(1);
  expect((await ann.post('/workout/', `{"comment": "${WRITTEN}"`)).status).toBe(400);
  expect((await ann.post('/weightentry/', { date: WRITTEN, weight: WRITTEN })).status).toBe(400);
  expect((await server.signedIn(`${token} ${token}`).get('/workout/')).status).toBe(403);
  const login =
    'mutation ($password: String!) { login(username: "ann", password: $password) { token } }';

  expect((await server.anonymous.query(login, { password: PASSWORD })).data.login.token).toBe(
    token,
  );
  expect(
    (
      await ann.query(
        `mutation { createWorkout(input: { name: "${WRITTEN}" }) { errors { path } } }`,
      )
    ).errors,
  ).toBeUndefined();
  expect(
    (await ann.query(`mutation { createWorkout(input: { name: ${WRITTEN} }) { errors { path } } }`))
      .status,
  ).toBe(400);
  await until('all requests are logged', () => lines().length >= 12);
  expectNoSecrets();
});

test('logs an unexpected error with its id and stack trace but without user content', async () => {
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const client = new Client(connection);

  await client.connect();
  // A constraint that the server does not know makes the write fail.
  await client.query(
    `ALTER TABLE "workout" ADD CONSTRAINT "unforeseen" CHECK ("comment" <> '${WRITTEN}') NOT VALID`,
  );
  const ann = server.signedIn(token);
  const answer = await ann.post('/workout/', { comment: WRITTEN });

  expect(answer.status).toBe(500);
  const graphql = await ann.query(
    `mutation ($comment: String!) { createWorkout(input: { name: $comment }) { errors { path } } }`,
    {
      comment: WRITTEN,
    },
  );

  expect(graphql.code).toBe('INTERNAL_SERVER_ERROR');
  await client.query('ALTER TABLE "workout" DROP CONSTRAINT "unforeseen"');
  await client.end();
  await release();

  await until(
    'both errors are logged',
    () => lines().filter(({ msg }) => msg === 'unexpected error').length === 2,
  );
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

describe('a client that leaves', () => {
  let client: Client;
  let release: () => Promise<void>;
  let image: Blob;

  beforeAll(async () => {
    const embedded = await openEmbeddedDatabase({ dataDir: installation.dataDir });

    release = embedded.release;
    client = new Client(embedded.connection);
    await client.connect();
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;

    image = new Blob([
      new Uint8Array(
        await sharp({ create: { width: 300, height: 300, channels: 3, background: 'red', noise } })
          .png()
          .toBuffer(),
      ),
    ]);
  });
  afterAll(async () => {
    await client.end();
    await release();
  });

  const json = (value: unknown) =>
    new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } });

  const graphqlUpload = () => {
    const form = new FormData();
    const query =
      'mutation ($image: Upload!) { createExerciseImage(input: { exerciseId: 1, image: $image }) { errors { code } } }';

    form.set('operations', JSON.stringify({ query, variables: { image: null } }));
    form.set('map', '{"0":["variables.image"]}');
    form.set('0', image, 'a.png');
    return new Response(form);
  };

  const restUpload = () => {
    const form = new FormData();

    form.set('exercise', '1');
    form.set('image', image, 'a.png');
    return new Response(form);
  };

  const subscription = () =>
    json({ query: 'subscription { changed(types: [WORKOUT]) { cursor } }' });
  const noHeaders = () => ({});
  const key = () => ({ 'Idempotency-Key': String(performance.now()) });

  /** Sends the first part of a request, or all of it, and returns the connection. */
  async function send(
    path: string,
    body: Response,
    headers: Record<string, string> = {},
    sentPart = 1,
  ): Promise<net.Socket> {
    const bytes = Buffer.from(await body.arrayBuffer());
    const socket = net.connect(Number(new URL(server.url).port), 'localhost');

    socket.on('error', () => undefined).resume();
    const allHeaders = {
      Host: 'localhost',
      Authorization: `Token ${token}`,
      'apollo-require-preflight': 'true',
      'Content-Type': body.headers.get('content-type')!,
      'Content-Length': bytes.length,
      ...headers,
    };
    const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);

    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    socket.write(bytes.subarray(0, Math.ceil(bytes.length * sentPart)));
    return socket;
  }

  const requestLines = () => lines().filter(({ msg }) => msg === 'request').length;

  /**
   * Runs `work`, which sends requests that are aborted, and expects that the server logs them
   * without an error.
   */
  async function expectNoErrorLogged(aborted: number, work: () => Promise<void>): Promise<void> {
    const [lineCount, requestCount] = [lines().length, requestLines()];

    await work();
    await until('the requests are logged', () => requestLines() >= requestCount + aborted);
    // A write continues after its client has left.
    await sleep(300);
    expect(
      lines()
        .slice(lineCount)
        .filter(({ level, err }) => level >= 50 || err),
    ).toEqual([]);
  }

  const REQUESTS: [string, string, () => Response, () => Record<string, string>][] = [
    [
      'a GraphQL write',
      '/graphql',
      () => json({ query: 'mutation { createWorkout(input: { name: "a" }) { errors { code } } }' }),
      noHeaders,
    ],
    ['a GraphQL upload', '/graphql', graphqlUpload, noHeaders],
    ['a GraphQL upload with an Idempotency-Key', '/graphql', graphqlUpload, key],
    ['a REST write', '/api/v2/workout/', () => json({ comment: 'a' }), noHeaders],
    ['a REST upload', '/api/v2/exerciseimage/', restUpload, noHeaders],
    ['a REST upload with an Idempotency-Key', '/api/v2/exerciseimage/', restUpload, key],
    ['an event stream', '/graphql/stream', subscription, () => ({ Accept: 'text/event-stream' })],
  ];

  test.each(REQUESTS)(
    'in the middle of the body of %s is not an error',
    (_what, path, body, headers) =>
      expectNoErrorLogged(2, async () => {
        for (const sentPart of [0.1, 0.9]) {
          const socket = await send(path, body(), headers(), sentPart);

          await sleep(200);
          socket.destroy();
        }
      }),
  );

  test.each(REQUESTS.slice(0, -1))(
    'while %s waits for a lock is not an error',
    (_what, path, body, headers) =>
      expectNoErrorLogged(1, async () => {
        await client.query('BEGIN; LOCK TABLE "workout", "exercise_image"');
        const socket = await send(path, body(), headers());

        await until(
          'the write waits',
          async () =>
            (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0,
        );
        socket.destroy();
        await sleep(200);
        await client.query('ROLLBACK');
      }),
  );

  test('when the first event of a stream is written is not an error', () =>
    expectNoErrorLogged(1, async () => {
      for (let run = 0; run < 30; run += 1) {
        const socket = await send('/graphql/stream', subscription(), {
          Accept: 'text/event-stream',
        });

        await sleep(run / 3);
        socket.resetAndDestroy();
      }
    }));
});
