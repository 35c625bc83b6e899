/**
 * Online schema changes: steps run concurrently with other transactions, are repeated after an
 * interruption, and can share a transaction.
 */
import type { ClientBase, PoolClient } from 'pg';
import type { Database } from '../../src/database/connection';
import { ADVISORY_LOCK_KEYS } from '../../src/database/advisory-locks';
import { lockMigrations } from '../../src/database/migrate';
import { OnlineSchemaChange } from '../../src/database/online-schema-change';
import { viewerRoleName } from '../../src/database/viewer-role';
import { createDatabase, open } from '../setup/databases';
import { until } from '../setup/waits';

const ROWS = 5_000;

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;
let other: PoolClient;
let conflicts: number;

beforeEach(async () => {
  testDatabase = await createDatabase('tables');
  database = open(testDatabase.connection);
  other = await database.pool.connect();
  conflicts = 0;
  await other.query(`
    INSERT INTO "user_account" ("id", "username", "password") VALUES (1, 'ann', '');
    INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT '2024-01-01', n::text, 1 FROM generate_series(1, ${ROWS}) n;
    DELETE FROM "change"`);
});
afterEach(async () => {
  other.release(true);
  await database.close();
  await testDatabase.drop();
});

const inSchemaChange = <T>(work: (change: OnlineSchemaChange) => Promise<T>): Promise<T> =>
  database.withoutTimeouts((client) =>
    work(new OnlineSchemaChange(client, () => (conflicts += 1))),
  );

const rowsOf = async (text: string): Promise<Record<string, unknown>[]> =>
  (await other.query(text)).rows;
const valueOf = async (text: string): Promise<unknown> =>
  Object.values((await rowsOf(text))[0]!)[0];
const countUnfilled = () => valueOf('SELECT count(*)::int FROM "workout" WHERE "label" IS NULL');

/** Runs a migration with every kind of step. */
async function addLabel(change: OnlineSchemaChange): Promise<void> {
  await change.addColumn('workout', 'label', 'text');
  await change.alterTable('workout', 'ALTER COLUMN "label" SET DEFAULT \'new\'');
  await change.updateRows('workout', '"label" = "comment"', '"label" IS NULL');
  await change.setNotNull('workout', 'label');
  await change.createIndex('workout_label', '"workout" ("user_id", "label")');
  await change.addConstraint(
    'workout',
    'workout_label_length',
    'CHECK (char_length("label") <= 100)',
  );
  await change.addColumn('workout', 'license_id', 'integer');
  await change.addConstraint(
    'workout',
    'workout_license',
    'FOREIGN KEY ("license_id") REFERENCES "license" ("id") ON DELETE SET NULL',
  );
}

/** Describes the columns, constraints and other objects that `addLabel` creates. */
const describeLabelObjects = async () => ({
  columns: await rowsOf(
    `SELECT "column_name", "is_nullable", "column_default" FROM information_schema.columns WHERE "table_name" = 'workout' AND "column_name" LIKE 'l%' ORDER BY 1`,
  ),
  constraints: await rowsOf(
    `SELECT pg_get_constraintdef(oid) AS "definition" FROM pg_constraint WHERE conrelid = 'workout'::regclass AND conname LIKE 'workout_l%' AND convalidated AND contype <> 'n' ORDER BY 1`,
  ),
  indexes: await rowsOf(
    `SELECT indexrelid::regclass::text AS "name", indisvalid AS "valid" FROM pg_index WHERE indrelid = 'workout'::regclass AND indexrelid::regclass::text LIKE 'workout_label%' ORDER BY 1`,
  ),
  checks: await valueOf(`SELECT count(*)::int FROM pg_constraint WHERE conname LIKE '%is_set'`),
});
const EXPECTED = {
  columns: [
    { column_name: 'label', is_nullable: 'NO', column_default: "'new'::text" },
    { column_name: 'license_id', is_nullable: 'YES', column_default: null },
  ],
  constraints: [
    'CHECK ((char_length(label) <= 100))',
    'FOREIGN KEY (license_id) REFERENCES license(id) ON DELETE SET NULL',
  ].map((definition) => ({ definition })),
  indexes: [{ name: 'workout_label', valid: true }],
  checks: 0,
};

test('every step can be repeated after an interruption', async () => {
  await inSchemaChange(addLabel);
  await inSchemaChange(addLabel);
  expect(await describeLabelObjects()).toEqual(EXPECTED);
  expect(await valueOf('SELECT count(*)::int FROM "workout" WHERE "label" = "comment"')).toBe(ROWS);
});

test('a migration whose connection is lost is completed by the next attempt', async () => {
  await inSchemaChange((change) => change.addColumn('workout', 'label', 'text'));
  // The lock on this row keeps the migration from completing.
  await other.query('BEGIN; SELECT FROM "workout" WHERE "id" = 7 FOR UPDATE');
  let pid = 0;
  const interrupted = database.withoutTimeouts(async (client) => {
    pid = (await client.query('SELECT pg_backend_pid() AS "pid"')).rows[0].pid as number;
    await new OnlineSchemaChange(client, () => undefined).updateRows(
      'workout',
      '"label" = "comment"',
      '"label" IS NULL',
    );
  });
  const failure = interrupted.catch((error: Error) => error.message);

  await until('all other rows are filled', async () => (await countUnfilled()) === 1);
  await other.query(`SELECT pg_terminate_backend(${pid}); COMMIT`);
  // The error depends on when the client notices the loss of the connection.
  expect(await failure).toMatch(/terminat|not queryable|EPIPE|ECONNRESET/);
  expect(await countUnfilled()).toBe(1);
  await inSchemaChange(addLabel);
  expect(await describeLabelObjects()).toEqual(EXPECTED);
  expect(await valueOf('SELECT count(*)::int FROM "workout" WHERE "label" = "comment"')).toBe(ROWS);
});

test('the steps run within the transaction of a restore', async () => {
  await database.withoutTimeouts(async (client: ClientBase) => {
    await client.query('BEGIN');
    await addLabel(new OnlineSchemaChange(client));
    expect(
      (await client.query('SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS "open"')).rows,
    ).toEqual([{ open: true }]);
    // The triggers, which ignore the updates of `fill`, take effect again.
    await client.query('UPDATE "workout" SET "label" = \'x\' WHERE "comment" = \'1\'');
    await client.query('COMMIT');
  });
  expect(await describeLabelObjects()).toEqual(EXPECTED);
  expect(await valueOf('SELECT count(*)::int FROM "change"')).toBe(1);
});

test('filled rows keep their version and time of change, and the change log is not written', async () => {
  const states = () => rowsOf('SELECT "id", "version", "updated_at" FROM "workout" ORDER BY "id"');
  const before = await states();

  await inSchemaChange(async (change) => {
    await change.addColumn('workout', 'label', 'text');
    await change.updateRows('workout', '"label" = "comment"', '"label" IS NULL');
  });
  expect(await countUnfilled()).toBe(0);
  expect(await states()).toEqual(before);
  expect(await valueOf('SELECT count(*)::int FROM "change"')).toBe(0);
});

test('rows that a transaction has locked are filled after its end, and rows inserted meanwhile are not changed', async () => {
  await inSchemaChange((change) => change.addColumn('workout', 'label', 'text'));
  await other.query('BEGIN; SELECT FROM "workout" WHERE "id" % 1000 = 7 FOR UPDATE');
  const filling = inSchemaChange((change) =>
    change.updateRows('workout', '"label" = "comment"', '"label" IS NULL'),
  );

  await until('all other rows are filled', async () => (await countUnfilled()) === ROWS / 1000);
  await other.query(
    `INSERT INTO "workout" ("creation_date", "comment", "user_id") VALUES ('2024-01-01', 'late', 1); COMMIT`,
  );
  await filling;
  expect(await rowsOf('SELECT "comment" FROM "workout" WHERE "label" IS NULL')).toEqual([
    { comment: 'late' },
  ]);
  expect(conflicts).toBe(0);
});

test.each<[string, (change: OnlineSchemaChange) => Promise<unknown>]>([
  ['a step', (change) => change.addColumn('workout', 'label', 'text')],
  ['a statement', (change) => change.run('ALTER TABLE "workout" ADD COLUMN "label" text')],
])(
  '%s that waits for a long transaction lets other transactions use the table',
  async (_what, step) => {
    await other.query('BEGIN; SELECT FROM "workout" LIMIT 1');
    const adding = inSchemaChange(step);

    await until('a conflict is reported', () => conflicts > 0);
    await database.pool.query('UPDATE "workout" SET "comment" = \'changed\' WHERE "id" = 1');
    await other.query('COMMIT');
    await adding;
    expect(await countUnfilled()).toBe(ROWS);
  },
);

test('an index is created while another process waits for the migration lock', async () => {
  await database.withoutTimeouts(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK_KEYS.migration]);
    const waiting = lockMigrations(other);

    await new OnlineSchemaChange(client, () => (conflicts += 1)).createIndex(
      'workout_comment',
      '"workout" ("comment")',
    );
    await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK_KEYS.migration]);
    await waiting;
  });
  expect(conflicts).toBe(0);
});

test('an index that cannot be created leaves nothing behind, and an invalid one is replaced', async () => {
  const indexes = () =>
    rowsOf(
      `SELECT indisvalid AS "valid" FROM pg_index WHERE indexrelid = to_regclass('workout_owner')`,
    );
  const create = () =>
    inSchemaChange((change) =>
      change.createIndex('workout_owner', '"workout" ("user_id")', { unique: true }),
    );

  await expect(create()).rejects.toThrow('could not create unique index "workout_owner"');
  expect(await indexes()).toEqual([]);
  // A process that is killed while it creates an index leaves an invalid one, as this failure does.
  await expect(
    other.query('CREATE UNIQUE INDEX CONCURRENTLY "workout_owner" ON "workout" ("user_id")'),
  ).rejects.toThrow('workout_owner');
  expect(await indexes()).toEqual([{ valid: false }]);
  await other.query('DELETE FROM "workout" WHERE "id" > 1');
  await create();
  expect(await indexes()).toEqual([{ valid: true }]);
  await inSchemaChange((change) => change.dropIndex('workout_owner'));
  await inSchemaChange((change) => change.dropIndex('workout_owner'));
  expect(await indexes()).toEqual([]);
});

test('a constraint that rows violate is not validated until they are corrected', async () => {
  const add = () =>
    inSchemaChange((change) =>
      change.addConstraint('workout', 'short', 'CHECK (char_length("comment") < 4)'),
    );

  await expect(add()).rejects.toThrow(
    'check constraint "short" of relation "workout" is violated by some row',
  );
  await other.query(`UPDATE "workout" SET "comment" = '' WHERE char_length("comment") > 3`);
  await add();
  expect(await valueOf(`SELECT convalidated FROM pg_constraint WHERE conname = 'short'`)).toBe(
    true,
  );
});

test('the setting of a backfill has no effect for roles to which row-level security applies', async () => {
  const owner = String(testDatabase.connection.user);

  const update = async (role: string) => {
    const [{ version }] = (await rowsOf('SELECT "version" FROM "workout" WHERE "id" = 1')) as [
      { version: string },
    ];

    await other.query(`BEGIN; SET LOCAL ROLE "${role}"; SET LOCAL fitgraph.viewer = '1'; SET LOCAL fitgraph.backfill = 'on';
      UPDATE "workout" SET "comment" = 'changed' WHERE "id" = 1; COMMIT`);

    return (await valueOf('SELECT "version" FROM "workout" WHERE "id" = 1')) !== version;
  };

  expect(await update(viewerRoleName(owner))).toBe(true);
  expect(await valueOf('SELECT count(*)::int FROM "change"')).toBe(1);
  expect(await update(owner)).toBe(false);
});
