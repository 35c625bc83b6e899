/** Errors as REST answers them: a status and a JSON body. */
import type { GraphQLError } from 'graphql';
import { snake } from '../contract/casing';
import { STATUSES } from '../contract/statuses';

export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = {},
  ) {
    super(`${status}`);
  }
}

/** Messages by the keys of fields or parameters. */
export type Errors = Record<string, string[]>;

const detail = (status: number, message: string, headers?: Record<string, string>) => new RestError(status, { detail: message }, headers);

export const notFound = () => detail(404, 'Not found.');
export const notSignedIn = () => detail(403, 'Authentication credentials were not provided.');
export const notPermitted = () => detail(403, 'You do not have permission to perform this action.');
export const notYours = () => detail(403, 'You are not allowed to do this');
export const notAllowed = (method: string) => detail(405, `Method "${method}" not allowed.`);
export const notAcceptable = () => detail(406, 'Could not satisfy the request Accept header.');
export const tooLarge = (message = 'Request body too large.') => detail(413, message);
export const unsupported = (type: string) => detail(415, `Unsupported media type "${type}" in request.`);
/** The only authentication failure that is a 401; all others are a 403. */
export const loginFailed = (message: string) => detail(401, message);
export const badRequest = (message: string) => detail(400, message);
export const invalid = (fields: Errors) => new RestError(400, fields);

/** Throws what is wrong, if anything is. */
export function refuse(errors: Errors): void {
  if (Object.keys(errors).length) throw invalid(errors);
}

export function ofGraphQL({ extensions, message }: GraphQLError): RestError {
  const { code, fields, retryAfter } = extensions as { code?: string; fields?: Errors; retryAfter?: number };
  if (fields) return ofFields(Object.entries(fields), snake);
  const status = code === 'UNAUTHENTICATED' ? 403 : (STATUSES[code ?? ''] ?? 500);
  return detail(status, message, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) });
}

/** What is said of the values, each of which may be there several times. `rename` gives the REST key of a GraphQL field. */
export function ofFields(said: readonly (readonly [string, string[]])[], rename: (field: string) => string): RestError {
  const errors: Errors = {};
  for (const [field, messages] of said) (errors[rename(field)] ??= []).push(...messages);
  return invalid(errors);
}
