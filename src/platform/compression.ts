/**
 * HTTP response compression (Brotli, gzip, deflate), except for streams and for bodies that fit into one packet. Responses to requests with cookies
 * are not compressed, because the compressed length could reveal secrets (https://breachattack.com). That attack is impossible with tokens, which
 * browsers do not send automatically.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants } from 'node:zlib';
import compression from 'compression';
import type { Request, Response } from 'express';
import onHeaders from 'on-headers';

/** Minimum size of compressed bodies in bytes. Smaller ones fit into one packet, so compression would not make them faster. */
const MIN_BODY_BYTES = 1_400;
/** Maximum length of an Accept-Encoding header in characters. Longer ones disable compression. */
const MAX_ACCEPT_ENCODING_LENGTH = 256;
const COMPRESSIBLE_TYPE_PATTERN =
  /^(?:text\/(?:html|css|javascript|plain|csv)|application\/(?:[a-z.-]+\+)?(?:json|javascript)|image\/svg\+xml)\b/;

/** Compression levels that take a few milliseconds per megabyte (in a thread of libuv). */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

/** `Vary` header of the REST root. It must stay exactly the same for compatibility, so responses with it are not compressed. */
const REST_ROOT_VARY = 'Accept';

const isCompressible = (_request: IncomingMessage, response: ServerResponse): boolean =>
  COMPRESSIBLE_TYPE_PATTERN.test(String(response.getHeader('Content-Type'))) &&
  Number(response.getHeader('Content-Length')) >= MIN_BODY_BYTES &&
  response.getHeader('Vary') !== REST_ROOT_VARY;

const compress = compression({
  filter: isCompressible,
  threshold: 0,
  level: GZIP_LEVEL,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
});

/** Removes the content coding (suffix `-br`, `-gzip` or `-deflate`) that was added to the ETag of a compressed response. */
export const stripETagCodingSuffix = (etag: string): string =>
  etag.replace(/-(?:br|gzip|deflate)$/, '');

/**
 * Adds the content coding to the ETag of a compressed response. A strong ETag identifies the exact bytes (RFC 9110, section 8.8.1), so each coding needs its
 * own. Responses with a Content-Length are skipped, because they were not compressed here.
 */
function addCodingToETag(this: ServerResponse): void {
  const [tag, coding] = [this.getHeader('ETag'), this.getHeader('Content-Encoding')];
  if (typeof tag === 'string' && typeof coding === 'string' && !this.hasHeader('Content-Length'))
    this.setHeader('ETag', tag.replace(/"$/, `-${coding}"`));
}

/** Patches the response so that its body is compressed if the client accepts a supported coding. */
export function compressResponse(request: IncomingMessage, response: ServerResponse): void {
  const { 'accept-encoding': acceptEncoding, cookie } = request.headers;
  if (
    acceptEncoding === undefined ||
    String(acceptEncoding).length > MAX_ACCEPT_ENCODING_LENGTH ||
    cookie !== undefined
  )
    return;
  // Header listeners run in reverse order of registration: that of `compress`, registered second, must set the coding before `addCodingToETag` runs.
  onHeaders(response, addCodingToETag);
  compress(request as Request, response as Response, () => undefined);
}
