/**
 * The database as this process uses it: connection pools, and a concurrency limiter for the reads
 * of each kind of client and for writes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Pool, PoolConfig } from 'pg';
import { ClientLimiters, ConcurrencyLimiter } from '../shared/limiter';
import { type ConnectionOptions, connectDirectly, Pools, poolSizes } from './pools';
import { PreparedStatements } from './prepared-statements';
import type { Row } from './rows';
import {
  DatabaseSession,
  type AuditSource,
  type ClientKind,
  type SessionDatabase,
} from './session';
import { beginWithTimeoutsSql, setTimeoutsStatement } from './settings';
import type { StatementServices } from './statement';
import { SessionUsers } from './session-user';

const MAX_CONCURRENT_SERVER_STATEMENTS = 2;

/**
 * Number of concurrent statements for events of anonymous subscriptions, at most one per network.
 */
const ANONYMOUS_SUBSCRIPTION_SLOTS = 3;

/**
 * Ratio of the maximum queueing times of writes and reads. Writes may wait longer, because they
 * take longer and a rejected write costs the client more.
 */
const WRITE_TO_READ_WAIT_RATIO = 4;

const CLOSE_TIMEOUT_MS = 500;

export class Database implements SessionDatabase {
  readonly statementServices: Readonly<Record<ClientKind, StatementServices>>;
  readonly writeLimiters: ClientLimiters;
  readonly sessionUsers: SessionUsers;
  readonly preparedStatements = new PreparedStatements();
  onPublicWrite?: () => void;
  private readonly pools: Pools;

  constructor(readonly options: ConnectionOptions) {
    const { directConnection, poolSize, queueLimits } = options;
    const { writePoolSize, livePoolSize } = poolSizes(poolSize);

    this.sessionUsers = new SessionUsers(directConnection !== undefined);
    this.pools = new Pools(options, this.sessionUsers);
    this.statementServices = this.createStatementServices(livePoolSize);
    this.writeLimiters = new ClientLimiters({
      slots: writePoolSize,
      anonymousSlots: Math.ceil(writePoolSize / 2),
      ...queueLimits,
      maxWaitMs: queueLimits.maxWaitMs * WRITE_TO_READ_WAIT_RATIO,
    });
  }

  private createStatementServices(livePoolSize: number): Record<ClientKind, StatementServices> {
    const { options, pools, preparedStatements, sessionUsers } = this;
    const {
      directConnection,
      poolSize,
      queueLimits,
      statementTimeout = 0,
      anonymousTimeout = statementTimeout,
    } = options;
    const timeoutsStatement = (timeout: number) =>
      directConnection ? setTimeoutsStatement(options, timeout) : undefined;
    const sharedServices = {
      preparedStatements,
      timeoutsStatement: timeoutsStatement(statementTimeout),
    };
    const userServices = { ...sharedServices, pool: pools.userPool, sessionUsers };
    const anonymousServices = {
      ...sharedServices,
      pool: pools.anonymousPool,
      sessionUsers,
      timeoutsStatement: timeoutsStatement(anonymousTimeout),
    };
    const limiters = new ClientLimiters({ slots: poolSize, ...queueLimits });
    const liveLimiters = new ClientLimiters({
      slots: livePoolSize,
      anonymousSlots: ANONYMOUS_SUBSCRIPTION_SLOTS,
    });

    return {
      anonymous: { ...anonymousServices, limiter: limiters.anonymous },
      users: { ...userServices, limiter: limiters.users },
      // The queue of subscription events needs no limit, because the number of subscriptions has
      // one.
      live: { ...userServices, limiter: liveLimiters.users },
      anonymousLive: { ...userServices, limiter: liveLimiters.anonymous },
      own: {
        ...sharedServices,
        pool: pools.serverPool,
        limiter: new ConcurrencyLimiter({ slots: MAX_CONCURRENT_SERVER_STATEMENTS }),
      },
    };
  }

  /** Connections for the server's own statements, to which row-level security does not apply. */
  get pool(): Pool {
    return this.pools.serverPool;
  }

  get writePool(): Pool {
    return this.pools.writePool;
  }

  beginSql(sessionUserId: string | undefined, beginStatement: string): string {
    const { options } = this;
    const beginSql = options.directConnection
      ? beginWithTimeoutsSql(beginStatement, options, options.statementTimeout ?? 0)
      : beginStatement;

    return beginSql + this.sessionUsers.afterBeginSql(sessionUserId);
  }

  /** Connection options for work that needs a session, such as LISTEN: they bypass a pooler. */
  get directConnectionOptions(): PoolConfig {
    return this.options.directConnection ?? this.options.connection;
  }

  /** Counts busy and idle connections and waiting clients, by pool. */
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

  createSession(auditSource?: AuditSource): DatabaseSession {
    return new DatabaseSession(this, auditSource);
  }

  queryAsServer(text: string, values?: unknown[]): Promise<Row[]> {
    return this.createSession().query(text, values);
  }

  /** Runs long maintenance work on a connection of its own, which bypasses a pooler. */
  async withoutTimeouts<T>(callback: (client: Client) => Promise<T>): Promise<T> {
    const client = await connectDirectly(this.options);

    try {
      return await callback(client);
    } finally {
      await client.end();
    }
  }

  /**
   * Closes all connections. Waits only briefly for running statements, which may be waiting for a
   * lock.
   */
  async close(): Promise<void> {
    const poolsClosing = this.pools.end();

    await Promise.race([poolsClosing, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }
}
