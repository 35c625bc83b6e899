/** HTTP handler of `/media/…`: images and their thumbnails, which are created on first request. */
import { Router, type ErrorRequestHandler, type Response } from 'express';
import { IMAGE_FORMATS, formatOfExtension } from './formats';
import type { Media } from './media';
import { decodeUrlSegment } from '../shared/percent-encoding';
import { extensionOf, isMediaPath, parseThumbnailPath } from './paths';

const ALLOWED_METHODS = ['GET', 'HEAD'];

export function createMediaRouter(media: Media): Router {
  const router = Router({ caseSensitive: true });

  router.use((request, response, next) => {
    // Lets pages of any site draw the images on a canvas. The CORS header does not depend on
    // Origin, because caches ignore Origin.
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Access-Control-Allow-Origin': '*' });
    if (ALLOWED_METHODS.includes(request.method)) return next();
    response
      .status(405)
      .set('Allow', ALLOWED_METHODS.join(', '))
      .json({ detail: `Method "${request.method}" not allowed.` });
  });
  router.use(async (request, response, next) => {
    const path = decodeUrlSegment(request.path).slice(1);

    if (!isMediaPath(path)) return sendNotFound(response);
    const parsedPath = parseThumbnailPath(path);

    if (parsedPath) {
      await media.createThumbnail(parsedPath.imagePath, parsedPath.alias, parsedPath.isPng);
    }

    // Rejects symbolic links that lead out of the folder, because the static file handler would
    // follow them.
    if (media.files.isRemote || (await media.exists(path))) next();
    else sendNotFound(response);
  });
  router.use(
    media.files.createRequestHandler((response, path) => {
      const format = formatOfExtension(extensionOf(path));

      response.setHeader(
        'Content-Type',
        format ? IMAGE_FORMATS[format].mediaType : 'application/octet-stream',
      );
      // Prevents a file that is opened directly from running scripts.
      response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    }),
  );
  router.use((_request, response) => sendNotFound(response));

  // The error response to an unsatisfiable range is not an image and must not be cached.
  const removeFileHeaders: ErrorRequestHandler = (error, _request, response, next) => {
    for (const name of ['Content-Type', 'Cache-Control', 'ETag', 'Last-Modified']) {
      response.removeHeader(name);
    }

    next(error);
  };

  router.use(removeFileHeaders);
  return router;
}

const sendNotFound = (response: Response): void =>
  void response.status(404).json({ detail: 'Not found.' });
