/** The database of this process: a pool for planned reads, Sequelize for writes, and a session that counts what one request sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'pg-connection-string';
import { Pool, types, type PoolClient, type PoolConfig } from 'pg';
import { Sequelize, type ModelCtor } from 'sequelize-typescript';
import { ConnectionError, type Transaction } from 'sequelize';
import { Lane, type Caller, type Patience } from './lane';
import { ClientGone, isTimeout, isUnavailable, Overloaded, Unavailable } from './refusals';
import { Prepared } from './prepared';
import { Statement, type Asking, type Reads } from './statement';

export type Row = Record<string, any>;

export interface Parameters extends Array<unknown> {
  /** One of them decides how the statement is best run, so it is planned for its values each time. */
  decisive?: boolean;
}

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
  /** Who may wait for a place in a lane. */
  patience: Patience;
  models: ModelCtor[];
}

/** Longer than this nobody waits for a connection to be made. */
const CONNECTION_TIMEOUT_MS = 5_000;

/** Of the connections, those that no request can take from the server itself. */
const OWN = 2;

/** A write is larger than most reads, and whoever waits for one has more to lose. */
const WRITES_WAIT_LONGER = 4;

/** Who reads: a stranger, somebody signed in, a subscription, the server itself. */
export type LaneName = 'strangers' | 'users' | 'live' | 'own';

const AS_LONG_AS_IT_TAKES: Patience = { waiting: Infinity, ms: Infinity };

/** So much longer a running statement may take once nobody waits for it. */
const CLOSE_TIMEOUT_MS = 500;

const OID = { int8: 20, date: 1082, time: 1083, timestamptz: 1184 } as const;

const micro = (fraction: string | undefined) => (fraction ? `.${fraction.padEnd(6, '0')}` : '');

/** `18:00:00.5` → `18:00:00.500000`: microseconds only when there are some, then all six. */
const timeOf = (value: string) => value.replace(/\.(\d+)$/, (_, fraction: string) => micro(fraction));

/** `2021-03-10 08:00:00+01` → `2021-03-10T08:00:00+01:00`. */
export function momentOf(value: string): string {
  const parts = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-]\d\d)(?::?(\d\d))?/.exec(value);
  return parts ? `${parts[1]}T${parts[2]}${micro(parts[3])}${parts[4]}:${parts[5] ?? '00'}` : value;
}

/** Dates, times, timestamps and decimals stay strings, as both interfaces show them. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  switch (oid) {
    case OID.int8:
      return Number;
    case OID.date:
      return (value: string) => value;
    case OID.time:
      return timeOf;
    case OID.timestamptz:
      return momentOf;
    default:
      return types.getTypeParser(oid, format);
  }
}) as typeof types.getTypeParser;

export class Database {
  /** Of everybody but strangers, whose connections have a shorter timeout of their own. */
  readonly pool: Pool;
  readonly lanes: Readonly<Record<LaneName, Reads>>;
  /** Of transactions. */
  readonly writes: Lane;
  readonly sequelize: Sequelize;
  private readonly strangers: Pool;

  constructor(readonly options: ConnectionOptions) {
    const { connection, poolSize, timeZone, statementTimeout = 0, anonymousTimeout = statementTimeout, patience } = options;
    const settings = `-c TimeZone=${timeZone} -c DateStyle=ISO,YMD`;
    const writes = Math.max(2, Math.ceil(poolSize / 2));
    const live = Math.ceil(poolSize / 4);
    const pool = (max: number, timeout: number) => {
      const made = new Pool({
        ...connection,
        max,
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        options: `${settings} -c statement_timeout=${timeout}`,
        types: { getTypeParser },
        application_name: 'fitgraph',
      });
      // A lost idle connection is replaced by the pool at the next request; the request that needs one reports the failure.
      made.on('error', () => undefined);
      // One that is lost while it is used fails what it runs; that it tells so besides must find a listener.
      made.on('connect', (client) => client.on('error', () => undefined));
      return made;
    };
    this.pool = pool(poolSize + live + OWN, statementTimeout);
    this.strangers = pool(poolSize, anonymousTimeout);
    const prepared = new Prepared();
    this.lanes = {
      strangers: { pool: this.strangers, lane: new Lane(poolSize, patience), prepared },
      users: { pool: this.pool, lane: new Lane(poolSize, patience), prepared },
      // Of these there are so many at most, and what they are told is told to them even if it takes a while.
      live: { pool: this.pool, lane: new Lane(live, AS_LONG_AS_IT_TAKES), prepared },
      own: { pool: this.pool, lane: new Lane(OWN, AS_LONG_AS_IT_TAKES), prepared },
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
        options: `${settings} -c statement_timeout=${statementTimeout}`,
        application_name: 'fitgraph',
        ...(ssl ? { ssl } : {}),
      },
    });
  }

  session(): Session {
    return new Session(this);
  }

  /** For work of our own that takes as long as it takes. */
  async unlimited<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('SET statement_timeout = 0');
      return await work(client);
    } finally {
      await client.query('RESET statement_timeout').catch((error: Error) => (failure = error));
      // A connection that may have kept the setting is not used again.
      client.release(failure);
    }
  }

  /** A statement that still runs, waiting for a lock perhaps, does not keep the process from ending. */
  async close(): Promise<void> {
    const closed = Promise.all([this.pool.end(), this.strangers.end(), this.sequelize.close()]);
    await Promise.race([closed, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }
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

/** What one request sends to the database, counted. */
export class Session implements Asking {
  statements = 0;
  milliseconds = 0;
  /** Read so far. */
  rows = 0;
  private readonly running = new Set<{ stop(why: Error): void }>();
  /** Why nothing more is asked of the database. */
  private over?: Error;
  private lasting = false;
  private lane: LaneName = 'own';
  caller: Caller = 'own';
  begun = false;

  constructor(readonly database: Database) {}

  /** Who asks; that this was looked up gives no place before others. A subscription stays one, whoever has it. */
  asks(lane: LaneName, caller: Caller): void {
    if (this.lane !== 'live') this.lane = lane;
    this.caller = caller;
    this.begun = false;
  }

  async query(text: string, values: Parameters = []): Promise<Row[]> {
    if (this.over) throw this.over;
    try {
      return await this.send(text, values);
    } catch (error) {
      // What else is asked for would be in vain too, and is not tried: one request waits in vain once.
      if (error instanceof Overloaded || isTimeout(error) || isUnavailable(error)) this.end(error as Error);
      throw error;
    }
  }

  /** Notes what became of the request, whatever that is. */
  async note(text: string, values: Parameters): Promise<void> {
    this.begun = true;
    await this.send(text, values);
  }

  private async send(text: string, values: Parameters): Promise<Row[]> {
    const began = performance.now();
    const statement = new Statement(this.database.lanes[this.lane], this, text, values);
    this.running.add(statement);
    this.statements += 1;
    try {
      const rows = await statement.rows();
      this.rows += rows.length;
      return rows;
    } finally {
      this.running.delete(statement);
      this.milliseconds += performance.now() - began;
    }
  }

  private end(why: Error): void {
    this.over ??= why;
    for (const running of this.running) running.stop(why);
  }

  /** Nobody waits for the answer any more: what is read is stopped. A change that has begun is made all the same, whole. */
  abandon(): void {
    if (!this.lasting) this.end(new ClientGone());
  }

  /** From now on the request is carried out to its end, whether somebody waits for it or not. */
  last(): void {
    if (this.over) throw this.over;
    this.lasting = true;
  }

  /** An event of a subscription is read like a request of its own, whatever became of the one before. */
  renew(): void {
    this.lane = 'live';
    if (!(this.over instanceof ClientGone)) this.over = undefined;
  }

  /** Options for a Sequelize call, so that it is counted too. */
  readonly counted = {
    benchmark: true,
    logging: (_sql: string, milliseconds?: number) => {
      this.statements += 1;
      this.milliseconds += milliseconds ?? 0;
    },
  };

  /** The last statement of every transaction; what it throws rolls back. */
  beforeCommit?: (transaction: Transaction) => Promise<void>;

  /** All or nothing. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { caller } = this;
    const { writes, sequelize } = this.database;
    await this.turn(writes, caller);
    try {
      this.last();
      return await sequelize.transaction(this.counted, async (transaction) => {
        const result = await work(transaction);
        await this.beforeCommit?.(transaction);
        return result;
      });
    } catch (error) {
      throw error instanceof ConnectionError ? new Unavailable(error) : error;
    } finally {
      writes.leave(caller);
    }
  }

  private turn(lane: Lane, caller: Caller): Promise<void> {
    if (this.over) throw this.over;
    return new Promise<void>((begin, refuse) => {
      const over = () => this.running.delete(stoppable);
      const stoppable = { stop: (why: Error) => waiting && lane.giveUp(waiting, why) };
      const waiting = lane.enter(
        caller,
        false,
        () => {
          over();
          begin();
        },
        (why) => {
          over();
          refuse(why);
        },
      );
      if (waiting) this.running.add(stoppable);
      else begin();
    });
  }
}

export type { PoolClient };
