/** HTTP status, headers and media type of GraphQL error responses. */
import { HeaderMap } from '@apollo/server';
import { GraphQLError } from 'graphql';
import Negotiator from 'negotiator';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CsrfError } from '../accounts/sessions';
import { HTTP_STATUS_BY_ERROR_CODE, TEMPORARY_ERROR_CODES } from '../shared/error-codes';

/**
 * Whether an error is temporary, such as an overloaded server or an unavailable database, so that a
 * retry may succeed.
 */
export const hasTemporaryErrorCode = ({ extensions }: { extensions?: Record<string, unknown> }) =>
  TEMPORARY_ERROR_CODES.includes(String(extensions?.code));

export const headersWithRetryAfter = (
  retryAfter: unknown,
  additionalHeaders: Record<string, string> = {},
) => {
  const headers = Object.entries(additionalHeaders).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ]);

  return new HeaderMap(
    retryAfter === undefined ? headers : [...headers, ['retry-after', String(retryAfter)]],
  );
};

/**
 * Adds the HTTP status to an authentication error: 401, 403 for CSRF, or the status of overload and
 * rate limits.
 */
export function withHttpStatus(error: unknown, headers: Record<string, string> = {}): unknown {
  if (!(error instanceof GraphQLError)) return error;

  if (hasTemporaryErrorCode(error) || error.extensions.code === 'RATE_LIMITED') {
    const { code, retryAfter } = error.extensions;

    return new GraphQLError(error.message, {
      extensions: {
        ...error.extensions,
        http: {
          status: HTTP_STATUS_BY_ERROR_CODE[String(code)],
          headers: headersWithRetryAfter(retryAfter, headers),
        },
      },
    });
  }

  const [code, status] = error instanceof CsrfError ? ['FORBIDDEN', 403] : ['UNAUTHENTICATED', 401];

  return new GraphQLError(error.message, { extensions: { code, http: { status } } });
}

export const JSON_MEDIA_TYPE = 'application/json';

/**
 * Removes parameters of media types, except `q`, from an Accept header, because no parameter
 * affects the format of responses.
 */
export const withoutMediaParameters = (acceptHeader: string): string =>
  acceptHeader.replace(/;(?!\s*q\s*=)[^;,]*/gi, '');

/** Negotiates the media type of a response, preferring `application/json`. */
export const negotiateMediaType = (acceptHeader: string | undefined): string =>
  new Negotiator({ headers: { accept: acceptHeader } }).mediaType([
    JSON_MEDIA_TYPE,
    'application/graphql-response+json',
  ]) ?? JSON_MEDIA_TYPE;

/**
 * Sends a GraphQL error response without Apollo. `details` are further extensions, such as
 * `retryAfter`.
 */
export function sendGraphQLError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): void {
  response.writeHead(status, {
    'Content-Type': `${negotiateMediaType(request.headers.accept)}; charset=utf-8`,
  });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code, ...details } }] }));
}
