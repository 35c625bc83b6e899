/** What one request sends to the database: counted, traced, given up together, and its transactions. */
import type { PoolClient } from 'pg';
import type { Transaction } from 'sequelize';
import { Overloaded, type Limiter } from '../platform/limiter';
import type { Trace } from '../platform/trace';
import type { Database, LaneName } from './connection';
import type { Caller } from './options';
import { ClientGone, isLost, isTimeout, isUnavailable, TooMuchRead, Uncertain, Unavailable } from './refusals';
import type { Parameters, Row } from './rows';
import { rowsIn, Statement, type Asking } from './statement';
import { NOBODY } from './viewers';

/** A transaction of several writes. */
interface Open {
  transaction: Transaction;
  /** Take back what was done outside of the database. */
  undone: (() => Promise<void>)[];
  /** Settled once the statements so far are done. */
  before: Promise<unknown>;
}

class RolledBack extends Error {}

/** What one request sends to the database, counted. */
export class Session implements Asking {
  statements = 0;
  milliseconds = 0;
  /** Read so far. */
  rows = 0;
  /** Bytes that may still be read for the answer that is being made. */
  private left = Infinity;
  private limit = Infinity;
  /** Where somebody collects them. */
  trace?: Trace;
  private readonly running = new Set<{ stop(why: Error): void }>();
  /** Why nothing more is asked of the database. */
  private over?: Error;
  private lasting = false;
  /** What it has written it is to see, and what hangs together with what it has read. */
  private isCurrent = false;
  private lane: LaneName = 'own';
  private open?: Open;
  caller: Caller = 'own';
  begun = false;
  /** For whom PostgreSQL shows rows: the id of a user, or nobody. What asks for the server itself is shown all. */
  private viewer = NOBODY;

  constructor(readonly database: Database) {}

  /** Who asks; that this was looked up gives no place before others. A subscription stays one, whoever has it. */
  asks(lane: LaneName, caller: Caller): void {
    if (this.lane !== 'live') this.lane = lane;
    this.caller = caller;
    this.viewer = typeof caller === 'number' ? String(caller) : NOBODY;
    this.begun = false;
  }

  async query(text: string, values: Parameters = []): Promise<Row[]> {
    return this.ask(text, values, this.viewer);
  }

  /** The same, of what may be a little old where a stranger asks: rows of everybody, in answers. */
  async read(text: string, values: Parameters = []): Promise<Row[]> {
    return this.ask(text, values, this.viewer, !this.isCurrent);
  }

  /** Looks up who asks. Such a statement reads nothing that PostgreSQL shows to some and not to others, so it need not be told for whom. */
  async identify(text: string, values: Parameters): Promise<Row[]> {
    return this.ask(text, values, undefined);
  }

  private async ask(text: string, values: Parameters, viewer: string | undefined, mayBeOld = false): Promise<Row[]> {
    if (this.over) throw this.over;
    try {
      return await this.send(text, values, viewer, mayBeOld);
    } catch (error) {
      // What else is asked for would be in vain too, and is not tried: one request waits in vain once.
      if (error instanceof Overloaded || isTimeout(error) || isUnavailable(error)) this.end(error as Error);
      throw error;
    }
  }

  /** Notes what became of the request, whatever that is. */
  async note(text: string, values: Parameters): Promise<void> {
    this.begun = true;
    await this.send(text, values, this.viewer);
  }

  private async send(text: string, values: Parameters, viewer: string | undefined, mayBeOld = false): Promise<Row[]> {
    if (this.open) return this.sendIn(this.open, text, values);
    const began = performance.now();
    const statement = new Statement(this.database.lanes[this.lane], this, text, values, viewer, mayBeOld);
    this.running.add(statement);
    this.statements += 1;
    const over = this.trace?.statement(text);
    let read: number | undefined;
    try {
      const rows = await statement.rows();
      this.isCurrent ||= !statement.isOfReplica;
      read = rows.length;
      this.rows += read;
      return rows;
    } finally {
      this.running.delete(statement);
      over?.(read);
      this.milliseconds += performance.now() - began;
    }
  }

  /** A connection does one statement after the other. */
  private async sendIn(open: Open, text: string, values: Parameters): Promise<Row[]> {
    const began = performance.now();
    const { connection } = open.transaction as Transaction & { connection: PoolClient };
    const over = this.trace?.statement(text);
    this.statements += 1;
    const asked = open.before.then(() => rowsIn(connection, text, values, this));
    open.before = asked.catch(() => undefined);
    let read: number | undefined;
    try {
      const rows = await asked;
      read = rows.length;
      this.rows += read;
      return rows;
    } finally {
      over?.(read);
      this.milliseconds += performance.now() - began;
    }
  }

  /** From now on rows of so many bytes may be read. */
  mayRead(bytes: number): void {
    this.left = this.limit = bytes;
  }

  took(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) throw new TooMuchRead(this.limit);
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
    logging: (text: string, milliseconds = 0) => {
      this.statements += 1;
      this.milliseconds += milliseconds;
      this.trace?.written(text, milliseconds);
    },
  };

  /** The last statement of every transaction; what it throws rolls back. */
  beforeCommit?: (transaction: Transaction) => Promise<void>;

  /**
   * All that `work` reads and writes is one transaction, which is rolled back unless the result is kept. Transactions within it are savepoints.
   * Whatever becomes of it, nobody else has seen anything of it before.
   */
  async atomically<T>(work: () => Promise<{ isKept: boolean; result: T }>): Promise<T> {
    const undone: (() => Promise<void>)[] = [];
    let done: { isKept: boolean; result: T } | undefined;
    try {
      return await this.transaction(async (transaction) => {
        this.open = { transaction, undone, before: Promise.resolve() };
        try {
          done = await work();
        } finally {
          this.open = undefined;
        }
        if (!done.isKept) throw new RolledBack();
        return done.result;
      });
    } catch (error) {
      for (const undo of undone) await undo();
      if (error instanceof RolledBack) return done!.result;
      throw error;
    }
  }

  /** What takes back what a transaction did outside of the database, should it be part of an atomic one that is rolled back. */
  undoing(undo: () => Promise<void>): void {
    this.open?.undone.push(undo);
  }

  private async savepoint<T>(parent: Transaction, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.database.sequelize.transaction({ ...this.counted, transaction: parent }, work);
    } catch (error) {
      throw isLost(error) ? new Unavailable(error) : error;
    }
  }

  /** All or nothing. `table` is the one that is written to, if it is one. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>, table?: string): Promise<T> {
    const { caller, open } = this;
    const { writes, lockedTables } = this.database;
    if (open) return lockedTables.writing(table, () => this.savepoint(open.transaction, work));
    await this.turn(writes, caller);
    this.isCurrent = true;
    try {
      this.last();
      return await lockedTables.writing(table, () => this.atOnce(work));
    } finally {
      writes.leave(caller);
    }
  }

  private async atOnce<T>(work: (transaction: Transaction) => Promise<T>, again = true): Promise<T> {
    const { pulse, sequelize } = this.database;
    if (pulse.away) throw pulse.away;
    const options = { ...this.counted, viewer: this.lane === 'own' ? undefined : this.viewer };
    const progress = { begun: false, done: false };
    try {
      return await sequelize.transaction(options, async (transaction) => {
        progress.begun = true;
        const result = await work(transaction);
        await this.beforeCommit?.(transaction);
        progress.done = true;
        return result;
      });
    } catch (error) {
      if (!isLost(error)) throw error;
      // The connection was dead before anything was asked of it.
      if (again && !progress.begun && !this.database.pulse.away) return this.atOnce(work, false);
      throw progress.done ? new Uncertain(error) : new Unavailable(error);
    }
  }

  private turn(lane: Limiter<Caller>, caller: Caller): Promise<void> {
    if (this.over) throw this.over;
    return new Promise<void>((begin, refuse) => {
      const over = () => this.running.delete(stoppable);
      const stoppable = { stop: (why: Error) => waiting && lane.abandon(waiting, why) };
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
