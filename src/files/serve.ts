/** `/media/…`: images and their thumbnails. A thumbnail that is not there yet is made. */
import { Router, type ErrorRequestHandler, type Response } from 'express';
import { FORMATS, formatOfExtension } from './formats';
import type { Media } from './media';
import { decoded } from '../platform/reading';
import { extensionOf, isPath, thumbnailOf } from './paths';

const METHODS = ['GET', 'HEAD'];

export function serveMedia(media: Media): Router {
  const router = Router({ caseSensitive: true });
  router.use((request, response, next) => {
    // Pages of any site may draw them on a canvas. Said to everybody, because caches keep what was said to the first.
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Access-Control-Allow-Origin': '*' });
    if (METHODS.includes(request.method)) return next();
    response
      .status(405)
      .set('Allow', METHODS.join(', '))
      .json({ detail: `Method "${request.method}" not allowed.` });
  });
  router.use(async (request, response, next) => {
    const path = decoded(request.path).slice(1);
    if (!isPath(path)) return notFound(response);
    const thumbnail = thumbnailOf(path);
    if (thumbnail) await media.thumbnail(thumbnail.image, thumbnail.alias, thumbnail.png);
    // What serves files follows links wherever they lead.
    if (media.files.isFar || (await media.holds(path))) next();
    else notFound(response);
  });
  router.use(
    media.files.serve((response, path) => {
      const format = formatOfExtension(extensionOf(path));
      response.setHeader('Content-Type', format ? FORMATS[format].type : 'application/octet-stream');
      // Whatever a file turns out to hold, opened on its own it runs nothing.
      response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    }),
  );
  router.use((_request, response) => notFound(response));
  // What is said of a wrong range is no picture, and nothing to keep.
  const unsaid: ErrorRequestHandler = (error, _request, response, next) => {
    for (const name of ['Content-Type', 'Cache-Control', 'ETag', 'Last-Modified']) response.removeHeader(name);
    next(error);
  };
  router.use(unsaid);
  return router;
}

const notFound = (response: Response): void => void response.status(404).json({ detail: 'Not found.' });
