/**
 * A read statement: waits for a slot of the concurrency limiter, runs on a pooled connection and
 * can be cancelled when the client disconnects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type ClientBase, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { StatementParameters, Row } from './rows';
import { NamedQuery, type PrecedingStatement, type PreparedStatementState } from './internals/pg';
import type { ConcurrencyLimiter, LimiterClientKey, QueuedWork } from '../shared/limiter';
import type { PreparedStatements } from './prepared-statements';
import {
  isDatabaseUnavailableError,
  isReadOnlyError,
  DatabaseUnavailable,
  toStatementError,
} from './errors';
import type { SessionUsers } from './session-user';

/** Services that the read statements of one kind of client use, such as pool and limiter. */
export interface StatementServices {
  pool: Pool;
  limiter: ConcurrencyLimiter<LimiterClientKey>;
  preparedStatements: PreparedStatements;

  /**
   * Sets the timeouts before each statement behind a transaction pooler, where settings last only
   * for a transaction.
   */
  timeoutsStatement?: PrecedingStatement;

  /** Sets the session user for row-level security. Absent for the server's own statements. */
  sessionUsers?: SessionUsers;
}

const MIN_CANCEL_INTERVAL_MS = 10;
const MAX_CANCEL_INTERVAL_MS = 1_000;

/**
 * A connection lost within this time after sending was already dead while it was idle. Nothing was
 * executed, so the work may be repeated.
 */
export const STALE_CONNECTION_ERROR_MS = 1_000;

/**
 * Matches statements that only read, and so can be retried. Does not recognize every such
 * statement.
 */
const READ_STATEMENT_PATTERN = /^\s*(?:SELECT|WITH)\b(?![\s\S]*\b(?:INSERT|UPDATE|DELETE)\b)/i;

/** The request that a statement belongs to. */
export interface StatementContext {
  clientKey: LimiterClientKey;

  /**
   * Whether a statement of the request has already started. If so, the next statements of the
   * request have priority.
   */
  hasStartedStatement: boolean;

  /** Run time of the request's statements, without waiting for a slot or a connection. */
  statementMs: number;

  /** Counts bytes of rows read for the request. Throws ReadLimitExceeded above its limit. */
  countReadBytes(bytes: number): void;
}

interface Query {
  text: string;
  values: StatementParameters;

  /**
   * Called for each row with its size. An error that it throws becomes the error of the query, and
   * further rows are discarded.
   */
  onRowBytes(bytes: number): void;

  /** Name under which the statement is prepared. */
  name?: string;
  state?: PreparedStatementState;
  precedingStatement?: PrecedingStatement;
}

async function sendQuery(
  client: ClientBase,
  query: Query,
  request: StatementContext,
): Promise<Row[]> {
  const {
    text,
    values,
    onRowBytes,
    name = '',
    state = { sqlTextLength: text.length },
    precedingStatement,
  } = query;
  const startedAt = performance.now();

  try {
    return await new Promise((resolve, reject) => {
      const callback = (error: Error | null, rows: Row[]) =>
        error ? reject(error) : resolve(rows);

      client.query(
        new NamedQuery(name, text, values, state, client, callback, precedingStatement, onRowBytes),
      );
    });
  } catch (error) {
    // Shows the caller in the stack of the error instead of pg's parser, as pg does for its own
    // queries.
    if (error instanceof DatabaseError) Error.captureStackTrace(error);
    throw error;
  } finally {
    request.statementMs += performance.now() - startedAt;
  }
}

export async function queryInTransaction(
  client: PoolClient,
  text: string,
  values: StatementParameters,
  request: StatementContext,
): Promise<Row[]> {
  try {
    return await sendQuery(
      client,
      { text, values, onRowBytes: (bytes) => request.countReadBytes(bytes) },
      request,
    );
  } catch (error) {
    throw toStatementError(error);
  }
}

export class Statement {
  private stopReason?: Error;
  private client?: PoolClient;
  private queuedWork?: QueuedWork<LimiterClientKey>;
  private cancellation?: Promise<boolean>;

  constructor(
    private readonly services: StatementServices,
    private readonly request: StatementContext,
    private readonly text: string,
    private readonly values: StatementParameters,

    /** Session user for row-level security. Undefined if the statement does not depend on it. */
    private readonly sessionUserId: string | undefined,
  ) {}

  /** Runs the statement and returns its rows. Call this only once. */
  async fetchRows(): Promise<Row[]> {
    const { request } = this;
    const { limiter } = this.services;
    const { clientKey } = request;
    const slotPromise = limiter.waitForSlot(
      clientKey,
      request.hasStartedStatement,
      (queued) => (this.queuedWork = queued),
    );

    // Marks the request as started before waiting, so that its other statements in the same
    // event-loop turn have priority as well.
    request.hasStartedStatement ||= !this.queuedWork;
    await slotPromise;
    request.hasStartedStatement = true;

    try {
      const rows = await this.query();

      if (this.stopReason) throw this.stopReason;

      return rows;
    } finally {
      limiter.release(clientKey);
    }
  }

  private async query(isRetry = false): Promise<Row[]> {
    const client = await this.services.pool.connect().catch((error) => {
      throw new DatabaseUnavailable(error);
    });
    const sentAt = performance.now();

    try {
      return await this.queryOn(client);
    } catch (error) {
      const mayRetry =
        !isRetry && !this.stopReason && performance.now() - sentAt < STALE_CONNECTION_ERROR_MS;

      if (
        !mayRetry ||
        !(error instanceof DatabaseUnavailable) ||
        !READ_STATEMENT_PATTERN.test(this.text)
      ) {
        throw error;
      }
    }

    return this.query(true);
  }

  private async queryOn(client: PoolClient): Promise<Row[]> {
    const { text, values } = this;
    const { preparedStatements, sessionUsers, timeoutsStatement } = this.services;
    let connectionError: DatabaseUnavailable | undefined;
    let isReadOnly = false;

    try {
      if (this.stopReason) throw this.stopReason;
      this.client = client;
      const precedingStatement = sessionUsers
        ? sessionUsers.precedingStatement(client, this.sessionUserId, timeoutsStatement)
        : timeoutsStatement;
      const name = values.needsCustomPlan ? undefined : preparedStatements.countUseAndGetName(text);
      const state =
        name === undefined ? undefined : preparedStatements.getOrCreateState(client, name, text);

      return await sendQuery(
        client,
        { text, values, onRowBytes: this.countBytes, name, state, precedingStatement },
        this.request,
      );
    } catch (error) {
      sessionUsers?.forgetUser(client);

      // Closes the connection, unless the error was sent by PostgreSQL, after which the connection
      // stays usable.
      if (
        error !== this.stopReason &&
        (!(error instanceof DatabaseError) || isDatabaseUnavailableError(error))
      ) {
        connectionError = new DatabaseUnavailable(error);
      }

      isReadOnly = isReadOnlyError(error);
      throw this.stopReason ?? connectionError ?? error;
    } finally {
      this.client = undefined;
      // Waits for the CancelRequest, which could otherwise cancel the connection's next statement.
      // If it may still arrive, the connection is closed.
      const isCancellationSettled = this.cancellation === undefined || (await this.cancellation);

      client.release(connectionError ?? (!isCancellationSettled || isReadOnly));
    }
  }

  private readonly countBytes = (bytes: number): void => {
    if (this.stopReason) throw this.stopReason;

    try {
      this.request.countReadBytes(bytes);
    } catch (error) {
      this.stop(error as Error);
      throw error;
    }
  };

  /**
   * Repeats the CancelRequest until the statement has ended, because PostgreSQL ignores one that it
   * processes before the statement. Resolves to false if one of them may still arrive.
   */
  private async cancelUntilEnded(client: PoolClient): Promise<boolean> {
    let isSettled = true;

    for (
      let delayMs = MIN_CANCEL_INTERVAL_MS;
      this.client;
      delayMs = Math.min(2 * delayMs, MAX_CANCEL_INTERVAL_MS)
    ) {
      isSettled = (await cancelStatement(client)) && isSettled;
      await sleep(delayMs, undefined, { ref: false });
    }

    return isSettled;
  }

  /** Cancels the statement, or removes it from the queue: `fetchRows` rejects with `reason`. */
  stop(reason: Error): void {
    if (this.stopReason) return;
    this.stopReason = reason;
    if (this.client) this.cancellation = this.cancelUntilEnded(this.client);
    else if (this.queuedWork) this.services.limiter.cancel(this.queuedWork, reason);
  }
}
