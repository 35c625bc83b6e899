/** The database of this process: pools for planned reads by lanes, and Sequelize for writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'pg-connection-string';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';
import { Sequelize, type ModelCtor } from 'sequelize-typescript';
import { Lane, type Patience } from './lane';
import { makeDo } from './scarcity';
import { Unavailable } from './refusals';
import { Prepared } from './prepared';
import { LockedTables } from './locked';
import { KEEP_ALIVE, Pulse, type Wire } from './pulse';
import type { Row } from './rows';
import { Session } from './session';
import type { Reads } from './statement';
import { getTypeParser } from './types';

export interface ConnectionOptions {
  /** Of `pg`: a connection string, or host, port, user and database. */
  connection: PoolConfig;
  /** Of strangers' reads, and of users'. */
  poolSize: number;
  timeZone: string;
  /** Milliseconds after which a statement is given up; absent or 0: never. */
  statementTimeout?: number;
  /** The same for what strangers read. */
  anonymousTimeout?: number;
  /** Milliseconds for which a statement waits for what another transaction holds; absent or 0: as long as it may take at all. */
  lockTimeout?: number;
  /** Milliseconds after which a transaction that does nothing is ended, and what it holds is free; absent or 0: never. */
  idleTransactionTimeout?: number;
  /** Whether requests are bound by the policies of PostgreSQL; absent: where they can be. */
  rowSecurity?: 'on' | 'required' | 'off';
  /** Who may wait for a place in a lane. */
  patience: Patience;
  models: ModelCtor[];
}

/** Longer than this nobody waits for a connection to be made. */
const CONNECTION_TIMEOUT_MS = 3_000;

/** Of the connections, those that no request can take from the server itself. */
const OWN = 2;

/** A write is larger than most reads, and whoever waits for one has more to lose. */
const WRITES_WAIT_LONGER = 4;

/** Who reads: a stranger, somebody signed in, a subscription, the server itself. */
export type LaneName = 'strangers' | 'users' | 'live' | 'own';

const AS_LONG_AS_IT_TAKES: Patience = { waiting: Infinity, ms: Infinity };

/** So long PostgreSQL takes to notice that a connection is free. */
const GIVEN_WITHIN_MS = 50;

/** Settings that end what takes too long. */
const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

/** So much longer a running statement may take once nobody waits for it. */
const CLOSE_TIMEOUT_MS = 500;

export class Database {
  /** Of everybody but strangers, whose connections have a shorter timeout of their own. */
  readonly pool: Pool;
  readonly lanes: Readonly<Record<LaneName, Reads>>;
  /** Of transactions. */
  readonly writes: Lane;
  readonly sequelize: Sequelize;
  readonly pulse: Pulse;
  /** A pooler drops what connections ask for when they are made, so they ask again. To be set before there are any. */
  pooled = false;
  readonly lockedTables = new LockedTables();
  private readonly strangers: Pool;
  readonly prepared = new Prepared();

  constructor(readonly options: ConnectionOptions) {
    const { connection, poolSize, statementTimeout = 0, anonymousTimeout = statementTimeout, patience } = options;
    const writes = Math.max(2, Math.ceil(poolSize / 2));
    const live = Math.ceil(poolSize / 4);
    const pulse = (this.pulse = new Pulse(connection));
    const pool = (max: number, timeout: number) => {
      const made = new Pool({
        ...connection,
        ...KEEP_ALIVE,
        max,
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        options: settingsOf(options, timeout),
        types: { getTypeParser },
        application_name: 'fitgraph',
        // Before it is used for anything.
        verify: (client: PoolClient, over: (error?: Error) => void) =>
          this.pooled ? client.query(settingOf(options, timeout), (error) => over(error ?? undefined)) : over(),
      } as PoolConfig);
      // A lost idle connection is replaced by the pool at the next request; the request that needs one reports the failure.
      made.on('error', () => undefined);
      made.on('connect', (client) => {
        // One that is lost while it is used fails what it runs; that it tells so besides must find a listener.
        client.on('error', () => undefined);
        pulse.watch(client, timeout);
      });
      return made;
    };
    this.pool = pool(poolSize + live + OWN, statementTimeout);
    this.strangers = pool(poolSize, anonymousTimeout);
    const shared = { pool: this.pool, other: this.strangers, prepared: this.prepared, pulse };
    this.lanes = {
      strangers: { ...shared, pool: this.strangers, other: this.pool, lane: new Lane(poolSize, patience) },
      users: { ...shared, lane: new Lane(poolSize, patience) },
      // Of these there are so many at most, and what they are told is told to them even if it takes a while.
      live: { ...shared, lane: new Lane(live, AS_LONG_AS_IT_TAKES) },
      own: { ...shared, lane: new Lane(OWN, AS_LONG_AS_IT_TAKES) },
    };
    this.writes = new Lane(writes, { ...patience, ms: patience.ms * WRITES_WAIT_LONGER });
    const { ssl, ...target } = sequelizeConnection(connection);
    this.sequelize = new Sequelize({
      dialect: 'postgres',
      ...target,
      models: options.models,
      logging: false,
      benchmark: true,
      define: { underscored: true, timestamps: false },
      pool: { max: writes, min: 0, idle: 10_000 },
      dialectOptions: {
        options: settingsOf(options, statementTimeout),
        application_name: 'fitgraph',
        keepAlive: true,
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        ...(ssl ? { ssl } : {}),
      },
      hooks: {
        afterConnect: async (client) => {
          const { connection: wire } = client as Wire;
          wire.stream.setKeepAlive?.(true, KEEP_ALIVE.keepAliveInitialDelayMillis);
          pulse.watch(client as Wire, statementTimeout);
          if (this.pooled) await (client as PoolClient).query(settingOf(options, statementTimeout));
        },
      },
    });
  }

  /** How many connections there are, by pool, and who waits for one. */
  connections(): Record<string, { busy: number; idle: number; waiting: number }> {
    const ofPool = ({ totalCount, idleCount, waitingCount }: Pool) => ({
      busy: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    });
    const { using, available, waiting } = (this.sequelize.connectionManager as unknown as { pool: Record<string, number> }).pool;
    const writes = { busy: using!, idle: available!, waiting: waiting! };
    return { strangers: ofPool(this.strangers), users: ofPool(this.pool), writes };
  }

  session(): Session {
    return new Session(this);
  }

  /** One statement of our own. */
  async ask(text: string, values?: unknown[]): Promise<Row[]> {
    if (this.pulse.away) throw this.pulse.away;
    const asked = this.pool.query(text, values).catch((error) => {
      throw error instanceof DatabaseError ? error : new Unavailable(error);
    });
    return (await asked).rows as Row[];
  }

  /** For work of our own that takes as long as it takes. */
  async unlimited<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query(TIMEOUTS.map((name) => `SET ${name} = 0`).join(';'));
      this.pulse.allow(client, 0);
      return await work(client);
    } finally {
      const { options, pooled } = this;
      const again = pooled ? settingOf(options, options.statementTimeout ?? 0) : TIMEOUTS.map((name) => `RESET ${name}`).join(';');
      await client.query(again).catch((error: Error) => (failure = error));
      this.pulse.allow(client, options.statementTimeout ?? 0);
      // A connection that may have kept the settings is not used again.
      client.release(failure);
    }
  }

  /** PostgreSQL has no connection left: of those that read, one is ended, so that there is one to write. */
  async giveUpOne(): Promise<void> {
    const { pool, strangers } = this;
    const richer = pool.totalCount < strangers.totalCount ? strangers : pool;
    if (richer.totalCount > 1) {
      makeDo(richer, richer.totalCount - 1);
      await richer.connect().then(
        (client) => client.release(true),
        () => undefined,
      );
    }
    await sleep(GIVEN_WITHIN_MS);
  }

  /** A statement that still runs, waiting for a lock perhaps, does not keep the process from ending. */
  async close(): Promise<void> {
    const closed = Promise.all([this.pool.end(), this.strangers.end(), this.sequelize.close()]);
    await Promise.race([closed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    this.pulse.stop();
  }
}

/** What PostgreSQL knows of TCP does nothing on a local socket. */
const settings = ({ timeZone, lockTimeout = 0, idleTransactionTimeout = 0 }: ConnectionOptions, statementTimeout: number) =>
  Object.entries({
    TimeZone: timeZone,
    DateStyle: 'ISO,YMD',
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTransactionTimeout,
    // A client that is gone without a word holds nothing for longer than this.
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 5,
    tcp_user_timeout: 20_000,
  });

/** Given when a connection is made, so that no statement is needed for it. */
export const settingsOf = (options: ConnectionOptions, statementTimeout: number): string =>
  settings(options, statementTimeout)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** The same as statements. */
const settingOf = (options: ConnectionOptions, statementTimeout: number): string =>
  settings(options, statementTimeout)
    .map(([name, value]) => `SET ${name} = '${value}'`)
    .join('; ');

/** The same connection for Sequelize, which knows other names. */
function sequelizeConnection({ connectionString, ...given }: PoolConfig) {
  const { host, port, user, password, database, ssl } = connectionString ? parse(connectionString) : given;
  return {
    host: host ?? undefined,
    port: Number(port ?? 5432),
    username: user,
    password: password as string,
    database: database ?? undefined,
    ssl,
  };
}
