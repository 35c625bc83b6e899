/** HTTP status, headers and media type of GraphQL error responses. */
import { HeaderMap } from '@apollo/server';
import { GraphQLError } from 'graphql';
import Negotiator from 'negotiator';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CsrfError } from '../auth/sessions';
import { HTTP_STATUS_BY_ERROR_CODE, TEMPORARY_ERROR_CODES } from '../contract/errorcodes';

/** Whether a retry may succeed, because the server was overloaded or the database unavailable. */
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

/** Adds the HTTP status to an error of authentication: 401, 403 for CSRF, or the status of overload and rate limits. */
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

/** Removes all parameters of media types except `q`, because they select no other format: `application/json; charset=utf-8` is `application/json`. */
export const withoutMediaParameters = (acceptHeader: string): string =>
  acceptHeader.replace(/;(?!\s*q\s*=)[^;,]*/gi, '');

/** Negotiates the media type of a response; prefers `application/json` if the client accepts both. */
export const negotiateMediaType = (acceptHeader: string | undefined): string =>
  new Negotiator({ headers: { accept: acceptHeader } }).mediaType([
    JSON_MEDIA_TYPE,
    'application/graphql-response+json',
  ]) ?? JSON_MEDIA_TYPE;

/** Sends a GraphQL error response without Apollo. `furtherExtensions` are further extensions, such as `retryAfter`. */
export function sendGraphQLError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  furtherExtensions: Readonly<Record<string, unknown>> = {},
): void {
  response.writeHead(status, {
    'Content-Type': `${negotiateMediaType(request.headers.accept)}; charset=utf-8`,
  });
  response.end(
    JSON.stringify({ errors: [{ message, extensions: { code, ...furtherExtensions } }] }),
  );
}
