/**
 * Application errors. The code and data of an error are set where the error is thrown, never
 * derived from its message.
 */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import {
  responseTooLongMessage,
  noSuchRowOfTypeMessage,
  tooManyObjectsMessage,
  tooManyValuesMessage,
} from '../../shared/messages';
import { TEMPORARY_ERROR_CODES, type ErrorCode } from '../../shared/error-codes';
import {
  ClientDisconnected,
  isLockTimeout,
  isProcessResourceError,
  isTimeout,
  isResourceError,
  isDatabaseUnavailableError,
  CommitOutcomeUnknown,
} from '../../database/errors';
import { FileStorageError } from '../../shared/file-storage-error';
import { OverloadedError } from '../../shared/limiter';
import { createEnum } from './enums';

/** Codes of validation issues. */
export const IssueCode = createEnum('InputErrorCode', 'Machine-readable kinds of input errors.', {
  REQUIRED: 'A value is required.',
  NULL: 'The value may not be null.',
  BLANK: 'The text may not be empty.',
  EMPTY: 'The list may not be empty.',
  TOO_LONG: 'The text has too many characters.',
  TOO_SHORT: 'The text has too few characters.',
  TOO_LARGE: 'The number is greater than the maximum.',
  TOO_SMALL: 'The number is less than the minimum.',
  TOO_PRECISE: 'The number has too many digits.',
  NOT_A_CHOICE: 'The value is not one of the choices.',
  NOT_FOUND:
    'The row does not exist, or the viewer may not refer to it. The two cases are not distinguished.',
  NOT_UNIQUE: 'Another row already has this unique value.',
  HAS_HISTORY: 'The row has logs, sessions or diary entries, which would be deleted with it.',
  IN_USE: 'Other rows refer to the row, so that it cannot be deleted.',
  CONFLICT:
    'The row has changed: its version differs from `ifVersion`, or the change cannot be undone.',
  WRONG_CREDENTIALS: 'The name or the password is wrong.',
  INVALID: 'The value violates another rule, described in the message.',
});
export type IssueCode = keyof typeof IssueCode;

export interface ValidationIssue {
  readonly code: IssueCode;
  readonly message: string;
}

/** Path into the arguments of a field, such as `['input', 'days', '1', 'description']`. */
export type InputPath = readonly string[];

/** An invalid value in the arguments of a field, or in a variable, with whose name its path starts. */
export interface ArgumentError {
  readonly path: InputPath;
  readonly message: string;
}

export interface InputIssue extends ValidationIssue {
  readonly path: InputPath;

  /** The stored row that prevents the write. */
  readonly conflict?: { readonly typeName: string; readonly id: number };
}

export const validationIssue = (code: IssueCode, message: string): ValidationIssue => ({
  code,
  message,
});
export const invalidValueIssue = (message: string): ValidationIssue =>
  validationIssue(IssueCode.INVALID, message);

export const MAX_ERRORS_PER_RESPONSE = 20;

/**
 * Converts the errors of a response to at most MAX_ERRORS_PER_RESPONSE errors. If some are omitted,
 * the last one says how many.
 */
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
export function truncateInput(text: string): string {
  if (text.length <= MAX_QUOTED_INPUT_CHARACTERS) return text;

  return `${text.slice(0, MAX_QUOTED_INPUT_CHARACTERS)}…`;
}

/** Invalid input of a mutation. The payload of the mutation lists the issues. */
export class InvalidInput extends Error {
  constructor(readonly issues: readonly InputIssue[]) {
    super('invalid input');
  }
}

export const rowNotFoundIssue = (typeName: string, id: unknown): ValidationIssue =>
  validationIssue(IssueCode.NOT_FOUND, noSuchRowOfTypeMessage(typeName, truncateInput(String(id))));

export function throwIfInvalid(issues: readonly InputIssue[]): void {
  if (issues.length) throw new InvalidInput(issues);
}

/**
 * Error whose message and code may be sent to the client unchanged. Has no stack trace, because a
 * two-kilobyte request can cause a hundred thousand errors, whose traces would take hundreds of
 * megabytes.
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

export const describeArgumentErrors = (errors: readonly ArgumentError[]): string =>
  errors.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');

export const invalidArgumentsError = (inputErrors: readonly ArgumentError[]) =>
  new ClientError('BAD_USER_INPUT', `Invalid input: ${describeArgumentErrors(inputErrors)}`, {
    inputErrors,
  });

export const invalidInputError = (path: InputPath, message: string) =>
  invalidArgumentsError([{ path, message }]);
export const invalidArgumentError = (argumentName: string, message: string) =>
  invalidInputError([argumentName], message);

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

/**
 * Describes a database or storage error for the client and for the log. Messages of the database
 * are only logged.
 */
function describeError(error: unknown): ErrorDescription | undefined {
  if (isTimeout(error)) {
    return {
      code: 'TIMEOUT',
      clientMessage:
        'The request took too long. Request less at a time, or use simpler conditions.',
      logMessage: 'a statement took too long',
    };
  }

  if (error instanceof CommitOutcomeUnknown) {
    return serviceUnavailableDescription(
      'The connection to the database was lost while the change was being committed. Check whether it was saved before you send it again.',
    );
  }

  if (isProcessResourceError(error)) {
    return serviceUnavailableDescription(
      'The server lacks system resources at the moment. Try again in a moment.',
      'the server lacks system resources',
    );
  }

  if (isDatabaseUnavailableError(error)) {
    return serviceUnavailableDescription('The database cannot be reached. Try again in a moment.');
  }

  if (isLockTimeout(error)) {
    return serviceUnavailableDescription(
      'The data is locked by another operation. Nothing was changed; try again in a moment.',
    );
  }

  if (isResourceError(error)) {
    return serviceUnavailableDescription(
      'The database cannot process this at the moment. Nothing was changed; try again later.',
    );
  }

  if (error instanceof FileStorageError) {
    return serviceUnavailableDescription(
      'Uploaded files can be neither stored nor read at the moment. Try again in a moment.',
      'files cannot be stored or read',
    );
  }

  return undefined;
}

/**
 * Converts an expected error, such as an unavailable database, into a client error. Logs database
 * and storage errors with the request id. Unexpected errors are not converted (undefined).
 */
export function toClientError(
  error: unknown,
  log: Logger,
  requestId: string,
): ClientError | undefined {
  if (error instanceof ClientDisconnected) return clientGoneError();
  if (error instanceof OverloadedError) return overloadedError();
  const errorDescription = describeError(error);

  if (!errorDescription) return undefined;
  const { code, clientMessage, logMessage } = errorDescription;

  log.error({ id: requestId, err: error }, logMessage);
  return new ClientError(code, `${clientMessage} (id ${requestId})`, {
    retryAfter: RETRY_AFTER_SECONDS,
    id: requestId,
  });
}

export const overloadedError = () =>
  new ClientError('OVERLOADED', 'The server is overloaded. Try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  });

export const isTransientError = (error: unknown): boolean =>
  error instanceof ClientError && TEMPORARY_ERROR_CODES.includes(String(error.extensions.code));
