/**
 * Retries a write after a constraint violation, deadlock or serialization failure. If a concurrent
 * write caused the failure, the retry succeeds; otherwise the validation in the retry finds the
 * invalid input.
 */
import { errorCodeOf } from '../../database/errors';
import type { Context } from '../context';
import { writeConflictError } from '../declare/errors';

const MAX_ATTEMPTS = 3;

/**
 * Foreign-key, unique and exclusion violation
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const CONSTRAINT_VIOLATION_SQLSTATES = ['23503', '23505', '23P01'];

/** Deadlock, serialization failure. */
const CONCURRENCY_FAILURE_SQLSTATES = ['40P01', '40001'];

/**
 * Runs `write` with retries. A retry should itself validate what the first attempt left to
 * constraints of the database. In an `@atomic` operation a deadlock or serialization failure is
 * final, because the transaction still holds the locks of earlier writes.
 */
export async function withRetries<T>(
  { atomicState }: Context,
  write: (isFirstAttempt: boolean) => Promise<T>,
): Promise<T> {
  const concurrencyFailureMaxAttempts = atomicState ? 1 : MAX_ATTEMPTS;

  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write(attempt === 1);
    } catch (error) {
      const code = errorCodeOf(error);
      const isConcurrencyFailure = CONCURRENCY_FAILURE_SQLSTATES.includes(code);

      if (!isConcurrencyFailure && !CONSTRAINT_VIOLATION_SQLSTATES.includes(code)) throw error;
      const maxAttempts = isConcurrencyFailure ? concurrencyFailureMaxAttempts : MAX_ATTEMPTS;

      if (attempt >= maxAttempts) throw writeConflictError();
    }
  }
}
