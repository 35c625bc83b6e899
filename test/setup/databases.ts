/** Databases of the test run's one PostgreSQL: as many as tests want, each a copy of a template, so that making one takes a moment. */
import { Client, type PoolConfig } from 'pg';
import { TokenVault } from '../../src/auth/tokens';
import type { Config } from '../../src/platform/config';
import { Database } from '../../src/database/connection';
import { migrateUp } from '../../src/database/migrate';
import { replicaOf } from '../../src/database/open';
import { models } from '../../src/graphql/schema';
import { asDump } from '../../src/transfer/dump';
import { writeRows } from '../../src/transfer/writer';
import { catalogue } from './catalogue';

/** What a new database holds: nothing, empty tables, or the small catalogue of `catalogue.ts`. */
export type Content = 'nothing' | 'tables' | 'catalogue';

const TEMPLATES: Record<Content, string> = { nothing: 'template0', tables: 'fitgraph_tables', catalogue: 'fitgraph_catalogue' };

export const SECRET_KEY = 'the secret key of the tests, long enough';
export const TIME_ZONE = 'Europe/Berlin';

/** Where global setup leaves the connection of the server for the workers. */
export const SERVER = 'FITGRAPH_TEST_SERVER';
/** And a folder for what is made once for the whole run. */
export const FOLDER = 'FITGRAPH_TEST_FOLDER';

const server = (): PoolConfig => JSON.parse(process.env[SERVER]!);

async function administer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...server(), database: 'postgres' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Without a configuration nothing is given up, as for the commands of an operator. */
export const open = (
  connection: PoolConfig,
  config?: Partial<
    Pick<
      Config,
      | 'replicaUrl'
      | 'replicaLag'
      | 'poolSize'
      | 'statementTimeout'
      | 'anonymousTimeout'
      | 'lockTimeout'
      | 'idleTransactionTimeout'
      | 'rowSecurity'
      | 'queue'
    >
  >,
): Database =>
  new Database({
    connection,
    poolSize: 5,
    timeZone: TIME_ZONE,
    ...config,
    replica: replicaOf({ replicaLag: 0, ...config }),
    patience: config?.queue ?? { waiting: Infinity, ms: Infinity },
    models,
  });

let made = 0;

/** A database of one's own; `drop` it at the end. */
export async function createDatabase(content: Content): Promise<{ connection: PoolConfig; url: string; drop(): Promise<void> }> {
  // A file that failed may have left its own behind, in the same process.
  const name = `test_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`;
  await administer((client) => client.query(`CREATE DATABASE "${name}" TEMPLATE "${TEMPLATES[content]}"`));
  const connection = { ...server(), database: name };
  return {
    connection,
    url: `postgres://${connection.user}@localhost:${connection.port}/${name}?host=${encodeURIComponent(connection.host!)}`,
    drop: () => administer(async (client) => void (await client.query(`DROP DATABASE "${name}" WITH (FORCE)`))),
  };
}

/** Makes the templates. Nothing in a test run has to survive a power failure, so PostgreSQL need not wait for the disk. */
export async function createTemplates(): Promise<void> {
  await administer(async (client) => {
    await client.query('ALTER SYSTEM SET fsync = off');
    await client.query('ALTER SYSTEM SET synchronous_commit = off');
    await client.query('SELECT pg_reload_conf()');
    await client.query(`CREATE DATABASE "${TEMPLATES.tables}" TEMPLATE template0`);
  });
  await filled(TEMPLATES.tables, migrateUp);
  await administer((client) => client.query(`CREATE DATABASE "${TEMPLATES.catalogue}" TEMPLATE "${TEMPLATES.tables}"`));
  await filled(TEMPLATES.catalogue, (database) => writeRows(asDump(catalogue()), database, { vault: new TokenVault(SECRET_KEY) }));
}

async function filled(name: string, fill: (database: Database) => Promise<unknown>): Promise<void> {
  const database = open({ ...server(), database: name });
  try {
    await fill(database);
  } finally {
    await database.close();
  }
}
