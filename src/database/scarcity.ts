/** What to do where PostgreSQL gives fewer connections than there should be: work with those that there are, and ask for more later. */
import type { Pool } from 'pg';

/** So long nobody asks for more than there are. */
const CONTENT_MS = 5_000;
/** Where there are none, one is asked for again and again. */
const AGAIN_MS = 100;
export const PATIENCE_MS = 2_000;

/** How many there should be. */
const wanted = new WeakMap<Pool, number>();

/** Until then those that come wait for one of so many connections to be free. */
export function makeDo(pool: Pool, count: number): void {
  if (!wanted.has(pool)) {
    wanted.set(pool, pool.options.max);
    setTimeout(() => {
      pool.options.max = wanted.get(pool)!;
      wanted.delete(pool);
    }, CONTENT_MS).unref();
  }
  pool.options.max = Math.max(1, count);
}

export class Scarcity {
  private readonly until = performance.now() + PATIENCE_MS;

  /** Calls `again` when there may be a connection; false: it has taken too long. */
  waits(pool: Pool, again: () => void): boolean {
    if (performance.now() > this.until) return false;
    if (pool.totalCount > 0) {
      makeDo(pool, pool.totalCount);
      again();
    } else setTimeout(again, AGAIN_MS);
    return true;
  }
}
