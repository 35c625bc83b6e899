/**
 * REST errors: exceptions with an HTTP status and a JSON body in the wording of Django REST
 * framework.
 */
import type { GraphQLError } from 'graphql';
import { toQueryParameterName } from './drf/query-string';
import { HTTP_STATUS_BY_ERROR_CODE } from '../shared/error-codes';

export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = {},
  ) {
    super(`${status}`);
  }
}

export type FieldErrors = Record<string, string[]>;

const errorWithDetail = (status: number, message: string, headers?: Record<string, string>) =>
  new RestError(status, { detail: message }, headers);

export const notFoundError = () => errorWithDetail(404, 'Not found.');
export const notSignedInError = () =>
  errorWithDetail(403, 'Authentication credentials were not provided.');
export const notPermittedError = () =>
  errorWithDetail(403, 'You do not have permission to perform this action.');
export const inaccessibleParentError = () => errorWithDetail(403, 'You are not allowed to do this');
export const methodNotAllowedError = (method: string) =>
  errorWithDetail(405, `Method "${method}" not allowed.`);
export const notAcceptableError = () =>
  errorWithDetail(406, 'Could not satisfy the request Accept header.');
export const bodyTooLargeError = () => errorWithDetail(413, 'Request body too large.');
export const unsupportedMediaTypeError = (mediaType: string) =>
  errorWithDetail(415, `Unsupported media type "${mediaType}" in request.`);

/** Error of a failed login, with status 401. All other authentication failures have status 403. */
export const loginFailedError = (message: string) => errorWithDetail(401, message);
export const badRequestError = (message: string) => errorWithDetail(400, message);
export const validationError = (fields: FieldErrors) => new RestError(400, fields);

export function throwIfInvalidFields(errors: FieldErrors): void {
  if (Object.keys(errors).length) throw validationError(errors);
}

export function restErrorFromGraphQL({ extensions, message }: GraphQLError): RestError {
  const { code, inputErrors, retryAfter } = extensions as {
    code?: string;
    inputErrors?: readonly { path: readonly string[]; message: string }[];
    retryAfter?: number;
  };

  if (inputErrors) {
    return validationErrorFromMessages(
      inputErrors.map(({ path, message }) => [path.join('.'), [message]]),
      toQueryParameterName,
    );
  }

  const status = code === 'UNAUTHENTICATED' ? 403 : (HTTP_STATUS_BY_ERROR_CODE[code ?? ''] ?? 500);

  return errorWithDetail(
    status,
    message,
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  );
}

/**
 * Builds a validation error (400) from messages per field. A field may occur repeatedly.
 * `toRestKey` converts a GraphQL field name to its REST key.
 */
export function validationErrorFromMessages(
  fieldMessages: readonly (readonly [string, string[]])[],
  toRestKey: (field: string) => string,
): RestError {
  const errors: FieldErrors = {};

  for (const [field, messages] of fieldMessages) {
    (errors[toRestKey(field)] ??= []).push(...messages);
  }

  return validationError(errors);
}
