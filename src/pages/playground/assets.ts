/**
 * Serves the files of the bundle, precompressed by the build. They are the same for all clients, so compressing them leaks no secrets.
 * (https://en.wikipedia.org/wiki/BREACH)
 */
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import Negotiator from 'negotiator';

const CONTENT_TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
/** Content encodings in order of preference. */
const CONTENT_CODINGS = ['br', 'gzip'] as const;
const EXTENSION_BY_CODING = { br: '.br', gzip: '.gz' } as const;
const ASSET_PATH_PATTERN = /^\/[\w.-]+\.(js|css)$/;
const MAX_ACCEPT_ENCODING_CHARACTERS = 256;

/** Returns the preferred content encoding of precompressed files; undefined if the client accepts none. */
export function contentEncodingFor(request: IncomingMessage): 'br' | 'gzip' | undefined {
  if ((request.headers['accept-encoding'] ?? '').length > MAX_ACCEPT_ENCODING_CHARACTERS)
    return undefined;
  const acceptedEncodings = new Negotiator(request).encodings(['br', 'gzip']);
  return CONTENT_CODINGS.find((coding) => acceptedEncodings.includes(coding));
}

/** Returns a handler that serves a folder. If a file `x.js` is not small, its compressed versions `x.js.br` and `x.js.gz` are next to it. */
export function assetHandler(folder: string): RequestHandler {
  const router = express.Router({ caseSensitive: true });
  const options = { immutable: true, maxAge: '1y', index: false, redirect: false } as const;
  const serveUncompressed = express.static(folder, {
    ...options,
    setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding'),
  });
  router.use((request, response, next) => {
    const contentType = CONTENT_TYPE_BY_EXTENSION[ASSET_PATH_PATTERN.exec(request.path)?.[1] ?? ''];
    const coding = contentEncodingFor(request);
    if (contentType === undefined || coding === undefined)
      return serveUncompressed(request, response, next);
    const headers = {
      'Content-Type': contentType,
      'Content-Encoding': coding,
      Vary: 'Accept-Encoding',
    };
    response.sendFile(
      `${request.path}${EXTENSION_BY_CODING[coding]}`,
      { root: folder, immutable: true, maxAge: '1y', headers },
      (error) => {
        // The compressed file is missing if the file is small (MIN_BYTES in scripts/build.mjs). The uncompressed file is sent instead.
        if (error && !response.headersSent) serveUncompressed(request, response, next);
      },
    );
  });
  return router;
}
