/**
 * API reference: the OpenAPI document as JSON and YAML, and a Swagger UI page that loads nothing
 * from other origins.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import { sessionCookieName, CSRF_HEADER } from '../../accounts/sessions';
import { openApiSerializers } from '../../rest/openapi/document';
import { API_BASE_PATH } from '../../rest/routes';
import type { RequestContext } from '../../request/request-context';
import { readBrowserScript } from '../browser-files';
import { inlineStyleSource, securityHeaders } from '../security-headers';
import { LAYOUT_STYLE } from '../style';
import { renderReferencePage } from './page';
import { REFERENCE_STYLE } from './style';

const OPENAPI_DOCUMENT_PATH = `${API_BASE_PATH}/schema`;
const REFERENCE_PATH = `${OPENAPI_DOCUMENT_PATH}/docs`;

/** Whether a URL below the base path belongs to the API reference, not to the REST API. */
export const isReferencePath = (url: string): boolean =>
  url.startsWith(OPENAPI_DOCUMENT_PATH) &&
  /^(?:$|[./?])/.test(url.slice(OPENAPI_DOCUMENT_PATH.length));

const DOCUMENT_FORMATS = ['json', 'yaml'] as const;

type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/**
 * Media types of the OpenAPI document. The first one of a format is the Content-Type of its
 * responses.
 */
const DOCUMENT_MEDIA_TYPES: readonly (readonly [string, DocumentFormat])[] = [
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['application/vnd.oai.openapi+json', 'json'],
  ['application/vnd.oai.openapi', 'yaml'],
];

const HTML_MEDIA_TYPE = 'text/html';

const SWAGGER_UI_FOLDER = dirname(require.resolve('swagger-ui-dist/package.json'));

const REFERENCE_PAGE_HEADERS = securityHeaders(
  `'self' ${inlineStyleSource(LAYOUT_STYLE)}`,
  "'self'",
);

export function referenceRoutes(
  schema: GraphQLSchema,
  contextOf: (request: IncomingMessage) => RequestContext,
  basePath: string,
): Router {
  const router = express.Router({ caseSensitive: true });

  router.use(
    [
      OPENAPI_DOCUMENT_PATH,
      ...DOCUMENT_FORMATS.map((format) => `${OPENAPI_DOCUMENT_PATH}.${format}`),
    ],
    rejectWrites,
  );

  // The document names the session cookie, which has another name over HTTPS.
  const [serializers, secureSerializers] = [false, true].map((secure) =>
    openApiSerializers(schema, {
      cookieName: sessionCookieName(secure, basePath),
      csrfHeaderName: CSRF_HEADER,
    }),
  );

  const sendDocument = (request: Request, response: Response, format: DocumentFormat) => {
    const { request: requestInfo, authentication } = contextOf(request);
    const serialize = (authentication.usesSecureCookies ? secureSerializers : serializers)![format];

    response.set({
      Vary: 'Accept, Accept-Encoding',
      'Cache-Control': 'public, no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
    });
    response
      .type(DOCUMENT_MEDIA_TYPES.find(([, candidate]) => candidate === format)![0])
      .send(serialize(requestInfo.baseUrl));
  };

  for (const format of DOCUMENT_FORMATS) {
    router.get(`${OPENAPI_DOCUMENT_PATH}.${format}`, (request, response) =>
      sendDocument(request, response, format),
    );
  }

  router.get(OPENAPI_DOCUMENT_PATH, (request, response) => {
    const formatParameter = [request.query.format].flat().at(-1);
    const requestedFormat = DOCUMENT_FORMATS.find((format) => format === formatParameter);

    if (formatParameter && !requestedFormat) {
      return void response.status(404).json({ detail: 'Not found.' });
    }

    const acceptedType = request.accepts([
      ...DOCUMENT_MEDIA_TYPES.map(([mediaType]) => mediaType),
      HTML_MEDIA_TYPE,
    ]);

    // Browsers are redirected to the page that shows the document.
    if (!requestedFormat && acceptedType === HTML_MEDIA_TYPE) {
      return void response
        .set({ ...REFERENCE_PAGE_HEADERS, Vary: 'Accept', 'Cache-Control': 'no-cache' })
        .redirect(303, REFERENCE_PATH);
    }

    const [, acceptedFormat] =
      DOCUMENT_MEDIA_TYPES.find(([mediaType]) => mediaType === acceptedType) ?? [];
    const format = requestedFormat ?? acceptedFormat;

    if (!format) {
      return void response
        .status(406)
        .json({ detail: 'Could not satisfy the request Accept header.' });
    }

    sendDocument(request, response, format);
  });
  addPageRoutes(router, contextOf);
  return router;
}

function addPageRoutes(
  router: Router,
  contextOf: (request: IncomingMessage) => RequestContext,
): void {
  const startScript = readBrowserScript('reference.js');
  const { version } = JSON.parse(readFileSync(join(SWAGGER_UI_FOLDER, 'package.json'), 'utf8')) as {
    version: string;
  };
  // A content hash in the path lets browsers cache the assets indefinitely.
  const contentHash = createHash('sha256')
    .update(version)
    .update(startScript)
    .update(REFERENCE_STYLE)
    .digest('hex')
    .slice(0, 12);
  const assetsPath = `${REFERENCE_PATH}/assets/${contentHash}`;

  router.get(REFERENCE_PATH, async (request, response) => {
    const context = contextOf(request);

    // Invalid credentials are ignored, because the page is public.
    await context.authentication.authenticate().catch(() => false);
    const html = renderReferencePage(
      { documentPath: OPENAPI_DOCUMENT_PATH, assetsPath },
      context.authentication.pageVisitor(),
    );

    response.set(REFERENCE_PAGE_HEADERS).type('html').send(html);
  });
  router.use(assetsPath, (_request, response, next) => {
    response.set({
      'Cache-Control': 'public, max-age=31536000, immutable',
      'X-Content-Type-Options': 'nosniff',
    });
    next();
  });
  router.get(
    `${assetsPath}/start.js`,
    (_request, response) => void response.type('js').send(startScript),
  );
  router.get(
    `${assetsPath}/page.css`,
    (_request, response) => void response.type('css').send(REFERENCE_STYLE),
  );

  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    router.get(`${assetsPath}/${file}`, (_request, response) =>
      response.sendFile(file, { root: SWAGGER_UI_FOLDER, cacheControl: false }),
    );
  }
}

function rejectWrites(request: Request, response: Response, next: NextFunction): void {
  const { method } = request;

  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return next();
  response
    .status(405)
    .set('Allow', 'GET, HEAD')
    .json({ detail: `Method "${method}" not allowed.` });
}
