/** A read statement: waits for a slot of the concurrency limiter, runs on a pooled connection and can be cancelled when the client disconnects. */
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { Parameters, Row } from './rows';
import { NamedQuery, type PrecedingStatement } from '../internals/pg';
import type { Limiter, QueuedWork } from '../platform/limiter';
import type { Caller } from './options';
import type { PreparedStatements } from './prepared';
import type { CircuitBreaker } from './circuitbreaker';
import { isTimeout, isUnavailable, Unavailable } from './errors';
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
  /** Counts bytes read for the request. Throws TooMuchRead above its limit. */
  countBytes(bytes: number): void;
}

/** Runs a statement of a transaction on its connection. */
export function queryInTransaction(
  client: PoolClient,
  text: string,
  values: Parameters,
  request: Pick<StatementContext, 'countBytes'>,
): Promise<Row[]> {
  return new Promise((done, failed) => {
    let why: unknown;
    const wanted = (bytes: number): boolean => {
      try {
        if (why === undefined) request.countBytes(bytes);
      } catch (error) {
        why = error;
      }
      return why === undefined;
    };
    const answered = (error: Error | null, rows: Row[]) => {
      if (error && !(error instanceof DatabaseError)) failed(new Unavailable(error));
      else if (error ?? why) failed(error ?? why);
      else done(rows);
    };
    client.query(new NamedQuery('', text, values, { length: text.length }, client, answered, undefined, wanted));
  });
}

export class Statement {
  private why?: Error;
  private client?: PoolClient;
  private waiting?: QueuedWork<Caller>;
  private stopping?: Promise<void>;
  private tries = 0;
  /** Set while the statement runs on the replica. */
  private replica?: Replica;
  private readonly caller: Caller;
  private done!: (rows: Row[]) => void;
  private failed!: (why: unknown) => void;

  constructor(
    private readonly reads: Reads,
    private readonly request: StatementContext,
    private readonly text: string,
    private readonly values: Parameters,
    /** Session user for row-level security; absent: any. */
    private readonly viewer: string | undefined,
    /** Whether the replica may serve it. */
    private readonly mayBeOld = false,
  ) {
    this.caller = request.caller;
  }

  /** Call it once. The steps are connected by callbacks, because promises would cost more than the steps. */
  rows(): Promise<Row[]> {
    return new Promise((done, failed) => {
      this.done = done;
      this.failed = failed;
      const { caller, request } = this;
      this.waiting = this.reads.limiter.acquire(caller, request.hasStarted, () => this.begin(), failed);
      if (!this.waiting) this.begin();
    });
  }

  private begin(): void {
    this.waiting = undefined;
    this.request.hasStarted = true;
    if (this.mayBeOld && this.reads.replica?.isUsed) this.connectTo(this.reads.replica);
    else this.connect();
  }

  private connectTo(replica: Replica): void {
    replica.pool.connect((error, client) => {
      if (error || !client) return this.connect();
      if (this.why) return this.end(this.why, [], client);
      this.replica = replica;
      this.send(client);
    });
  }

  private connect(): void {
    const { pool, breaker: pulse } = this.reads;
    if (pulse.unavailable) return this.end(pulse.unavailable);
    pool.connect((error, client) => {
      if (error || !client) this.end(new Unavailable(error));
      else if (this.why) this.end(this.why, [], client);
      else this.send(client);
    });
  }

  private get viewers(): SessionUsers | undefined {
    return this.replica ? this.replica.viewers : this.reads.sessionUsers;
  }

  private send(client: PoolClient): void {
    const { text, values } = this;
    this.client = client;
    try {
      const { prepared } = this.reads;
      // There is no pooler before the replica.
      const along = this.replica ? undefined : this.reads.preceding;
      const before = this.viewers ? this.viewers.before(client, this.viewer, along) : along;
      const name = values.decisive ? undefined : prepared.nameOf(text);
      const known = name === undefined ? { length: text.length } : prepared.known(client, name, text);
      const answered = (error: Error | null, rows: Row[]) => this.answered(error, rows, client);
      client.query(new NamedQuery(name ?? '', text, values, known, client, answered, before, this.wanted));
    } catch (error) {
      this.answered(error as Error, [], client);
    }
  }

  private readonly wanted = (bytes: number): boolean => {
    if (this.why) return false;
    try {
      this.request.countBytes(bytes);
      return true;
    } catch (error) {
      this.stop(error as Error);
      return false;
    }
  };

  private answered(error: Error | null, rows: Row[] | undefined, client: PoolClient): void {
    this.client = undefined;
    if (error) this.viewers?.forget(client);
    // An error sent by PostgreSQL leaves the connection usable.
    const broken = error && (!(error instanceof DatabaseError) || isUnavailable(error)) ? new Unavailable(error) : undefined;
    if (this.replica && this.leaves(this.replica, error, client, broken)) return;
    if (broken && !this.why && (this.tries += 1) === 1 && READS.test(this.text)) {
      client.release(broken);
      return this.connect();
    }
    const end = () => this.end(this.why ?? broken ?? error ?? undefined, rows, client, broken);
    // Wait for the CancelRequest, which could otherwise hit the connection's next statement.
    if (this.stopping) void this.stopping.then(end);
    else end();
  }

  /** Whether the rows came from the replica. */
  get isOfReplica(): boolean {
    return this.replica !== undefined;
  }

  /** Falls back to the primary if the replica fails, for example by a recovery conflict or a missing new table. */
  private leaves(replica: Replica, error: Error | null, client: PoolClient, broken?: Error): boolean {
    if (!error) replica.answered += 1;
    if (!error || this.why || isTimeout(error)) return false;
    this.replica = undefined;
    client.release(broken);
    this.connect();
    return true;
  }

  private end(error: Error | undefined, rows: Row[] = [], client?: PoolClient, broken?: Error): void {
    client?.release(broken);
    if (error) this.failed(error);
    else this.done(rows);
    this.reads.limiter.release(this.caller);
  }

  /** Makes `rows` reject with `why`: immediately if the statement is queued, after cancelling it if it is running. */
  stop(why: Error): void {
    if (this.why) return;
    this.why = why;
    if (this.client) this.stopping = cancelStatement(this.client);
    else if (this.waiting) this.reads.limiter.cancel(this.waiting, why);
  }
}
