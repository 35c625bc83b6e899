/** A read statement: waits for a slot of the concurrency limiter, runs on a pooled connection and can be cancelled when the client disconnects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type ClientBase, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { StatementParameters, Row } from './rows';
import { NamedQuery, type PrecedingStatement, type PreparedStatementState } from '../internals/pg';
import type { ConcurrencyLimiter, LimiterClientKey, QueuedWork } from '../platform/limiter';
import type { PreparedStatements } from './preparedstatements';
import type { CircuitBreaker } from './circuitbreaker';
import { isDatabaseUnavailableError, ReadLimitExceeded, DatabaseUnavailable } from './errors';
import type { SessionUsers } from './sessionuser';

/** Resources that the reads of one kind of client share, such as the pool, the limiter and the prepared statements. */
export interface ReadDependencies {
  pool: Pool;
  limiter: ConcurrencyLimiter<LimiterClientKey>;
  preparedStatements: PreparedStatements;
  breaker: CircuitBreaker;
  /**
   * Statement that sets the timeouts before each other statement behind a transaction pooler, where settings last only until the end of the
   * transaction.
   */
  precedingStatement?: PrecedingStatement;
  /** Sets the session user for row-level security; absent for the server's own statements. */
  sessionUsers?: SessionUsers;
}

const MIN_CANCEL_INTERVAL_MS = 10;
const MAX_CANCEL_INTERVAL_MS = 1_000;

/** Matches statements that only read and so can be retried, but not all such statements. */
const READ_STATEMENT_PATTERN = /^\s*(?:SELECT|WITH)\b(?![\s\S]*\b(?:INSERT|UPDATE|DELETE)\b)/i;

/** The request that a statement belongs to. */
export interface StatementContext {
  clientKey: LimiterClientKey;
  /** Whether a statement of the request has already started. Then the next statements of the request have priority. */
  hasStartedStatement: boolean;
  /** Total run time of the request's statements, without the time spent waiting for a slot or a connection. */
  statementMs: number;
  /** Counts bytes read for the request. Throws ReadLimitExceeded above its limit. */
  countReadBytes(bytes: number): void;
}

interface Query {
  text: string;
  values: StatementParameters;
  /** Called for each row. An error that it throws becomes the error of the query, and further rows are discarded. */
  onRowBytes(bytes: number): void;
  /** Name of the prepared statement; absent if it is not prepared. */
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
  } finally {
    request.statementMs += performance.now() - startedAt;
  }
}

export const queryInTransaction = (
  client: PoolClient,
  text: string,
  values: StatementParameters,
  request: StatementContext,
): Promise<Row[]> =>
  sendQuery(
    client,
    { text, values, onRowBytes: (bytes) => request.countReadBytes(bytes) },
    request,
  ).catch((error) => {
    throw error instanceof DatabaseError || error instanceof ReadLimitExceeded
      ? error
      : new DatabaseUnavailable(error);
  });

export class Statement {
  private stopReason?: Error;
  private client?: PoolClient;
  private queuedWork?: QueuedWork<LimiterClientKey>;
  private cancellation?: Promise<boolean>;

  constructor(
    private readonly readDependencies: ReadDependencies,
    private readonly request: StatementContext,
    private readonly text: string,
    private readonly values: StatementParameters,
    /** Session user for row-level security; undefined if the statement does not depend on it. */
    private readonly sessionUserId: string | undefined,
  ) {}

  /** Runs the statement and returns its rows. Call this once. */
  async fetchRows(): Promise<Row[]> {
    const { request } = this;
    const { limiter } = this.readDependencies;
    const { clientKey } = request;
    const slotPromise = limiter.waitForSlot(
      clientKey,
      request.hasStartedStatement,
      (queued) => (this.queuedWork = queued),
    );
    // Marks the request as started before waiting, so that its other statements in the same event-loop turn have priority as well.
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
    const { pool, breaker } = this.readDependencies;
    if (breaker.unavailableError) throw breaker.unavailableError;
    const client = await pool.connect().catch((error) => {
      throw new DatabaseUnavailable(error);
    });
    try {
      return await this.queryOn(client);
    } catch (error) {
      if (
        !(error instanceof DatabaseUnavailable) ||
        this.stopReason ||
        isRetry ||
        !READ_STATEMENT_PATTERN.test(this.text)
      )
        throw error;
    }
    return this.query(true);
  }

  private async queryOn(client: PoolClient): Promise<Row[]> {
    const { text, values } = this;
    const {
      preparedStatements,
      sessionUsers,
      precedingStatement: fixedStatement,
    } = this.readDependencies;
    let connectionError: DatabaseUnavailable | undefined;
    try {
      if (this.stopReason) throw this.stopReason;
      this.client = client;
      const precedingStatement = sessionUsers
        ? sessionUsers.precedingStatement(client, this.sessionUserId, fixedStatement)
        : fixedStatement;
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
      // Unlike other errors, one that PostgreSQL has sent leaves the connection usable.
      if (
        error !== this.stopReason &&
        (!(error instanceof DatabaseError) || isDatabaseUnavailableError(error))
      )
        connectionError = new DatabaseUnavailable(error);
      throw this.stopReason ?? connectionError ?? error;
    } finally {
      this.client = undefined;
      // Waits for the CancelRequest, which could otherwise cancel the connection's next statement. If it may still do so, the connection is closed.
      const isCancellationSettled = this.cancellation === undefined || (await this.cancellation);
      client.release(connectionError ?? !isCancellationSettled);
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
   * Cancels the statement until it has ended, because PostgreSQL ignores a CancelRequest that it processes before it has received the statement. Resolves
   * to false if one of the CancelRequests may still arrive.
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

  /** Makes the promise of `fetchRows` reject with `reason`: immediately if the statement is queued, after cancelling it if it is running. */
  stop(reason: Error): void {
    if (this.stopReason) return;
    this.stopReason = reason;
    if (this.client) this.cancellation = this.cancelUntilEnded(this.client);
    else if (this.queuedWork) this.readDependencies.limiter.cancel(this.queuedWork, reason);
  }
}
