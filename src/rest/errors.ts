/** Errors as REST answers them: a status and a JSON body. One table turns codes into statuses. */
import type { GraphQLError } from 'graphql';

export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    readonly headers: Record<string, string> = {},
  ) {
    super(`${status}`);
  }
}

const detail = (status: number, message: string, headers?: Record<string, string>) => new RestError(status, { detail: message }, headers);

export const notFound = () => detail(404, 'Not found.');
export const notSignedIn = () => detail(403, 'Authentication credentials were not provided.');
export const notPermitted = () => detail(403, 'You do not have permission to perform this action.');
export const notYours = () => detail(403, 'You are not allowed to do this');
export const notAllowed = (method: string) => detail(405, `Method "${method}" not allowed.`);
export const notAcceptable = () => detail(406, 'Could not satisfy the request Accept header.');
export const tooLarge = (message = 'Request body too large.') => detail(413, message);
export const unsupported = (type: string) => detail(415, `Unsupported media type "${type}" in request.`);
export const badRequest = (message: string) => detail(400, message);
export const invalid = (fields: Record<string, string[]>) => new RestError(400, fields);

/** Every authentication failure is a 403; a failed login alone is a 401. */
const STATUS: Record<string, number> = {
  UNAUTHENTICATED: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  BAD_USER_INPUT: 400,
  BAD_REQUEST: 400,
  CONFLICT: 409,
  TOO_MANY_REQUESTS: 429,
  RATE_LIMITED: 429,
  COST_LIMIT: 400,
  TIMEOUT: 503,
  OVERLOADED: 503,
  SERVICE_UNAVAILABLE: 503,
  CLIENT_GONE: 503,
};

/** `rename` gives the REST key of a GraphQL field. */
export function ofGraphQL(error: GraphQLError, rename: (field: string) => string): RestError {
  const { code, fields, login, retryAfter } = error.extensions as {
    code?: string;
    fields?: Record<string, string[]>;
    login?: boolean;
    retryAfter?: number;
  };
  const status = login ? 401 : (STATUS[code ?? ''] ?? 500);
  if (fields)
    return ofFieldErrors(
      Object.entries(fields).map(([path, messages]) => ({ path, messages })),
      rename,
    );
  return detail(status, error.message, retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) });
}

/** What the payload of a mutation says of the values; of one field there may be several. */
export function ofFieldErrors(errors: readonly { path: string; messages: string[] }[], rename: (field: string) => string): RestError {
  const fields: Record<string, string[]> = {};
  for (const { path, messages } of errors) fields[rename(path)] = [...(fields[rename(path)] ?? []), ...messages];
  return invalid(fields);
}
