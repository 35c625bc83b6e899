/** Lock waits of migrations with a limit: a statement that does not get its lock in time, or deadlocks, is repeated after a pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';

/** While a migration waits for a table lock, all requests for the table wait behind it. This therefore also limits how long requests are blocked. */
export const TABLE_LOCK_TIMEOUT_MS = 500;
export const TABLE_LOCK_PAUSE_MS = 1_000;
export const TABLE_LOCK_ATTEMPTS = 200;
/** Error codes lock_not_available and deadlock_detected. */
const LOCK_CONFLICTS = ['55P03', '40P01'];

const isLockConflict = (error: unknown) => error instanceof DatabaseError && LOCK_CONFLICTS.includes(error.code ?? '');

/** Repeats `work` until it succeeds without a lock conflict. It must be rolled back when it fails. Calls `onConflict` for each conflict. */
export async function retryLockConflicts<T>(work: () => Promise<T>, onConflict: () => void): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockConflict(error) || attempts === TABLE_LOCK_ATTEMPTS) throw error;
      onConflict();
    }
    await sleep(TABLE_LOCK_PAUSE_MS);
  }
}
