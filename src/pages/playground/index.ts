/** `GET /playground`: GraphiQL in the browser, served whole from here. The page may load nothing from any other origin. `GET /graphql` leads here. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { PRIVATE } from '../../rest/respond';
import type { Visitor } from '../layout';
import { PLAYGROUND_PATH, SCHEMA_PATH } from './answer/link';
import { assets } from './assets';
import { schemaFile } from './schemafile';
import { ASSETS, missingPage, playgroundPage, type Manifest } from './page';

/** Who looks at the page: the session of a browser gives queries its rights, together with the token of the visitor. */
interface Visit {
  authenticate(): Promise<boolean>;
  visitor(): Visitor;
}

interface Limits {
  /** The server refuses what a visitor types. */
  persistedOnly: boolean;
  /** Whoever may not ask for the schema has no use for the page. */
  introspection: 'anyone' | 'users';
}

// Under jest this file runs as it is, three folders below the project; compiled, three folders below dist.
const project = join(__dirname, __filename.endsWith('.ts') ? '../../..' : '../../../..');
const built = join(project, 'dist', 'playground');

/** Monaco, the editor inside GraphiQL, sets inline styles, carries its fonts and pictures as `data:` and runs in workers. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  // To sign out.
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the page and its assets; `folder` holds the bundle. Without a bundle the page is a 503 that says how to build it. */
export function playground(
  visitOf: (request: IncomingMessage) => Visit,
  { persistedOnly, introspection }: Limits,
  schema: GraphQLSchema,
  folder: string = built,
): Router {
  const router = express.Router({ caseSensitive: true });
  // The assets too: a worker obeys the policy of its own answer, not that of the page.
  router.use(PLAYGROUND_PATH, protect);
  router.get(PLAYGROUND_PATH, async (req, res) => {
    const visit = visitOf(req);
    const signedIn = await visit.authenticate().catch(() => false);
    if (introspection === 'users' && !signedIn)
      return res.set('Cache-Control', PRIVATE).redirect(303, `/login?next=${encodeURIComponent(req.originalUrl)}`);
    // Read anew each time, so that a build behind a running server shows at once.
    const manifest = await readManifest(folder);
    const visitor = visit.visitor();
    res.set('Cache-Control', visitor.csrfToken === undefined ? 'no-cache' : PRIVATE).type('html');
    if (manifest) res.send(playgroundPage({ manifest, visitor, address: req.originalUrl, persistedOnly }));
    else res.status(503).send(missingPage(visitor, persistedOnly));
  });
  router.get('/graphql', (req, res, next) => {
    if (!isReader(req)) return next();
    res
      .status(303)
      .location(PLAYGROUND_PATH + req.originalUrl.slice(req.path.length))
      .end();
  });
  const file = schemaFile(schema, introspection === 'anyone');
  router.get(SCHEMA_PATH, async (req, res, next) => {
    if (persistedOnly) return next();
    if (
      introspection === 'users' &&
      !(await visitOf(req)
        .authenticate()
        .catch(() => false))
    )
      return next();
    await file(req, res);
  });
  router.use(ASSETS, assets(join(folder, 'assets')));
  return router;
}

const MACHINES = ['application/graphql-response+json', 'application/json'];

/** Whoever follows a link to the address of the API: a program asks for JSON, or for anything. */
const isReader = (req: Request): boolean => req.accepts([...MACHINES, 'text/html']) === 'text/html';

function protect(_req: Request, res: Response, next: NextFunction): void {
  res.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    // The address may hold a query, which is nobody else's business.
    'Referrer-Policy': 'same-origin',
  });
  next();
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
