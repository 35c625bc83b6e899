/** What to do where PostgreSQL gives fewer connections than there should be: work with those that there are, and ask for more later. */
import type { Pool } from 'pg';

/** So long nobody asks for more than there are. */
const CONTENT_MS = 5_000;
/** Where there are none, one is asked for again and again. */
const AGAIN_MS = 100;
export const PATIENCE_MS = 2_000;

const content = new WeakSet<Pool>();

/** Until then those that come wait for a connection to be free. */
function makeDo(pool: Pool): void {
  if (content.has(pool)) return;
  content.add(pool);
  const wanted = pool.options.max;
  pool.options.max = pool.totalCount;
  setTimeout(() => {
    content.delete(pool);
    pool.options.max = wanted;
  }, CONTENT_MS).unref();
}

export class Scarcity {
  private readonly until = performance.now() + PATIENCE_MS;

  /** Calls `again` when there may be a connection; false: it has taken too long. */
  waits(pool: Pool, again: () => void): boolean {
    if (performance.now() > this.until) return false;
    if (pool.totalCount > 0) {
      makeDo(pool);
      again();
    } else setTimeout(again, AGAIN_MS);
    return true;
  }
}
