/** The files of the bundle, compressed when it was built: they are the same for everybody, so their length tells nothing. */
import express, { type RequestHandler } from 'express';
import Negotiator from 'negotiator';

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
/** The best one first. */
const ENDINGS: readonly (readonly [coding: string, ending: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];
/** The names that the build gives. */
const NAME = /^\/[\w.-]+\.(js|css)$/;
/** Of the header that is looked at. */
const MAX_HEADER = 256;

/** Beside `x.js` stands `x.js.br` and `x.js.gz` where that is shorter. */
export function assets(folder: string): RequestHandler {
  const router = express.Router();
  const options = { immutable: true, maxAge: '1y', index: false, redirect: false } as const;
  const plain = express.static(folder, { ...options, setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding') });
  router.use((request, response, next) => {
    const type = TYPES[NAME.exec(request.path)?.[1] ?? ''];
    const accepted = request.headers['accept-encoding'] ?? '';
    const acceptable = accepted.length > MAX_HEADER ? [] : new Negotiator(request).encodings(['br', 'gzip']);
    const best = ENDINGS.find(([name]) => acceptable.includes(name));
    if (type === undefined || !best) return plain(request, response, next);
    const [coding, ending] = best;
    const headers = { 'Content-Type': type, 'Content-Encoding': coding, Vary: 'Accept-Encoding' };
    response.sendFile(`${request.path}${ending}`, { root: folder, immutable: true, maxAge: '1y', headers }, (error) => {
      // What is too short to be compressed is there as it is.
      if (error && !response.headersSent) plain(request, response, next);
    });
  });
  return router;
}
