/** Opens the configured database: an external PostgreSQL (DATABASE_URL) or the embedded one. */
import { Client, type PoolConfig } from 'pg';
import { backendKeyOf } from './internals/pg';
import { ConfigError, type Config } from '../shared/config';
import { Database } from './connection';
import { checkDataDir } from './data-dir';
import { openEmbeddedDatabase, type EmbeddedConnection, type EmbeddedDatabase } from './embedded';
import { CONNECTION_OPTIONS, maxConnectionsPerWorker } from './pools';
import { loadSecretKey } from './secret-key';

const MIN_POSTGRES_VERSION_NUMBER = 140_000;

export interface OpenedDatabase {
  database: Database;
  isEmbedded: boolean;
  secretKey: string;

  /** Whether the embedded database has stopped since it was opened. */
  hasStopped(): Promise<boolean>;
  close(): Promise<void>;
}

interface OpenOptions {
  /**
   * Whether to read the secret key (default: true). If false, `secretKey` of the result is empty.
   */
  needsSecretKey?: boolean;

  /** Whether to restart an embedded database that stops unexpectedly. */
  shouldRestart?: boolean;

  /** Connection options of an embedded database that another process has opened. */
  embeddedConnection?: EmbeddedConnection;
}

export async function openDatabase(
  config: Config,
  log: (message: string) => void,
  { needsSecretKey = true, shouldRestart, embeddedConnection }: OpenOptions = {},
): Promise<OpenedDatabase> {
  const { databaseUrl, listenUrl } = config;

  checkDataDir(config.dataDir);
  let embeddedDatabase: EmbeddedDatabase | undefined;

  if (!databaseUrl && !embeddedConnection) {
    embeddedDatabase = await openEmbeddedDatabase({ dataDir: config.dataDir, log, shouldRestart });
  }

  const connection = databaseUrl
    ? { connectionString: databaseUrl }
    : (embeddedConnection ?? embeddedDatabase!.connection);
  const directConnection = listenUrl === undefined ? undefined : { connectionString: listenUrl };
  let { poolSize } = config;

  if (databaseUrl !== undefined) {
    const connectionLimit = await inspectDatabase(connection, directConnection);

    if (connectionLimit !== undefined) poolSize = limitPoolSize(config, connectionLimit, log);
  }

  const database = new Database({
    ...config,
    poolSize,
    connection,
    directConnection,
  });

  const close = async () => {
    await database.close();
    await embeddedDatabase?.release();
  };

  try {
    const secretKey = needsSecretKey ? await loadSecretKey(config, database) : '';
    const hasStopped = async () => (await embeddedDatabase?.hasStopped()) ?? false;

    return { database, isEmbedded: databaseUrl === undefined, secretKey, hasStopped, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reduces the pool size (DATABASE_POOL) to what PostgreSQL's connection limit permits. */
function limitPoolSize(
  { poolSize, workers }: Config,
  connectionLimit: number,
  log: (message: string) => void,
): number {
  let size = poolSize;

  while (size > 1 && maxConnectionsPerWorker(size) * Math.max(1, workers) > connectionLimit) {
    size -= 1;
  }

  if (size < poolSize) {
    log(
      `the database allows ${connectionLimit} connections for this role: reduced DATABASE_POOL from ${poolSize} to ${size}`,
    );
  }

  return size;
}

/**
 * SQL: number of connections to this database that PostgreSQL allows for this role, in all
 * processes together.
 */
export const CONNECTION_LIMIT_SQL = `(
  SELECT least(current_setting('max_connections')::int -
    current_setting('superuser_reserved_connections')::int,
           nullif(rolconnlimit, -1), nullif(datconnlimit, -1))
    FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database())`;

const POOLER_MESSAGE =
  'DATABASE_URL leads to a connection pooler. Set DATABASE_LISTEN_URL to a URL of the same database that leads to PostgreSQL itself; ' +
  'or connect DATABASE_URL to PostgreSQL itself, because the server has its own connection pool.';

/**
 * Checks the version of PostgreSQL, and that DATABASE_LISTEN_URL is set if DATABASE_URL leads to a
 * pooler. Returns the connection limit of the role, which is unknown behind a pooler.
 */
async function inspectDatabase(
  connection: PoolConfig,
  directConnection: PoolConfig | undefined,
): Promise<number | undefined> {
  const properties = await readDatabaseProperties('DATABASE_URL', connection);

  if (directConnection) await readDatabaseProperties('DATABASE_LISTEN_URL', directConnection);
  else if (properties.isPooled) throw new ConfigError(POOLER_MESSAGE);

  return directConnection ? undefined : properties.connectionLimit;
}

async function readDatabaseProperties(
  name: string,
  options: PoolConfig,
): Promise<{ isPooled: boolean; connectionLimit: number }> {
  const client = new Client({ ...options, ...CONNECTION_OPTIONS });

  client.on('error', () => undefined);
  await client.connect().catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(
      `${name}: the database cannot be reached: ${error.message || error.code}`,
    );
  });

  try {
    const [{ version, pid, connectionLimit }] = (
      await client.query(
        `SELECT current_setting('server_version_num')::int AS "version", pg_backend_pid() AS "pid", ${CONNECTION_LIMIT_SQL} AS "connectionLimit"`,
      )
    ).rows;

    if (version < MIN_POSTGRES_VERSION_NUMBER) {
      throw new ConfigError(`${name}: PostgreSQL 14 or newer is required`);
    }

    // A connection pooler reports a process id of its own.
    return { isPooled: pid !== backendKeyOf(client).processID, connectionLimit };
  } finally {
    await client.end().catch(() => undefined);
  }
}
