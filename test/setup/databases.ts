/**
 * Creates databases on the PostgreSQL of the test run. Each is a copy of a template, so that
 * creating one takes a moment.
 */
import { Client, type PoolConfig } from 'pg';
import { TokenVault } from '../../src/accounts/tokens';
import type { Config } from '../../src/shared/config';
import { Database } from '../../src/database/connection';
import { SUPERUSER } from '../../src/database/embedded/cluster';
import { OWNER_ROLE } from '../../src/database/embedded/owner';
import { migrateUp } from '../../src/database/migrate';
import '../../src/graphql/schema';
import { validateDump } from '../../src/transfer/dump';
import { importDumpRows } from '../../src/transfer/importer';
import { catalogue } from './catalogue';
import { runServer } from './shared-server';

/** What a new database holds: nothing, empty tables, or the small catalogue of `catalogue.ts`. */
export type Content = 'nothing' | 'tables' | 'catalogue';

const TEMPLATES: Record<Content, string> = {
  nothing: 'template0',
  tables: 'fitgraph_tables',
  catalogue: 'fitgraph_catalogue',
};

export const SECRET_KEY = 'the secret key of the tests, long enough';
export const TIME_ZONE = 'Europe/Berlin';

/** Returns the same connection for the superuser. */
export const asSuperuser = (connection: PoolConfig): PoolConfig => ({
  ...connection,
  user: SUPERUSER,
});

async function administer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...asSuperuser(await runServer()), database: 'postgres' });

  await client.connect();

  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Opens a database. Without a configuration there are no timeouts and no queue limits, as in the
 * commands of an operator.
 */
export const open = (
  connection: PoolConfig,
  config?: Partial<
    Pick<
      Config,
      | 'poolSize'
      | 'statementTimeout'
      | 'anonymousTimeout'
      | 'lockTimeout'
      | 'idleTransactionTimeout'
      | 'rowSecurity'
      | 'queueLimits'
    >
  >,
): Database =>
  new Database({
    connection,
    poolSize: 5,
    timeZone: TIME_ZONE,
    ...config,
    queueLimits: config?.queueLimits ?? { maxQueued: Infinity, maxWaitMs: Infinity },
  });

let made = 0;

/** Creates a database with this content; the caller must `drop` it. */
export async function createDatabase(
  content: Content,
): Promise<{ connection: PoolConfig; url: string; drop(): Promise<void> }> {
  if (content !== 'nothing') await createTemplates();
  // A test file that failed may have left a database behind in the same process.
  const name = `test_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`;

  await administer((client) =>
    client.query(`CREATE DATABASE "${name}" TEMPLATE "${TEMPLATES[content]}" OWNER ${OWNER_ROLE}`),
  );
  const server = await runServer();
  const connection = { ...server, database: name };

  return {
    connection,
    url: `postgres://${server.user}@localhost:${server.port}/${name}?host=${encodeURIComponent(server.host!)}`,
    drop: () =>
      administer(
        async (client) => void (await client.query(`DROP DATABASE "${name}" WITH (FORCE)`)),
      ),
  };
}

let templates: Promise<void> | undefined;

/** Key of the advisory lock under which one process creates the templates for all. */
const TEMPLATES_LOCK = 1;

/**
 * Creates the templates unless another test file of the run has done so. Tests need no data after a
 * power failure, so PostgreSQL does not sync.
 */
export const createTemplates = (): Promise<void> =>
  (templates ??= administer(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATES_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [
      TEMPLATES.catalogue,
    ]);

    if (rowCount) return;

    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      await client.query(`ALTER SYSTEM SET ${setting} = off`);
    }

    await client.query('SELECT pg_reload_conf()');

    // Another process may have failed before it finished.
    for (const name of [PART, TEMPLATES.tables]) {
      await client.query(`DROP DATABASE IF EXISTS "${name}"`);
    }

    await client.query(
      `CREATE DATABASE "${TEMPLATES.tables}" TEMPLATE template0 OWNER ${OWNER_ROLE}`,
    );
    await fill(TEMPLATES.tables, migrateUp);
    await client.query(
      `CREATE DATABASE "${PART}" TEMPLATE "${TEMPLATES.tables}" OWNER ${OWNER_ROLE}`,
    );
    await fill(PART, (database) =>
      importDumpRows(validateDump(catalogue()), database, {
        tokenVault: new TokenVault(SECRET_KEY),
      }),
    );
    await client.query(`ALTER DATABASE "${PART}" RENAME TO "${TEMPLATES.catalogue}"`);
  }));

/** Name of the last template while it is being filled. */
const PART = 'fitgraph_part';

async function fill(name: string, work: (database: Database) => Promise<unknown>): Promise<void> {
  const database = open({ ...(await runServer()), database: name });

  try {
    await work(database);
  } finally {
    await database.close();
  }
}
