/**
 * Error codes of GraphQL (`extensions.code`). `npm run docs` generates the table in
 * docs/interfaces.md from them.
 */

interface ErrorCodeDefinition {
  /** HTTP status of a request that fails as a whole. */
  readonly status?: number;
  readonly meaning: string;
}

/** All error codes, in the order of docs/interfaces.md. */
export const ERROR_CODES = {
  UNAUTHENTICATED: { status: 401, meaning: 'Not signed in. 403 in REST.' },
  FORBIDDEN: { status: 403, meaning: 'Not allowed.' },
  NOT_FOUND: { status: 404, meaning: 'The row does not exist or belongs to another user.' },
  BAD_USER_INPUT: {
    status: 400,
    meaning: 'Invalid arguments or variables: `inputErrors: [{ path, message }]`.',
  },
  BAD_REQUEST: {
    status: 400,
    meaning:
      'Invalid body, headers or transport of a request, or a field that cannot be part of an `@atomic` mutation.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: '`/graphql` was requested with another method than GET, HEAD or POST.',
  },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document has a syntax error.' },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    meaning: 'The document does not match the schema or exceeds a `limit`.',
  },
  OPERATION_RESOLUTION_FAILURE: {
    status: 400,
    meaning: 'The document has no operation of this name, or several and no name was sent.',
  },
  PERSISTED_QUERY_NOT_FOUND: { meaning: 'No document has this id. Send its text.' },
  PERSISTED_QUERY_INVALID: {
    status: 400,
    meaning:
      'The hash of an automatic persisted query is not that of its text, or its version is not 1.',
  },
  PERSISTED_QUERY_ONLY: { status: 400, meaning: 'Only trusted documents are accepted.' },
  CONFLICT: { status: 409, meaning: 'The row has changed since it was read.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: 'The Idempotency-Key was used for another request.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    meaning:
      'The first request with this Idempotency-Key is still running. Sent with `Retry-After`.',
  },
  RESPONSE_LOST: {
    status: 409,
    meaning:
      'The request with this Idempotency-Key was executed, but its response was lost or too large to be stored.',
  },
  ROLLED_BACK: {
    meaning: 'Another field of the same `@atomic` mutation failed; nothing was written.',
  },
  CURSOR_EXPIRED: {
    meaning: 'The cursor of `changes` or `changed` has expired. Read everything again.',
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    meaning: 'Too many sign-in attempts, account changes or concurrent exports.',
  },
  TOO_MANY_SUBSCRIPTIONS: { meaning: 'The client has too many subscriptions.' },
  RATE_LIMITED: { status: 429, meaning: 'The budget is exhausted.' },
  COST_LIMIT: { status: 400, meaning: 'The operation is too expensive.' },
  RESULT_TOO_LARGE: {
    status: 400,
    meaning:
      'The response is larger than `MAX_RESPONSE_BYTES` or has more than 200,000 objects or 1,000,000 values.',
  },
  TOO_MANY_ERRORS: { meaning: 'Further errors are omitted; the message contains their number.' },
  TIMEOUT: { status: 503, meaning: 'The database statement or the request took too long.' },
  OVERLOADED: { status: 503, meaning: 'The server is overloaded.' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The database is unavailable, full, locked or read-only. Sent with `Retry-After`.',
  },
  CLIENT_GONE: {
    status: 503,
    meaning: 'The client disconnected before the response. Visible in metrics only.',
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    meaning: "An unexpected error. Its `id` is also in the server's log.",
  },
} satisfies Record<string, ErrorCodeDefinition>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const HTTP_STATUS_BY_ERROR_CODE: Readonly<Record<string, number | undefined>> =
  Object.fromEntries(
    Object.entries<ErrorCodeDefinition>(ERROR_CODES).map(([code, { status }]) => [code, status]),
  );

export const TEMPORARY_ERROR_CODES: readonly string[] = [
  'OVERLOADED',
  'SERVICE_UNAVAILABLE',
  'TIMEOUT',
] satisfies ErrorCode[];
