/** The description of the REST API: the OpenAPI document, and a page that shows it. The page may load nothing from any other origin. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { cookieName, CSRF_HEADER } from '../../auth/sessions';
import { preflight } from '../../platform/cors';
import { openApiTexts } from '../../rest/openapi/document';
import { BASE } from '../../rest/routes';
import type { Visitor } from '../layout';
import { inlined, protection } from '../protection';
import { FRAME } from '../style';
import { script, style } from './assets';
import { referencePage } from './page';

const ROOT = `${BASE}/schema`;
const DOCS = `${ROOT}/docs`;

/** Whether a request is for this router; the REST interface has everything else below its base. */
export const isReference = (url: string): boolean => url.startsWith(ROOT) && /^(?:$|[./?])/.test(url.slice(ROOT.length));

const FORMATS = ['json', 'yaml'] as const;
type Format = (typeof FORMATS)[number];

/** Media types of the document, the first of each being that of the answer. */
const MEDIA: readonly (readonly [string, Format])[] = [
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['application/vnd.oai.openapi+json', 'json'],
  ['application/vnd.oai.openapi', 'yaml'],
];

const LIBRARY = dirname(require.resolve('swagger-ui-dist/package.json'));

const PAGE_HEADERS = protection(`'self' ${inlined(FRAME)}`, "'self'");

/** One request, as the application sees it. */
interface Visit {
  /** Scheme and host of the service as the client knows it. */
  baseUrl: string;
  /** Whether cookies are Secure, which is part of their name. */
  secure: boolean;
  authenticate(): Promise<boolean>;
  visitor(): Visitor;
}

export function reference(schema: GraphQLSchema, visitOf: (request: IncomingMessage) => Visit): Router {
  const router = express.Router({ caseSensitive: true });
  router.use([ROOT, ...FORMATS.map((format) => `${ROOT}.${format}`)], readOnly);
  const textsFor = (secure: boolean) => openApiTexts(schema, { cookie: cookieName(secure), csrfHeader: CSRF_HEADER });
  const [plain, secured] = [textsFor(false), textsFor(true)];
  serveDocument(router, (format, { baseUrl, secure }) => (secure ? secured : plain)[format](baseUrl), visitOf);
  servePage(router, visitOf);
  return router;
}

function serveDocument(router: Router, text: (format: Format, visit: Visit) => string, visitOf: (request: Request) => Visit): void {
  const send = (request: Request, response: Response, format: Format) => {
    response.set({
      Vary: 'Accept, Accept-Encoding',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    });
    response.type(MEDIA.find(([, candidate]) => candidate === format)![0]).send(text(format, visitOf(request)));
  };
  for (const format of FORMATS) router.get(`${ROOT}.${format}`, (request, response) => send(request, response, format));
  router.get(ROOT, (request, response) => {
    const asked = [request.query.format].flat().at(-1);
    const named = FORMATS.find((format) => format === asked);
    if (asked && !named) return void response.status(404).json({ detail: 'Not found.' });
    const type = request.accepts(MEDIA.map(([media]) => media));
    const format = named ?? MEDIA.find(([media]) => media === type)?.[1];
    if (!format) return void response.status(406).json({ detail: 'Could not satisfy the request Accept header.' });
    send(request, response, format);
  });
}

function servePage(router: Router, visitOf: (request: IncomingMessage) => Visit): void {
  const start = script(`${ROOT}.json`);
  const { version } = JSON.parse(readFileSync(join(LIBRARY, 'package.json'), 'utf8')) as { version: string };
  // Part of the address of the assets, so that browsers may keep them for ever.
  const edition = createHash('sha256').update(version).update(start).update(style).digest('hex').slice(0, 12);
  const assets = `${DOCS}/assets/${edition}`;

  router.get(DOCS, async (request, response) => {
    const visit = visitOf(request);
    // The page is everybody's, whatever a header says.
    await visit.authenticate().catch(() => false);
    const html = referencePage({ document: ROOT, assets }, visit.visitor());
    response.set(PAGE_HEADERS).type('html').send(html);
  });
  router.use(assets, (_request, response, next) => {
    response.set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' });
    next();
  });
  router.get(`${assets}/start.js`, (_request, response) => void response.type('js').send(start));
  router.get(`${assets}/page.css`, (_request, response) => void response.type('css').send(style));
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    router.get(`${assets}/${file}`, (_request, response) => response.sendFile(file, { root: LIBRARY, cacheControl: false }));
}

function readOnly(request: Request, response: Response, next: NextFunction): void {
  if (preflight(request, response)) return;
  const { method } = request;
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return next();
  response
    .status(405)
    .set('Allow', 'GET, HEAD')
    .json({ detail: `Method "${method}" not allowed.` });
}
