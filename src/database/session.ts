/** Database session of one request: runs and counts its statements and transactions, and cancels them together. */
import type { PoolClient } from 'pg';
import type { Transaction } from 'sequelize';
import { connectionOf, type SessionUserOption } from '../internals/sequelize';
import {
  OverloadedError,
  SERVER_CLIENT_KEY,
  type ConcurrencyLimiter,
  type LimiterClientKey,
  type QueuedWork,
} from '../platform/limiter';
import type { RequestTrace } from '../platform/requesttrace';
import type { Database, ClientKind } from './connection';
import {
  ClientDisconnected,
  isTimeout,
  isDatabaseUnavailableError,
  ReadLimitExceeded,
  CommitOutcomeUnknown,
  DatabaseUnavailable,
} from './errors';
import type { StatementParameters, Row } from './rows';
import { queryInTransaction, Statement, type StatementContext } from './statement';
import { ANONYMOUS_SESSION_USER } from './sessionuser';

/** A transaction that spans a whole operation or request. */
interface OpenTransaction {
  transaction: Transaction;
  /** Functions that undo effects outside of the database, in case of a rollback. */
  compensations: (() => Promise<void>)[];
  sentStatementsCompletion: Promise<unknown>;
}

/** Thrown to make Sequelize roll back a transaction whose result is discarded. */
class RolledBackError extends Error {}

const LIVE_CLIENT_KINDS: readonly ClientKind[] = ['live', 'anonymousLive'];

export class DatabaseSession implements StatementContext {
  statementCount = 0;
  statementMs = 0;
  rowCount = 0;
  /** Bytes of rows read for the current response. */
  readBytes = 0;
  private readByteLimit = Infinity;
  private onReadLimitExceeded?: () => void;
  trace?: RequestTrace;
  private readonly runningWork = new Set<{ stop(reason: Error): void }>();
  /** Error that explains why the session has ended, thrown by all further statements; absent until then. */
  private endReason?: Error;
  /** Whether a write has begun, which is completed whatever happens to the client. */
  isWriting = false;
  private clientKind: ClientKind = 'own';
  private openTransaction?: OpenTransaction;
  clientKey: LimiterClientKey = SERVER_CLIENT_KEY;
  hasStartedStatement = false;
  /** Session user for row-level security: the id of the signed-in user, or ANONYMOUS_SESSION_USER. */
  private sessionUserId = ANONYMOUS_SESSION_USER;

  constructor(readonly database: Database) {}

  /**
   * Sets the client of the request after its authentication; for a subscription event, the kind of client stays that of subscriptions. The next statement has no
   * priority in the queue, as if it were the first one of the request.
   */
  setClient(clientKind: ClientKind, clientKey: LimiterClientKey): void {
    if (!LIVE_CLIENT_KINDS.includes(this.clientKind)) this.clientKind = clientKind;
    this.clientKey = clientKey;
    this.sessionUserId = typeof clientKey === 'number' ? String(clientKey) : ANONYMOUS_SESSION_USER;
    this.hasStartedStatement = false;
  }

  async query(text: string, values: StatementParameters = []): Promise<Row[]> {
    return this.run(text, values, this.sessionUserId);
  }

  /** Runs a statement that looks up who sent the request. The tables that it reads have no row-level security, so no session user is needed. */
  async queryForAuthentication(text: string, values: StatementParameters): Promise<Row[]> {
    return this.run(text, values, undefined);
  }

  private async run(
    text: string,
    values: StatementParameters,
    sessionUserId: string | undefined,
  ): Promise<Row[]> {
    if (this.endReason) throw this.endReason;
    try {
      return await this.send(text, values, sessionUserId);
    } catch (error) {
      // Ends the session: further statements would probably fail as well, and a request must not wait repeatedly for the database.
      if (error instanceof OverloadedError || isTimeout(error) || isDatabaseUnavailableError(error))
        this.end(error as Error);
      throw error;
    }
  }

  /** Runs a statement that records the outcome of the request, even after the session has ended. */
  async recordRequestOutcome(text: string, values: StatementParameters): Promise<void> {
    this.hasStartedStatement = true;
    await this.send(text, values, this.sessionUserId);
  }

  private async send(
    text: string,
    values: StatementParameters,
    sessionUserId: string | undefined,
  ): Promise<Row[]> {
    const { openTransaction } = this;
    const endSpan = this.trace?.beginStatementSpan(text);
    this.statementCount += 1;
    let rowCount: number | undefined;
    try {
      const rows = await (openTransaction
        ? this.sendInTransaction(openTransaction, text, values)
        : this.sendOutsideTransaction(text, values, sessionUserId));
      rowCount = rows.length;
      this.rowCount += rowCount;
      return rows;
    } finally {
      endSpan?.(rowCount);
    }
  }

  private async sendOutsideTransaction(
    text: string,
    values: StatementParameters,
    sessionUserId: string | undefined,
  ): Promise<Row[]> {
    const statement = new Statement(
      this.database.readDependencies[this.clientKind],
      this,
      text,
      values,
      sessionUserId,
    );
    this.runningWork.add(statement);
    try {
      return await statement.fetchRows();
    } finally {
      this.runningWork.delete(statement);
    }
  }

  /** Statements of a transaction share its connection and run one after the other. */
  private sendInTransaction(
    openTransaction: OpenTransaction,
    text: string,
    values: StatementParameters,
  ): Promise<Row[]> {
    const connection = connectionOf<PoolClient>(openTransaction.transaction);
    const result = openTransaction.sentStatementsCompletion.then(() =>
      queryInTransaction(connection, text, values, this),
    );
    openTransaction.sentStatementsCompletion = result.catch(() => undefined);
    return result;
  }

  /** Sets how many bytes of rows may be read from the database for the current response. Beyond that, calls `onExceeded` and fails the statement. */
  limitReadBytes(bytes: number, onExceeded: () => void): void {
    this.readBytes = 0;
    this.readByteLimit = bytes;
    this.onReadLimitExceeded = onExceeded;
  }

  countReadBytes(bytes: number): void {
    this.readBytes += bytes;
    if (this.readBytes <= this.readByteLimit) return;
    this.onReadLimitExceeded?.();
    throw new ReadLimitExceeded(this.readByteLimit);
  }

  /** Stops all running statements, and rejects further ones with `reason`. */
  private end(reason: Error): void {
    this.endReason ??= reason;
    for (const running of this.runningWork) running.stop(reason);
  }

  /** Cancels the reads of a client that has disconnected. A write that has begun is completed. */
  cancelReads(): void {
    this.stopReads(new ClientDisconnected());
  }

  /** Stops all running statements, and rejects further ones with `reason`. A write that has begun is completed. */
  stopReads(reason: Error): void {
    if (!this.isWriting) this.end(reason);
  }

  get isClientGone(): boolean {
    return this.endReason instanceof ClientDisconnected;
  }

  /** Makes the request continue to its end even if the client disconnects. */
  ignoreDisconnect(): void {
    if (this.endReason) throw this.endReason;
    this.isWriting = true;
  }

  /** Prepares the session for the next event of a subscription. Errors of earlier events do not affect it, unless the client has disconnected. */
  beginSubscriptionEvent(): void {
    this.clientKind = typeof this.clientKey === 'number' ? 'live' : 'anonymousLive';
    if (!this.isClientGone) this.endReason = undefined;
  }

  /** Options for Sequelize, so that its statements are counted and traced. */
  readonly sequelizeOptions = {
    benchmark: true,
    logging: (text: string, milliseconds = 0) => {
      this.statementCount += 1;
      this.statementMs += milliseconds;
      this.trace?.recordStatementSpan(text, milliseconds);
    },
  };

  /** Called before the COMMIT of every transaction. An error rolls the transaction back. */
  beforeCommit?: (transaction: Transaction) => Promise<void>;

  /** Runs `callback` in one transaction, which is rolled back if `callback` throws or returns `shouldCommit: false`. Nested transactions are savepoints. */
  async atomically<T>(callback: () => Promise<{ shouldCommit: boolean; result: T }>): Promise<T> {
    const outerTransaction = this.openTransaction;
    const compensations: (() => Promise<void>)[] = [];
    let outcome: { shouldCommit: boolean; result: T } | undefined;
    try {
      return await this.transaction(async (transaction) => {
        this.openTransaction = {
          transaction,
          compensations,
          sentStatementsCompletion: Promise.resolve(),
        };
        try {
          outcome = await callback();
        } finally {
          this.openTransaction = outerTransaction;
        }
        if (!outcome.shouldCommit) throw new RolledBackError();
        outerTransaction?.compensations.push(...compensations);
        return outcome.result;
      });
    } catch (error) {
      if (!(error instanceof CommitOutcomeUnknown)) for (const undo of compensations) await undo();
      if (error instanceof RolledBackError) return outcome!.result;
      throw error;
    }
  }

  /** Runs all reads and writes of `callback` in one transaction. */
  inTransaction<T>(callback: () => Promise<T>): Promise<T> {
    return this.atomically(async () => ({ shouldCommit: true, result: await callback() }));
  }

  /** Whether statements see uncommitted writes of this session. */
  get isInTransaction(): boolean {
    return this.openTransaction !== undefined;
  }

  /**
   * Registers a function that undoes an effect outside of the database. It is called if the transaction of `atomically` is rolled back, but
   * not if its outcome is unknown, because committed rows may need the effect.
   */
  onRollback(undo: () => Promise<void>): void {
    this.openTransaction?.compensations.push(undo);
  }

  private async runInSavepoint<T>(
    parent: Transaction,
    callback: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.database.sequelize.transaction(
        { ...this.sequelizeOptions, transaction: parent },
        callback,
      );
    } catch (error) {
      throw isDatabaseUnavailableError(error) ? new DatabaseUnavailable(error) : error;
    }
  }

  /** Runs a transaction, or a savepoint of the open one. */
  async transaction<T>(callback: (transaction: Transaction) => Promise<T>): Promise<T> {
    const { clientKey, openTransaction } = this;
    if (openTransaction) return this.runInSavepoint(openTransaction.transaction, callback);
    const writeLimiter = this.database.writeLimiters.of(clientKey);
    await this.waitForSlot(writeLimiter, clientKey);
    try {
      this.ignoreDisconnect();
      return await this.runTransaction(callback);
    } finally {
      writeLimiter.release(clientKey);
    }
  }

  private async runTransaction<T>(
    callback: (transaction: Transaction) => Promise<T>,
    mayRetry = true,
  ): Promise<T> {
    const { breaker, sequelize } = this.database;
    if (breaker.unavailableError) throw breaker.unavailableError;
    const sessionUserOption: SessionUserOption = {
      sessionUserId: this.clientKind === 'own' ? undefined : this.sessionUserId,
    };
    const options = { ...this.sequelizeOptions, ...sessionUserOption };
    const progress = { hasBegun: false, isComplete: false };
    try {
      return await sequelize.transaction(options, async (transaction) => {
        progress.hasBegun = true;
        const result = await callback(transaction);
        await this.beforeCommit?.(transaction);
        progress.isComplete = true;
        return result;
      });
    } catch (error) {
      if (!isDatabaseUnavailableError(error)) throw error;
      // BEGIN failed because the connection was already dead, so nothing was executed and the transaction can be repeated.
      if (mayRetry && !progress.hasBegun && !this.database.breaker.unavailableError)
        return this.runTransaction(callback, false);
      throw progress.isComplete ? new CommitOutcomeUnknown(error) : new DatabaseUnavailable(error);
    }
  }

  private async waitForSlot(
    limiter: ConcurrencyLimiter<LimiterClientKey>,
    clientKey: LimiterClientKey,
  ): Promise<void> {
    if (this.endReason) throw this.endReason;
    let queuedWork: QueuedWork<LimiterClientKey> | undefined;
    const cancellableWait = {
      stop: (reason: Error) => queuedWork && limiter.cancel(queuedWork, reason),
    };
    this.runningWork.add(cancellableWait);
    await limiter
      .waitForSlot(clientKey, false, (entry) => (queuedWork = entry))
      .finally(() => this.runningWork.delete(cancellableWait));
  }
}
