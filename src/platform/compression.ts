/**
 * HTTP response compression (zstd, Brotli, gzip). Compresses only bodies that are passed whole to `end`; streams, files and short bodies stay as
 * they are. Requests with cookies get uncompressed responses, because the compressed length could leak secrets (https://breachattack.com).
 * Tokens are not affected: browsers do not send them on their own.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import Negotiator from 'negotiator';

/** Smaller bodies fit into one packet, so compression would not make them faster. */
const MIN_BODY_BYTES = 1_400;
/** In characters; longer Accept-Encoding headers disable compression. */
const MAX_HEADER_LENGTH = 256;
const COMPRESSIBLE_TYPES = /^(?:text\/(?:html|css|javascript|plain|csv)|application\/(?:[a-z.-]+\+)?(?:json|javascript)|image\/svg\+xml)\b/;

/** Levels that take a few milliseconds per megabyte (in a thread of libuv). */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

type Compress = (body: Buffer) => Promise<Buffer>;

/** Content codings by name, most preferred first. */
const CODINGS: ReadonlyMap<string, Compress> = new Map([
  // Available since Node.js 22.15.
  ...('zstdCompress' in zlib ? [['zstd', promisify(zlib.zstdCompress as typeof zlib.deflate) as Compress] as const] : []),
  [
    'br',
    (body) =>
      promisify(zlib.brotliCompress)(body, {
        params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      }),
  ],
  ['gzip', (body) => promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip)(body, { level: GZIP_LEVEL })],
]);

const TAG_SUFFIX = new RegExp(`-(?:${[...CODINGS.keys()].join('|')})$`);

/** A strong ETag identifies exact bytes (RFC 9110, section 8.8.1), so each content coding has its own. */
const tagOfCoding = (tag: string, coding: string) => tag.replace(/"$/, `-${coding}"`);

/** Removes the suffix of the content coding from an ETag. */
export const stripCodingSuffix = (tag: string): string => tag.replace(TAG_SUFFIX, '');

function codingFor(request: IncomingMessage): [string, Compress] | undefined {
  const acceptable = new Negotiator(request).encodings([...CODINGS.keys()]);
  return [...CODINGS].find(([name]) => acceptable.includes(name));
}

/** The REST root must keep exactly this `Vary` header for compatibility, so its responses are not compressed. */
const REST_ROOT_VARY = 'Accept';

const isCompressible = (response: ServerResponse): boolean => {
  const type = response.getHeader('Content-Type');
  return (
    typeof type === 'string' &&
    COMPRESSIBLE_TYPES.test(type) &&
    !response.hasHeader('Content-Encoding') &&
    response.getHeader('Vary') !== REST_ROOT_VARY &&
    response.statusCode >= 200 &&
    response.statusCode !== 204 &&
    response.statusCode !== 304
  );
};

/**
 * Sets the headers of a compressed body. Uncompressed responses carry no `Vary: Accept-Encoding`, because a cache may serve them to any client.
 */
function setCodingHeaders(response: ServerResponse, body: Buffer, coding: string): void {
  response.setHeader('Content-Encoding', coding);
  response.setHeader('Content-Length', body.length);
  if (!/\baccept-encoding\b/i.test(String(response.getHeader('Vary') ?? ''))) response.appendHeader('Vary', 'Accept-Encoding');
  const tag = response.getHeader('ETag');
  if (typeof tag === 'string') response.setHeader('ETag', tagOfCoding(tag, coding));
}

/** Patches the response, so that its body is compressed if the client accepts a supported coding. */
export function compressResponse(request: IncomingMessage, response: ServerResponse): void {
  const { 'accept-encoding': accepted, cookie } = request.headers;
  if (accepted === undefined || String(accepted).length > MAX_HEADER_LENGTH || cookie !== undefined || request.method === 'HEAD') return;
  const coding = codingFor(request);
  if (!coding) return;
  const [name, compress] = coding;
  const originals = { writeHead: response.writeHead, write: response.write, end: response.end, flushHeaders: response.flushHeaders };
  let hasHead = false;

  /** Restores the original methods and sends headers that were held back. */
  const restore = (): void => {
    Object.assign(response, originals);
    if (hasHead) response.writeHead(response.statusCode);
  };

  // Holds the headers back, because the body decides about compression.
  response.writeHead = ((status: number, headers: OutgoingHttpHeaders | string = {}, ...rest: unknown[]) => {
    if (typeof headers === 'string' || Array.isArray(headers) || rest.length) {
      Object.assign(response, originals);
      return (response.writeHead as (...all: unknown[]) => ServerResponse)(status, headers, ...rest);
    }
    response.statusCode = status;
    for (const [header, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(header, value);
    hasHead = true;
    return response;
  }) as ServerResponse['writeHead'];
  response.flushHeaders = () => {
    restore();
    if (!hasHead) response.flushHeaders();
  };
  response.write = ((...chunk: [unknown]) => {
    restore();
    return response.write(...chunk);
  }) as ServerResponse['write'];
  response.end = ((chunk?: unknown, ...rest: unknown[]) => {
    // Restored first, so that a second call of `end` during compression gets Node's own behaviour.
    response.end = originals.end;
    const body = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (
      !(body instanceof Buffer) ||
      body.length < MIN_BODY_BYTES ||
      !isCompressible(response) ||
      rest.some((part) => typeof part === 'function')
    ) {
      restore();
      return (response.end as (...all: unknown[]) => ServerResponse)(chunk, ...rest);
    }
    const send = (content: Buffer, coding?: string) => {
      if (response.headersSent || response.destroyed) return;
      if (coding !== undefined) setCodingHeaders(response, content, coding);
      restore();
      response.end(content);
    };
    compress(body).then(
      (shorter) => send(shorter, name),
      () => send(body),
    );
    return response;
  }) as ServerResponse['end'];
}
