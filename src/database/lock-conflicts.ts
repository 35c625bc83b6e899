/**
 * Lock conflicts of migrations, imports and restores with requests: a statement that does not get
 * its lock in time, or deadlocks, is repeated after a pause.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type ClientBase } from 'pg';
import { quoteIdentifiers } from './identifiers';

/**
 * Maximum wait of a migration for a table lock, behind which requests wait as well. Shorter than
 * PostgreSQL's deadlock_timeout (1 s), so that requests do not fail by a deadlock with the
 * migration.
 */
export const TABLE_LOCK_TIMEOUT_MS = 500;
export const TABLE_LOCK_RETRY_PAUSE_MS = 1_000;
export const MAX_TABLE_LOCK_ATTEMPTS = 200;

/** PostgreSQL error codes lock_not_available and deadlock_detected. */
const LOCK_CONFLICT_CODES = ['55P03', '40P01'];

const isLockConflict = (error: unknown) =>
  error instanceof DatabaseError && LOCK_CONFLICT_CODES.includes(error.code ?? '');

/** Repeats `callback` after lock conflicts. A failed attempt must roll back its changes. */
export async function retryLockConflicts<T>(
  callback: () => Promise<T>,
  onLockConflict: () => void,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await callback();
    } catch (error) {
      if (!isLockConflict(error) || attempts === MAX_TABLE_LOCK_ATTEMPTS) throw error;
      onLockConflict();
    }

    await sleep(TABLE_LOCK_RETRY_PAUSE_MS);
  }
}

/**
 * Locks all tables exclusively until the transaction ends. If one is not free in time, releases the
 * others before the next attempt, because requests that use several of the tables could otherwise
 * deadlock with this transaction.
 */
export async function lockTables(client: ClientBase, tables: readonly string[]): Promise<void> {
  await client.query('SAVEPOINT "locks"');
  const lockAll = () =>
    client.query(
      `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; LOCK TABLE ${quoteIdentifiers(tables)} IN ACCESS EXCLUSIVE MODE; SET LOCAL lock_timeout = 0`,
    );
  const lockAllOrNone = () =>
    lockAll().catch(async (error: unknown) => {
      await client.query('ROLLBACK TO SAVEPOINT "locks"');
      throw error;
    });

  await retryLockConflicts(lockAllOrNone, () => undefined);
}
