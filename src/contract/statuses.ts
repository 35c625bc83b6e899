/** HTTP status codes by GraphQL error code. */
export const HTTP_STATUS_BY_ERROR_CODE: Readonly<Record<string, number>> = {
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

/** Codes of temporary server errors, after which a retry can succeed. */
export const TEMPORARY_ERROR_CODES: readonly string[] = ['OVERLOADED', 'SERVICE_UNAVAILABLE', 'TIMEOUT'];
