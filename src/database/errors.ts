/**
 * Errors of database access, and the classification of errors of PostgreSQL, its driver and the
 * operating system.
 */
import { DatabaseError } from 'pg';

export class ClientDisconnected extends Error {
  constructor() {
    super('the client has disconnected');
  }
}

/** Thrown if the rows read for one response exceed its byte limit. */
export class ReadLimitExceeded extends Error {
  constructor(limit: number) {
    super(`the requested rows are longer than ${limit} bytes`);
  }
}

/** Thrown if the connection to the database could not be established, or was lost. */
export class DatabaseUnavailable extends Error {
  constructor(
    override readonly cause: unknown,
    problem = 'the database cannot be used',
  ) {
    super(`${problem}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/**
 * Thrown if the connection was lost during COMMIT: the transaction may or may not have been
 * committed.
 */
export class CommitOutcomeUnknown extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(
      cause,
      'the connection was lost during COMMIT, so the changes may or may not have been saved',
    );
  }
}

/**
 * Error codes of a database that cannot be used now: connection failures, too many connections,
 * sessions ended by a timeout, a server that is starting or stopping
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const UNAVAILABLE_ERROR_CODE_PATTERN = /^(08...|53300|25P0[34]|57P0[1-5])$/;

/**
 * Error codes after which other statements may work: out of disk space or memory, read-only
 * transaction, deadlock, lock timeout, operating system errors.
 */
const RESOURCE_ERROR_CODE_PATTERN = /^(53...|25006|40P01|55P03|58...)$/;
const PROCESS_RESOURCE_ERROR_CODE_PATTERN = /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM)$/;

/** Error codes that indicate damaged data: corruption, invalid values, a missing file. */
const CORRUPTION_ERROR_CODE_PATTERN = /^(XX...|22...|58P01)$/;
const TIMEOUT_CODE = '57014';
const LOCK_TIMEOUT_CODE = '55P03';
const READ_ONLY_TRANSACTION_CODE = '25006';
const FOREIGN_KEY_VIOLATION_CODE = '23503';

export const errorCodeOf = (error: unknown): string =>
  String((error as { code?: unknown } | undefined)?.code);

export const isTimeout = (error: unknown): boolean => errorCodeOf(error) === TIMEOUT_CODE;

export const isLockTimeout = (error: unknown): boolean => errorCodeOf(error) === LOCK_TIMEOUT_CODE;

/**
 * Whether a write failed because the session is read-only. After a failover, a pooled session may
 * stay read-only although the database has become writable.
 */
export const isReadOnlyError = (error: unknown): boolean =>
  errorCodeOf(error) === READ_ONLY_TRANSACTION_CODE;

export const isForeignKeyViolation = (error: unknown): boolean =>
  errorCodeOf(error) === FOREIGN_KEY_VIOLATION_CODE;

/** Whether the database connection failed or none was available. */
export const isDatabaseUnavailableError = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || UNAVAILABLE_ERROR_CODE_PATTERN.test(errorCodeOf(error));

/**
 * Wraps errors of the connection in DatabaseUnavailable. Errors that PostgreSQL has sent, and
 * exceeded read limits, stay as they are.
 */
export function toStatementError(error: unknown): unknown {
  if (error instanceof DatabaseError || error instanceof ReadLimitExceeded) return error;

  return new DatabaseUnavailable(error);
}

/**
 * Whether PostgreSQL responds but cannot execute some statements at present, for example because
 * the disk is full.
 */
export const isResourceError = (error: unknown): boolean =>
  RESOURCE_ERROR_CODE_PATTERN.test(errorCodeOf(error));

/**
 * Whether the operating system denied this process a resource, such as file descriptors or memory.
 */
export const isProcessResourceError = (error: unknown): boolean =>
  PROCESS_RESOURCE_ERROR_CODE_PATTERN.test(errorCodeOf(error));

export const isCorruptionError = (error: unknown): boolean =>
  CORRUPTION_ERROR_CODE_PATTERN.test(errorCodeOf(error));
