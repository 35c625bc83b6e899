/**
 * Database session of one request: runs and counts its statements and transactions, and cancels
 * them together.
 */
import type { Client, Pool, PoolClient } from 'pg';
import {
  OverloadedError,
  SERVER_CLIENT_KEY,
  type ClientLimiters,
  type ConcurrencyLimiter,
  type LimiterClientKey,
  type QueuedWork,
} from '../shared/limiter';
import type { RequestTrace } from '../shared/request-trace';
import {
  ClientDisconnected,
  isTimeout,
  isDatabaseUnavailableError,
  isReadOnlyError,
  ReadLimitExceeded,
  CommitOutcomeUnknown,
  DatabaseUnavailable,
  toStatementError,
} from './errors';
import type { StatementParameters, Row } from './rows';
import {
  STALE_CONNECTION_ERROR_MS,
  queryInTransaction,
  Statement,
  type StatementServices,
  type StatementContext,
} from './statement';
import { ANONYMOUS_SESSION_USER } from './session-user';
import { BEGIN_SNAPSHOT_STATEMENT, BEGIN_STATEMENT } from './settings';
import { inTransaction, Transaction } from './transaction';

/**
 * Kinds of clients that have limits of their own: anonymous clients (`anonymous`), signed-in users
 * (`users`), the subscriptions of both (`anonymousLive`, `live`), and the server itself (`own`).
 */
export type ClientKind = 'anonymous' | 'users' | 'anonymousLive' | 'live' | 'own';

/** The part of `Database` that sessions use. */
export interface SessionDatabase {
  readonly statementServices: Readonly<Record<ClientKind, StatementServices>>;
  readonly writeLimiters: ClientLimiters;
  readonly writePool: Pool;

  /** Called after each transaction that may have changed public rows. */
  onPublicWrite?: () => void;

  /** SQL that begins a transaction of a session user, or of the server itself. */
  beginSql(sessionUserId: string | undefined, beginStatement: string): string;

  /**
   * Runs a statement of the server itself, outside of any request. Row-level security does not
   * apply to it.
   */
  queryAsServer(text: string, values?: unknown[]): Promise<Row[]>;

  /** Creates a session of the server itself, to which row-level security does not apply. */
  createSession(auditSource?: AuditSource): DatabaseSession;
  withoutTimeouts<T>(callback: (client: Client) => Promise<T>): Promise<T>;
}

/** Who changes rows, as the audit log names them. */
export interface AuditSource {
  /** Address of the client or, for IPv6, its network. */
  address?: string;

  /** User of the operating system that runs a command, or `superuser` and the name of one. */
  operator?: string;
}

/** A transaction that spans a whole operation or request. */
interface OpenTransaction {
  transaction: Transaction;

  /** Functions that undo effects outside of the database after a rollback. */
  compensations: (() => Promise<void>)[];
}

/** Thrown to roll back a transaction whose result is discarded. */
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

  /** Why the session ended. Every later statement throws it. */
  private endReason?: Error;

  /** Whether a write has begun, which is completed even if the client disconnects. */
  isWriting = false;
  private mayChangePublicRows = false;
  private clientKind: ClientKind = 'own';
  private openTransaction?: OpenTransaction;
  clientKey: LimiterClientKey = SERVER_CLIENT_KEY;
  hasStartedStatement = false;

  /**
   * Session user for row-level security: the id of the signed-in user, or ANONYMOUS_SESSION_USER.
   */
  private sessionUserId = ANONYMOUS_SESSION_USER;

  constructor(
    readonly database: SessionDatabase,
    readonly auditSource?: AuditSource,
  ) {}

  /**
   * Sets the client of the request after its authentication. The kind of a subscription (`live`,
   * `anonymousLive`) stays. The next statement has no priority in the queue, as if it were the
   * first one of the request.
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

  /** Runs a statement that looks up who sent the request, in tables without row-level security. */
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
      // Ends the session: further statements would probably fail as well, and a request must not
      // wait repeatedly for the database.
      if (
        error instanceof OverloadedError ||
        isTimeout(error) ||
        isDatabaseUnavailableError(error)
      ) {
        this.end(error as Error);
      }

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
    if (this.openTransaction) return this.openTransaction.transaction.query(text, values);

    return this.traceStatement(text, () =>
      this.sendOutsideTransaction(text, values, sessionUserId),
    );
  }

  /** Counts and traces a statement. */
  private async traceStatement(text: string, send: () => Promise<Row[]>): Promise<Row[]> {
    const endSpan = this.trace?.beginStatementSpan(text);

    this.statementCount += 1;
    let rowCount: number | undefined;

    try {
      const rows = await send();

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
      this.database.statementServices[this.clientKind],
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

  /**
   * Limits the bytes of rows read for the current response. Above the limit, calls `onExceeded` and
   * fails the statement.
   */
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

  /** Stops all running statements and rejects further ones, unless a write has begun. */
  stopReads(reason: Error): void {
    if (!this.isWriting) this.end(reason);
  }

  get hasClientDisconnected(): boolean {
    return this.endReason instanceof ClientDisconnected;
  }

  /** Completes the request even if the client disconnects. */
  ignoreDisconnect(): void {
    if (this.endReason) throw this.endReason;
    this.isWriting = true;
  }

  /** Prepares the session for the next event of a subscription. Clears errors of earlier events. */
  beginSubscriptionEvent(): void {
    this.clientKind = typeof this.clientKey === 'number' ? 'live' : 'anonymousLive';
    this.resumeReads();
  }

  /** Permits statements again after `stopReads`, unless the client has disconnected. */
  resumeReads(): void {
    if (!this.hasClientDisconnected) this.endReason = undefined;
  }

  /** Called before each COMMIT. An error rolls the transaction back. */
  beforeCommit?: (transaction: Transaction) => Promise<void>;

  /**
   * Runs `callback` in one transaction, which is rolled back if `callback` throws or returns
   * `shouldCommit: false`. Nested calls are savepoints.
   */
  async atomically<T>(callback: () => Promise<{ shouldCommit: boolean; result: T }>): Promise<T> {
    const outerTransaction = this.openTransaction;
    const compensations: (() => Promise<void>)[] = [];
    let outcome: { shouldCommit: boolean; result: T } | undefined;

    try {
      return await this.transaction(async (transaction) => {
        this.openTransaction = { transaction, compensations };

        try {
          outcome = await callback();
        } finally {
          this.openTransaction = outerTransaction;
        }

        if (!outcome.shouldCommit) throw new RolledBackError();
        outerTransaction?.compensations.push(...compensations);
        return outcome.result;
      }, false);
    } catch (error) {
      if (!(error instanceof CommitOutcomeUnknown)) {
        for (const compensate of compensations) await compensate();
      }

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
   * Registers a function that undoes an effect outside of the database after a rollback. It is not
   * called if the outcome of COMMIT is unknown, because committed rows may need the effect.
   */
  onRollback(undo: () => Promise<void>): void {
    this.openTransaction?.compensations.push(undo);
  }

  /** Runs `callback` in a transaction, or in a savepoint if a transaction is open. */
  async transaction<T>(
    callback: (transaction: Transaction) => Promise<T>,
    mayChangePublicRows = true,
  ): Promise<T> {
    const { clientKey, openTransaction } = this;

    this.mayChangePublicRows ||= mayChangePublicRows;

    if (openTransaction) {
      return openTransaction.transaction.savepoint(() => callback(openTransaction.transaction));
    }

    const writeLimiter = this.database.writeLimiters.forClient(clientKey);

    await this.waitForSlot(writeLimiter, clientKey);

    try {
      this.ignoreDisconnect();
      return await this.runTransaction(this.database.writePool, BEGIN_STATEMENT, callback);
    } finally {
      writeLimiter.release(clientKey);
      // After an error, too, because the outcome of COMMIT may be unknown.
      if (this.mayChangePublicRows) this.database.onPublicWrite?.();
    }
  }

  /**
   * Runs all reads of `callback` on one snapshot of the database. The callback must not wait for
   * the client, because the transaction occupies a connection.
   */
  async readSnapshot<T>(callback: () => Promise<T>): Promise<T> {
    const { clientKey } = this;
    const { limiter, pool } = this.database.statementServices[this.clientKind];

    await this.waitForSlot(limiter, clientKey);

    try {
      return await this.runTransaction(pool, BEGIN_SNAPSHOT_STATEMENT, async (transaction) => {
        this.openTransaction = { transaction, compensations: [] };

        try {
          return await callback();
        } finally {
          this.openTransaction = undefined;
        }
      });
    } finally {
      limiter.release(clientKey);
    }
  }

  private async runTransaction<T>(
    pool: Pool,
    beginStatement: string,
    callback: (transaction: Transaction) => Promise<T>,
    mayRetry = true,
  ): Promise<T> {
    const client = await pool.connect().catch((error) => {
      throw new DatabaseUnavailable(error);
    });
    const startedAt = performance.now();
    const progress = { hasBegun: false };
    let connectionError: Error | undefined;
    let isReadOnly = false;

    try {
      return await this.runTransactionOn(client, beginStatement, async (transaction) => {
        progress.hasBegun = true;
        return callback(transaction);
      });
    } catch (error) {
      isReadOnly = isReadOnlyError(error);
      if (!isDatabaseUnavailableError(error)) throw error;
      connectionError =
        error instanceof CommitOutcomeUnknown ? error : new DatabaseUnavailable(error);
    } finally {
      // Closes a connection that is still in the transaction, because ROLLBACK failed.
      client.release(connectionError ?? (isReadOnly || client.getTransactionStatus() !== 'I'));
    }

    // BEGIN failed because the connection was already dead. Nothing was executed, so the
    // transaction can be repeated.
    if (
      mayRetry &&
      !progress.hasBegun &&
      performance.now() - startedAt < STALE_CONNECTION_ERROR_MS
    ) {
      return this.runTransaction(pool, beginStatement, callback, false);
    }

    throw connectionError;
  }

  private runTransactionOn<T>(
    client: PoolClient,
    beginStatement: string,
    callback: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const logStatement = (text: string, milliseconds = 0) => {
      this.statementCount += 1;
      this.statementMs += milliseconds;
      this.trace?.recordStatementSpan(text, milliseconds);
    };

    const send = (text: string, values: StatementParameters) =>
      this.traceStatement(text, () => queryInTransaction(client, text, values, this));
    const transaction = new Transaction(client, send, logStatement);
    const statementSender = {
      query: (text: string) =>
        this.traceStatement(text, async () => {
          const startedAt = performance.now();

          await client.query(text).catch((error) => {
            throw toStatementError(error);
          });
          this.statementMs += performance.now() - startedAt;
          return [];
        }),
    };
    const beginSql = this.database.beginSql(
      this.clientKind === 'own' ? undefined : this.sessionUserId,
      beginStatement,
    );

    return inTransaction(
      statementSender,
      async () => {
        const result = await callback(transaction);

        await this.beforeCommit?.(transaction);
        return result;
      },
      beginSql,
    );
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
