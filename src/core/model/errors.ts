/** Application errors. The error code and data of an error are set where it is thrown, and never derived from its message. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import {
  responseTooLongMessage,
  noRowOfTypeMessage,
  tooManyObjectsMessage,
  tooManyValuesMessage,
} from '../../contract/messages';
import { TEMPORARY_ERROR_CODES, type ErrorCode } from '../../contract/errorcodes';
import {
  ClientDisconnected,
  isLockFailure,
  isProcessResourceError,
  isTimeout,
  isResourceError,
  isDatabaseUnavailableError,
  CommitOutcomeUnknown,
} from '../../database/errors';
import { FileStorageError } from '../../platform/filestorageerror';
import { OverloadedError } from '../../platform/limiter';
import {
  validationIssue,
  IssueCode,
  type InputIssue,
  type ValidationIssue,
} from './validationissues';

/** Validation messages by the path of the invalid value, which starts with the argument or variable: `input.days[1].setGroups[0].sets`. */
export type FieldErrors = Record<string, string[]>;

export const MAX_ERRORS_PER_RESPONSE = 20;

/** Converts the errors of a response, at most MAX_ERRORS_PER_RESPONSE. If there are more, the last error says how many were omitted. */
export function convertAndLimitErrors<E, T>(
  errors: readonly E[],
  convert: (error: E) => T,
  createOmissionError: (message: string) => T,
): T[] {
  if (errors.length <= MAX_ERRORS_PER_RESPONSE) return errors.map(convert);
  const reportedErrors = errors.slice(0, MAX_ERRORS_PER_RESPONSE - 1);
  return [
    ...reportedErrors.map(convert),
    createOmissionError(`There are ${errors.length - reportedErrors.length} more errors.`),
  ];
}

export const TOO_MANY_ERRORS_OPTIONS = { extensions: { code: 'TOO_MANY_ERRORS' } };

const MAX_QUOTED_INPUT_CHARACTERS = 200;
/** Truncates client input that an error message repeats. */
export const truncateInput = (text: string): string =>
  text.length > MAX_QUOTED_INPUT_CHARACTERS
    ? `${text.slice(0, MAX_QUOTED_INPUT_CHARACTERS)}…`
    : text;

/** Invalid input of a mutation, whose payload lists the issues. `conflictingIds` are the ids of stored rows that prevent the write. */
export class InvalidInput extends Error {
  constructor(
    readonly issues: readonly InputIssue[],
    readonly conflictingIds: readonly number[] = [],
  ) {
    super('invalid input');
  }
}

export const rowNotFoundIssue = (typeName: string, id: unknown): ValidationIssue =>
  validationIssue(IssueCode.NOT_FOUND, noRowOfTypeMessage(typeName, truncateInput(String(id))));

export function throwIfInvalid(issues: readonly InputIssue[]): void {
  if (issues.length) throw new InvalidInput(issues);
}

/**
 * An error whose message and code may be sent to the client unchanged. It has no stack trace, because a request of two kilobytes can cause a hundred
 * thousand of them, whose traces would take hundreds of megabytes.
 */
export class ClientError extends GraphQLError {
  constructor(
    code: ErrorCode,
    message: string,
    additionalExtensions: Record<string, unknown> = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { extensions: { code, ...additionalExtensions } });
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export const unauthenticatedError = (message = 'Authentication credentials were not provided.') =>
  new ClientError('UNAUTHENTICATED', message);
export const forbiddenError = (message = 'You do not have permission to perform this action.') =>
  new ClientError('FORBIDDEN', message);
export const notFoundError = () => new ClientError('NOT_FOUND', 'Not found.');
export const writeConflictError = () =>
  new ClientError(
    'CONFLICT',
    'The rows were changed by other requests at the same time. Nothing was written; try again.',
  );
export const invalidFieldsError = (fields: FieldErrors) =>
  new ClientError(
    'BAD_USER_INPUT',
    `Invalid input: ${Object.entries(fields)
      .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
      .join('; ')}`,
    { fields },
  );
export const invalidOperationError = (message: string) =>
  new ClientError('BAD_USER_INPUT', message);
export const invalidArgumentError = (argumentName: string, message: string) =>
  invalidFieldsError({ [argumentName]: [message] });

export const resultTooLargeError = (limit: number): ClientError =>
  new ClientError('RESULT_TOO_LARGE', responseTooLongMessage(limit), { limit });

export const tooManyObjectsError = (limit: number): ClientError =>
  new ClientError('RESULT_TOO_LARGE', tooManyObjectsMessage(limit), { limit });
export const tooManyValuesError = (limit: number): ClientError =>
  new ClientError('RESULT_TOO_LARGE', tooManyValuesMessage(limit), { limit });

export const clientGoneError = () => new ClientError('CLIENT_GONE', 'The client has disconnected.');
export const deadlineError = (seconds: number) =>
  new ClientError(
    'TIMEOUT',
    `The request took longer than ${seconds} seconds. Request less at a time.`,
    {
      retryAfter: RETRY_AFTER_SECONDS,
    },
  );

export const RETRY_AFTER_SECONDS = 2;

interface ErrorDescription {
  code: ErrorCode;
  clientMessage: string;
  logMessage: string;
}

const serviceUnavailableDescription = (
  clientMessage: string,
  logMessage = 'the database cannot be used',
): ErrorDescription => ({
  code: 'SERVICE_UNAVAILABLE',
  clientMessage,
  logMessage,
});

/** Returns what is sent and logged for a database or storage error; undefined for other errors. Messages of the database are only logged. */
function describeError(error: unknown): ErrorDescription | undefined {
  if (isTimeout(error))
    return {
      code: 'TIMEOUT',
      clientMessage:
        'The request took too long. Request less at a time, or use simpler conditions.',
      logMessage: 'a statement took too long',
    };
  if (error instanceof CommitOutcomeUnknown)
    return serviceUnavailableDescription(
      'The connection to the database was lost while the change was being committed. Check whether it was saved before you send it again.',
    );
  if (isProcessResourceError(error))
    return serviceUnavailableDescription(
      'The server lacks system resources at the moment. Try again in a moment.',
      'the server lacks system resources',
    );
  if (isDatabaseUnavailableError(error))
    return serviceUnavailableDescription('The database cannot be reached. Try again in a moment.');
  if (isLockFailure(error))
    return serviceUnavailableDescription(
      'The data is locked by another operation. Nothing was changed; try again in a moment.',
    );
  if (isResourceError(error))
    return serviceUnavailableDescription(
      'The database cannot process this at the moment. Nothing was changed; try again later.',
    );
  if (error instanceof FileStorageError)
    return serviceUnavailableDescription(
      'Uploaded files can be neither stored nor read at the moment. Try again in a moment.',
      'files cannot be stored or read',
    );
  return undefined;
}

/**
 * Converts an expected error, such as an unavailable database, into a client error. Logs database and storage errors with the request id. Returns
 * undefined for an unexpected error.
 */
export function toClientError(error: unknown, log: Logger, id: string): ClientError | undefined {
  if (error instanceof ClientDisconnected) return clientGoneError();
  if (error instanceof OverloadedError) return overloadedError();
  const errorDescription = describeError(error);
  if (!errorDescription) return undefined;
  const { code, clientMessage, logMessage } = errorDescription;
  log.error({ id, err: error }, logMessage);
  return new ClientError(code, `${clientMessage} (id ${id})`, {
    retryAfter: RETRY_AFTER_SECONDS,
    id,
  });
}

export const overloadedError = () =>
  new ClientError('OVERLOADED', 'The server is overloaded. Try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });

export const isTransientError = (error: unknown): boolean =>
  error instanceof ClientError && TEMPORARY_ERROR_CODES.includes(String(error.extensions.code));
