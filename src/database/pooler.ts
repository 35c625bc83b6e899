/**
 * Detects a connection pooler such as PgBouncer between this program and PostgreSQL. Session pooling is supported, even if the pooler drops startup
 * parameters. Transaction pooling is supported if the pooler tracks prepared statements and a direct connection exists for everything that needs a session:
 * LISTEN, advisory locks, migrations.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { backendKeyOf } from '../internals/pg';
import { ConfigError } from '../platform/config';
import type { PoolerMode } from './options';

const queryBackendPid = async (client: Client): Promise<number> =>
  (await client.query('SELECT pg_backend_pid() AS "pid"')).rows[0].pid as number;

/** Returns the process id that the client received when it connected. Behind a pooler, it differs from the process id of the backend. */
const announcedPidOf = (client: Client) => backendKeyOf(client).processID;

/** Number of attempts to observe that a pooler moves a connection to another backend. */
const MAX_OBSERVATION_ATTEMPTS = 3;

const STATEMENT_POOLING_MESSAGE =
  'DATABASE_URL points to a pooler with statement pooling (pool_mode = statement of pgbouncer), which does not support transactions. ' +
  'Set pool_mode = transaction or session for this database, or connect DATABASE_URL directly to PostgreSQL.';
const TRANSACTION_POOLING_MESSAGE =
  'DATABASE_URL points to a pooler with transaction pooling (pool_mode = transaction of pgbouncer). ' +
  'Set DATABASE_LISTEN_URL to a URL that connects directly to PostgreSQL, for the same database; ' +
  'or set pool_mode = session for this database; or connect DATABASE_URL directly to PostgreSQL, because the server has its own connection pool.';
const NO_PREPARED_STATEMENTS_MESSAGE =
  'DATABASE_URL points to a pooler with transaction pooling that does not support prepared statements. ' +
  'Use pgbouncer 1.21 or newer with max_prepared_statements = 200 or more, or set pool_mode = session.';
const LISTEN_URL_OF_POOLER_MESSAGE =
  'DATABASE_LISTEN_URL points to a pooler with transaction pooling: it must connect directly to PostgreSQL.';
const DIFFERENT_DATABASES_MESSAGE =
  'DATABASE_LISTEN_URL and DATABASE_URL must refer to the same database on the same server.';

/** Error code with which poolers reject unknown startup parameters (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const PROTOCOL_VIOLATION_CODE = '08P01';

/** Returns an explanation of a connection error that a pooler has caused; undefined for other errors. */
export const explainPoolerError = (error: Error): ConfigError | undefined =>
  (error as { code?: string }).code === PROTOCOL_VIOLATION_CODE
    ? new ConfigError(
        `DATABASE_URL points to a pooler that rejects a startup parameter: ${error.message}. ` +
          'For pgbouncer set ignore_startup_parameters = options, or connect DATABASE_URL directly to PostgreSQL',
      )
    : undefined;

type ConnectFunction = () => Promise<Client>;

/** Returns the pooling mode; undefined without a pooler. Throws a ConfigError for unsupported combinations. */
export async function detectPoolerMode(
  connect: ConnectFunction,
  connectDirectly?: ConnectFunction,
): Promise<PoolerMode | undefined> {
  const client = await connect();
  const poolerMode = await observePoolerMode(client, connect);
  if (poolerMode === 'transaction') {
    if (!connectDirectly) throw new ConfigError(TRANSACTION_POOLING_MESSAGE);
    if (!(await tracksPreparedStatements(client)))
      throw new ConfigError(NO_PREPARED_STATEMENTS_MESSAGE);
  }
  if (!connectDirectly) return poolerMode;
  const directClient = await connectDirectly();
  if ((await observePoolerMode(directClient, connectDirectly)) === 'transaction')
    throw new ConfigError(LISTEN_URL_OF_POOLER_MESSAGE);
  if (!(await isSameDatabase(directClient, client)))
    throw new ConfigError(DIFFERENT_DATABASES_MESSAGE);
  return poolerMode;
}

async function observePoolerMode(
  client: Client,
  connect: ConnectFunction,
): Promise<PoolerMode | undefined> {
  let pid = await queryBackendPid(client);
  if (pid === announcedPidOf(client)) return undefined;
  const otherClient = await connect();
  for (let attempt = 0; attempt < MAX_OBSERVATION_ATTEMPTS; attempt += 1) {
    await otherClient.query('BEGIN').catch(() => {
      throw new ConfigError(STATEMENT_POOLING_MESSAGE);
    });
    const otherPid = await queryBackendPid(otherClient).catch(() => {
      throw new ConfigError(STATEMENT_POOLING_MESSAGE);
    });
    const previousPid = pid;
    // With transaction pooling, the open transaction of `otherClient` may occupy the backend of `client`, which then moves to a different one.
    pid = await queryBackendPid(client);
    await otherClient.query('COMMIT');
    if (otherPid === previousPid || pid !== previousPid) return 'transaction';
  }
  return 'session';
}

/** Whether the pooler tracks prepared statements. Such a pooler renames them, so PostgreSQL does not know the original name. */
async function tracksPreparedStatements(client: Client): Promise<boolean> {
  const name = `fitgraph_${randomUUID()}`;
  const { rowCount } = await client.query({
    name,
    text: 'SELECT FROM pg_prepared_statements WHERE "name" = $1',
    values: [name],
  });
  return rowCount === 0;
}

/** Whether both clients are connected to the same database: an advisory lock of one is visible to the other. */
async function isSameDatabase(directClient: Client, client: Client): Promise<boolean> {
  const lockKeys = [randomInt(2 ** 31), randomInt(2 ** 31)];
  await directClient.query('SELECT pg_advisory_lock($1, $2)', lockKeys);
  const { rowCount } = await client.query(
    `SELECT FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = $1 AND "objid" = $2
       AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())`,
    lockKeys,
  );
  await directClient.query('SELECT pg_advisory_unlock($1, $2)', lockKeys);
  return rowCount !== 0;
}
