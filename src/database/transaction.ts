/** Transactions for internal work of the server, which belongs to no request. */
import type { ClientBase } from 'pg';

/** Runs `work` in a transaction. An error rolls it back and is thrown again. */
export async function inTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
