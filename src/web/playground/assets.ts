/**
 * Serves the precompressed files of the bundle. They are the same for all clients, so the
 * compressed length reveals no secrets (https://en.wikipedia.org/wiki/BREACH).
 */
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import Negotiator from 'negotiator';

const CONTENT_TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Content encodings in order of preference. */
const CONTENT_ENCODINGS = ['br', 'gzip'] as const;
const EXTENSION_BY_ENCODING = { br: '.br', gzip: '.gz' } as const;
const ASSET_PATH_PATTERN = /^\/[\w.-]+\.(js|css)$/;
const MAX_ACCEPT_ENCODING_CHARACTERS = 256;

/** Negotiates the content encoding of a precompressed file. */
export function negotiateEncoding(request: IncomingMessage): 'br' | 'gzip' | undefined {
  if ((request.headers['accept-encoding'] ?? '').length > MAX_ACCEPT_ENCODING_CHARACTERS) {
    return undefined;
  }

  const acceptedEncodings = new Negotiator(request).encodings(['br', 'gzip']);

  return CONTENT_ENCODINGS.find((encoding) => acceptedEncodings.includes(encoding));
}

/**
 * Serves a folder in which larger files such as `x.js` have compressed versions `x.js.br` and
 * `x.js.gz`.
 */
export function assetHandler(folder: string): RequestHandler {
  const router = express.Router({ caseSensitive: true });
  const options = { immutable: true, maxAge: '1y', index: false, redirect: false } as const;
  const serveUncompressed = express.static(folder, {
    ...options,
    setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding'),
  });

  router.use((request, response, next) => {
    const contentType = CONTENT_TYPE_BY_EXTENSION[ASSET_PATH_PATTERN.exec(request.path)?.[1] ?? ''];
    const encoding = negotiateEncoding(request);

    if (contentType === undefined || encoding === undefined) {
      return serveUncompressed(request, response, next);
    }

    const headers = {
      'Content-Type': contentType,
      'Content-Encoding': encoding,
      Vary: 'Accept-Encoding',
    };

    response.sendFile(
      `${request.path}${EXTENSION_BY_ENCODING[encoding]}`,
      { root: folder, immutable: true, maxAge: '1y', headers },
      (error) => {
        // Small files (below MIN_BYTES in scripts/build.mjs) have no compressed version.
        if (error && !response.headersSent) serveUncompressed(request, response, next);
      },
    );
  });

  return router;
}
