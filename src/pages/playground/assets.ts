/** The files of the bundle, compressed when it was built: they are the same for everybody, so their length tells nothing. */
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import Negotiator from 'negotiator';

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
/** The best one first. */
const CODINGS = ['br', 'gzip'] as const;
const ENDINGS = { br: '.br', gzip: '.gz' } as const;
/** The names that the build gives. */
const NAME = /^\/[\w.-]+\.(js|css)$/;
/** Of the header that is looked at. */
const MAX_HEADER = 256;

/** In which of the codings that there are files of, if any. */
export function codingOf(request: IncomingMessage): 'br' | 'gzip' | undefined {
  if ((request.headers['accept-encoding'] ?? '').length > MAX_HEADER) return undefined;
  const acceptable = new Negotiator(request).encodings(['br', 'gzip']);
  return CODINGS.find((coding) => acceptable.includes(coding));
}

/** Beside `x.js` stands `x.js.br` and `x.js.gz` where that is shorter. */
export function assets(folder: string): RequestHandler {
  const router = express.Router({ caseSensitive: true });
  const options = { immutable: true, maxAge: '1y', index: false, redirect: false } as const;
  const plain = express.static(folder, { ...options, setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding') });
  router.use((request, response, next) => {
    const type = TYPES[NAME.exec(request.path)?.[1] ?? ''];
    const coding = codingOf(request);
    if (type === undefined || coding === undefined) return plain(request, response, next);
    const headers = { 'Content-Type': type, 'Content-Encoding': coding, Vary: 'Accept-Encoding' };
    response.sendFile(`${request.path}${ENDINGS[coding]}`, { root: folder, immutable: true, maxAge: '1y', headers }, (error) => {
      // What is too short to be compressed is there as it is.
      if (error && !response.headersSent) plain(request, response, next);
    });
  });
  return router;
}
