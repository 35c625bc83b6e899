/** The database of this process: pools for planned reads by lanes, and Sequelize for writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'pg-connection-string';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';
import { Sequelize, type ModelCtor } from 'sequelize-typescript';
import { Lane, type Patience } from './lane';
import { makeDo } from './scarcity';
import { Unavailable } from './refusals';
import { NamedQuery, type Before } from './namedquery';
import { Prepared } from './prepared';
import { LockedTables } from './locked';
import { KEEP_ALIVE, Pulse, type Wire } from './pulse';
import type { Row } from './rows';
import { Session } from './session';
import { BEGINNING, beginningWith, keptByPoolers, settingOf, settingsOf, takenAlong, TIMEOUTS, type Limits } from './settings';
import type { Reads } from './statement';
import { getTypeParser } from './types';
import { Viewers } from './viewers';

/**
 * What a pooler between this program and PostgreSQL gives to a connection: a session of its own, though without what was asked for when it was made, or
 * another one for each transaction.
 */
export type Pooling = 'session' | 'transaction';

export interface ConnectionOptions extends Limits {
  /** Of `pg`: a connection string, or host, port, user and database. */
  connection: PoolConfig;
  /** The same for whatever needs a session of its own, such as LISTEN; absent: `connection`. */
  direct?: PoolConfig;
  /** Absent: there is no pooler. */
  pooling?: Pooling;
  /** Of strangers' reads, and of users'. */
  poolSize: number;
  /** Milliseconds after which a statement is given up; absent or 0: never. */
  statementTimeout?: number;
  /** The same for what strangers read. */
  anonymousTimeout?: number;
  /** Whether requests are bound by the policies of PostgreSQL; absent: where they can be. */
  rowSecurity?: 'on' | 'required' | 'off';
  /** Who may wait for a place in a lane. */
  patience: Patience;
  models: ModelCtor[];
}

/** Longer than this nobody waits for a connection to be made. */
export const CONNECTION_TIMEOUT_MS = 3_000;

/** Statements of the server itself at a time, and its connections, which no request takes. */
const OWN = 2;
const OWN_CONNECTIONS = 4;

/** Connections for work that needs a session, where they are others than the rest. */
const SESSIONS = 4;

/** A write is larger than most reads, and whoever waits for one has more to lose. */
const WRITES_WAIT_LONGER = 4;

/** Who reads: a stranger, somebody signed in, a subscription, the server itself. */
export type LaneName = 'strangers' | 'users' | 'live' | 'own';

const AS_LONG_AS_IT_TAKES: Patience = { waiting: Infinity, ms: Infinity };

/** So long PostgreSQL takes to notice that a connection is free. */
const GIVEN_WITHIN_MS = 50;

/** So much longer a running statement may take once nobody waits for it. */
const CLOSE_TIMEOUT_MS = 500;

export class Database {
  /** Of the server itself, to which PostgreSQL shows everything. */
  readonly pool: Pool;
  readonly lanes: Readonly<Record<LaneName, Reads>>;
  /** Of transactions. */
  readonly writes: Lane;
  readonly sequelize: Sequelize;
  readonly pulse: Pulse;
  readonly lockedTables = new LockedTables();
  readonly viewers: Viewers;
  /** Strangers' connections have a shorter timeout of their own. */
  private readonly strangers: Pool;
  private readonly users: Pool;
  /** Whose connections keep what they are told. */
  private readonly sessions: Pool;
  readonly prepared = new Prepared();

  constructor(readonly options: ConnectionOptions) {
    const { connection, direct, pooling, poolSize, statementTimeout = 0, anonymousTimeout = statementTimeout, patience } = options;
    const writes = Math.max(2, Math.ceil(poolSize / 2));
    const live = Math.ceil(poolSize / 4);
    const pulse = (this.pulse = new Pulse(connection, pooling && direct));
    const viewers = (this.viewers = new Viewers(pooling === 'transaction'));
    const kept = { session: settingOf, transaction: keptByPoolers };
    const told = (timeout: number) => (pooling ? kept[pooling](options, timeout) : undefined);
    const pool = (max: number, timeout: number, of?: Viewers, to = connection, tell = told(timeout)) => {
      const made = new Pool({
        ...to,
        ...KEEP_ALIVE,
        max,
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        options: settingsOf(options, timeout),
        types: { getTypeParser },
        application_name: 'fitgraph',
        // Before it is used for anything.
        verify: (client: PoolClient, over: (error?: Error) => void) => void first(client, [tell, of?.first]).then(() => over(), over),
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
    this.pool = pool(OWN_CONNECTIONS, statementTimeout);
    this.users = pool(poolSize + live, statementTimeout, viewers);
    this.strangers = pool(poolSize, anonymousTimeout, viewers);
    this.sessions = direct ? pool(SESSIONS, statementTimeout, undefined, direct, settingOf(options, statementTimeout)) : this.pool;
    const before = (timeout: number) => (pooling === 'transaction' ? takenAlong(options, timeout) : undefined);
    const shared = { prepared: this.prepared, pulse, before: before(statementTimeout) };
    const ofUsers = { ...shared, pool: this.users, other: this.strangers, viewers };
    const ofStrangers = { ...shared, pool: this.strangers, other: this.users, viewers, before: before(anonymousTimeout) };
    this.lanes = {
      strangers: { ...ofStrangers, lane: new Lane(poolSize, patience) },
      users: { ...ofUsers, lane: new Lane(poolSize, patience) },
      // Of these there are so many at most, and what they are told is told to them even if it takes a while.
      live: { ...ofUsers, lane: new Lane(live, AS_LONG_AS_IT_TAKES) },
      own: { ...shared, pool: this.pool, other: this.pool, lane: new Lane(OWN, AS_LONG_AS_IT_TAKES) },
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
        // Notices are read by nobody, and a pooler gives a session with its settings to others.
        clientMinMessages: 'ignore',
        ...(ssl ? { ssl } : {}),
      },
      hooks: {
        afterConnect: async (client) => {
          const { connection: wire } = client as Wire;
          wire.stream.setKeepAlive?.(true, KEEP_ALIVE.keepAliveInitialDelayMillis);
          pulse.watch(client as Wire, statementTimeout);
          await first(client as PoolClient, [told(statementTimeout), viewers.first]);
        },
      },
    });
    const { config } = this.sequelize as unknown as { config: { keepDefaultTimezone: boolean } };
    config.keepDefaultTimezone = pooling === 'transaction';
    this.tellEachTransaction(pooling === 'transaction' ? beginningWith(options, statementTimeout) : BEGINNING);
  }

  /** In the packet that begins it, where it belongs to a viewer of whom too. */
  private tellEachTransaction(beginning: string): void {
    type Begun = { parent?: unknown; options: { viewer?: string } };
    const generator = this.sequelize.getQueryInterface().queryGenerator as { startTransactionQuery(of: Begun): string };
    const begin = generator.startTransactionQuery.bind(generator);
    generator.startTransactionQuery = (of) => (of.parent ? begin(of) : beginning + this.viewers.beginning(of.options.viewer));
  }

  /** Of whatever needs a session of its own. */
  get direct(): PoolConfig {
    return this.options.direct ?? this.options.connection;
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
    return { strangers: ofPool(this.strangers), users: ofPool(this.users), own: ofPool(this.pool), writes };
  }

  session(): Session {
    return new Session(this);
  }

  /** One statement of our own. */
  async ask(text: string, values?: unknown[]): Promise<Row[]> {
    if (this.pulse.away) throw this.pulse.away;
    const { before } = this.lanes.own;
    const asked = before ? this.askWith(before, text, values) : this.pool.query(text, values).then(({ rows }) => rows as Row[]);
    return asked.catch((error) => {
      throw error instanceof DatabaseError ? error : new Unavailable(error);
    });
  }

  private async askWith(before: Before, text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.pool.connect();
    try {
      return await new Promise<Row[]>((resolve, reject) => {
        const over = (error: Error | null, rows: Row[]) => (error ? reject(error) : resolve(rows));
        client.query(new NamedQuery('', text, values, { length: text.length }, client, over, before));
      });
    } finally {
      client.release();
    }
  }

  /** For work of our own that takes as long as it takes, in a session of its own. */
  async unlimited<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.sessions.connect();
    let failure: Error | undefined;
    try {
      await client.query(TIMEOUTS.map((name) => `SET ${name} = 0`).join(';'));
      this.pulse.allow(client, 0);
      return await work(client);
    } finally {
      const { options } = this;
      const again = options.pooling ? settingOf(options, options.statementTimeout ?? 0) : TIMEOUTS.map((name) => `RESET ${name}`).join(';');
      await client.query(again).catch((error: Error) => (failure = error));
      this.pulse.allow(client, options.statementTimeout ?? 0);
      // A connection that may have kept the settings is not used again.
      client.release(failure);
    }
  }

  /** PostgreSQL has no connection left: of those that read, one is ended, so that there is one to write. */
  async giveUpOne(): Promise<void> {
    const { users, strangers } = this;
    const richer = users.totalCount < strangers.totalCount ? strangers : users;
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
    const pools = new Set([this.pool, this.users, this.strangers, this.sessions]);
    const closed = Promise.all([...[...pools].map((pool) => pool.end()), this.sequelize.close()]);
    await Promise.race([closed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    this.pulse.stop();
  }
}

/** What a connection is told before it is used for anything. */
async function first(client: PoolClient, told: readonly (string | undefined)[]): Promise<void> {
  const text = told.filter(Boolean).join('; ');
  if (text) await client.query(text);
}

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
