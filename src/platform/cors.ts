/** CORS headers (https://fetch.spec.whatwg.org/#http-cors-protocol): pages of any origin may send requests and read the responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'accept, accept-encoding, authorization, cache-control, content-type, dnt, idempotency-key, if-match, if-none-match, origin, user-agent, ' +
    'x-csrftoken, x-requested-with',
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Max-Age': '86400',
  'Content-Length': '0',
};

/** In addition to the CORS-safelisted response headers. */
const EXPOSED_HEADERS = 'ETag, X-Request-Id';

export const corsHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  headers.origin === undefined ? {} : { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED_HEADERS };

/** Responds to a CORS preflight request; returns whether the request was one. */
export function respondToPreflight({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (isPreflight) response.writeHead(200, PREFLIGHT_HEADERS).end();
  return isPreflight;
}
