/** Transactions for internal work of the server, which belongs to no request. */
import { DatabaseError, type ClientBase } from 'pg';
import { CommitOutcomeUnknown, isDatabaseUnavailableError } from './errors';

/** Commits a transaction. Throws CommitOutcomeUnknown if the connection is lost during COMMIT. */
export async function commit(client: ClientBase): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    throw error instanceof DatabaseError && !isDatabaseUnavailableError(error)
      ? error
      : new CommitOutcomeUnknown(error);
  }
}

/** Runs `callback` in a transaction. An error rolls it back and is thrown again. Throws CommitOutcomeUnknown if the connection is lost during COMMIT. */
export async function inTransaction<T>(client: ClientBase, callback: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  let result: T;
  try {
    result = await callback();
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
  await commit(client);
  return result;
}
