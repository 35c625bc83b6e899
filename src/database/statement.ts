/** A read statement: waits for a slot of the concurrency limiter, runs on a pooled connection and can be cancelled when the client disconnects. */
import { DatabaseError, type ClientBase, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { Parameters, Row } from './rows';
import { NamedQuery, type PrecedingStatement, type StatementState } from '../internals/pg';
import type { Limiter, QueuedWork } from '../platform/limiter';
import type { Caller } from './options';
import type { PreparedStatements } from './prepared';
import type { CircuitBreaker } from './circuitbreaker';
import { isTimeout, isUnavailable, ReadLimitExceeded, Unavailable } from './errors';
import type { Replica } from './replica';
import type { SessionUsers } from './sessionuser';

/** The pool, limiter and prepared statements of one kind of client. */
export interface Reads {
  pool: Pool;
  /** Serves reads that may be stale, while it is usable. */
  replica?: Replica;
  limiter: Limiter<Caller>;
  prepared: PreparedStatements;
  breaker: CircuitBreaker;
  /** Sent with each statement behind a transaction pooler, where no session keeps settings. */
  preceding?: PrecedingStatement;
  /** Absent: no session user is set. */
  sessionUsers?: SessionUsers;
}

/** Matches statements that can be retried because they only read. A false negative is harmless. */
const READS = /^\s*(?:SELECT|WITH)\b(?![\s\S]*\b(?:INSERT|UPDATE|DELETE)\b)/i;

/** The request that a statement belongs to. */
export interface StatementContext {
  caller: Caller;
  /** Whether a statement of the request has run already, which gives the next one priority. */
  hasStarted: boolean;
  /** Time that its statements have run, without waiting for a slot or a connection. */
  milliseconds: number;
  /** Counts bytes read for the request. Throws ReadLimitExceeded above its limit. */
  countBytes(bytes: number): void;
}

interface Query {
  text: string;
  values: Parameters;
  /** An error that it throws becomes that of the query; further rows are discarded. */
  countBytes(bytes: number): void;
  /** Absent: not prepared. */
  name?: string;
  state?: StatementState;
  preceding?: PrecedingStatement;
}

async function send(client: ClientBase, query: Query, request: StatementContext): Promise<Row[]> {
  const { text, values, countBytes, name = '', state = { length: text.length }, preceding } = query;
  const startedAt = performance.now();
  try {
    return await new Promise((resolve, reject) => {
      const answered = (error: Error | null, rows: Row[]) => (error ? reject(error) : resolve(rows));
      client.query(new NamedQuery(name, text, values, state, client, answered, preceding, countBytes));
    });
  } finally {
    request.milliseconds += performance.now() - startedAt;
  }
}

/** Runs a statement of a transaction on its connection. */
export const queryInTransaction = (client: PoolClient, text: string, values: Parameters, request: StatementContext): Promise<Row[]> =>
  send(client, { text, values, countBytes: (bytes) => request.countBytes(bytes) }, request).catch((error) => {
    throw error instanceof DatabaseError || error instanceof ReadLimitExceeded ? error : new Unavailable(error);
  });

export class Statement {
  private stopReason?: Error;
  private client?: PoolClient;
  private waiting?: QueuedWork<Caller>;
  private stopping?: Promise<void>;
  /** Whether the rows came from the replica. */
  isOfReplica = false;

  constructor(
    private readonly reads: Reads,
    private readonly request: StatementContext,
    private readonly text: string,
    private readonly values: Parameters,
    /** Session user for row-level security; absent: any. */
    private readonly viewer: string | undefined,
  ) {}

  /** Call it once. `mayBeOld`: whether the replica may serve it. */
  async rows(mayBeOld: boolean): Promise<Row[]> {
    const { request } = this;
    const { limiter, replica } = this.reads;
    const { caller } = request;
    const slot = limiter.waitForSlot(caller, request.hasStarted, (queued) => (this.waiting = queued));
    // At once, so that further statements that the request sends now have priority, too.
    request.hasStarted ||= !this.waiting;
    await slot;
    request.hasStarted = true;
    try {
      const rows = (mayBeOld && replica?.isUsed ? await this.queryReplica(replica) : undefined) ?? (await this.queryPrimary());
      if (this.stopReason) throw this.stopReason;
      return rows;
    } finally {
      limiter.release(caller);
    }
  }

  /** Undefined if the replica fails, for example by a recovery conflict or a missing new table. */
  private async queryReplica(replica: Replica): Promise<Row[] | undefined> {
    try {
      // There is no pooler before the replica.
      const rows = await this.queryOn(await replica.pool.connect(), replica.viewers, undefined);
      replica.answered += 1;
      this.isOfReplica = true;
      return rows;
    } catch (error) {
      if (this.stopReason || isTimeout(error)) throw error;
      return undefined;
    }
  }

  private async queryPrimary(isRetry = false): Promise<Row[]> {
    const { pool, breaker, sessionUsers, preceding } = this.reads;
    if (breaker.unavailable) throw breaker.unavailable;
    const client = await pool.connect().catch((error) => {
      throw new Unavailable(error);
    });
    try {
      return await this.queryOn(client, sessionUsers, preceding);
    } catch (error) {
      if (!(error instanceof Unavailable) || this.stopReason || isRetry || !READS.test(this.text)) throw error;
    }
    return this.queryPrimary(true);
  }

  private async queryOn(client: PoolClient, users: SessionUsers | undefined, along: PrecedingStatement | undefined): Promise<Row[]> {
    const { text, values } = this;
    const { prepared } = this.reads;
    let broken: Unavailable | undefined;
    try {
      if (this.stopReason) throw this.stopReason;
      this.client = client;
      const preceding = users ? users.before(client, this.viewer, along) : along;
      const name = values.decisive ? undefined : prepared.nameOf(text);
      const state = name === undefined ? undefined : prepared.stateOf(client, name, text);
      return await send(client, { text, values, countBytes: this.countBytes, name, state, preceding }, this.request);
    } catch (error) {
      users?.forget(client);
      // An error sent by PostgreSQL leaves the connection usable.
      if (error !== this.stopReason && (!(error instanceof DatabaseError) || isUnavailable(error))) broken = new Unavailable(error);
      throw this.stopReason ?? broken ?? error;
    } finally {
      this.client = undefined;
      // Wait for the CancelRequest, which could otherwise hit the connection's next statement.
      if (this.stopping) await this.stopping;
      client.release(broken);
    }
  }

  private readonly countBytes = (bytes: number): void => {
    if (this.stopReason) throw this.stopReason;
    try {
      this.request.countBytes(bytes);
    } catch (error) {
      this.stop(error as Error);
      throw error;
    }
  };

  /** Makes `rows` reject with `reason`: immediately if the statement is queued, after cancelling it if it is running. */
  stop(reason: Error): void {
    if (this.stopReason) return;
    this.stopReason = reason;
    if (this.client) this.stopping = cancelStatement(this.client);
    else if (this.waiting) this.reads.limiter.cancel(this.waiting, reason);
  }
}
