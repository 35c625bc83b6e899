/** `/media/…`: images and their thumbnails. A thumbnail that is not there yet is made. */
import express, { Router } from 'express';
import { FORMATS, formatOfExtension } from './formats';
import type { MediaFolder } from './media';
import { extensionOf, thumbnailOf } from './names';

const METHODS = ['GET', 'HEAD'];

export function serveMedia(media: MediaFolder): Router {
  const router = Router();
  router.use((request, response, next) => {
    response.set('X-Content-Type-Options', 'nosniff');
    if (METHODS.includes(request.method)) return next();
    response
      .status(405)
      .set('Allow', METHODS.join(', '))
      .json({ detail: `Method "${request.method}" not allowed.` });
  });
  router.use(async (request, _response, next) => {
    const thumbnail = thumbnailOf(decoded(request.path).slice(1));
    if (thumbnail) await media.thumbnail(thumbnail.image, thumbnail.alias, thumbnail.png);
    next();
  });
  router.use(
    // A path never gets other content: names are not taken twice.
    express.static(media.root, {
      index: false,
      redirect: false,
      immutable: true,
      maxAge: '1y',
      setHeaders(response, path) {
        const format = formatOfExtension(extensionOf(path));
        response.setHeader('Content-Type', format ? FORMATS[format].type : 'application/octet-stream');
        // Whatever a file turns out to hold, opened on its own it runs nothing.
        response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
      },
    }),
  );
  router.use((_request, response) => void response.status(404).json({ detail: 'Not found.' }));
  return router;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}
