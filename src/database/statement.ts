/** One statement on a connection of the pool, which can be stopped when nobody waits for it any more. */
import { DatabaseError, type Pool, type PoolClient, type QueryConfig } from 'pg';
import { cancelStatement } from './cancel';
import type { Row } from './connection';

export class Statement {
  private client?: PoolClient;
  private why?: Error;
  private stopping?: Promise<void>;

  constructor(private readonly pool: Pool) {}

  async rows(config: QueryConfig): Promise<Row[]> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      if (this.why) throw this.why;
      this.client = client;
      return (await client.query(config)).rows;
    } catch (error) {
      // After an error that PostgreSQL tells of, the connection is as good as before.
      if (!(error instanceof DatabaseError) && error !== this.why) broken = error as Error;
      throw this.why ?? error;
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
  }
}
