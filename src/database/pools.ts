/** Connection pools by kind of client. */
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { ConnectionOptions } from './options';
import { TCP_KEEPALIVE_OPTIONS, type CircuitBreaker } from './circuitbreaker';
import { ObservedClient } from './observedclient';
import { buildPoolerSafeSetStatements, buildSetStatements, startupOptions } from './settings';
import { getTypeParser } from './typeparsers';
import type { SessionUsers } from './sessionuser';

export const CONNECTION_TIMEOUT_MS = 3_000;

/** Number of connections for the server's own work. Requests never use them. */
const SERVER_POOL_SIZE = 4;

/** Number of connections for work that needs a session, if DATABASE_LISTEN_URL is set to bypass a pooler. */
const DIRECT_POOL_SIZE = 4;

/** Returns the pool sizes that depend on `poolSize`. The pool of signed-in users has `livePoolSize` additional connections for subscriptions. */
export const poolSizes = (poolSize: number) => ({
  writePoolSize: Math.max(2, Math.ceil(poolSize / 2)),
  livePoolSize: Math.ceil(poolSize / 4),
});

/**
 * Returns the maximum number of connections of a worker, including the one that listens for notifications. `hasDirectPool`: whether
 * DATABASE_LISTEN_URL is set.
 */
export function maxConnectionsPerWorker(poolSize: number, hasDirectPool: boolean): number {
  const { writePoolSize, livePoolSize } = poolSizes(poolSize);
  return (
    2 * poolSize +
    livePoolSize +
    writePoolSize +
    SERVER_POOL_SIZE +
    (hasDirectPool ? DIRECT_POOL_SIZE : 0) +
    1
  );
}

export class Pools {
  /** Connections for the server's own work, to which row-level security does not apply. */
  readonly serverPool: Pool;
  /** Connections for reads by signed-in users. */
  readonly userPool: Pool;
  /** Connections for anonymous clients, with a shorter statement timeout. */
  readonly anonymousPool: Pool;
  readonly writePool: Pool;
  /** Connections for work that needs a session, such as advisory locks. They bypass a pooler. */
  readonly directPool: Pool;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly breaker: CircuitBreaker,
    sessionUsers: SessionUsers,
  ) {
    const { writePoolSize, livePoolSize } = poolSizes(options.poolSize);
    const {
      directConnection,
      poolSize,
      statementTimeout = 0,
      anonymousTimeout = statementTimeout,
    } = options;
    this.serverPool = this.createPrimaryPool(SERVER_POOL_SIZE, statementTimeout);
    this.userPool = this.createPrimaryPool(poolSize + livePoolSize, statementTimeout, sessionUsers);
    this.anonymousPool = this.createPrimaryPool(poolSize, anonymousTimeout, sessionUsers);
    this.writePool = this.createPrimaryPool(writePoolSize, statementTimeout, sessionUsers);
    this.directPool = directConnection
      ? this.createPool(directConnection, DIRECT_POOL_SIZE, statementTimeout, () => [
          buildSetStatements(options, statementTimeout),
        ])
      : this.serverPool;
  }

  private createPrimaryPool(
    max: number,
    statementTimeout: number,
    sessionUsers?: SessionUsers,
  ): Pool {
    const { options } = this;
    const { poolerMode } = options;
    // Behind a pooler, the connection settings are sent as statements, because poolers drop startup parameters.
    const settingsSql =
      poolerMode &&
      (poolerMode === 'session'
        ? buildSetStatements(options, statementTimeout)
        : buildPoolerSafeSetStatements(options));
    return this.createPool(options.connection, max, statementTimeout, () => [
      settingsSql,
      sessionUsers?.firstStatement,
    ]);
  }

  private createPool(
    connection: PoolConfig,
    max: number,
    statementTimeout: number,
    setupStatements: () => readonly (string | undefined)[],
  ): Pool {
    const pool = new Pool({
      ...connection,
      ...TCP_KEEPALIVE_OPTIONS,
      Client: ObservedClient,
      max,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      options: startupOptions(this.options, statementTimeout),
      types: { getTypeParser },
      application_name: 'fitgraph',
      verify: (client: PoolClient, done: (error?: Error) => void) => {
        const setupSql = setupStatements().filter(Boolean).join('; ');
        if (setupSql)
          client.query(setupSql).then(
            () => done(),
            (error: Error) => done(error),
          );
        else done();
      },
    } as PoolConfig);
    // Errors of idle connections are ignored: the pool replaces them, and a request that cannot get a connection reports the failure.
    pool.on('error', () => undefined);
    // Closes a connection that has rejected a write as read-only, because it may stay read-only. The pool then opens another one.
    pool.on(
      'release',
      (_error, client) =>
        void (
          (client as unknown as ObservedClient).isReadOnly && client.end().catch(() => undefined)
        ),
    );
    pool.on('connect', (client) => {
      // Ignores the error event of a lost connection: the running query reports the loss. Without a listener, the event would be an uncaught error.
      client.on('error', () => undefined);
      this.breaker.watch(client, statementTimeout);
    });
    return pool;
  }

  async end(): Promise<void> {
    const pools = new Set([
      this.serverPool,
      this.userPool,
      this.anonymousPool,
      this.writePool,
      this.directPool,
    ]);
    await Promise.all([...pools].map((pool) => pool.end()));
  }
}
