/** Connection pools by kind of client, and the options of the database. */
import { Client, Pool, type PoolClient, type PoolConfig, types } from 'pg';
import { poolerSafeSettingsSql, startupOptions, type ConnectionSettings } from './settings';
import { closeWhenUnanswered } from './internals/pg';
import type { SessionUsers } from './session-user';
import type { LimiterOptions } from '../shared/limiter';

export interface ConnectionOptions extends ConnectionSettings {
  /** Options of pg: a connection string, or host, port, user and database. */
  connection: PoolConfig;

  /**
   * Connection that bypasses a pooler, for work that needs a session, such as LISTEN. If present,
   * `connection` leads to a pooler, which may run each transaction in a different session.
   */
  directConnection?: PoolConfig;

  /**
   * Maximum number of connections for reads by anonymous clients, and the same number again for
   * signed-in users.
   */
  poolSize: number;

  /** PostgreSQL's `statement_timeout` in milliseconds; 0: none. */
  statementTimeout?: number;

  /** `statement_timeout` for anonymous clients. Default: `statementTimeout`. */
  anonymousTimeout?: number;

  /**
   * Row-level security for requests. `on` (default) applies it if the database permits that; with
   * `required`, the server does not start without it.
   */
  rowSecurity?: 'on' | 'required' | 'off';
  queueLimits: Required<Pick<LimiterOptions, 'maxQueued' | 'maxWaitMs'>>;
}

const OID = { int8: 20, date: 1082, time: 1083, timestamptz: 1184 } as const;

const formatMicroseconds = (fraction: string | undefined) =>
  fraction ? `.${fraction.padEnd(6, '0')}` : '';

/** Formats a time of day: `18:00:00.5` becomes `18:00:00.500000`. */
const formatTime = (value: string) =>
  value.replace(/\.(\d+)$/, (_, fraction: string) => formatMicroseconds(fraction));

/**
 * Converts a timestamp to ISO 8601: `2021-03-10 08:00:00+01` becomes `2021-03-10T08:00:00+01:00`.
 * Historical time zones have offsets with seconds, which ISO 8601 lacks, so such timestamps are
 * converted to UTC.
 */
function formatTimestamp(value: string): string {
  const match = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-])(\d\d)(?::?(\d\d))?(?::(\d\d))?/.exec(
    value,
  );

  if (!match) return value;
  const [, day, time, fraction, sign, hours, minutes = '00', seconds] = match;

  if (seconds === undefined) {
    return `${day}T${time}${formatMicroseconds(fraction)}${sign}${hours}:${minutes}`;
  }

  const offset =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * (sign === '-' ? -1000 : 1000);
  const utcTimestamp = new Date(Date.parse(`${day}T${time}Z`) - offset).toISOString();

  return `${utcTimestamp.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}${formatMicroseconds(fraction)}+00:00`;
}

/**
 * Type parsers of pg: 64-bit integers become numbers; dates, times, timestamps and decimals become
 * strings in the format of the APIs.
 */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  switch (oid) {
    case OID.int8:
      return Number;
    case OID.date:
      return (value: string) => value;
    case OID.time:
      return formatTime;
    case OID.timestamptz:
      return formatTimestamp;
    default:
      return types.getTypeParser(oid, format);
  }
}) as typeof types.getTypeParser;

const CONNECTION_TIMEOUT_MS = 3_000;

/** Time after a statement's timeout until its connection counts as dead and is closed. */
const ANSWER_TIMEOUT_MS = 1_000;

export const CONNECTION_OPTIONS = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  application_name: 'fitgraph',
  types: { getTypeParser },
} as const;

/** Number of connections for the server's own short statements. Requests never use them. */
const SERVER_POOL_SIZE = 3;

/**
 * Number of connections outside of the pools: one listens for notifications, one is for
 * maintenance.
 */
const DEDICATED_CONNECTIONS = 2;

/**
 * Pool sizes derived from `poolSize`. The pool of signed-in users has `livePoolSize` additional
 * connections for subscriptions.
 */
export const poolSizes = (poolSize: number) => ({
  writePoolSize: Math.max(2, Math.ceil(poolSize / 2)),
  livePoolSize: Math.ceil(poolSize / 4),
});

export function maxConnectionsPerWorker(poolSize: number): number {
  const { writePoolSize, livePoolSize } = poolSizes(poolSize);

  return 2 * poolSize + livePoolSize + writePoolSize + SERVER_POOL_SIZE + DEDICATED_CONNECTIONS;
}

/** Opens a connection outside of the pools, without timeouts. It bypasses a pooler. */
export async function connectDirectly(options: ConnectionOptions): Promise<Client> {
  const { connection, directConnection = connection, timeZone } = options;
  const client = new Client({
    ...directConnection,
    ...CONNECTION_OPTIONS,
    options: startupOptions({ timeZone }, 0),
  });

  client.on('error', () => undefined);
  await client.connect();
  return client;
}

export class Pools {
  /** Connections for the server's own work, to which row-level security does not apply. */
  readonly serverPool: Pool;

  /** Connections for reads by signed-in users. */
  readonly userPool: Pool;

  /** Connections for reads by anonymous clients, with a shorter statement timeout. */
  readonly anonymousPool: Pool;
  readonly writePool: Pool;

  constructor(
    private readonly options: ConnectionOptions,
    sessionUsers: SessionUsers,
  ) {
    const { writePoolSize, livePoolSize } = poolSizes(options.poolSize);
    const { poolSize, statementTimeout = 0, anonymousTimeout = statementTimeout } = options;

    this.serverPool = this.createPool(SERVER_POOL_SIZE, statementTimeout);
    this.userPool = this.createPool(poolSize + livePoolSize, statementTimeout, sessionUsers);
    this.anonymousPool = this.createPool(poolSize, anonymousTimeout, sessionUsers);
    this.writePool = this.createPool(writePoolSize, statementTimeout, sessionUsers);
  }

  private createPool(max: number, statementTimeout: number, sessionUsers?: SessionUsers): Pool {
    const { options } = this;
    const { connection, directConnection } = options;
    const pool = new Pool({
      ...connection,
      ...CONNECTION_OPTIONS,
      max,
      // Sets no startup parameters behind a pooler, which drops them.
      options: directConnection ? undefined : startupOptions(options, statementTimeout),
      verify: (client: PoolClient, done: (error?: Error) => void) => {
        const poolerSql = directConnection && poolerSafeSettingsSql(options);
        const setupSql = [poolerSql, sessionUsers?.connectionSetupSql].filter(Boolean).join('; ');

        if (setupSql) {
          client.query(setupSql).then(
            () => done(),
            (error: Error) => done(error),
          );
        } else done();
      },
    } as PoolConfig);

    // Ignores errors of idle connections: the pool replaces them, and a request that gets none
    // reports the failure.
    pool.on('error', () => undefined);
    // Ignores the loss of a connection, which the running query reports. Without a listener, the
    // event would be an uncaught error.
    pool.on('connect', (client) => {
      client.on('error', () => undefined);
      if (statementTimeout) closeWhenUnanswered(client, statementTimeout + ANSWER_TIMEOUT_MS);
    });

    return pool;
  }

  async end(): Promise<void> {
    const { serverPool, userPool, anonymousPool, writePool } = this;

    await Promise.all([serverPool, userPool, anonymousPool, writePool].map((pool) => pool.end()));
  }
}
