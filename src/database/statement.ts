/** One statement that reads: it waits for a place in its lane, runs on a connection of the pool, and can be stopped when nobody waits for it. */
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { cancelStatement } from './cancel';
import type { Parameters, Row } from './connection';
import type { Caller, Lane } from './lane';
import type { Prepared } from './prepared';
import { isUnavailable, Unavailable } from './refusals';

/** Connections, and who may use how many of them. */
export interface Reads {
  pool: Pool;
  lane: Lane;
  prepared: Prepared;
}

/** What a statement is part of. */
export interface Asking {
  caller: Caller;
  /** It has had a place, so it may go on before others begin. */
  begun: boolean;
}

export class Statement {
  private why?: Error;
  private client?: PoolClient;
  private refuse?: (why: Error) => void;
  private stopping?: Promise<void>;

  constructor(
    private readonly reads: Reads,
    private readonly request: Asking,
  ) {}

  async rows(text: string, values: Parameters): Promise<Row[]> {
    const { lane } = this.reads;
    const { caller, begun } = this.request;
    const turn = lane.enter(caller, begun, (refuse) => (this.refuse = refuse));
    if (turn) await turn;
    this.request.begun = true;
    try {
      return await this.run(text, values);
    } finally {
      lane.leave(caller);
    }
  }

  private async run(text: string, values: Parameters): Promise<Row[]> {
    const { pool, prepared } = this.reads;
    const client = await pool.connect().catch((error: unknown) => {
      throw new Unavailable(error);
    });
    let broken: Error | undefined;
    try {
      if (this.why) throw this.why;
      this.client = client;
      const name = values.decisive ? undefined : prepared.nameOf(text);
      if (name !== undefined) prepared.makeRoom(client, name, text);
      return (await client.query(name === undefined ? { text, values } : { name, text, values })).rows;
    } catch (error) {
      if (error === this.why) throw error;
      // After an error that PostgreSQL tells of, the connection is as good as before.
      if (!(error instanceof DatabaseError) || isUnavailable(error)) broken = new Unavailable(error);
      throw this.why ?? broken ?? error;
    } finally {
      this.client = undefined;
      // What comes next on this connection must not be stopped in its place.
      if (this.stopping) await this.stopping;
      client.release(broken);
    }
  }

  /** It throws `why`, at once if it has not begun. */
  stop(why: Error): void {
    if (this.why) return;
    this.why = why;
    if (this.client) this.stopping = cancelStatement(this.client);
    else this.refuse?.(why);
  }
}
