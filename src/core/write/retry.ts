/**
 * Retries a write that fails on a constraint violation, deadlock or serialization failure. The retry succeeds if a concurrent write caused the error;
 * otherwise validation reports what is wrong with the input.
 */
import type { Context } from '../context';
import { writeConflictError } from '../model/errors';

const MAX_ATTEMPTS = 3;

/** SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html): foreign-key, unique and exclusion violation. */
const CONSTRAINT_VIOLATION_SQLSTATES = ['23503', '23505', '23P01'];
/** SQLSTATE codes: deadlock, serialization failure. */
const CONCURRENCY_FAILURE_SQLSTATES = ['40P01', '40001'];

/**
 * Runs `write` with retries. The first attempt may leave checks to the constraints of the database; retries must make these checks themselves, to
 * find the invalid values. Writes of an atomic operation are not retried after a deadlock or serialization failure, because the transaction still
 * holds the locks of its earlier writes.
 */
export async function withRetries<T>(
  { atomicState }: Context,
  write: (isFirstAttempt: boolean) => Promise<T>,
): Promise<T> {
  const concurrencyFailureMaxAttempts = atomicState ? 1 : MAX_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1)
    try {
      return await write(attempt === 1);
    } catch (error) {
      const code = (error as { original?: { code?: string } }).original?.code;
      if (
        !code ||
        ![...CONSTRAINT_VIOLATION_SQLSTATES, ...CONCURRENCY_FAILURE_SQLSTATES].includes(code)
      )
        throw error;
      if (
        attempt >=
        (CONCURRENCY_FAILURE_SQLSTATES.includes(code)
          ? concurrencyFailureMaxAttempts
          : MAX_ATTEMPTS)
      )
        throw writeConflictError();
    }
}
