/**
 * A rolling upgrade with a million rows under load: migrations of each kind, servers of two
 * versions on one database, and the way back.
 */
import { migrationNames } from '../../../src/database/migration-modules';
import { dropKeysAndIndexes, recreateKeysAndIndexes } from '../../../src/transfer/bulk-load';
import { Installation, type Server } from '../../setup/server-process';
import { SECRET_KEY } from '../../setup/databases';
import type { Person } from '../../setup/person';
import { until } from '../../setup/waits';
import { Scene } from '../faults/server-behind-proxy';
import { NextVersion, nextMigrations } from './next-version';

const ROWS = 1_000_000;

/** The migration fills one row out of this many. */
const FILLED_EVERY = 20;

/** One row out of this many belongs to the clients of the test. */
const OWN_EVERY = ROWS / 50;

/**
 * Permitted response time in addition to the longest of readers of other tables at the same time,
 * which shows the load of the machine.
 */
const LONGEST_SILENCE_MS = 1_000;

const ONLINE = nextMigrations().filter((name) => name < '9005');
const MAINTENANCE = nextMigrations().find((name) => name >= '9005')!;

let scene: Scene;
let next: NextVersion;
let installation: Installation;
let server: Server;
let ann: Person;
let ids: number[];
let lastId: number;

beforeAll(async () => {
  scene = await Scene.open();
  ann = scene.server.signedIn(scene.token);
  next = new NextVersion();
  for (const name of ONLINE) next.addMigration(name);
  installation = new Installation(
    { DATABASE_URL: scene.proxy.url, SECRET_KEY, BUDGET: 'off' },
    next.root,
  );
  ids = await scene.database.withoutTimeouts(async (client) => {
    await client.query('BEGIN; ALTER TABLE "workout" DISABLE TRIGGER USER');
    const keys = await dropKeysAndIndexes(client, ['workout']);

    await client.query(`INSERT INTO "user_account" ("username", "password") VALUES ('bob', '');
      INSERT INTO "workout" ("creation_date", "comment", "user_id")
        SELECT date '2020-01-01' + n / 5000, CASE n % ${FILLED_EVERY} WHEN 0 THEN 'workout ' || n ELSE '' END, u."id"
        FROM generate_series(1, ${ROWS}) n JOIN "user_account" u ON u."username" = CASE n % ${OWN_EVERY} WHEN 0 THEN 'ann' ELSE 'bob' END`);
    await recreateKeysAndIndexes(client, keys);
    await client.query('ALTER TABLE "workout" ENABLE TRIGGER USER; COMMIT');
    await client.query('ANALYZE "workout"');
    const { rows } = await client.query(
      `SELECT w."id" FROM "workout" w JOIN "user_account" u ON u."id" = w."user_id" WHERE u."username" = 'ann'`,
    );

    return rows.map(({ id }) => id as number);
  });
  lastId = (await scene.database.pool.query('SELECT max("id") AS "last" FROM "workout"')).rows[0]
    .last as number;
});
afterAll(async () => {
  await installation?.remove();
  next?.remove();
  await scene?.close();
});

const ready = async (at: Server) => (await at.anonymous.send('GET', '/health/ready')).status;
const count = async (condition: string) =>
  (
    await scene.database.pool.query(
      `SELECT count(*)::int AS "rows" FROM "workout" WHERE ${condition}`,
    )
  ).rows[0].rows as number;

test('the start of the next version migrates while the previous one serves eight clients', async () => {
  const traffic = scene.traffic().read(3).write(3).update(2, ids);

  await until('requests are served', () => traffic.outcomes.length > 100);
  server = await installation.start();
  const served = traffic.outcomes.length;

  await until(
    'requests are served after the migration',
    () => traffic.outcomes.length > served + 100,
  );
  expect(server.stdout + server.stderr).toContain(ONLINE.at(-1));
  const busyMs = Math.max(
    ...traffic.outcomes.filter(({ what }) => what === 'anonymous').map(({ ms }) => ms),
  );
  const verdict = await traffic.end(async () =>
    (
      await scene.database.pool.query('SELECT "comment" FROM "workout" WHERE "id" > $1', [lastId])
    ).rows.map(({ comment }) => comment as string),
  );

  process.stdout.write(
    `upgrade: ${verdict.requests} requests, longest ${verdict.silenceMs} ms, of other tables ${Math.round(busyMs)} ms\n`,
  );
  expect(Object.keys(verdict.outcomes).sort()).toEqual(['200', '201']);
  expect([verdict.lost, verdict.doubled]).toEqual([[], []]);
  expect(verdict.silenceMs).toBeLessThan(LONGEST_SILENCE_MS + busyMs);
  expect(await count('true')).toBe(ROWS + verdict.acknowledged);
  expect(await count(`"id" <= ${lastId} AND "label" <> ''`)).toBe(ROWS / FILLED_EVERY);
});

test('servers of both versions are ready and serve the same rows, also one of the previous version that starts now', async () => {
  const restarted = await scene.another(scene.user);
  const servers = [scene.server, server, restarted];

  for (const one of servers) expect(await ready(one)).toBe(200);

  for (const writer of servers) {
    const { status, body } = await writer
      .signedIn(scene.token)
      .post('/workout/', { comment: `by ${writer.url}` });

    expect(status).toBe(201);

    for (const reader of servers) {
      expect((await reader.signedIn(scene.token).get(`/workout/${body.id}/`)).body).toEqual(body);
    }
  }

  restarted.process.kill('SIGTERM');
  expect(await restarted.ended).toBe(0);
});

test('a migration that needs a maintenance window changes nothing at a start, nor while servers run', async () => {
  next.addMigration(MAINTENANCE);
  const refusal =
    `fitgraph: The migration ${MAINTENANCE} needs a maintenance window (it renames a column of "workout"): ` +
    'stop all servers, take a backup and run `fitgraph migrate --maintenance`\n';

  await expect(installation.start()).rejects.toThrow(refusal);
  expect(await installation.command('migrate')).toEqual({ status: 1, stdout: '', stderr: refusal });
  expect((await installation.command('doctor')).stdout).toContain(
    `older than this version; the migration ${MAINTENANCE} needs a maintenance window, so this version does not start`,
  );
  const whileServing = await installation.command('migrate', '--maintenance');

  expect(whileServing).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /A running server uses this database and [^\n]+Stop it first\.\n$/,
    ),
  });
  expect(await ready(scene.server)).toBe(200);
});

test('the next version is reverted while the previous one continues to serve', async () => {
  const revert = () =>
    installation.command('migrate', '--down', '--to', migrationNames().at(-1)!, '--yes');

  expect(await revert()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/A running server uses this database and would fail/),
  });
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(await revert()).toMatchObject({
    status: 0,
    stdout: `Reverted: ${[...ONLINE].reverse().join(', ')}\n`,
  });
  await expect(count('"label" IS NULL')).rejects.toThrow('column "label" does not exist');
  const { body } = await ann.post('/workout/', { comment: 'afterwards' });

  expect((await ann.get(`/workout/${body.id}/`)).body.comment).toBe('afterwards');
  expect(await ready(scene.server)).toBe(200);
});
