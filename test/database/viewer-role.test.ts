/**
 * Row-level security in plain SQL: what the viewer role may read and write in each table, and how
 * the role is created.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Client, type PoolConfig } from 'pg';
import { ConfigError, type Config } from '../../src/shared/config';
import type { Database } from '../../src/database/connection';
import { migrateUp } from '../../src/database/migrate';
import {
  prepareViewerRole,
  rejectIfRowsAreHidden,
  viewerRoleName,
  checkRowSecurityStatus,
  activateViewerRole,
} from '../../src/database/viewer-role';
import { createOwnedRows } from '../setup/owned-rows';
import { asSuperuser, createDatabase, open } from '../setup/databases';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const NOT_PERMITTED = '42501';

describe('the viewer role', () => {
  let client: Client | undefined;

  // Registered first, so that the connection is closed before its database is dropped.
  afterAll(() => client?.end());
  const fitgraph = fitgraphForThisFile();
  let ann: Person;
  let bob: Person;

  /** Tables with row-level security and their owner columns. */
  let tables: [string, string][];

  beforeAll(async () => {
    [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];

    for (const person of [ann, bob]) {
      await createOwnedRows(person);
      await fitgraph.sql(
        `INSERT INTO "idempotency_key" ("user_id", "key", "request", "status") VALUES ($1, 'a', '\\x00', 200)`,
        [person.id],
      );
      await fitgraph.sql(
        `INSERT INTO "identity" ("issuer", "subject", "user_id") VALUES ('a', $1::integer::text, $1)`,
        [person.id],
      );
      await fitgraph.sql(`INSERT INTO "idempotency_usage" ("user_id", "bytes") VALUES ($1, 1)`, [
        person.id,
      ]);
    }

    const rows = await fitgraph.sql(
      `SELECT "relname" AS "name" FROM pg_class WHERE "relrowsecurity" AND "relnamespace" = current_schema()::regnamespace ORDER BY 1`,
    );

    tables = rows.map(({ name }) => [name as string, name === 'user_account' ? 'id' : 'user_id']);
    const { connection } = fitgraph.database.options;

    client = new Client(connection);
    await client.connect();
    await client!.query(`SET ROLE "${viewerRoleName(connection.user!)}"`);
  });

  const setViewer = (viewer: string) =>
    client!.query(`SELECT set_config('fitgraph.viewer', $1, false)`, [viewer]);
  const owners = async (table: string, owner: string) =>
    (
      await client!.query(
        `SELECT DISTINCT "${owner}" AS "id" FROM "${table}" WHERE "${owner}" IS NOT NULL`,
      )
    ).rows.map(({ id }) => id as number);

  /** Runs a statement and rolls it back; returns its row count or error code. */
  async function attempt(
    text: string,
    values?: unknown[],
  ): Promise<{ rowCount?: number | null; code?: string }> {
    await client!.query('BEGIN');

    try {
      return { rowCount: (await client!.query(text, values)).rowCount };
    } catch (error) {
      return { code: (error as { code?: string }).code };
    } finally {
      await client!.query('ROLLBACK');
    }
  }

  test('sees no owned rows when the viewer is unset, empty or unknown', async () => {
    expect(tables.length).toBeGreaterThanOrEqual(19);
    await client!.query('RESET fitgraph.viewer');

    for (const viewer of [undefined, '', '0', '2147483647']) {
      if (viewer !== undefined) await setViewer(viewer);

      for (const [table, owner] of tables) {
        const all = await fitgraph.sql(
          `SELECT DISTINCT "${owner}" AS "id" FROM "${table}" WHERE "${owner}" = ANY($1)`,
          [[ann.id, bob.id]],
        );

        expect([table, all.length]).toEqual([table, 2]);
        expect([table, await owners(table, owner)]).toEqual([table, []]);
      }
    }
  });

  test('gets an error when the viewer is not a number', async () => {
    await setViewer('ann');
    expect((await attempt('SELECT FROM "workout"')).code).toBe('22P02');
  });

  test('sees only the rows of the viewer in every table', async () => {
    for (const person of [ann, bob]) {
      await setViewer(String(person.id));

      for (const [table, owner] of tables) {
        expect([table, await owners(table, owner)]).toEqual([table, [person.id]]);
      }
    }
  });

  test('updates the rows of the viewer but cannot update, delete or lock those of others', async () => {
    await setViewer(String(ann.id));

    for (const [table, owner] of tables) {
      if (table === 'change') continue;
      const [{ count }] = (await fitgraph.sql(
        `SELECT count(*)::int AS "count" FROM "${table}" WHERE "${owner}" = $1`,
        [ann.id],
      )) as [{ count: number }];

      expect(count).toBeGreaterThan(0);

      if (owner !== 'id') {
        expect([table, await attempt(`UPDATE "${table}" SET "${owner}" = "${owner}"`)]).toEqual([
          table,
          { rowCount: count },
        ]);
      }

      expect([
        table,
        await attempt(`UPDATE "${table}" SET "${owner}" = "${owner}" WHERE "${owner}" = $1`, [
          bob.id,
        ]),
      ]).toEqual([table, { rowCount: 0 }]);
      expect([
        table,
        await attempt(`DELETE FROM "${table}" WHERE "${owner}" = $1`, [bob.id]),
      ]).toEqual([table, { rowCount: 0 }]);
      expect([
        table,
        await attempt(`SELECT FROM "${table}" WHERE "${owner}" = $1 FOR UPDATE`, [bob.id]),
      ]).toEqual([table, { rowCount: 0 }]);
    }
  });

  test('cannot insert rows for another user or transfer rows to them', async () => {
    await setViewer(String(ann.id));

    for (const [table, owner] of tables) {
      if (table === 'change') continue;
      const copied = await fitgraph.sql(
        `SELECT to_jsonb(t) AS "row" FROM "${table}" t WHERE "${owner}" = $1 LIMIT 1`,
        [bob.id],
      );
      const insert = `INSERT INTO "${table}" OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(NULL::"${table}", $1)).*`;
      const columns = await fitgraph.sql(
        `SELECT attname AS "name" FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attgenerated <> ''`,
        [`"${table}"`],
      );

      expect(columns).toEqual([]);
      expect([table, await attempt(insert, [JSON.stringify(copied[0]!.row)])]).toEqual([
        table,
        { code: NOT_PERMITTED },
      ]);
      expect([table, await attempt(`UPDATE "${table}" SET "${owner}" = $1`, [bob.id])]).toEqual([
        table,
        { code: NOT_PERMITTED },
      ]);
    }
  });

  test('cannot update or delete rows of the change log', async () => {
    await setViewer(String(ann.id));
    expect(await attempt('UPDATE "change" SET "row_id" = 0')).toEqual({ rowCount: 0 });
    expect(await attempt('DELETE FROM "change"')).toEqual({ rowCount: 0 });
  });

  test('is the only role to which the policies apply', async () => {
    const { connection } = fitgraph.database.options;
    const administrator = new Client(asSuperuser(connection));

    await administrator.connect();
    const role = `reports_${randomUUID().slice(0, 8)}`;
    const guide = fs.readFileSync(path.join(__dirname, '../../docs/security.md'), 'utf8');
    const [, example] = /```sql\n(CREATE ROLE reports[^`]*)```/.exec(guide)!;
    const granted = [...example!.matchAll(/POLICY reports ON (\w+)/g)].map(([, table]) => table!);

    expect(granted).toContain('workout_log');
    const reporter = new Client({ ...connection, user: role });

    try {
      await administrator.query(
        example!
          .replaceAll(/\breports\b/g, `"${role}"`)
          .replaceAll(/POLICY \S+/g, 'POLICY "of_reports"'),
      );
      await reporter.connect();
      const count = async (table: string) =>
        (await reporter.query(`SELECT count(*)::int AS "rows" FROM "${table}"`)).rows[0]
          .rows as number;

      for (const table of granted) expect([table, await count(table)]).toEqual([table, 2]);

      for (const secret of [
        'token',
        'access_token',
        'session',
        'account',
        'user_account',
        'security_event',
        'login_attempt',
        'password_link',
        'idempotency_key',
      ]) {
        await expect(reporter.query(`SELECT FROM "${secret}"`)).rejects.toMatchObject({
          code: NOT_PERMITTED,
        });
      }

      await expect(
        reporter.query(`SET ROLE "${viewerRoleName(connection.user!)}"`),
      ).rejects.toMatchObject({ code: NOT_PERMITTED });

      // Without its own policies the role sees and writes nothing, even with all privileges and
      // whichever viewer it sets.
      for (const table of granted) {
        await administrator.query(`DROP POLICY "of_reports" ON "${table}"`);
      }

      for (const [table] of tables) {
        await administrator.query(
          `GRANT SELECT, INSERT, UPDATE, DELETE ON "${table}" TO "${role}"`,
        );
      }

      for (const person of [ann, bob]) {
        await reporter.query(`SELECT set_config('fitgraph.viewer', $1, false)`, [
          String(person.id),
        ]);

        for (const [table, owner] of tables) {
          expect([table, await count(table)]).toEqual([table, 0]);

          if (owner !== 'id') {
            expect([table, (await reporter.query(`DELETE FROM "${table}"`)).rowCount]).toEqual([
              table,
              0,
            ]);
          }
        }

        await expect(
          reporter.query(
            'INSERT INTO "workout" ("user_id", "creation_date", "comment") VALUES ($1, now(), $2)',
            [person.id, 'x'],
          ),
        ).rejects.toMatchObject({ code: NOT_PERMITTED });
      }
    } finally {
      await reporter.end();
      await administrator.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
      await administrator.end();
    }
  });

  test('cannot disable row-level security, create tables or log in', async () => {
    await setViewer('');
    expect((await attempt('SET LOCAL row_security = off; SELECT FROM "workout"')).code).toBe(
      NOT_PERMITTED,
    );
    expect((await attempt('ALTER TABLE "workout" DISABLE ROW LEVEL SECURITY')).code).toBe(
      NOT_PERMITTED,
    );
    expect((await attempt('CREATE TABLE "mine" ()')).code).toBe(NOT_PERMITTED);
    const { connection } = fitgraph.database.options;
    const guest = new Client({ ...connection, user: viewerRoleName(connection.user!) });

    await expect(guest.connect()).rejects.toThrow(/not permitted to log in/);
  });
});

describe('the creation of the viewer role', () => {
  let testDatabases: Awaited<ReturnType<typeof createDatabase>>[] = [];
  let opened: Database[] = [];
  let users: string[] = [];

  const database = async () => {
    const one = await createDatabase('tables');

    testDatabases.push(one);
    return one.connection;
  };

  const openAs = (connection: PoolConfig, rowSecurity?: Config['rowSecurity']): Database => {
    const one = open(connection, { rowSecurity });

    opened.push(one);
    return one;
  };

  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()));
    if (!testDatabases.length) return;
    const administrator = new Client({
      ...asSuperuser(testDatabases[0]!.connection),
      database: 'postgres',
    });

    await administrator.connect();
    for (const one of testDatabases) await one.drop();

    for (const user of users) {
      await administrator.query(
        `DROP ROLE IF EXISTS "${viewerRoleName(user)}"; DROP ROLE "${user}"`,
      );
    }

    await administrator.end();
    [testDatabases, opened, users] = [[], [], []];
  });

  /** Creates a role that owns the tables of these databases. */
  async function owner(databases: PoolConfig[], may = ''): Promise<string> {
    const user = `owner_${randomUUID().slice(0, 8)}`;

    users.push(user);

    for (const [index, connection] of databases.entries()) {
      const { pool } = openAs(asSuperuser(connection));

      if (index === 0) await pool.query(`CREATE ROLE "${user}" LOGIN ${may}`);
      await pool.query(`GRANT ALL ON SCHEMA public TO "${user}"`);
      await pool.query(`DO $$ DECLARE t record; BEGIN
        FOR t IN SELECT c.oid::regclass AS name FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
        LOOP EXECUTE format('ALTER TABLE %s OWNER TO %I', t.name, '${user}'); END LOOP; END $$`);
    }

    return user;
  }

  test('succeeds concurrently in several databases of one owner', async () => {
    const databases = [await database(), await database(), await database()];
    const user = await owner(databases, 'CREATEROLE');
    const theirs = databases.map((connection) => openAs({ ...connection, user }));

    await Promise.all(
      theirs.map(async ({ pool }) => {
        const client = await pool.connect();

        await prepareViewerRole(client).finally(() => client.release());
      }),
    );

    for (const { pool } of theirs) {
      expect(await checkRowSecurityStatus(pool)).toEqual({
        role: viewerRoleName(user),
        appliesToServer: false,
      });
    }
  });

  test('reports the SQL that an administrator must run when the owner lacks CREATEROLE', async () => {
    const connection = await database();
    const user = await owner([connection]);
    const theirs = openAs({ ...connection, user });

    await migrateUp(theirs);
    const missing = await checkRowSecurityStatus(theirs.pool);

    expect(missing).toEqual({
      role: `${user}_viewer`,
      appliesToServer: false,
      problem: `the role ${user}_viewer does not exist`,
      advice: `CREATE ROLE "${user}_viewer" NOLOGIN; GRANT "${user}_viewer" TO "${user}";`,
    });
    const messages: string[] = [];

    await activateViewerRole(theirs, (message) => messages.push(message));
    expect(messages).toEqual([
      expect.stringContaining(`the role ${user}_viewer does not exist. Run: CREATE ROLE`),
    ]);
    expect(theirs.sessionUsers.role).toBeUndefined();
    const rolesOfPolicies = async () =>
      (await theirs.pool.query('SELECT DISTINCT "roles"::text FROM pg_policies')).rows.map(
        ({ roles }) => roles as string,
      );

    expect(await rolesOfPolicies()).toEqual([`{${user}}`]);
    const requiringRowSecurity = openAs({ ...connection, user }, 'required');
    const rejected = activateViewerRole(requiringRowSecurity, (message) => messages.push(message));

    await expect(rejected).rejects.toThrow(ConfigError);
    await expect(rejected).rejects.toThrow('ROW_SECURITY=required, but ');
    const { pool } = opened[0]!;

    await pool.query(missing!.advice!.split(';')[0]!);
    expect(await checkRowSecurityStatus(theirs.pool)).toMatchObject({
      problem: `${user} is not allowed to use the role ${user}_viewer`,
    });
    await pool.query(missing!.advice!.split(';')[1]!);
    expect(await checkRowSecurityStatus(theirs.pool)).toMatchObject({
      problem: expect.stringContaining('has no privileges for '),
      advice: 'fitgraph migrate',
    });
    await migrateUp(theirs);
    expect(await checkRowSecurityStatus(theirs.pool)).toEqual({
      role: `${user}_viewer`,
      appliesToServer: false,
    });
    expect(await rolesOfPolicies()).toEqual([`{${user}_viewer}`]);
    await activateViewerRole(requiringRowSecurity, (message) => messages.push(message));
    expect([requiringRowSecurity.sessionUsers.role, messages.length]).toEqual([
      `${user}_viewer`,
      1,
    ]);
    const withoutRowSecurity = openAs({ ...connection, user }, 'off');

    await activateViewerRole(withoutRowSecurity, (message) => messages.push(message));
    expect([withoutRowSecurity.sessionUsers.role, messages.length]).toEqual([undefined, 1]);
    // Tables that are created later need no further grants.
    await theirs.pool.query('CREATE TABLE "later" ("id" integer GENERATED ALWAYS AS IDENTITY)');
    expect((await checkRowSecurityStatus(theirs.pool))!.problem).toBeUndefined();
    await pool.query('ALTER POLICY "own_rows" ON "workout" TO PUBLIC');
    expect(await checkRowSecurityStatus(theirs.pool)).toMatchObject({
      problem: `the policies of workout do not apply to ${user}_viewer alone`,
      advice: 'fitgraph migrate',
    });
    await migrateUp(withoutRowSecurity);
    expect((await checkRowSecurityStatus(theirs.pool))!.problem).toBeUndefined();
    await pool.query(`ALTER ROLE "${user}_viewer" BYPASSRLS`);
    expect(await checkRowSecurityStatus(theirs.pool)).toMatchObject({
      problem: expect.stringContaining('does not apply to the role'),
    });
  });

  test('reports hidden rows when the connecting role does not own the tables', async () => {
    const connection = await database();
    const user = `guest_${randomUUID().slice(0, 8)}`;

    users.push(user);
    await openAs(asSuperuser(connection)).pool.query(
      `CREATE ROLE "${user}" LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "${user}"`,
    );
    const theirs = openAs({ ...connection, user });

    await expect(theirs.withoutTimeouts(rejectIfRowsAreHidden)).rejects.toThrow(
      /shows guest_\w+ no rows, because the tables belong to fitgraph_owner: GRANT "fitgraph_owner" TO/,
    );
    expect(await checkRowSecurityStatus(theirs.pool)).toMatchObject({
      appliesToServer: true,
      advice: `GRANT "${connection.user}" TO "${user}";`,
    });
  });

  test('gives long owner names a role name of at most 63 bytes', () => {
    expect(viewerRoleName('fitgraph')).toBe('fitgraph_viewer');
    expect(viewerRoleName('ä'.repeat(31))).toMatch(/^fitgraph_[0-9a-f]{32}_viewer$/);
    expect(viewerRoleName('x'.repeat(56))).toHaveLength(63);
  });
});
