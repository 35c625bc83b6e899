/** The HTTP status of an answer that is an error of GraphQL, by the error's code. */
export const STATUSES: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  BAD_USER_INPUT: 400,
  COST_LIMIT: 400,
  RESULT_TOO_LARGE: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_SERVER_ERROR: 500,
  CLIENT_GONE: 503,
  OVERLOADED: 503,
  SERVICE_UNAVAILABLE: 503,
  TIMEOUT: 503,
};

/** Codes of errors that are the server's, and over in a moment. */
export const PASSING: readonly string[] = ['OVERLOADED', 'SERVICE_UNAVAILABLE', 'TIMEOUT'];
