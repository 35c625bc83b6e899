/**
 * The role of the embedded database: its restrictions, and how it becomes the owner of what an
 * earlier release created as the superuser.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client, type PoolConfig } from 'pg';
import { TokenVault } from '../../../src/accounts/tokens';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../../../src/database/embedded';
import { migrateUp } from '../../../src/database/migrate';
import { checkRowSecurityStatus } from '../../../src/database/viewer-role';
import { validateDump } from '../../../src/transfer/dump';
import { importDumpRows } from '../../../src/transfer/importer';
import { catalogue } from '../../setup/catalogue';
import { asSuperuser, open, SECRET_KEY } from '../../setup/databases';
import { shapeOf } from '../../setup/database-shape';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-owner-'));

fs.chmodSync(folder, 0o755);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

let embedded: EmbeddedDatabase | undefined;
const start = async (name: string) =>
  (embedded = await openEmbeddedDatabase({ dataDir: path.join(folder, name) }));

afterEach(() => embedded?.release());

async function withClient<T>(
  connection: PoolConfig,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(connection);

  await client.connect();
  return work(client).finally(() => client.end());
}

/**
 * Selects the owners of the database, its schemas and their objects, except members of extensions.
 */
const OWNERS = `
  SELECT pg_get_userbyid(relowner) AS "owner", oid::regclass::text AS "name" FROM pg_class c
    WHERE relnamespace::regnamespace::text !~ '^pg_|^information_schema$' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND deptype = 'e')
  UNION ALL SELECT pg_get_userbyid(proowner), oid::regprocedure::text FROM pg_proc p
    WHERE pronamespace::regnamespace::text !~ '^pg_|^information_schema$' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND deptype IN ('e', 'i'))
  UNION ALL SELECT pg_get_userbyid(typowner), oid::regtype::text FROM pg_type t
    WHERE typnamespace::regnamespace::text !~ '^pg_|^information_schema$' AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND deptype = 'e')
  UNION ALL SELECT pg_get_userbyid(collowner), collname FROM pg_collation WHERE collnamespace::regnamespace::text !~ '^pg_|^information_schema$'
  UNION ALL SELECT pg_get_userbyid(nspowner), nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'
  UNION ALL SELECT pg_get_userbyid(datdba), datname FROM pg_database WHERE datname = current_database()`;
const notOwned = async (client: Client) =>
  (await client.query(`SELECT * FROM (${OWNERS}) o WHERE "owner" <> 'fitgraph_owner'`)).rows;

const NOT_PERMITTED = '42501';

test('connects without superuser rights and without access to files, programs and other roles', async () => {
  const { connection } = await start('data');

  await withClient(connection, async (client) => {
    const { rows } = await client.query(
      `SELECT "rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls",
         ARRAY(SELECT "rolname" FROM pg_roles o WHERE pg_has_role(r."oid", o."oid", 'MEMBER') ORDER BY 1)::text[] AS "takes"
       FROM pg_roles r WHERE "rolname" = current_user AND current_user = session_user`,
    );

    expect(rows).toEqual([
      {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        rolbypassrls: false,
        takes: ['fitgraph_owner', 'fitgraph_owner_viewer', 'pg_database_owner'],
      },
    ]);
    await client.query('CREATE TABLE "note" ("text" text)');
    const proof = path.join(os.tmpdir(), `fitgraph-owner-proof-${process.pid}`);

    for (const text of [
      `COPY "note" FROM PROGRAM 'touch ${proof}'`,
      `COPY "note" TO PROGRAM 'touch ${proof}'`,
      `COPY "note" FROM '/etc/passwd'`,
      `COPY "note" TO '${proof}'`,
      `SELECT pg_read_file('/etc/passwd')`,
      `SELECT pg_ls_dir('.')`,
      `SELECT lo_import('/etc/passwd')`,
      'CREATE ROLE "other" SUPERUSER',
      'ALTER ROLE "fitgraph_owner" SUPERUSER',
      'GRANT "fitgraph" TO "fitgraph_owner"',
      'GRANT "pg_execute_server_program" TO "fitgraph_owner"',
      'SET ROLE "fitgraph"',
      'SET SESSION AUTHORIZATION "fitgraph"',
      `ALTER SYSTEM SET archive_command = 'touch ${proof}'`,
      'SET session_replication_role = replica',
      'CREATE DATABASE "other"',
      `CREATE FUNCTION "run"() RETURNS integer LANGUAGE c AS 'libc', 'system'`,
      `LOAD 'plpgsql_check'`,
      'CREATE EXTENSION "dblink"',
      'CREATE EXTENSION "file_fdw"',
    ]) {
      expect([
        text,
        await client.query(text).catch((error: { code: string }) => error.code),
      ]).toEqual([text, NOT_PERMITTED]);
    }

    expect(fs.existsSync(proof)).toBe(false);
  });
});

/**
 * Recreates the state of a release without the owner role: the superuser owns all objects, and the
 * only other role is the viewer role.
 */
async function makeFormer(connection: PoolConfig): Promise<void> {
  await withClient({ ...asSuperuser(connection), database: 'postgres' }, async (client) => {
    await client.query('DROP DATABASE "fitgraph"');
    await client.query('DROP ROLE "fitgraph_owner", "fitgraph_owner_viewer"');
    await client.query('CREATE DATABASE "fitgraph"');
  });
  const formerRelease = open(asSuperuser(connection));

  await migrateUp(formerRelease);
  await importDumpRows(validateDump(catalogue()), formerRelease, {
    tokenVault: new TokenVault(SECRET_KEY),
  });
  // Creates objects of all kinds, as an operator may have done.
  await formerRelease.pool.query(`
    CREATE TABLE "an ""odd"" table" ("id" serial PRIMARY KEY, "n" integer GENERATED ALWAYS AS IDENTITY, "language" integer REFERENCES "language" ("id"));
    CREATE INDEX "an ""odd"" index" ON "an ""odd"" table" ("n");
    CREATE VIEW "an ""odd"" view" AS SELECT * FROM "language";
    CREATE MATERIALIZED VIEW "counted" AS SELECT count(*) FROM "language";
    CREATE TABLE "parts" ("n" integer) PARTITION BY RANGE ("n"); CREATE TABLE "part" PARTITION OF "parts" DEFAULT;
    CREATE SEQUENCE "single"; CREATE TYPE "mood" AS ENUM ('good'); CREATE DOMAIN "positive" AS integer CHECK (VALUE > 0);
    CREATE TYPE "pair" AS ("a" integer, "b" integer); CREATE TYPE "span" AS RANGE (subtype = integer);
    CREATE PROCEDURE "nothing"() LANGUAGE sql AS ''; CREATE AGGREGATE "total" (integer) (sfunc = int4pl, stype = integer);
    CREATE FUNCTION "an ""odd"" function"("a" "mood") RETURNS "mood" LANGUAGE sql AS 'SELECT "a"';
    CREATE SCHEMA "an ""odd"" schema"; CREATE TABLE "an ""odd"" schema"."table" ();`);
  await formerRelease.close();
}

describe('a data folder of an earlier release', () => {
  let shape: string[];

  beforeAll(async () => {
    const { connection } = await start('former');

    await makeFormer(connection);
    await withClient(asSuperuser(connection), async (client) => {
      shape = await shapeOf(client);
      // Ensures that the query finds objects of other owners.
      expect((await notOwned(client)).length).toBeGreaterThan(300);
    });
    await embedded!.release();
  });

  test('is rejected and left unchanged while that release uses it', async () => {
    const { connection } = await start('data');

    await makeFormer(connection);
    await withClient(asSuperuser(connection), async (client) => {
      await client.query('BEGIN; LOCK TABLE "language" IN ACCESS SHARE MODE');
      await expect(openEmbeddedDatabase({ dataDir: path.join(folder, 'data') })).rejects.toThrow(
        /^DATA_DIR: an earlier version of Fitgraph is using the database: stop it first$/,
      );
      // No object has changed its owner.
      expect(
        (await client.query(`SELECT FROM (${OWNERS}) o WHERE "owner" = 'fitgraph_owner'`)).rowCount,
      ).toBe(0);
    });
    await (await openEmbeddedDatabase({ dataDir: path.join(folder, 'data') })).release();
  });

  test('is transferred completely to the role, which can then do all its work', async () => {
    const { connection } = await start('former');

    expect(connection.user).toBe('fitgraph_owner');
    await withClient(connection, async (client) => {
      expect(await notOwned(client)).toEqual([]);
      expect(await shapeOf(client)).toEqual(shape);
      expect(
        (
          await client.query(
            `SELECT FROM pg_roles WHERE "rolname" = 'fitgraph_owner' AND NOT "rolsuper"`,
          )
        ).rowCount,
      ).toBe(1);
    });
    const database = open(connection);

    try {
      expect(await migrateUp(database)).toEqual([]);
      expect(await checkRowSecurityStatus(database.pool)).toEqual({
        role: 'fitgraph_owner_viewer',
        appliesToServer: false,
      });
      expect((await database.pool.query('SELECT FROM "language"')).rowCount).toBeGreaterThan(0);
      // Changes each table in a way that only its owner may.
      const { rows } = await database.pool
        .query(`SELECT oid::regclass AS "name" FROM pg_class c WHERE "relkind" = 'r'
        AND "relnamespace" = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`);

      for (const { name } of rows) {
        await database.pool.query(
          `ALTER TABLE ${name} DISABLE TRIGGER USER; ALTER TABLE ${name} ENABLE TRIGGER USER`,
        );
      }

      await importDumpRows(validateDump(catalogue()), database, {
        tokenVault: new TokenVault(SECRET_KEY),
        shouldReplaceExisting: true,
      });
    } finally {
      await database.close();
    }
  });

  test('is transferred again after the superuser has created tables in it', async () => {
    let { connection } = await start('former');

    await withClient(asSuperuser(connection), (client) =>
      client.query('CREATE TABLE "later" ("id" integer GENERATED ALWAYS AS IDENTITY)'),
    );
    await embedded!.release();
    ({ connection } = await start('former'));
    await withClient(connection, async (client) => expect(await notOwned(client)).toEqual([]));
  });

  test('executes no function of the owner as the superuser', async () => {
    const { connection } = await start('former');

    await withClient(connection, async (client) => {
      await client.query(`CREATE SCHEMA "trap"; CREATE TABLE "trap"."sprung" ("by" text); GRANT ALL ON SCHEMA "trap" TO PUBLIC;
        CREATE FUNCTION "trap"."format"(text, text, text) RETURNS text LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO "trap"."sprung" VALUES (current_user); RETURN pg_catalog.format($1, $2, $3); END $$;
        ALTER DATABASE "fitgraph" SET search_path = "trap", "public", pg_catalog`);
    });
    await withClient(asSuperuser(connection), (client) =>
      client.query('CREATE TABLE public."bait" ()'),
    );
    await embedded!.release();
    await start('former');
    await withClient(connection, async (client) => {
      expect((await client.query('SELECT FROM "trap"."sprung"')).rowCount).toBe(0);
      expect(await notOwned(client)).toEqual([]);
    });
  });
});
