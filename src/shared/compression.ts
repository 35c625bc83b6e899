/**
 * HTTP response compression (Brotli, gzip, deflate), except for streams and bodies that fit into
 * one packet. Responses to requests with cookies are compressed only if they are public, because
 * the compressed length could reveal secrets (https://breachattack.com).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, deflate, gzip } from 'node:zlib';
import compression from 'compression';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import onHeaders from 'on-headers';

/**
 * Minimum size of compressed bodies in bytes. Smaller ones fit into one packet, so compression
 * gains nothing.
 */
const MIN_BODY_BYTES = 1_400;

/** Maximum length of an Accept-Encoding header in characters. Longer ones disable compression. */
const MAX_ACCEPT_ENCODING_LENGTH = 256;
const COMPRESSIBLE_TYPE_PATTERN =
  /^(?:text\/(?:html|css|javascript|plain|csv)|application\/(?:[a-z.-]+\+)?(?:json|javascript|yaml)|image\/svg\+xml)\b/;

/** Compression levels that take a few milliseconds per megabyte, in a thread of libuv. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;
const BROTLI_PARAMETERS = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };

/**
 * `Vary` header by which the REST root is recognized. The root is not compressed, because
 * compression would add Accept-Encoding to the header, which clients expect unchanged.
 */
const REST_ROOT_VARY = 'Accept';

/** Whether a response contains nothing of a session: shared caches may store it. */
const isPublic = (response: ServerResponse): boolean =>
  /^public\b/.test(String(response.getHeader('Cache-Control')));

const isCompressible = ({ headers }: IncomingMessage, response: ServerResponse): boolean =>
  (headers.cookie === undefined || isPublic(response)) &&
  COMPRESSIBLE_TYPE_PATTERN.test(String(response.getHeader('Content-Type'))) &&
  Number(response.getHeader('Content-Length')) >= MIN_BODY_BYTES &&
  response.getHeader('Vary') !== REST_ROOT_VARY;

const compress = compression({
  filter: isCompressible,
  threshold: 0,
  level: GZIP_LEVEL,
  brotli: { params: BROTLI_PARAMETERS },
});

/** Removes the suffix `-br`, `-gzip` or `-deflate` that compression has added to an ETag. */
export const stripETagCoding = (etag: string): string => etag.replace(/-(?:br|gzip|deflate)$/, '');

const etagWithCoding = (etag: string, coding: string) => etag.replace(/"$/, `-${coding}"`);

/**
 * Adds the content coding to the ETag of a response that was compressed here (and thus has no
 * Content-Length). A strong ETag identifies the exact bytes (RFC 9110, section 8.8.1), so each
 * coding needs its own.
 */
function addCodingToETag(this: ServerResponse): void {
  const [tag, coding] = [this.getHeader('ETag'), this.getHeader('Content-Encoding')];

  if (typeof tag === 'string' && typeof coding === 'string' && !this.hasHeader('Content-Length')) {
    this.setHeader('ETag', etagWithCoding(tag, coding));
  }
}

/** Whether the client sent an Accept-Encoding header that is read. */
const hasAcceptEncoding = ({ headers: { 'accept-encoding': header } }: IncomingMessage): boolean =>
  header !== undefined && String(header).length <= MAX_ACCEPT_ENCODING_LENGTH;

/** Patches a response so that its body is compressed if the client accepts that. */
export function compressResponse(request: IncomingMessage, response: ServerResponse): void {
  if (!hasAcceptEncoding(request)) return;

  // Header listeners run in reverse order of registration. `addCodingToETag` must run last, because
  // it reads the content coding that `compress` sets.
  onHeaders(response, addCodingToETag);
  compress(request as Request, response as Response, () => undefined);
}

/** Content codings of finished bodies, with the settings of `compressResponse`. */
const ENCODERS = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: BROTLI_PARAMETERS }),
  gzip: (body: Buffer) => promisify(gzip)(body, { level: GZIP_LEVEL }),
  deflate: (body: Buffer) => promisify(deflate)(body, { level: GZIP_LEVEL }),
};

export type ContentCoding = keyof typeof ENCODERS;

export const encodeBody = (body: Buffer, coding: ContentCoding): Promise<Buffer> =>
  ENCODERS[coding](body);

/**
 * Content coding in which `compressResponse` would send a public JSON body of this length:
 * `identity` if the client accepts no other one, undefined if it is sent as it is to all clients.
 */
export function negotiateCoding(
  request: IncomingMessage,
  varyHeader: string | undefined,
  bodyBytes: number,
): ContentCoding | 'identity' | undefined {
  if (!hasAcceptEncoding(request) || bodyBytes < MIN_BODY_BYTES || varyHeader === REST_ROOT_VARY) {
    return undefined;
  }

  if (request.method === 'HEAD') return 'identity';
  // The types lack the second parameter.
  const negotiator = new Negotiator(request) as {
    encoding(available: readonly string[], options: { preferred: string[] }): string | undefined;
  };
  const codings = [...Object.keys(ENCODERS), 'identity'];
  const coding = negotiator.encoding(codings, { preferred: ['br', 'gzip'] });

  return (coding ?? 'identity') as ContentCoding | 'identity';
}

/** Headers of a response whose body has this content coding. */
export function headersWithCoding(
  headers: Readonly<Record<string, string>>,
  coding: ContentCoding | 'identity',
): Record<string, string> {
  const { Vary, ETag, ...others } = headers;
  const isEncoded = coding !== 'identity';

  return {
    ...others,
    Vary: `${Vary}, Accept-Encoding`,
    ...(ETag !== undefined && { ETag: isEncoded ? etagWithCoding(ETag, coding) : ETag }),
    ...(isEncoded && { 'Content-Encoding': coding }),
  };
}
