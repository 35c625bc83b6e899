/** Errors of database access, and functions that classify the errors of PostgreSQL, its drivers and the operating system. */
import { DatabaseError } from 'pg';
import {
  ConnectionAcquireTimeoutError,
  ConnectionError,
  DatabaseError as SequelizeDatabaseError,
} from 'sequelize';

export class ClientDisconnected extends Error {
  constructor() {
    super('the client has disconnected');
  }
}

/** Thrown if more bytes of rows were read for one response than permitted. */
export class ReadLimitExceeded extends Error {
  constructor(limit: number) {
    super(`the requested rows are longer than ${limit} bytes`);
  }
}

/** Thrown if no connection to the database could be established, or if the connection was lost. */
export class DatabaseUnavailable extends Error {
  constructor(
    override readonly cause: unknown,
    problem = 'the database cannot be used',
  ) {
    super(`${problem}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** Thrown if the connection was lost during COMMIT: the transaction may or may not have been committed. */
export class CommitOutcomeUnknown extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(
      cause,
      'the connection was lost during COMMIT, so the changes may or may not have been saved',
    );
  }
}

/**
 * Transient PostgreSQL error codes (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection failures, too many connections, transactions
 * and sessions ended by a timeout, a dropped database, a server that is starting or stopping.
 */
const UNAVAILABLE_ERROR_CODE_PATTERN = /^(08...|53300|25P0[34]|57P0[1-5])$/;
/**
 * PostgreSQL error codes after which other statements may work: out of disk space or memory, read-only transaction, deadlock, lock timeout, operating system
 * errors.
 */
const RESOURCE_ERROR_CODE_PATTERN = /^(53...|25006|40P01|55P03|58...)$/;
const PROCESS_RESOURCE_ERROR_CODE_PATTERN = /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM)$/;
/** PostgreSQL error codes that indicate damaged data: data corruption, invalid data, a missing file. */
const CORRUPTION_ERROR_CODE_PATTERN = /^(XX...|22...|58P01)$/;
const TIMEOUT_CODE = '57014';
const LOCK_TIMEOUT_CODE = '55P03';

/** Returns the error of PostgreSQL or the operating system, unwrapped if Sequelize has wrapped it in an error of its own. */
function originalErrorOf(error: unknown): unknown {
  const { original } = (error ?? {}) as { original?: unknown };
  return original ?? error;
}

export const errorCodeOf = (error: unknown): string =>
  String((originalErrorOf(error) as { code?: unknown } | undefined)?.code);

export const isTimeout = (error: unknown): boolean => errorCodeOf(error) === TIMEOUT_CODE;

export const isLockFailure = (error: unknown): boolean => errorCodeOf(error) === LOCK_TIMEOUT_CODE;

/** Whether the connection failed or none was available, as reported by pg or Sequelize. */
export function isDatabaseUnavailableError(error: unknown): boolean {
  if (
    error instanceof DatabaseUnavailable ||
    UNAVAILABLE_ERROR_CODE_PATTERN.test(errorCodeOf(error))
  )
    return true;
  if (error instanceof ConnectionError || error instanceof ConnectionAcquireTimeoutError)
    return true;
  // If PostgreSQL itself sent the error, the connection works.
  return error instanceof SequelizeDatabaseError && !(error.original instanceof DatabaseError);
}

/** Whether PostgreSQL responds but at present cannot execute some statements, for example because the disk is full. */
export const isResourceError = (error: unknown): boolean =>
  RESOURCE_ERROR_CODE_PATTERN.test(errorCodeOf(error));

/** Whether the operating system lacked a resource for this process, in the database client or elsewhere. */
export const isProcessResourceError = (error: unknown): boolean =>
  PROCESS_RESOURCE_ERROR_CODE_PATTERN.test(errorCodeOf(error));

export const isCorruptionError = (error: unknown): boolean =>
  CORRUPTION_ERROR_CODE_PATTERN.test(errorCodeOf(error));
