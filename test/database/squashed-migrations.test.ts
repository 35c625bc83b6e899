/** Squashed migrations: a database of Fitgraph 0.2 is upgraded, and an older one is rejected. */
import { readSchemaState } from '../../src/database/compatibility';
import type { Database } from '../../src/database/connection';
import { migrateDown, migrateUp, findMigrationsToRevert } from '../../src/database/migrate';
import { migrationNames } from '../../src/database/migration-modules';
import { ConfigError } from '../../src/shared/config';
import { createDatabase, open } from '../setup/databases';
import { createSchema02 } from '../setup/previous-schema';
import { shapeOf } from '../setup/database-shape';

/** The first migration after version 0.2. */
const FIRST_MIGRATION_AFTER_02 = '0070-weight-units';
const SQUASHED = migrationNames().filter((name) => name < FIRST_MIGRATION_AFTER_02);
const MIGRATIONS_AFTER_02 = migrationNames().filter((name) => name >= FIRST_MIGRATION_AFTER_02);

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeEach(async () => {
  testDatabase = await createDatabase('nothing');
  database = open(testDatabase.connection);
  await createSchema02(database.pool);
});
afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

const recordedShape = async () =>
  (
    await database.pool.query(
      'SELECT "name", "version", "applied"::text FROM "migration" ORDER BY "name"',
    )
  ).rows;

async function newShape(): Promise<string[]> {
  const { connection, drop } = await createDatabase('tables');
  const created = open(connection);

  try {
    return await shapeOf(created.pool);
  } finally {
    await created.close();
    await drop();
  }
}

test('upgrades a database of 0.2 to the current schema by later migrations only', async () => {
  await database.pool.query(`UPDATE "migration" SET "applied" = '2026-11-20T12:00:00Z'`);
  const before = await recordedShape();
  const [{ applied }] = before;

  expect(await readSchemaState(database)).toBe('outdated');
  expect(await migrateUp(database)).toEqual(MIGRATIONS_AFTER_02);
  expect(await readSchemaState(database)).toBe('current');
  const rows = await recordedShape();

  // The names of the old migrations are kept, because servers of 0.2 that still run look for them.
  expect(rows.map(({ name }) => name)).toEqual(
    [...before.map(({ name }) => name), ...SQUASHED, ...MIGRATIONS_AFTER_02].sort(),
  );

  for (const row of rows.filter(({ name }) => !MIGRATIONS_AFTER_02.includes(name))) {
    expect(row).toMatchObject({ version: '0.2.0', applied });
  }

  expect(await shapeOf(database.pool)).toEqual(await newShape());
  expect(await migrateUp(database)).toEqual([]);
});

test('reverts a database of 0.2 step by step to an empty one', async () => {
  const before = await recordedShape();

  expect(await findMigrationsToRevert(database)).toEqual([SQUASHED.at(-1)]);
  // findMigrationsToRevert() alone changes nothing.
  expect(await recordedShape()).toEqual(before);
  const steps: string[] = [];

  for (
    let [name] = await findMigrationsToRevert(database);
    name !== undefined;
    [name] = await findMigrationsToRevert(database)
  ) {
    expect(await migrateDown(database)).toEqual([name]);
    steps.push(name);
  }

  expect(steps).toEqual([...SQUASHED].reverse());
  const remainingShape = await shapeOf(database.pool);

  expect(remainingShape.filter((thing) => !/migration/.test(thing))).toEqual([
    'extension pg_trgm in public',
    'extension plpgsql in pg_catalog',
  ]);
  expect(await migrateUp(database)).toEqual(migrationNames());
  expect(await shapeOf(database.pool)).toEqual(await newShape());
});

test.each([
  ['the last migration', '0064-owners-of-parents'],
  ['an intermediate migration', '0024-rank-by-length'],
])('rejects a database that lacks %s of 0.2 and leaves it unchanged', async (_which, missing) => {
  await database.pool.query('DELETE FROM "migration" WHERE "name" = $1', [missing]);
  const [rows, shape] = [await recordedShape(), await shapeOf(database.pool)];

  for (const work of [migrateUp, migrateDown, findMigrationsToRevert]) {
    const refusal = await work(database).catch((error: Error) => error);

    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toMatch(
      new RegExp(
        `^The database schema is older than that of Fitgraph 0\\.2 \\(${missing} is missing\\): start Fitgraph 0\\.2 first, .* Fitgraph \\d\\S+$`,
      ),
    );
  }

  expect(await recordedShape()).toEqual(rows);
  expect(await shapeOf(database.pool)).toEqual(shape);
});

test('rejects a database of 0.2 that a newer version has migrated', async () => {
  await database.pool.query(
    `INSERT INTO "migration" ("name", "version") VALUES ('9999-from-tomorrow', '99.1.0')`,
  );
  const rows = await recordedShape();

  await expect(migrateUp(database)).rejects.toThrow(
    /the schema of Fitgraph 99\.1\.0 \(9999-from-tomorrow\), but Fitgraph/,
  );
  expect(await recordedShape()).toEqual(rows);
});
