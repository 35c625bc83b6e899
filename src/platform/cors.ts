/** What browsers are told of pages of other sites (CORS): those of any may ask, and read what is answered. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'accept, accept-encoding, authorization, cache-control, content-type, dnt, idempotency-key, if-match, if-none-match, origin, user-agent, ' +
    'x-csrftoken, x-requested-with',
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Max-Age': '86400',
  'Content-Length': '0',
};

/** Besides what they always may read. */
const EXPOSED = 'ETag, X-Request-Id';

export const corsOf = ({ headers }: IncomingMessage): Record<string, string> =>
  headers.origin === undefined ? {} : { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };

/** Whether a browser asks what it may send; then it is answered. */
export function preflight({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  const asks = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (asks) response.writeHead(200, PREFLIGHT).end();
  return asks;
}
