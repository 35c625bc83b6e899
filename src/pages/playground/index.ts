/** `GET /playground`: GraphiQL in the browser, served whole from here. The page may load nothing from any other origin. */
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import escape from 'escape-html';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';

/** What `scripts/build.mjs` leaves beside the assets: the file names, which carry a hash of their content. */
interface Manifest {
  script: string;
  style: string;
}

/** Who looks at the page: the session of a browser gives queries its rights, together with this token. */
interface Visit {
  authenticate(): Promise<boolean>;
  visitor(): { csrfToken?: string };
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
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the page and its assets; `folder` holds the bundle. Without a bundle the page is a 503 that says how to build it. */
export function playground(
  visitOf: (request: IncomingMessage) => Visit,
  { persistedOnly, introspection }: Limits,
  folder: string = built,
): Router {
  const router = express.Router();
  // The assets too: a worker obeys the policy of its own answer, not that of the page.
  router.use('/playground', protect);
  router.get('/playground', async (req, res) => {
    const visit = visitOf(req);
    const signedIn = await visit.authenticate().catch(() => false);
    if (introspection === 'users' && !signedIn)
      return res.set('Cache-Control', 'private, no-store').redirect(303, '/login?next=%2Fplayground');
    // Read anew each time, so that a build behind a running server shows at once.
    const manifest = await readManifest(folder);
    const { csrfToken } = visit.visitor();
    res.set('Cache-Control', csrfToken === undefined ? 'no-cache' : 'private, no-store').type('html');
    if (manifest) res.send(page(manifest, csrfToken, persistedOnly));
    else res.status(503).send(missing(persistedOnly));
  });
  router.use(
    '/playground/assets',
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false, fallthrough: true }),
  );
  return router;
}

function protect(_req: Request, res: Response, next: NextFunction): void {
  res.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    // The address may hold a query, which is nobody else's business.
    'Referrer-Policy': 'no-referrer',
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

function page({ script, style }: Manifest, csrfToken: string | undefined, persistedOnly: boolean): string {
  const token = csrfToken === undefined ? '' : `<meta name="csrf-token" content="${escape(csrfToken)}">\n`;
  return document(`${token}<link rel="stylesheet" href="/playground/assets/${style}">
<style>
html, body { height: 100%; margin: 0 }
body { display: flex; flex-direction: column }
#playground { flex: 1; min-height: 0 }
[role=note] { margin: 0; padding: .6rem 1rem; font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff3cd }
.graphiql-container .graphiql-logo a { color: hsl(var(--color-neutral)); text-decoration: none }
/* The colours of the answer are made for the ground that the editors have. */
.graphiql-container .graphiql-response { background: hsl(var(--color-base)); border-radius: var(--border-radius-8) }
.graphiql-container .line-numbers { color: hsla(var(--color-neutral), var(--alpha-secondary)) }
/* On a phone the answer is below the query, not beside it. */
@media (max-width: 45rem) {
  .graphiql-container #graphiql-session { flex-direction: column }
  .graphiql-container #graphiql-session > div { width: 100% }
  .graphiql-container .graphiql-horizontal-drag-bar { display: none }
}
</style>
<script type="module" src="/playground/assets/${script}"></script>
</head>
<body>
${persistedOnly ? ONLY_TRUSTED : ''}<noscript>The playground needs JavaScript. The API doesn't: send queries to <code>/graphql</code> with any HTTP client.</noscript>
<div id="playground"></div>`);
}

const ONLY_TRUSTED = `<p role="note">This server runs only operations that are registered with it (PERSISTED_ONLY): what is typed here is
refused. The REST interface is open as ever.</p>
`;

const missing = (persistedOnly: boolean) =>
  document(`</head>
<body>
${persistedOnly ? ONLY_TRUSTED : ''}<h1>The playground is not built</h1>
<p>Run <code>npm run build</code> in the folder of the project, then load this page again.</p>`);

function document(content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Playground – Fitgraph</title>
<link rel="icon" href="data:,">
${content}
</body>
</html>
`;
}
