/** The database as this process uses it: for reads, a connection pool and a concurrency limiter for each kind of client; for writes, Sequelize. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import type { Sequelize } from 'sequelize-typescript';
import { ClientLimiters, ConcurrencyLimiter } from '../platform/limiter';
import type { ConnectionOptions } from './options';
import { Pools, poolSizes } from './pools';
import { PreparedStatements } from './preparedstatements';
import { CircuitBreaker } from './circuitbreaker';
import type { Row } from './rows';
import { openSequelize } from './sequelize';
import { DatabaseSession } from './session';
import { buildSetStatements, statementThatSetsTimeouts, TIMEOUT_SETTING_NAMES } from './settings';
import type { ReadDependencies } from './statement';
import { SessionUsers } from './sessionuser';

const MAX_CONCURRENT_SERVER_STATEMENTS = 2;
/** Concurrent statements for events of anonymous subscriptions, one for each network. */
const ANONYMOUS_LIVE_SLOTS = 3;

/** Factor by which the maximum waiting time of writes exceeds that of reads: writes take longer, and a rejected write costs the client more. */
const WRITE_TO_READ_WAIT_RATIO = 4;

/** Kinds of clients: anonymous clients, signed-in users, the subscriptions of both (`live` are those of users), and the server itself (`own`). */
export type ClientKind = 'anonymous' | 'users' | 'anonymousLive' | 'live' | 'own';

const CLOSE_TIMEOUT_MS = 500;

export class Database {
  readonly readDependencies: Readonly<Record<ClientKind, ReadDependencies>>;
  readonly writeLimiters: ClientLimiters;
  readonly sequelize: Sequelize;
  readonly breaker: CircuitBreaker;
  readonly sessionUsers: SessionUsers;
  readonly preparedStatements = new PreparedStatements();
  private readonly pools: Pools;

  constructor(readonly options: ConnectionOptions) {
    const { connection, directConnection, poolerMode, poolSize, queueLimits } = options;
    const { writePoolSize, livePoolSize } = poolSizes(poolSize);
    this.breaker = new CircuitBreaker(connection, poolerMode && directConnection);
    this.sessionUsers = new SessionUsers(poolerMode === 'transaction');
    this.pools = new Pools(options, this.breaker, this.sessionUsers);
    this.readDependencies = this.createReadDependencies(livePoolSize);
    this.writeLimiters = new ClientLimiters({
      slots: writePoolSize,
      anonymousSlots: Math.ceil(writePoolSize / 2),
      ...queueLimits,
      maxWaitMs: queueLimits.maxWaitMs * WRITE_TO_READ_WAIT_RATIO,
    });
    this.sequelize = openSequelize(options, this.pools.writePool, this.sessionUsers);
  }

  private createReadDependencies(livePoolSize: number): Record<ClientKind, ReadDependencies> {
    const { options, pools, preparedStatements, breaker, sessionUsers } = this;
    const {
      poolerMode,
      poolSize,
      queueLimits,
      statementTimeout = 0,
      anonymousTimeout = statementTimeout,
    } = options;
    const precedingStatement = (timeout: number) =>
      poolerMode === 'transaction' ? statementThatSetsTimeouts(options, timeout) : undefined;
    const sharedReadDependencies = {
      preparedStatements,
      breaker,
      precedingStatement: precedingStatement(statementTimeout),
    };
    const userReadDependencies = { ...sharedReadDependencies, pool: pools.userPool, sessionUsers };
    const anonymousReadDependencies = {
      ...sharedReadDependencies,
      pool: pools.anonymousPool,
      sessionUsers,
      precedingStatement: precedingStatement(anonymousTimeout),
    };
    const limiters = new ClientLimiters({ slots: poolSize, ...queueLimits });
    const liveLimiters = new ClientLimiters({
      slots: livePoolSize,
      anonymousSlots: ANONYMOUS_LIVE_SLOTS,
    });
    return {
      anonymous: { ...anonymousReadDependencies, limiter: limiters.anonymous },
      users: { ...userReadDependencies, limiter: limiters.users },
      // The queue for statements of subscription events is unlimited: they may wait, and the limit on the number of subscriptions bounds how many there
      // are.
      live: { ...userReadDependencies, limiter: liveLimiters.users },
      anonymousLive: { ...userReadDependencies, limiter: liveLimiters.anonymous },
      own: {
        ...sharedReadDependencies,
        pool: pools.serverPool,
        limiter: new ConcurrencyLimiter({ slots: MAX_CONCURRENT_SERVER_STATEMENTS }),
      },
    };
  }

  /** Connection pool for the server's own statements. Row-level security does not apply to its connections. */
  get pool(): Pool {
    return this.pools.serverPool;
  }

  /** Connection options for work that needs a session: they bypass a pooler. */
  get direct(): PoolConfig {
    return this.options.directConnection ?? this.options.connection;
  }

  /** Returns the number of busy and idle connections and of waiting clients, by pool. */
  connectionCounts(): Record<string, { busy: number; idle: number; waiting: number }> {
    const countConnections = ({ totalCount, idleCount, waitingCount }: Pool) => ({
      busy: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    });
    const { anonymousPool, userPool, serverPool, writePool } = this.pools;
    return {
      anonymous: countConnections(anonymousPool),
      users: countConnections(userPool),
      own: countConnections(serverPool),
      writes: countConnections(writePool),
    };
  }

  createSession(): DatabaseSession {
    return new DatabaseSession(this);
  }

  /** Runs a statement that the server needs for itself, outside of any request. Row-level security does not apply to it. */
  queryAsServer(text: string, values?: unknown[]): Promise<Row[]> {
    return this.createSession().query(text, values);
  }

  /** Runs maintenance work that takes long, on a connection without timeouts. */
  async withoutTimeouts<T>(callback: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pools.directPool.connect();
    let restorationError: Error | undefined;
    try {
      await client.query(TIMEOUT_SETTING_NAMES.map((name) => `SET ${name} = 0`).join(';'));
      this.breaker.setStatementTimeout(client, 0);
      return await callback(client);
    } finally {
      const { options } = this;
      const restorationSql = options.poolerMode
        ? buildSetStatements(options, options.statementTimeout ?? 0)
        : TIMEOUT_SETTING_NAMES.map((name) => `RESET ${name}`).join(';');
      await client.query(restorationSql).catch((error: Error) => (restorationError = error));
      this.breaker.setStatementTimeout(client, options.statementTimeout ?? 0);
      // If the timeout settings of a connection could not be restored, the connection is closed instead of returned to the pool.
      client.release(restorationError);
    }
  }

  /** Closes all connections. Waits only a short time for running statements, which may be waiting for a lock. */
  async close(): Promise<void> {
    const poolsClosed = this.pools.end();
    await Promise.race([poolsClosed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    this.breaker.stop();
  }
}
