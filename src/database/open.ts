/** Opens the configured database: an external PostgreSQL (DATABASE_URL) or the embedded one. */
import type { Client, PoolConfig } from 'pg';
import type { ModelCtor } from 'sequelize-typescript';
import { ConfigError, type Config } from '../platform/config';
import { Database } from './connection';
import { checkDataDir } from './datadir';
import { openEmbeddedDatabase, type EmbeddedConnection } from './embedded';
import { ObservedClient } from './observedclient';
import type { PoolerMode } from './options';
import { detectPoolerMode, explainPoolerError } from './pooler';
import { maxConnectionsPerWorker, CONNECTION_TIMEOUT_MS } from './pools';
import { TCP_KEEPALIVE_OPTIONS } from './circuitbreaker';
import { startupOptions } from './settings';
import { loadSecretKey } from './secretkey';

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
  /** Whether to read the secret key. Default: true. Without it, `secretKey` of the result is empty. */
  needsSecretKey?: boolean;
  /** Whether to restart an embedded database that stops unexpectedly. */
  shouldRestart?: boolean;
  /** Connection options of the embedded database if another process has opened it and sent them to this process. Default: this process opens it. */
  embeddedConnection?: EmbeddedConnection;
}

interface DatabaseProperties {
  poolerMode?: PoolerMode;
  /** Maximum number of connections that PostgreSQL permits for the database user. */
  connectionLimit?: number;
}

export async function openDatabase(
  config: Config,
  models: ModelCtor[],
  log: (message: string) => void,
  { needsSecretKey = true, shouldRestart, embeddedConnection }: OpenOptions = {},
): Promise<OpenedDatabase> {
  const { databaseUrl, listenUrl } = config;
  checkDataDir(config.dataDir);
  const embeddedDatabase =
    databaseUrl || embeddedConnection
      ? undefined
      : await openEmbeddedDatabase({ dataDir: config.dataDir, log, shouldRestart });
  const connection = databaseUrl
    ? { connectionString: databaseUrl }
    : (embeddedConnection ?? embeddedDatabase!.connection);
  const directConnection = listenUrl === undefined ? undefined : { connectionString: listenUrl };
  const { poolerMode, connectionLimit } =
    databaseUrl === undefined ? {} : await inspectDatabase(config, connection, directConnection);
  const poolSize =
    poolerMode || !connectionLimit
      ? config.poolSize
      : limitPoolSize(config, connectionLimit, directConnection !== undefined, log);
  const database = new Database({
    ...config,
    poolSize,
    connection,
    directConnection,
    poolerMode,
    models,
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

/** Returns DATABASE_POOL or, if PostgreSQL does not permit enough connections for it, the largest pool size that it permits. */
function limitPoolSize(
  { poolSize, workers }: Config,
  connectionLimit: number,
  hasDirectPool: boolean,
  log: (message: string) => void,
): number {
  let size = poolSize;
  while (
    size > 1 &&
    maxConnectionsPerWorker(size, hasDirectPool) * Math.max(1, workers) > connectionLimit
  )
    size -= 1;
  if (size < poolSize)
    log(
      `the database allows ${connectionLimit} connections for this role: reduced DATABASE_POOL from ${poolSize} to ${size}`,
    );
  return size;
}

/** SQL: number of connections to this database that PostgreSQL allows for this role, in all processes together. */
export const CONNECTION_LIMIT_SQL = `(
  SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
           nullif(rolconnlimit, -1), nullif(datconnlimit, -1))
    FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database())`;

/** Detects the pooling mode and the connection limit. Throws a ConfigError for unsupported setups. */
async function inspectDatabase(
  config: Config,
  connection: PoolConfig,
  directConnection: PoolConfig | undefined,
): Promise<DatabaseProperties> {
  const endpoints = [
    { name: 'DATABASE_URL', options: connection },
    ...(directConnection ? [{ name: 'DATABASE_LISTEN_URL', options: directConnection }] : []),
  ];
  const clients: Client[] = [];
  const connectTo = async ({ name, options }: (typeof endpoints)[number]): Promise<Client> => {
    const client: Client = new ObservedClient({
      ...options,
      ...TCP_KEEPALIVE_OPTIONS,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      options: startupOptions(config, config.statementTimeout),
    });
    client.on('error', () => undefined);
    clients.push(client);
    await client.connect().catch((error: Error) => {
      throw (
        explainPoolerError(error) ??
        new ConfigError(
          `${name}: the database cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`,
        )
      );
    });
    const [{ version }] = (
      await client.query(`SELECT current_setting('server_version_num')::int AS "version"`)
    ).rows;
    if (version < MIN_POSTGRES_VERSION_NUMBER)
      throw new ConfigError(`${name}: PostgreSQL 14 or newer is required`);
    return client;
  };
  try {
    const poolerMode = await detectPoolerMode(
      () => connectTo(endpoints[0]!),
      endpoints[1] && (() => connectTo(endpoints[1]!)),
    );
    const [{ connectionLimit }] = (
      await clients[0]!.query(`SELECT ${CONNECTION_LIMIT_SQL} AS "connectionLimit"`)
    ).rows;
    return { poolerMode, connectionLimit };
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}
