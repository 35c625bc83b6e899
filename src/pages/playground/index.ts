/** `GET /playground`: GraphiQL, which loads nothing from other origins. `GET /graphql` in a browser is redirected to it. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../platform/config';
import { PRIVATE_CACHE_CONTROL } from '../../rest/response';
import type { RequestContext } from '../../request/requestcontext';
import { PLAYGROUND_PATH, SCHEMA_FILE_PATH } from './answer/sharelink';
import { assetHandler } from './assets';
import { schemaFileHandler } from './schemafile';
import { ASSETS_PATH, renderNotBuiltPage, renderPlaygroundPage, type BundleManifest } from './page';

// Under Jest, this file runs in src/pages/playground; after compilation, in dist/src/pages/playground.
const projectFolder = join(__dirname, __filename.endsWith('.ts') ? '../../..' : '../../../..');
const bundleFolder = join(projectFolder, 'dist', 'playground');

/** Content Security Policy that allows what Monaco, the editor of GraphiQL, needs: inline styles, fonts and images as `data:` URLs, and workers. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  // The page contains the logout form; forms may be sent to this server only.
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the playground and its assets. If the bundle is missing, the page is a 503 with build instructions. */
export function playgroundRoutes(
  contextOf: (request: IncomingMessage) => RequestContext,
  { persistedOnly, introspection }: Pick<Config, 'persistedOnly' | 'introspection'>,
  schema: GraphQLSchema,
): Router {
  const router = express.Router({ caseSensitive: true });
  // Script files need the security headers, too: a web worker obeys the Content Security Policy of its own response, not that of the page.
  router.use(PLAYGROUND_PATH, setSecurityHeaders);
  router.get(PLAYGROUND_PATH, async (req, res) => {
    const { authentication } = contextOf(req);
    const isSignedIn = await authentication.authenticate().catch(() => false);
    if (introspection === 'users' && !isSignedIn)
      return res
        .set('Cache-Control', PRIVATE_CACHE_CONTROL)
        .redirect(303, `/login?next=${encodeURIComponent(req.originalUrl)}`);
    // The file names of the bundle (its manifest) are read at each request, so that the server need not be restarted after a new build of the bundle.
    const manifest = await readManifest();
    const visitor = authentication.pageVisitor();
    res
      .set('Cache-Control', visitor.csrfToken === undefined ? 'no-cache' : PRIVATE_CACHE_CONTROL)
      .type('html');
    if (manifest)
      res.send(
        renderPlaygroundPage({
          manifest,
          visitor,
          returnUrl: req.originalUrl,
          persistedOperationsOnly: persistedOnly,
        }),
      );
    else res.status(503).send(renderNotBuiltPage(visitor, persistedOnly));
  });
  router.get('/graphql', (req, res, next) => {
    if (!prefersHtml(req)) return next();
    res
      .status(303)
      .location(PLAYGROUND_PATH + req.originalUrl.slice(req.path.length))
      .end();
  });
  const sendSchema = schemaFileHandler(schema, introspection === 'anyone');
  router.get(SCHEMA_FILE_PATH, async (req, res, next) => {
    if (persistedOnly) return next();
    const { authentication } = contextOf(req);
    if (introspection === 'users' && !(await authentication.authenticate().catch(() => false)))
      return next();
    await sendSchema(req, res);
  });
  router.use(ASSETS_PATH, assetHandler(join(bundleFolder, 'assets')));
  return router;
}

const API_MEDIA_TYPES = ['application/graphql-response+json', 'application/json'];

/** Whether the client is a browser in which a person opens the URL of the API. Programs request JSON or accept anything. */
const prefersHtml = (req: Request): boolean =>
  req.accepts([...API_MEDIA_TYPES, 'text/html']) === 'text/html';

function setSecurityHeaders(_req: Request, res: Response, next: NextFunction): void {
  res.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    // The URL of the playground may contain a GraphQL query, which other sites must not receive in the Referer header.
    'Referrer-Policy': 'same-origin',
  });
  next();
}

async function readManifest(): Promise<BundleManifest | undefined> {
  try {
    return JSON.parse(
      await readFile(join(bundleFolder, 'manifest.json'), 'utf8'),
    ) as BundleManifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
