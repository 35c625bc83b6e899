/** Transactions for internal work of the server, which belongs to no request. */
import { DatabaseError, type ClientBase } from 'pg';
import { CommitOutcomeUnknown, isUnavailable } from './errors';

/** Commits a transaction. Throws CommitOutcomeUnknown if the connection is lost during COMMIT. */
export async function commit(client: ClientBase): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    throw error instanceof DatabaseError && !isUnavailable(error) ? error : new CommitOutcomeUnknown(error);
  }
}

/** Runs `work` in a transaction. An error rolls it back and is thrown again. Throws CommitOutcomeUnknown if the connection is lost during COMMIT. */
export async function inTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
  await commit(client);
  return result;
}
