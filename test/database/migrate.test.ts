/**
 * Migrations are applied, reverted and applied again. Several instances that start concurrently
 * apply each migration once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { readSchemaState } from '../../src/database/compatibility';
import type { Database } from '../../src/database/connection';
import { migrateDown, migrateUp, findMigrationsToRevert } from '../../src/database/migrate';
import * as weightUnits from '../../src/database/migrations/0070-weight-units';
import * as activePlans from '../../src/database/migrations/0074-active-plans-and-meals';
import * as mainImages from '../../src/database/migrations/0090-one-main-image';
import { OnlineSchemaChange } from '../../src/database/online-schema-change';
import { createDatabase, open } from '../setup/databases';
import { shapeOf } from '../setup/database-shape';
import { until } from '../setup/waits';

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let opened: Database[];

beforeEach(async () => {
  testDatabase = await createDatabase('nothing');
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await testDatabase.drop();
});

function openDatabase(): Database {
  const database = open(testDatabase.connection);

  opened.push(database);
  return database;
}

test('creates the same schema again after all migrations were reverted', async () => {
  const database = openDatabase();

  expect(await readSchemaState(database)).toBe('outdated');
  const names = await migrateUp(database);

  expect(names.length).toBeGreaterThanOrEqual(3);
  expect(await readSchemaState(database)).toBe('current');
  const before = await shapeOf(database.pool);

  expect(before.length).toBeGreaterThan(200);
  expect(await migrateUp(database)).toEqual([]);

  expect(await migrateDown(database, null)).toEqual([...names].reverse());
  expect(await readSchemaState(database)).toBe('outdated');
  const remainingShape = await shapeOf(database.pool);

  expect(remainingShape.filter((thing) => !/migration/.test(thing))).toEqual([
    'extension pg_trgm in public',
    'extension plpgsql in pg_catalog',
  ]);

  expect(await migrateUp(database)).toEqual(names);
  expect(await shapeOf(database.pool)).toEqual(before);
});

test('reports once that it waits for another process that migrates this database', async () => {
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { connection, drop } = await createDatabase('nothing');
      const client = new Client(connection);

      await client.connect();
      await client.query('SELECT pg_advisory_lock(7316402)');
      return { client, drop };
    }),
  );
  const holder = await openDatabase().pool.connect();
  const messages: string[] = [];

  try {
    await holder.query('SELECT pg_advisory_lock(7316402)');
    const { rows } = await holder.query('SELECT pg_backend_pid() AS "pid"');
    const reportWait = (message: string) => messages.push(message);
    const migrating = migrateUp(openDatabase(), { reportWait });

    await until('the wait is reported', () => messages.length > 0);
    await sleep(500);
    await holder.query('SELECT pg_advisory_unlock(7316402)');
    expect((await migrating).length).toBeGreaterThan(3);
    expect(messages).toEqual([
      expect.stringContaining(
        `waiting for another process that migrates or fills the database (PostgreSQL process ${rows[0].pid}`,
      ),
    ]);
  } finally {
    holder.release();
    await Promise.all(others.map(({ client, drop }) => client.end().then(drop)));
  }
});

test('reverts only the last migration in one step', async () => {
  const database = openDatabase();
  const names = await migrateUp(database);

  expect(await migrateDown(database)).toEqual([names.at(-1)]);
  expect(await readSchemaState(database)).toBe('outdated');
  expect(await migrateUp(database)).toEqual([names.at(-1)]);
});

test('reverts the migrations after a target, and rejects a target that is not applied', async () => {
  const database = openDatabase();
  const names = await migrateUp(database);

  await expect(migrateDown(database, '0001-unknown')).rejects.toThrow(
    '--to: the migration 0001-unknown is not applied; applied are 0052-',
  );
  expect(await migrateDown(database, names.at(-1))).toEqual([]);
  const reverted = names.slice(-3).reverse();

  expect(await findMigrationsToRevert(database, names.at(-4))).toEqual(reverted);
  expect(await migrateDown(database, names.at(-4))).toEqual(reverted);
  expect(await migrateUp(database)).toEqual(names.slice(-3));
});

test('a migration that waits for a long transaction lets other transactions read its table', async () => {
  const database = openDatabase();
  const names = await migrateUp(database);
  const target = names[names.indexOf('0074-active-plans-and-meals') - 1];
  const reverted = await migrateDown(database, target);
  const holder = await openDatabase().pool.connect();

  await holder.query('BEGIN; SELECT FROM "nutrition_plan"');
  const messages: string[] = [];
  const migrating = migrateUp(database, { reportWait: (message) => messages.push(message) });

  await until('the migration reports the conflict', () => messages.length > 0);
  const reader = openDatabase().pool;

  // Succeeds because the migration has a lock timeout; otherwise this read would wait behind it
  // until the long transaction ends.
  await reader.query('SELECT FROM "nutrition_plan"');
  expect(messages).toEqual([
    'the migration 0074-active-plans-and-meals waits for transactions that use its tables; it is retried',
  ]);
  await holder.query('COMMIT');
  holder.release();
  expect(await migrating).toEqual([...reverted].reverse());
});

test('applies each migration once when several instances start together', async () => {
  const applied = await Promise.all(
    [openDatabase(), openDatabase(), openDatabase()].map((one) => migrateUp(one)),
  );

  expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  expect(await readSchemaState(opened[0]!)).toBe('current');
});

test('rolls back a migration that fails', async () => {
  const database = openDatabase();

  // The second migration fails, because it would create the same table.
  await database.pool.query('CREATE TABLE "user_profile" ("id" integer)');
  await expect(migrateUp(database)).rejects.toThrow(/user_profile/);
  const { rows } = await database.pool.query(
    `SELECT to_regclass('user_account') AS account, to_regclass('language') AS language`,
  );

  expect(rows).toEqual([{ account: null, language: 'language' }]);
  await database.pool.query('DROP TABLE "user_profile"');
  expect((await migrateUp(database)).length).toBeGreaterThanOrEqual(2);
});

test('reports that the database is read-only', async () => {
  const { pool, options } = openDatabase();

  await pool.query(
    `ALTER DATABASE "${options.connection.database}" SET default_transaction_read_only = on`,
  );
  await expect(migrateUp(openDatabase())).rejects.toThrow(
    'cannot execute CREATE TABLE in a read-only transaction',
  );
});

/** Migrates as a role that may not create extensions. */
async function migratedWithoutTrigrams(): Promise<Database['pool']> {
  const { pool } = openDatabase();

  await pool.query(
    `REVOKE CREATE ON DATABASE "${testDatabase.connection.database}" FROM CURRENT_USER`,
  );
  await migrateUp(opened[0]!);
  expect((await pool.query(`SELECT FROM pg_extension WHERE extname = 'pg_trgm'`)).rowCount).toBe(0);
  return pool;
}

test('ranks shorter matches higher without the extension pg_trgm', async () => {
  const pool = await migratedWithoutTrigrams();
  const names = ['squat', 'squat jump', 'squatting', 'front squat', 'sqaut', ''];
  const { rows } = await pool.query(
    `SELECT n."name" FROM unnest($1::text[]) AS n("name") ORDER BY search_score(n."name", 'squat') DESC, n."name"`,
    [[...names].reverse()],
  );

  expect(rows.map(({ name }) => name)).toEqual(names.filter(Boolean).concat(''));
});

test('tolerates spelling errors in searches without the extension pg_trgm', async () => {
  const pool = await migratedWithoutTrigrams();

  await pool.query(`INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'en', 'English');
    INSERT INTO "license" ("id", "short_name", "full_name") VALUES (2, 'CC', 'Common');
    INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id")
      VALUES ('Chicken breast', '2021-01-01', '2021-01-01', 1, 1, 1, 1, 2)`);
  const terms = [
    'chiken',
    'chickenn',
    'chikcen',
    'chixken',
    'brest chick',
    'breast',
    'kitchen',
    'xhicken',
  ];
  const { rows } = await pool.query(
    `SELECT t."term" FROM unnest($1::text[]) AS t("term"), "ingredient"
      WHERE search_vector("name_folded") @@ search_query(search_fold(t."term"))`,
    [terms],
  );

  expect(rows.map(({ term }) => term)).toEqual(terms.slice(0, 6));
});

test('gives existing body weights the unit of their owner and keeps their row versions', async () => {
  const { pool } = openDatabase();

  await migrateUp(opened[0]!);
  const run = (sql: string) => pool.query(sql);
  const client = await pool.connect();
  const change = new OnlineSchemaChange(client, () => undefined);

  await weightUnits.down(change);
  await run(`
    INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'en', 'English');
    INSERT INTO "user_account" ("id", "username", "password") VALUES (1, 'ann', ''), (2, 'bob', ''), (3, 'eve', '');
    INSERT INTO "user_profile" ("user_id", "weight_unit") VALUES (1, 'kg'), (2, 'lb');
    INSERT INTO "weight_entry" ("user_id", "date", "weight") SELECT n, '2021-01-01', 80 FROM generate_series(1, 3) AS n`);
  const versions = async () =>
    (await run('SELECT "version" FROM "weight_entry" ORDER BY "user_id"')).rows;
  const before = await versions();
  const changes = async () =>
    (await run('SELECT count(*)::int AS "count" FROM "change"')).rows[0].count as number;
  const logged = await changes();

  await weightUnits.up(change);
  client.release();
  expect((await run('SELECT "unit" FROM "weight_entry" ORDER BY "user_id"')).rows).toEqual([
    { unit: 'kg' },
    { unit: 'lb' },
    { unit: 'kg' },
  ]);
  expect(await versions()).toEqual(before);
  expect(await changes()).toBe(logged);
  // Servers of version 0.2, which know no units, insert such rows.
  await run(
    `INSERT INTO "weight_entry" ("user_id", "date", "weight") VALUES (2, '2021-01-02', 80)`,
  );
  expect((await run(`SELECT "unit" FROM "weight_entry" WHERE "date" = '2021-01-02'`)).rows).toEqual(
    [{ unit: 'lb' }],
  );
});

test('makes the newest of the existing plans of each user active', async () => {
  const { pool } = openDatabase();

  await migrateUp(opened[0]!);
  const client = await pool.connect();
  const change = new OnlineSchemaChange(client, () => undefined);

  await activePlans.down(change);
  await pool.query(`
    INSERT INTO "user_account" ("id", "username", "password") VALUES (1, 'ann', ''), (2, 'bob', '');
    INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'en', 'English');
    INSERT INTO "nutrition_plan" ("user_id", "creation_date", "description", "language_id")
      VALUES (1, '2021-02-01', 'newest', 2), (1, '2021-01-01', 'older', 2), (2, '2021-01-01', 'first of a day', 2), (2, '2021-01-01', 'last of a day', 2)`);
  await activePlans.up(change);
  client.release();
  const active = async () =>
    (
      await pool.query('SELECT "description" FROM "nutrition_plan" WHERE "is_active" ORDER BY 1')
    ).rows.map((row) => row.description);

  expect(await active()).toEqual(['last of a day', 'newest']);
  await pool.query(
    `INSERT INTO "nutrition_plan" ("user_id", "creation_date", "description", "language_id") VALUES (1, '2021-01-15', 'made afterwards', 2)`,
  );
  expect(await active()).toEqual(['last of a day', 'made afterwards']);
});

test('keeps the newest accepted main image of each exercise, or the newest pending one', async () => {
  const { pool } = openDatabase();

  await migrateUp(opened[0]!);
  const client = await pool.connect();
  const change = new OnlineSchemaChange(client, () => undefined);

  await mainImages.down(change);
  await pool.query(`
    INSERT INTO "license" ("id", "short_name", "full_name") VALUES (2, 'CC', 'Common');
    INSERT INTO "exercise_category" ("id", "name") VALUES (1, 'Arms');
    INSERT INTO "exercise_base" ("id", "uuid", "category_id") VALUES (1, gen_random_uuid(), 1), (2, gen_random_uuid(), 1);
    INSERT INTO "exercise_image" ("id", "uuid", "exercise_base_id", "image", "is_main", "status")
      SELECT "id", gen_random_uuid(), "base", '', true, "status" FROM (VALUES (1, 1, '1'), (2, 1, '2'), (3, 1, '1'), (4, 2, '1'), (5, 2, '1')) x("id", "base", "status")`);
  await mainImages.up(change);
  client.release();
  const { rows } = await pool.query(
    'SELECT "id" FROM "exercise_image" WHERE "is_main" ORDER BY "id"',
  );

  expect(rows).toEqual([{ id: 2 }, { id: 5 }]);
});
