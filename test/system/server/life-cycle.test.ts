/** The life cycle of the server process: first start, shutdown, crashes and recovery. */
import path from 'node:path';
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { serverPid } from '../../database/processes';
import { build, Installation } from '../../setup/server-process';
import { until } from '../../setup/waits';

let installation: Installation;

beforeAll(build);
beforeEach(async () => {
  installation = await Installation.started();
});
afterEach(() => installation.remove());

test('prints its URLs, and creates a demo account on the first start only', async () => {
  await installation.remove();
  installation = new Installation();
  const server = await installation.start();
  const { url, demo, anonymous } = server;

  for (const line of [
    `GraphQL     ${url}/graphql`,
    `REST        ${url}/api/v2/`,
    `Playground  ${url}/playground`,
  ]) {
    expect(server.stdout).toContain(line);
  }

  for (const path of ['/health/live', '/health', '/healthz']) {
    expect(await anonymous.send('GET', path)).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
  }

  expect(await anonymous.send('GET', '/health/ready')).toMatchObject({
    status: 200,
    body: { status: 'ok' },
  });
  expect((await anonymous.send('GET', '/playground')).status).toBe(200);
  expect((await anonymous.get('/exercise/')).body.count).toBeGreaterThan(20);
  expect((await anonymous.get('/exerciseimage/?is_main=True')).body.count).toBe(12);
  const thumbnails = (await anonymous.get('/exerciseimage/1/thumbnails/')).body;

  for (const { url: image } of [thumbnails.small, thumbnails.large_cropped]) {
    expect((await anonymous.send('GET', image)).headers.get('content-type')).toMatch(/^image\//);
  }

  const login = await anonymous.post('/login/', {
    username: demo.username,
    password: demo.password,
  });

  expect(login).toMatchObject({ status: 200, body: { token: demo.token } });
  const person = server.signedIn(demo.token);

  expect((await person.get('/workout/')).body.count).toBeGreaterThan(0);
  expect(
    (await person.query('{ viewer { name } weightEntries { totalCount } }')).data,
  ).toMatchObject({ viewer: { name: 'demo' } });

  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  const restarted = await installation.start();

  expect(restarted.stdout).not.toMatch(/password/i);
  expect((await restarted.signedIn(demo.token).get('/workout/')).status).toBe(200);
  restarted.process.kill('SIGINT');
  expect(await restarted.ended).toBe(0);
  await until('the database has ended', () => installation.processes.length === 0);
});

test('answers a running request before it stops on SIGTERM, but accepts no new ones', async () => {
  const server = await installation.start({ LOCK_TIMEOUT: 'off' });
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const locker = new Client(connection);

  // Its connection ends with the server.
  locker.on('error', () => undefined);
  await locker.connect();
  await locker.query('BEGIN');
  await locker.query('LOCK TABLE "weight_entry" IN ACCESS EXCLUSIVE MODE');
  const slow = server.signedIn(server.demo.token).get('/weightentry/?limit=1');

  await until(
    'the request waits for the lock',
    async () => (await locker.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0,
  );

  server.process.kill('SIGTERM');
  const isConnectionRefused = () =>
    server.anonymous.get('/').then(
      () => false,
      () => true,
    );

  await until('new connections are rejected', isConnectionRefused);
  await locker.query('COMMIT');
  expect(await slow).toMatchObject({ status: 200, body: { results: [expect.anything()] } });
  expect(await server.ended).toBe(0);
  await locker.end();
  await release();
});

test('stops on SIGTERM although a request never ends', async () => {
  const server = await installation.start({ LOCK_TIMEOUT: 'off', DRAIN_NOTICE: '0s' });
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const locker = new Client(connection);

  // Its connection ends with the server.
  locker.on('error', () => undefined);
  await locker.connect();
  await locker.query('BEGIN');
  await locker.query('LOCK TABLE "weight_entry" IN ACCESS EXCLUSIVE MODE');
  const endless = server.signedIn(server.demo.token).get('/weightentry/');
  const failed = expect(endless).rejects.toThrow();

  await until(
    'the request waits for the lock',
    async () => (await locker.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0,
  );
  const terminatedAt = performance.now();

  server.process.kill('SIGTERM');
  // The request never ends, because the lock is held until the server has ended.
  const status = await server.ended;

  // Requests in flight may take 7 s to complete.
  expect(performance.now() - terminatedAt).toBeGreaterThanOrEqual(7_000);
  await locker.end();
  await failed;
  await release();
  expect(status).toBe(0);
});

test('answers a scrape of metrics with 503 while a worker shuts down, and logs no error', async () => {
  const METRICS_TOKEN = 'a token for metrics';
  const server = await installation.start({
    WEB_CONCURRENCY: '1',
    METRICS_TOKEN,
    DRAIN_NOTICE: '5s',
  });
  const scraper = server.anonymous.withHeaders({ Authorization: `Bearer ${METRICS_TOKEN}` });

  expect((await scraper.send('GET', '/metrics')).status).toBe(200);
  server.process.kill('SIGTERM');
  await until(
    'the worker shuts down',
    async () => (await scraper.send('GET', '/health/ready')).status === 503,
  );
  expect((await scraper.send('GET', '/metrics')).status).toBe(503);
  expect(await server.ended).toBe(0);
  expect(server.stdout).not.toContain('uncaught error');
});

test('leaves no database running and loses no acknowledged write when it is killed', async () => {
  const server = await installation.start();
  const { token } = server.demo;
  const made = await server.signedIn(token).post('/workout/', { comment: 'Not to be lost' });

  expect(made.status).toBe(201);
  server.process.kill('SIGKILL');
  await server.ended;
  await until('the database has ended', () => installation.processes.length === 0);

  const restarted = await installation.start();

  expect((await restarted.signedIn(token).get(`/workout/${made.body.id}/`)).body).toEqual(
    made.body,
  );
});

test('recovers reads, writes and change notifications after the database is killed', async () => {
  const server = await installation.start();
  const person = server.signedIn(server.demo.token);

  expect((await person.post('/workout/', { comment: 'before' })).status).toBe(201);
  process.kill(serverPid(path.join(installation.dataDir, 'postgres')), 'SIGKILL');
  await until(
    'reads work again',
    async () => (await person.get('/workout/').catch(() => undefined))?.status === 200,
  );
  await until(
    'writes work again',
    async () => (await person.post('/workout/', { comment: 'after' })).status === 201,
  );
  expect((await person.get('/workout/?comment=before')).body.count).toBe(1);
  await until(
    'the server is ready again',
    async () => (await server.anonymous.send('GET', '/health/ready')).status === 200,
  );
  // The server listens to notifications again, which keep its cached tables up to date.
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const client = new Client(connection);

  await client.connect();
  await client.query(`UPDATE "exercise_category" SET "name" = 'Renamed'`);
  await until('the change is visible', async () => {
    const { data } = await server.anonymous.query(
      '{ exercises(first: 1) { nodes { category { name } } } }',
    );

    return data.exercises.nodes[0].category.name === 'Renamed';
  });
  await client.end();
  await release();
});
