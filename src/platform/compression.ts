/**
 * Answers in fewer bytes, for clients that take them so. Only a body that is whole when it is sent: streams, files and what is short go as they
 * are. Whoever comes with a cookie gets no compressed body, because how long it is would tell what a secret in it has in common with what another
 * site put into the request (BREACH); a token is sent by no browser on its own.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import Negotiator from 'negotiator';

/** What fits into one packet comes no sooner for being shorter. */
const MIN_BYTES = 1_400;
/** Of the header that is looked at. */
const MAX_HEADER = 256;
const TYPES = /^(?:text\/(?:html|css|javascript|plain|csv)|application\/(?:[a-z.-]+\+)?(?:json|javascript)|image\/svg\+xml)\b/;

/** So that it takes some milliseconds a megabyte, in a thread of its own. */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;

type Compress = (body: Buffer) => Promise<Buffer>;

/** By their names, the best one first. */
const CODINGS: ReadonlyMap<string, Compress> = new Map([
  // Node has it since 22.15.
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

const SUFFIX = new RegExp(`-(?:${[...CODINGS.keys()].join('|')})$`);

/** A strong tag stands for these very bytes, so those of a coding have one of their own. */
const tagOfCoding = (tag: string, coding: string) => tag.replace(/"$/, `-${coding}"`);

/** What a tag says of the answer before it was compressed. */
export const withoutCoding = (tag: string): string => tag.replace(SUFFIX, '');

function codingFor(request: IncomingMessage): [string, Compress] | undefined {
  const acceptable = new Negotiator(request).encodings([...CODINGS.keys()]);
  return [...CODINGS].find(([name]) => acceptable.includes(name));
}

/** The root of the API has exactly the `Vary` that clients know, so nothing more may make it vary. */
const VARY_OF_THE_ROOT = 'Accept';

/** Whether a body of this answer is worth it and may be changed. */
const isFit = (response: ServerResponse): boolean => {
  const type = response.getHeader('Content-Type');
  return (
    typeof type === 'string' &&
    TYPES.test(type) &&
    !response.hasHeader('Content-Encoding') &&
    response.getHeader('Vary') !== VARY_OF_THE_ROOT &&
    response.statusCode >= 200 &&
    response.statusCode !== 204 &&
    response.statusCode !== 304
  );
};

/** A body that is sent as it is may be shown to those who would have taken a shorter one, so it does not say that it varies. */
function describe(response: ServerResponse, sent: Buffer, coding: string): void {
  response.setHeader('Content-Encoding', coding);
  response.setHeader('Content-Length', sent.length);
  if (!/\baccept-encoding\b/i.test(String(response.getHeader('Vary') ?? ''))) response.appendHeader('Vary', 'Accept-Encoding');
  const tag = response.getHeader('ETag');
  if (typeof tag === 'string') response.setHeader('ETag', tagOfCoding(tag, coding));
}

/** Has what is sent by this response compressed, if its client takes that. */
export function compressed(request: IncomingMessage, response: ServerResponse): void {
  const { 'accept-encoding': accepted, cookie } = request.headers;
  if (accepted === undefined || String(accepted).length > MAX_HEADER || cookie !== undefined || request.method === 'HEAD') return;
  const coding = codingFor(request);
  if (!coding) return;
  const [name, compress] = coding;
  const plain = { writeHead: response.writeHead, write: response.write, end: response.end, flushHeaders: response.flushHeaders };
  let hasHead = false;

  /** From here on the response is Node's own again. */
  const restore = (): void => {
    Object.assign(response, plain);
    if (hasHead) response.writeHead(response.statusCode);
  };

  // What it was given is known only with the body.
  response.writeHead = ((status: number, headers: OutgoingHttpHeaders | string = {}, ...rest: unknown[]) => {
    if (typeof headers === 'string' || Array.isArray(headers) || rest.length) {
      Object.assign(response, plain);
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
    // A second end, from whoever notices a failure meanwhile, is Node's to judge.
    response.end = plain.end;
    const body = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!(body instanceof Buffer) || body.length < MIN_BYTES || !isFit(response) || rest.some((part) => typeof part === 'function')) {
      restore();
      return (response.end as (...all: unknown[]) => ServerResponse)(chunk, ...rest);
    }
    const finish = (sent: Buffer, coding?: string) => {
      if (response.headersSent || response.destroyed) return;
      if (coding !== undefined) describe(response, sent, coding);
      restore();
      response.end(sent);
    };
    compress(body).then(
      (short) => finish(short, name),
      () => finish(body),
    );
    return response;
  }) as ServerResponse['end'];
}
