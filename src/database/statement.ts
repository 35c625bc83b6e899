/** One statement that reads: it waits for a place in its lane, runs on a connection of the pool, and can be stopped when nobody waits for it. */
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { Parameters, Row } from './rows';
import { NamedQuery, type Before } from './namedquery';
import type { Limiter, Queued } from '../platform/limiter';
import type { Caller } from './options';
import type { Prepared } from './prepared';
import type { Pulse } from './pulse';
import { isTimeout, isUnavailable, Unavailable } from './refusals';
import type { Replica } from './replica';
import type { Viewers } from './viewers';

/** Connections, and who may use how many of them. */
export interface Reads {
  pool: Pool;
  /** What may be a little old is read there, while it can be. */
  replica?: Replica;
  lane: Limiter<Caller>;
  prepared: Prepared;
  pulse: Pulse;
  /** What each statement takes along, where no session keeps it. */
  before?: Before;
  /** Absent: it does not matter who asks. */
  viewers?: Viewers;
}

/** Of statements: those that nothing comes of if they run twice. What only looks like a change is no harm. */
const READS = /^\s*(?:SELECT|WITH)\b(?![\s\S]*\b(?:INSERT|UPDATE|DELETE)\b)/i;

/** What a statement is part of. */
export interface Asking {
  caller: Caller;
  /** It has had a place, so it may go on before others begin. */
  begun: boolean;
  /** Counts bytes that were read for it. Throws TooMuchRead. */
  took(bytes: number): void;
}

/** A statement of a transaction, on its connection. */
export function rowsIn(client: PoolClient, text: string, values: Parameters, request: Pick<Asking, 'took'>): Promise<Row[]> {
  return new Promise((done, failed) => {
    let why: unknown;
    const wanted = (bytes: number): boolean => {
      try {
        if (why === undefined) request.took(bytes);
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
  private waiting?: Queued<Caller>;
  private stopping?: Promise<void>;
  private tries = 0;
  /** Where it is now, if not at the database itself. */
  private replica?: Replica;
  private readonly caller: Caller;
  private done!: (rows: Row[]) => void;
  private failed!: (why: unknown) => void;

  constructor(
    private readonly reads: Reads,
    private readonly request: Asking,
    private readonly text: string,
    private readonly values: Parameters,
    /** For whom; absent: it does not matter. */
    private readonly viewer: string | undefined,
    /** Whether the rows may be a little old. */
    private readonly mayBeOld = false,
  ) {
    this.caller = request.caller;
  }

  /** To be asked once. Callbacks lead from step to step, because a promise for each costs more than the step. */
  rows(): Promise<Row[]> {
    return new Promise((done, failed) => {
      this.done = done;
      this.failed = failed;
      const { caller, request } = this;
      this.waiting = this.reads.lane.enter(caller, request.begun, () => this.begin(), failed);
      if (!this.waiting) this.begin();
    });
  }

  private begin(): void {
    this.waiting = undefined;
    this.request.begun = true;
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
    const { pool, pulse } = this.reads;
    if (pulse.away) return this.end(pulse.away);
    pool.connect((error, client) => {
      if (error || !client) this.end(new Unavailable(error));
      else if (this.why) this.end(this.why, [], client);
      else this.send(client);
    });
  }

  private get viewers(): Viewers | undefined {
    return this.replica ? this.replica.viewers : this.reads.viewers;
  }

  private send(client: PoolClient): void {
    const { text, values } = this;
    this.client = client;
    try {
      const { prepared } = this.reads;
      // A standby is reached without a pooler.
      const along = this.replica ? undefined : this.reads.before;
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
      this.request.took(bytes);
      return true;
    } catch (error) {
      this.stop(error as Error);
      return false;
    }
  };

  private answered(error: Error | null, rows: Row[] | undefined, client: PoolClient): void {
    this.client = undefined;
    if (error) this.viewers?.forget(client);
    // After an error that PostgreSQL tells of, the connection is as good as before.
    const broken = error && (!(error instanceof DatabaseError) || isUnavailable(error)) ? new Unavailable(error) : undefined;
    if (this.replica && this.leaves(this.replica, error, client, broken)) return;
    if (broken && !this.why && (this.tries += 1) === 1 && READS.test(this.text)) {
      client.release(broken);
      return this.connect();
    }
    const end = () => this.end(this.why ?? broken ?? error ?? undefined, rows, client, broken);
    // What comes next on this connection must not be stopped in its place.
    if (this.stopping) void this.stopping.then(end);
    else end();
  }

  /** Whether the rows may be a little old. */
  get isOfReplica(): boolean {
    return this.replica !== undefined;
  }

  /** Whatever a standby cannot do the database itself is asked for: a statement in the way of what it follows, rows of a newer table. */
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
    this.reads.lane.leave(this.caller);
  }

  /** It throws `why`, at once if it has not begun. */
  stop(why: Error): void {
    if (this.why) return;
    this.why = why;
    if (this.client) this.stopping = cancelStatement(this.client);
    else if (this.waiting) this.reads.lane.abandon(this.waiting, why);
  }
}
