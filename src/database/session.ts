/** Database session of one request: runs and counts its statements and transactions, and cancels them together. */
import type { PoolClient } from 'pg';
import type { Transaction } from 'sequelize';
import { connectionOf, type SessionUserOption } from '../internals/sequelize';
import { OverloadedError, type Limiter, type QueuedWork } from '../platform/limiter';
import type { Trace } from '../platform/trace';
import type { Database, ClientKind } from './connection';
import type { Caller } from './options';
import { ClientGone, isTimeout, isUnavailable, ReadLimitExceeded, CommitUncertain, Unavailable } from './errors';
import type { Parameters, Row } from './rows';
import { queryInTransaction, Statement, type StatementContext } from './statement';
import { ANONYMOUS } from './sessionuser';

/** A transaction that spans a whole operation or request. */
interface Open {
  transaction: Transaction;
  /** Compensations for effects outside of the database. */
  undone: (() => Promise<void>)[];
  /** Settles when the statements sent so far have completed. */
  before: Promise<unknown>;
}

class RolledBack extends Error {}

export class Session implements StatementContext {
  statements = 0;
  milliseconds = 0;
  rows = 0;
  /** Bytes that may still be read for the current response. */
  private left = Infinity;
  private limit = Infinity;
  trace?: Trace;
  private readonly running = new Set<{ stop(why: Error): void }>();
  /** Set when the session has ended: the error of all further statements. */
  private over?: Error;
  private lasting = false;
  /** Whether the primary has been used, after which the replica must not be: the request sees its own writes and consistent rows. */
  private isCurrent = false;
  private lane: ClientKind = 'own';
  private open?: Open;
  caller: Caller = 'own';
  hasStarted = false;
  /** Session user for row-level security: the id of the viewer, or ANONYMOUS. */
  private viewer = ANONYMOUS;

  constructor(readonly database: Database) {}

  /** Sets the client after authentication, which gives no priority to its next statement. Subscriptions stay subscriptions. */
  setClient(lane: ClientKind, caller: Caller): void {
    if (this.lane !== 'live') this.lane = lane;
    this.caller = caller;
    this.viewer = typeof caller === 'number' ? String(caller) : ANONYMOUS;
    this.hasStarted = false;
  }

  async query(text: string, values: Parameters = []): Promise<Row[]> {
    return this.ask(text, values, this.viewer);
  }

  /** As `query`, for public rows that an anonymous client may read from the replica. */
  async read(text: string, values: Parameters = []): Promise<Row[]> {
    return this.ask(text, values, this.viewer, !this.isCurrent);
  }

  /** Runs an authentication statement. Its tables have no row-level security, so no session user is set. */
  async identify(text: string, values: Parameters): Promise<Row[]> {
    return this.ask(text, values, undefined);
  }

  private async ask(text: string, values: Parameters, viewer: string | undefined, mayBeOld = false): Promise<Row[]> {
    if (this.over) throw this.over;
    try {
      return await this.send(text, values, viewer, mayBeOld);
    } catch (error) {
      // Further statements would fail as well. A request waits for an overloaded or unavailable database once.
      if (error instanceof OverloadedError || isTimeout(error) || isUnavailable(error)) this.end(error as Error);
      throw error;
    }
  }

  /** Records the outcome of the request, even after the session has ended. */
  async record(text: string, values: Parameters): Promise<void> {
    this.hasStarted = true;
    await this.send(text, values, this.viewer);
  }

  private async send(text: string, values: Parameters, viewer: string | undefined, mayBeOld = false): Promise<Row[]> {
    const { open } = this;
    const began = performance.now();
    const over = this.trace?.statement(text);
    this.statements += 1;
    let read: number | undefined;
    try {
      const rows = await (open ? this.sendIn(open, text, values) : this.sendAlone(text, values, viewer, mayBeOld));
      read = rows.length;
      this.rows += read;
      return rows;
    } finally {
      over?.(read);
      this.milliseconds += performance.now() - began;
    }
  }

  private async sendAlone(text: string, values: Parameters, viewer: string | undefined, mayBeOld: boolean): Promise<Row[]> {
    const statement = new Statement(this.database.reads[this.lane], this, text, values, viewer);
    this.running.add(statement);
    try {
      const rows = await statement.rows(mayBeOld);
      this.isCurrent ||= !statement.isOfReplica;
      return rows;
    } finally {
      this.running.delete(statement);
    }
  }

  /** Statements of a transaction share its connection and run one after the other. */
  private sendIn(open: Open, text: string, values: Parameters): Promise<Row[]> {
    const connection = connectionOf<PoolClient>(open.transaction);
    const asked = open.before.then(() => queryInTransaction(connection, text, values, this));
    open.before = asked.catch(() => undefined);
    return asked;
  }

  limitBytes(bytes: number): void {
    this.left = this.limit = bytes;
  }

  countBytes(bytes: number): void {
    this.left -= bytes;
    if (this.left < 0) throw new ReadLimitExceeded(this.limit);
  }

  private end(why: Error): void {
    this.over ??= why;
    for (const running of this.running) running.stop(why);
  }

  /** Call this when the client has disconnected: cancels reads. A write that has begun is completed. */
  cancelReads(): void {
    if (!this.lasting) this.end(new ClientGone());
  }

  /** Makes the request continue to its end even if the client disconnects. */
  completeRegardless(): void {
    if (this.over) throw this.over;
    this.lasting = true;
  }

  /** Starts a new event of a subscription, which is independent of the outcome of the last one. */
  beginEvent(): void {
    this.lane = 'live';
    if (!(this.over instanceof ClientGone)) this.over = undefined;
  }

  /** Sequelize options that count and trace its statements. */
  readonly sequelizeOptions = {
    benchmark: true,
    logging: (text: string, milliseconds = 0) => {
      this.statements += 1;
      this.milliseconds += milliseconds;
      this.trace?.written(text, milliseconds);
    },
  };

  /** Runs before COMMIT of every transaction. An error rolls back. */
  beforeCommit?: (transaction: Transaction) => Promise<void>;

  /** Runs all reads and writes of `work` in one transaction, which is rolled back unless `isKept`. Nested transactions are savepoints. */
  async atomically<T>(work: () => Promise<{ isKept: boolean; result: T }>): Promise<T> {
    const outer = this.open;
    const undone: (() => Promise<void>)[] = [];
    let done: { isKept: boolean; result: T } | undefined;
    try {
      return await this.transaction(async (transaction) => {
        this.open = { transaction, undone, before: Promise.resolve() };
        try {
          done = await work();
        } finally {
          this.open = outer;
        }
        if (!done.isKept) throw new RolledBack();
        outer?.undone.push(...undone);
        return done.result;
      });
    } catch (error) {
      for (const undo of undone) await undo();
      if (error instanceof RolledBack) return done!.result;
      throw error;
    }
  }

  /** Runs all reads and writes of `work` in one transaction. */
  inTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.atomically(async () => ({ isKept: true, result: await work() }));
  }

  /** Whether statements see uncommitted writes of this session. */
  get isInTransaction(): boolean {
    return this.open !== undefined;
  }

  /** Registers a compensation for an effect outside of the database, in case the atomic transaction is rolled back. */
  onRollback(undo: () => Promise<void>): void {
    this.open?.undone.push(undo);
  }

  private async savepoint<T>(parent: Transaction, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.database.sequelize.transaction({ ...this.sequelizeOptions, transaction: parent }, work);
    } catch (error) {
      throw isUnavailable(error) ? new Unavailable(error) : error;
    }
  }

  /** Runs a transaction. `table`: the table that is written to, if it is one. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>, table?: string): Promise<T> {
    const { caller, open } = this;
    const { writes, lockedTables } = this.database;
    if (open) return lockedTables.writing(table, () => this.savepoint(open.transaction, work));
    await this.turn(writes, caller);
    this.isCurrent = true;
    try {
      this.completeRegardless();
      return await lockedTables.writing(table, () => this.atOnce(work));
    } finally {
      writes.release(caller);
    }
  }

  private async atOnce<T>(work: (transaction: Transaction) => Promise<T>, again = true): Promise<T> {
    const { breaker: pulse, sequelize } = this.database;
    if (pulse.unavailable) throw pulse.unavailable;
    const sessionUser: SessionUserOption = { viewer: this.lane === 'own' ? undefined : this.viewer };
    const options = { ...this.sequelizeOptions, ...sessionUser };
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
      if (!isUnavailable(error)) throw error;
      // The connection was dead before the transaction began.
      if (again && !progress.begun && !this.database.breaker.unavailable) return this.atOnce(work, false);
      throw progress.done ? new CommitUncertain(error) : new Unavailable(error);
    }
  }

  private async turn(lane: Limiter<Caller>, caller: Caller): Promise<void> {
    if (this.over) throw this.over;
    let queued: QueuedWork<Caller> | undefined;
    const stoppable = { stop: (why: Error) => queued && lane.cancel(queued, why) };
    this.running.add(stoppable);
    await lane.waitForSlot(caller, false, (entry) => (queued = entry)).finally(() => this.running.delete(stoppable));
  }
}
