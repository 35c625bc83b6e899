/** Application errors. The error code and data of an error are set where it is thrown, and never derived from its message. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { responseTooLongMessage, noRowOfTypeMessage } from '../../contract/messages';
import { TEMPORARY_ERROR_CODES, type ErrorCode } from '../../contract/errorcodes';
import {
  ClientDisconnected,
  isLockFailure,
  isProcessResourceError,
  isTimeout,
  isResourceError,
  isUnavailable,
  ReadLimitExceeded,
  CommitOutcomeUnknown,
} from '../../database/errors';
import { FileStorageError } from '../../platform/filestorageerror';
import { OverloadedError } from '../../platform/limiter';
import { validationIssue, IssueCode, type InputIssue, type ValidationIssue } from './validationissues';

/** Validation messages by the path of the invalid value, which starts with the argument or variable: `input.days[1].setGroups[0].sets`. */
export type FieldErrors = Record<string, string[]>;

export const MAX_ERRORS_PER_RESPONSE = 20;

/** Converts the errors of a response. If there are too many, the last one returned says how many were omitted. */
export function convertAndLimitErrors<E, T>(
  errors: readonly E[],
  convert: (error: E) => T,
  createOmissionError: (message: string) => T,
): T[] {
  if (errors.length <= MAX_ERRORS_PER_RESPONSE) return errors.map(convert);
  const kept = errors.slice(0, MAX_ERRORS_PER_RESPONSE - 1);
  return [...kept.map(convert), createOmissionError(`There are ${errors.length - kept.length} more errors.`)];
}

export const TOO_MANY_ERRORS_OPTIONS = { extensions: { code: 'TOO_MANY_ERRORS' } };

const MAX_REPEATED_INPUT_CHARACTERS = 200;
/** Truncates client input that an error message repeats. */
export const truncateInput = (text: string): string =>
  text.length > MAX_REPEATED_INPUT_CHARACTERS ? `${text.slice(0, MAX_REPEATED_INPUT_CHARACTERS)}…` : text;

/** Invalid input of a mutation, whose payload lists the issues. `conflictingIds` are the ids of stored rows that prevent the write. */
export class InvalidInput extends Error {
  constructor(
    readonly issues: readonly InputIssue[],
    readonly conflictingIds: readonly number[] = [],
  ) {
    super('invalid input');
  }
}

/** Returns the validation issue for an id that belongs to no row visible to the viewer. */
export const rowNotFoundIssue = (type: string, id: unknown): ValidationIssue =>
  validationIssue(IssueCode.NOT_FOUND, noRowOfTypeMessage(type, truncateInput(String(id))));

export function throwIfInvalid(issues: readonly InputIssue[]): void {
  if (issues.length) throw new InvalidInput(issues);
}

/**
 * An error whose message and code may be sent to the client unchanged. It has no stack trace, because a request of two kilobytes can cause a hundred
 * thousand of them, whose traces would take hundreds of megabytes.
 */
export class ClientError extends GraphQLError {
  constructor(code: ErrorCode, message: string, data: Record<string, unknown> = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { extensions: { code, ...data } });
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export const unauthenticatedError = (message = 'Authentication credentials were not provided.') =>
  new ClientError('UNAUTHENTICATED', message);
export const forbiddenError = (message = 'You do not have permission to perform this action.') => new ClientError('FORBIDDEN', message);
export const notFoundError = () => new ClientError('NOT_FOUND', 'Not found.');
export const writeConflictError = () =>
  new ClientError('CONFLICT', 'The rows were changed by other requests at the same time. Nothing was written; try again.');
export const invalidFieldsError = (fields: FieldErrors) =>
  new ClientError(
    'BAD_USER_INPUT',
    `Invalid input: ${Object.entries(fields)
      .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
      .join('; ')}`,
    { fields },
  );
export const invalidOperationError = (message: string) => new ClientError('BAD_USER_INPUT', message);
export const invalidArgumentError = (argument: string, message: string) => invalidFieldsError({ [argument]: [message] });

export const resultTooLargeError = (limit: number): ClientError =>
  new ClientError('RESULT_TOO_LARGE', responseTooLongMessage(limit), { limit });

export const RETRY_AFTER_SECONDS = 2;

/**
 * Returns the error code and message that the client receives for a database or storage error; undefined for other errors. Messages of the database
 * are only logged.
 */
function describeErrorForClient(error: unknown): [code: ErrorCode, message: string] | undefined {
  if (isTimeout(error)) return ['TIMEOUT', 'The request took too long. Request less at a time, or use simpler conditions.'];
  if (error instanceof CommitOutcomeUnknown)
    return [
      'SERVICE_UNAVAILABLE',
      'The connection to the database was lost while the change was being committed. Check whether it was saved before you send it again.',
    ];
  if (isUnavailable(error)) return ['SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again in a moment.'];
  if (isLockFailure(error))
    return ['SERVICE_UNAVAILABLE', 'The data is locked by another operation. Nothing was changed; try again in a moment.'];
  if (isResourceError(error))
    return ['SERVICE_UNAVAILABLE', 'The database cannot process this at the moment. Nothing was changed; try again later.'];
  if (isProcessResourceError(error))
    return ['SERVICE_UNAVAILABLE', 'The server lacks system resources at the moment. Try again in a moment.'];
  if (error instanceof FileStorageError)
    return ['SERVICE_UNAVAILABLE', 'Uploaded files can be neither stored nor read at the moment. Try again in a moment.'];
  return undefined;
}

/** Returns the log message for a database or storage error. */
function describeErrorForLog(error: unknown): string {
  if (isProcessResourceError(error)) return 'the server lacks system resources';
  return error instanceof FileStorageError ? 'files cannot be stored or read' : 'the database cannot be used';
}

/**
 * Converts an expected error, such as an unavailable database, into a client error. Logs database and storage errors with the request id. Returns
 * undefined for an unexpected error.
 */
export function toClientError(error: unknown, log: Logger, id: string): ClientError | undefined {
  if (error instanceof ClientDisconnected) return new ClientError('CLIENT_GONE', 'The client has disconnected.');
  if (error instanceof OverloadedError) return overloadedError();
  if (error instanceof ReadLimitExceeded) return resultTooLargeError(error.limit);
  const reason = describeErrorForClient(error);
  if (!reason) return undefined;
  const [code, message] = reason;
  log.error({ id, err: error }, describeErrorForLog(error));
  return new ClientError(code, `${message} (id ${id})`, { retryAfter: RETRY_AFTER_SECONDS, id });
}

export const overloadedError = () =>
  new ClientError('OVERLOADED', 'The server is overloaded. Try again in a moment.', { retryAfter: RETRY_AFTER_SECONDS });

export const isTransientError = (error: unknown): boolean =>
  error instanceof ClientError && TEMPORARY_ERROR_CODES.includes(String(error.extensions.code));
