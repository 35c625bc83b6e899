/** Writes REST responses: common headers, caching headers and body. */
import type { ServerResponse } from 'node:http';
import { etagOfText } from './preconditions';
import type { RestRequest } from './request';

const VARY_HEADER = 'Accept, Accept-Language, Cookie, Origin';

export const PRIVATE_CACHE_CONTROL = 'private, no-store';

/**
 * Caching headers of a public response: caches may store it, but must revalidate it before each
 * use, which usually gives a 304.
 */
export const publicCacheHeaders = (text: string): Record<string, string> => ({
  ETag: etagOfText(text),
  'Cache-Control': 'public, no-cache',
});

const hasPersonalResponse = ({ message: { headers }, route }: RestRequest): boolean =>
  headers.authorization !== undefined ||
  headers.cookie !== undefined ||
  route?.kind === 'login' ||
  (route?.endpoint?.resource.isOwned ?? false);

type Headers = Record<string, string>;

export const responseHeaders = (
  request: RestRequest,
  ...additionalHeaders: (Headers | undefined)[]
): Headers =>
  Object.assign(
    {
      Vary: request.route?.kind === 'root' ? 'Accept' : VARY_HEADER,
      'Content-Language': 'en',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
    },
    request.route && { Allow: request.route.allowedMethods.join(', ') },
    hasPersonalResponse(request) && { 'Cache-Control': PRIVATE_CACHE_CONTROL },
    ...additionalHeaders,
  );

/**
 * Maximum length of a body that is sent as a string, in one write with the headers. A longer one is
 * sent as a Buffer, which is encoded once and not copied.
 */
const MAX_STRING_BODY_CHARACTERS = 1 << 16;

/** Sends a response. Without a body, it has neither a body nor a Content-Type. */
export function sendResponse(
  response: ServerResponse,
  status: number,
  headers: Headers,
  contentType: string,
  finishedBody: string | Buffer | undefined,
): void {
  if (finishedBody === undefined) {
    return void response.writeHead(status, { ...headers, 'Content-Length': '0' }).end();
  }

  const isLongString =
    typeof finishedBody === 'string' && finishedBody.length > MAX_STRING_BODY_CHARACTERS;
  const body = isLongString ? Buffer.from(finishedBody) : finishedBody;

  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
