/**
 * `GET /playground` serves GraphiQL, which loads nothing from other origins. Browsers that open
 * `/graphql` are redirected to it.
 */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { sendGraphQLError } from '../../graphql/http-errors';
import type { Config } from '../../shared/config';
import { INTROSPECTION_REQUIRES_SIGN_IN_MESSAGE } from '../../shared/messages';
import { PRIVATE_CACHE_CONTROL } from '../../rest/response';
import type { RequestContext } from '../../request/request-context';
import { BROWSER_FILES_FOLDER } from '../browser-files';
import { loginUrl } from '../layout';
import { PLAYGROUND_PATH, SCHEMA_FILE_PATH } from './answer/share-link';
import { assetHandler } from './assets';
import { schemaFileHandler } from './schema-file';
import { ASSETS_PATH, renderPlaygroundPage, type BundleManifest } from './page';

const bundleFolder = join(BROWSER_FILES_FOLDER, 'playground');

/**
 * Allows what Monaco, the editor of GraphiQL, needs: inline styles, workers, and fonts and images
 * as `data:` URLs.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  // The page contains a logout form.
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the playground and its assets. */
export function playgroundRoutes(
  contextOf: (request: IncomingMessage) => RequestContext,
  { persistedOnly, introspection }: Pick<Config, 'persistedOnly' | 'introspection'>,
  schema: GraphQLSchema,
): Router {
  const router = express.Router({ caseSensitive: true });

  // Scripts need the headers too, because a web worker obeys the Content Security Policy of its own
  // response.
  router.use(PLAYGROUND_PATH, setSecurityHeaders);
  router.get(PLAYGROUND_PATH, async (req, res) => {
    const { authentication } = contextOf(req);
    const isSignedIn = await authentication.authenticate().catch(() => false);
    const visitor = authentication.pageVisitor();

    if (introspection === 'users' && !isSignedIn) {
      return res
        .set('Cache-Control', PRIVATE_CACHE_CONTROL)
        .redirect(303, loginUrl(visitor.returnUrl));
    }

    // Reads the manifest at each request, so that the server need not be restarted after a build.
    const manifest = await readManifest();

    res
      .set('Cache-Control', visitor.csrfToken === undefined ? 'no-cache' : PRIVATE_CACHE_CONTROL)
      .type('html');
    res.send(
      renderPlaygroundPage({
        manifest,
        visitor,
        persistedOperationsOnly: persistedOnly,
      }),
    );
  });
  router.get('/graphql', (req, res, next) => {
    if (!isBrowserRequest(req)) return next();
    res
      .status(303)
      .location(PLAYGROUND_PATH + req.originalUrl.slice(req.path.length))
      .end();
  });
  const sendSchema = schemaFileHandler(schema, introspection === 'anyone');

  router.get(SCHEMA_FILE_PATH, async (req, res, next) => {
    if (persistedOnly) return next();
    const { authentication } = contextOf(req);

    if (introspection === 'users' && !(await authentication.authenticate().catch(() => false))) {
      return sendGraphQLError(
        req,
        res,
        401,
        'UNAUTHENTICATED',
        INTROSPECTION_REQUIRES_SIGN_IN_MESSAGE,
      );
    }

    await sendSchema(req, res);
  });
  router.use(ASSETS_PATH, assetHandler(join(bundleFolder, 'assets')));
  return router;
}

const API_MEDIA_TYPES = ['application/graphql-response+json', 'application/json'];

/** Whether the client is a browser. Programs request JSON or accept anything. */
const isBrowserRequest = (req: Request): boolean =>
  req.accepts([...API_MEDIA_TYPES, 'text/html']) === 'text/html';

function setSecurityHeaders(_req: Request, res: Response, next: NextFunction): void {
  res.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    // Other sites must not receive the GraphQL query in the URL as their Referer.
    'Referrer-Policy': 'same-origin',
  });
  next();
}

const readManifest = async () =>
  JSON.parse(await readFile(join(bundleFolder, 'manifest.json'), 'utf8')) as BundleManifest;
