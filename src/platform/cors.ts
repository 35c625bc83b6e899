/**
 * CORS (https://fetch.spec.whatwg.org/#http-cors-protocol) of REST and GraphQL: pages of other origins may send requests and read the responses. Responses
 * never permit requests with cookies, and sessions require a CSRF token, so that pages of other origins cannot act on behalf of a signed-in user.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const ALLOWED_REQUEST_HEADERS =
  'accept, accept-encoding, authorization, cache-control, content-type, dnt, idempotency-key, if-match, if-none-match, origin, user-agent, ' +
  'x-csrftoken, x-requested-with';
/** Request headers that pages may send only to GraphQL: those of Apollo's clients, and `x-dry-run`, which requests only the cost of an operation. */
const GRAPHQL_REQUEST_HEADERS =
  'apollo-require-preflight, apollographql-client-name, apollographql-client-version, x-apollo-operation-name, x-dry-run';
const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Max-Age': '86400',
  'Content-Length': '0',
};

const EXPOSED_HEADERS =
  'Content-Disposition, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Estimated-Cost, X-Request-Id';

const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const API_PATH_PATTERN = /^\/(?:api|graphql)(?:[/?]|$)/;
const isGraphQLRequest = ({ url }: IncomingMessage): boolean => url!.startsWith('/graphql');

export class CorsPolicy {
  /** `allowedOrigins`: the origins whose pages may read the responses of the API. If undefined, pages of all origins may. */
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

  /** Responds to a preflight request. Returns whether the request was one. A response without `Access-Control-Allow-Origin` is a rejection. */
  respondToPreflight(request: IncomingMessage, response: ServerResponse): boolean {
    if (!isPreflight(request) || !API_PATH_PATTERN.test(request.url!)) return false;
    const allowedHeaders = isGraphQLRequest(request)
      ? `${ALLOWED_REQUEST_HEADERS}, ${GRAPHQL_REQUEST_HEADERS}`
      : ALLOWED_REQUEST_HEADERS;
    if (!this.allowedOrigins) response.setHeader('Access-Control-Allow-Origin', '*');
    response
      .writeHead(200, { 'Access-Control-Allow-Headers': allowedHeaders, ...PREFLIGHT_HEADERS })
      .end();
    return true;
  }
}
