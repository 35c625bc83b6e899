/**
 * A reachable database that cannot execute statements: locked, read-only, incomplete, or with few
 * connections.
 */
import { Client, type PoolClient } from 'pg';
import type { Person } from '../../setup/person';
import { asSuperuser } from '../../setup/databases';
import { checkVerdict, Scene } from './server-behind-proxy';
import { Traffic } from './traffic';
import { until } from '../../setup/waits';

let scene: Scene;
let ann: Person;

beforeAll(async () => {
  scene = await Scene.open();
  ann = scene.server.signedIn(scene.token);
});
afterAll(() => scene.close());

/** Executes a statement as superuser, even if the database is read-only. */
async function sql(text: string): Promise<void> {
  const client = new Client({
    ...asSuperuser(scene.connection),
    options: '-c default_transaction_read_only=off',
  });

  await client.connect();
  await client.query(text);
  await client.end();
}

const inDatabase = (change: string) =>
  sql(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${change}', current_database()); END $$`);
const probe = () => scene.server.anonymous.send('GET', '/health/ready');

/** A degraded instance stays ready: the fault is one of the database, which all instances share. */
const degradedBy = (text: string) => async () => {
  const { status, body } = await probe();

  expect(status).toBe(200);
  return body.status === 'degraded' && body.degraded.includes(text);
};

const isHealthy = async () => (await probe()).body.status === 'ok';

async function whileTransactionHolds<T>(statement: string, work: () => Promise<T>): Promise<T> {
  const holder: PoolClient = await scene.database.pool.connect();

  try {
    await holder.query('BEGIN');
    await holder.query(statement);
    return await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

test('fails writes to a locked table with Retry-After and serves all other requests', async () => {
  const traffic = scene.traffic().read(3).write(4);

  await until('writes succeed', () => traffic.counted(201) > 5);
  const entry = (day: number) =>
    ann.post('/weightentry/', { date: `2024-02-${String(day).padStart(2, '0')}`, weight: '70' });

  await whileTransactionHolds('LOCK TABLE "weight_entry" IN EXCLUSIVE MODE', async () => {
    const before = traffic.counted(201);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => entry(index + 1)));

    for (const { status, headers, body } of answers) {
      expect([status, headers.get('retry-after')]).toEqual([503, '2']);
      expect(body.detail).toMatch(
        /Nothing was changed; try again in a moment\. \(id [0-9a-f-]{36}\)$|^The server is overloaded/,
      );
    }

    await until('writes to other tables succeed', () => traffic.counted(201) > before + 20);
    expect((await scene.server.anonymous.get('/exercise/')).status).toBe(200);
  });
  await until('the table can be written again', async () => (await entry(1)).status === 201);
  expect((await ann.get('/weightentry/')).body.count).toBe(1);
  await scene.endAndCheck('a locked table', traffic);
});

test('serves reads and fails writes with Retry-After while the database is read-only', async () => {
  await inDatabase('SET default_transaction_read_only = on');
  // A failover ends connections, too.
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;

  await sql(end);
  await until('the server is degraded', degradedBy('the database is read-only'));
  expect((await ann.get('/workout/')).status).toBe(200);
  const rejected = await ann.post('/workout/', { comment: 'not now' });

  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '2']);
  const mutation = await ann.query('mutation { createWorkout(input: {}) { workout { id } } }');

  expect([mutation.status, mutation.code, mutation.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '2',
  ]);
  // The cause is only logged, under the id of the response.
  expect(mutation.text).not.toMatch(/read-only|transaction/);
  const { id } = mutation.errors![0]!.extensions;
  const loggedLine = () =>
    scene.server.stdout
      .split('\n')
      .find((line) => line.includes(String(id)) && line.includes('read-only transaction'));

  await until('the rejected write is logged', () => loggedLine() !== undefined);
  await inDatabase('RESET default_transaction_read_only');
  await sql(end);
  await until('the server is healthy again', isHealthy);
  expect((await ann.post('/workout/', { comment: 'now' })).status).toBe(201);
});

test('stays ready and reports degradation while a table is missing and while every packet takes 200 ms', async () => {
  await sql('ALTER TABLE "weight_entry" RENAME TO "elsewhere"');
  await until('the missing table is reported', degradedBy('a table is missing'));
  await sql('ALTER TABLE "elsewhere" RENAME TO "weight_entry"');
  await until('the server is healthy', isHealthy);
  scene.proxy.slow(200);
  await until('the server is degraded', degradedBy('the database responds slowly'));
  expect((await scene.server.anonymous.get('/exercise/')).status).toBe(200);
  scene.proxy.heal();
  await until('the server is healthy again', isHealthy);
});

// A worker with pools of one needs ten connections, and one more for health checks.
test('shrinks its pools at start when the database has few connections', async () => {
  const role = 'few';

  await sql(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 11`);
  await sql(`GRANT ${scene.user} TO ${role}`);
  const server = await scene.another(role);

  try {
    expect(server.stdout).toContain(
      'the database allows 11 connections for this role: reduced DATABASE_POOL from 15 to 1',
    );
    const traffic = new Traffic(server, scene.token).read(12).write(6);

    await until(
      'many requests have succeeded',
      () => traffic.counted(200) > 200 && traffic.counted(201) > 20,
    );
    checkVerdict('11 connections', await traffic.end(() => scene.comments()));
    expect(server.stdout).not.toContain('too many connections');
  } finally {
    server.process.kill('SIGTERM');
    await server.ended;
    await sql(`REVOKE ${scene.user} FROM ${role}`);
    await sql(`DROP ROLE ${role}`);
  }
});
