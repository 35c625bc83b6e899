/** Requests that overlap a transaction which holds locks. */
import type { Fitgraph } from './fitgraph';

const COUNT_WAITING_SQL = `SELECT count(*)::integer AS "count" FROM pg_stat_activity WHERE "wait_event_type" = 'Lock' AND "datname" = current_database()`;

/** Waits until this many statements wait for locks, or until `work` has completed. */
export async function waitForLocks(
  fitgraph: Fitgraph,
  count: number,
  work: Promise<unknown>,
): Promise<void> {
  let isComplete = false;
  const complete = () => void (isComplete = true);

  work.then(complete, complete);

  while (!isComplete && (await fitgraph.sql(COUNT_WAITING_SQL))[0]!.count < count) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs `work` in a transaction that has executed a statement, and commits. */
export async function holding(
  fitgraph: Fitgraph,
  statement: string,
  values: unknown[],
  work: () => Promise<unknown>,
): Promise<void> {
  const connection = await fitgraph.database.pool.connect();

  try {
    await connection.query('BEGIN');
    await connection.query(statement, values);
    await work();
    await connection.query('COMMIT');
  } finally {
    connection.release();
  }
}
