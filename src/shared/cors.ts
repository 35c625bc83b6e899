/**
 * CORS (https://fetch.spec.whatwg.org/#http-cors-protocol) of REST and GraphQL: pages of other
 * origins may send requests and read responses, but never with cookies. Sessions also require a
 * CSRF token, so that such pages cannot act on behalf of a user.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Request headers that every response to a preflight request allows. */
const ALLOWED_REQUEST_HEADERS = (
  'accept, accept-encoding, authorization, cache-control, content-type, dnt, idempotency-key, ' +
  'if-match, if-none-match, origin, user-agent, x-csrftoken, x-requested-with'
).split(', ');

/** Longer lists of requested headers are ignored. Those of tracing libraries have 100 characters. */
const MAX_REQUESTED_HEADERS_LENGTH = 1_000;
const HEADER_NAME_PATTERN = /^[\w!#$%&'+.^`|~-]+$/;

const REST_METHODS = 'DELETE, GET, OPTIONS, PATCH, POST, PUT';
const GRAPHQL_METHODS = 'GET, OPTIONS, POST';

const EXPOSED_HEADERS =
  'Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Estimated-Cost, X-Request-Id';

export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const API_PATH_PATTERN = /^\/(?:api|graphql)(?:[/?]|$)/;
const isGraphQLRequest = ({ url }: IncomingMessage): boolean => url!.startsWith('/graphql');

/** The valid names in the list of headers that a page wants to send, in lower case. */
function requestedHeaders({ headers }: IncomingMessage): string[] {
  const list = headers['access-control-request-headers'] ?? '';

  if (list.length > MAX_REQUESTED_HEADERS_LENGTH) return [];

  return list
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => HEADER_NAME_PATTERN.test(name));
}

export class CorsPolicy {
  /** `allowedOrigins`: origins whose pages may read responses of the API; by default all. */
  constructor(private readonly allowedOrigins?: readonly string[]) {}

  allowsOrigin(origin: string): boolean {
    return this.allowedOrigins?.includes(origin.toLowerCase()) ?? true;
  }

  addHeaders(request: IncomingMessage, response: ServerResponse): void {
    const { origin } = request.headers;

    if (!API_PATH_PATTERN.test(request.url!)) return;
    if (this.allowedOrigins) response.appendHeader('Vary', 'Origin');
    if (origin === undefined || !this.allowsOrigin(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', this.allowedOrigins ? origin : '*');
    if (!isPreflight(request)) response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  }

  /**
   * Responds to a request if it is a preflight request, and tells whether it was. A response
   * without `Access-Control-Allow-Origin` rejects the origin.
   */
  respondToPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    if (!isPreflight(request) || !API_PATH_PATTERN.test(request.url!)) return false;
    const allowedHeaders = new Set([...ALLOWED_REQUEST_HEADERS, ...requestedHeaders(request)]);

    if (!this.allowedOrigins) response.setHeader('Access-Control-Allow-Origin', '*');
    response
      .writeHead(200, {
        'Access-Control-Allow-Headers': [...allowedHeaders].join(', '),
        'Access-Control-Allow-Methods': isGraphQLRequest(request) ? GRAPHQL_METHODS : REST_METHODS,
        'Access-Control-Max-Age': '86400',
        'Content-Length': '0',
      })
      .end();

    return true;
  }

  /** Headers of the response to a request that Node.js could not parse, from its raw bytes. */
  headersForUnparsedRequest(bytes: Buffer | undefined): Record<string, string> {
    if (!this.allowedOrigins) return { 'Access-Control-Allow-Origin': '*' };
    const [, origin] = /^origin:[ \t]*(\S+)/im.exec(bytes?.toString('latin1') ?? '') ?? [];

    if (origin === undefined || !this.allowsOrigin(origin)) return { Vary: 'Origin' };

    return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
  }
}
