/** Lock conflicts of migrations: a statement that does not get its lock within a time limit, or deadlocks, is repeated after a pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';

/** Lock timeout. While a migration waits for a table lock, all requests for the table wait behind it, so this also limits their wait. */
export const TABLE_LOCK_TIMEOUT_MS = 500;
export const TABLE_LOCK_RETRY_PAUSE_MS = 1_000;
export const MAX_TABLE_LOCK_ATTEMPTS = 200;
/** Error codes lock_not_available and deadlock_detected. */
const LOCK_CONFLICT_CODES = ['55P03', '40P01'];

const isLockConflict = (error: unknown) => error instanceof DatabaseError && LOCK_CONFLICT_CODES.includes(error.code ?? '');

/** Repeats `callback` after lock conflicts. A failed attempt must roll back its changes. Calls `onLockConflict` before each repetition. */
export async function retryLockConflicts<T>(callback: () => Promise<T>, onLockConflict: () => void): Promise<T> {
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
