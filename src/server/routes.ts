/**
 * The Express application: health probes, metrics, HTML pages, media files and GraphQL. REST does
 * not go through Express.
 */
import type { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Executor } from '../engine/execution/executor';
import type { Services } from '../request/services';
import { createMediaRouter } from '../files/serve';
import { createExportHandler } from '../graphql/export/route';
import { withHttpStatus, withoutMediaParameters, sendGraphQLError } from '../graphql/http-errors';
import type { ApolloContext } from '../graphql/apollo';
import { handleHeadLikeGet, restrictMethods } from '../graphql/methods';
import type { EventStreamTransport } from '../graphql/live/event-streams';
import { trustedDocumentsMiddleware, type TrustedDocuments } from '../graphql/trusted-documents';
import { uploadMiddleware } from '../graphql/uploads';
import { renderErrorPage } from '../web/error-page';
import { PAGE_HEADERS } from '../web/security-headers';
import { localTimeRoutes } from '../web/local-times';
import { muscleDrawingRoutes } from '../web/muscles';
import { playgroundRoutes } from '../web/playground';
import { referenceRoutes } from '../web/reference';
import { signInRoutes } from '../web/account/sign-in';
import { autocompleteRoutes } from '../web/autocomplete';
import { guideRoutes } from '../web/guides';
import { Muscle } from '../fitness/catalogue/muscle';
import type { CorsPolicy } from '../shared/cors';
import type { PrepareOperation } from '../rest/endpoints';
import { METRICS_PATH, metricsHandler, type CollectMetrics } from '../telemetry/metrics-endpoint';
import type { RequestContextStore } from './request-contexts';
import type { ErrorContainment, HttpMessageClasses } from './error-containment';
import type { ErrorResponder } from './error-responder';
import { DEGRADATIONS, type Readiness } from './readiness';
import type { ResultCache } from './result-cache';
import type { Config } from '../shared/config';
import type { RequestContext } from '../request/request-context';
import { awaitLargeBodySlot, limitBodySize } from '../shared/body-limit';
import { decodeText, isSupportedCharset, parseCharset } from '../shared/charsets';
import { describeExceededJsonLimit } from '../shared/json-limits';

/**
 * Parses the JSON bodies of /graphql, or responds from the cache.
 * It authenticates the request first, because signed-in users
 * have a higher size limit.
 */
function graphqlJsonParser(
  { maxBody, maxJson, maxAnonymousBody }: Config,
  contextOf: (request: IncomingMessage) => RequestContext,
  resultCache: ResultCache | undefined,
): RequestHandler {
  const maxBytes = Math.min(maxBody, maxJson);
  const readBodyOfUser = createBodyReader(maxBytes);
  const readAnonymousBody = createBodyReader(Math.min(maxBytes, maxAnonymousBody));

  return async (request, response, next) => {
    // Apollo requires this property, even without a JSON body.
    request.body = undefined;
    if (!request.is('json')) return next();
    const charset = parseCharset(request.headers['content-type']!.split(';'));

    // JSON is Unicode (RFC 8259, section 8.1).
    if (!/^utf-/i.test(charset) || !isSupportedCharset(charset)) {
      return next(requestError(415, `unsupported charset "${charset.toUpperCase()}"`));
    }

    const context = contextOf(request);
    const { authentication } = context;
    const readBody = (await authentication.isSignedIn()) ? readBodyOfUser : readAnonymousBody;

    await awaitLargeBodySlot(request, response, authentication.senderUserId);

    const respondOrParseBody = async (body: Buffer) => {
      const text = decodeJsonText(body, charset);
      const sent = resultCache?.respond(request, response, context, text);

      if (sent) return sent;
      await context.awaitTurn();
      request.body = parseJson(text);
      next();
    };

    readBody(request, response, (error?: unknown) => {
      if (error || !Buffer.isBuffer(request.body)) return next(error);
      respondOrParseBody(request.body).catch(next);
    });
  };
}

const requestError = (status: number, message: string) =>
  Object.assign(new Error(message), { status });

/** Responds to GET from the cache. */
const cachedResponder =
  (
    contextOf: (request: IncomingMessage) => RequestContext,
    resultCache: ResultCache | undefined,
  ): RequestHandler =>
  (request, response, next) => {
    const isGet = request.method === 'GET' || request.method === 'HEAD';
    const sent = isGet && resultCache?.respond(request, response, contextOf(request));

    if (sent) sent.catch(next);
    else next();
  };

function createBodyReader(limit: number): RequestHandler {
  const message = `The body is larger than ${limit} bytes.`;

  return limitBodySize(limit, express.raw({ limit, type: 'json' }), (request, response) =>
    sendGraphQLError(request, response, 413, 'BAD_REQUEST', message),
  );
}

function decodeJsonText(body: Buffer, charset: string): string {
  try {
    return decodeText(body, charset).replace(/^\uFEFF/, '');
  } catch (error) {
    throw requestError(400, (error as Error).message);
  }
}

function parseJson(text: string): unknown {
  const exceededLimitMessage = describeExceededJsonLimit(text);

  if (exceededLimitMessage !== undefined) {
    throw requestError(400, `The body is rejected: ${exceededLimitMessage}.`);
  }

  if (text === '') return {};
  if (!/^\s*[{[]/.test(text)) throw requestError(400, 'The body must be a JSON object.');

  try {
    return JSON.parse(text);
  } catch (error) {
    throw requestError(400, (error as Error).message);
  }
}

/** Paths of the liveness probe, including the defaults of some platforms. */
const LIVENESS_PATHS = ['/health/live', '/health', '/healthz'];
const READINESS_PATH = '/health/ready';

/** Health probes and metrics, which alone are exempt from admission control. */
const PROBE_PATHS = new Set([...LIVENESS_PATHS, READINESS_PATH, METRICS_PATH]);

export const isProbeRequest = ({ method, url = '' }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && PROBE_PATHS.has(url.split('?', 1)[0]!);

/**
 * Maximum length of the Content-Type header, far above any valid value. Libraries parse it in
 * quadratic time.
 */
const MAX_CONTENT_TYPE_LENGTH = 1000;

export interface AppDependencies {
  services: Services;
  executor: Executor;
  restExecutor: Executor;

  /** Prepares an operation against the internal schema of the REST API. */
  prepareOperation: PrepareOperation;
  trustedDocuments: TrustedDocuments;
  apollo: ApolloServer<ApolloContext>;
  eventStreams: EventStreamTransport;
  requestContexts: RequestContextStore;

  /** Absent if it is turned off. */
  resultCache?: ResultCache;
  readiness: Readiness;
  errorResponder: ErrorResponder;
  errorContainment: ErrorContainment;
  cors: CorsPolicy;
  collectMetrics?: CollectMetrics;
}

export function createExpressApp(dependencies: AppDependencies): Express {
  const app = express();

  addExpressMethods(app, dependencies.errorContainment.messageClasses);
  app.disable('x-powered-by');
  app.set('etag', false);
  // Paths are case-sensitive as in the rules of proxies, which clients could otherwise bypass.
  app.enable('case sensitive routing');
  addProbes(app, dependencies);
  app.use(limitContentType);
  app.use('/graphql', restrictMethods);
  addPages(app, dependencies);
  addGraphQL(app, dependencies);
  app.use(notFoundHandler(dependencies.requestContexts.get));
  app.use(dependencies.errorResponder.expressErrorHandler);
  return app;
}

/**
 * Adds the methods of Express to the classes of requests and responses. Otherwise, Express changes
 * the prototype of each object, and V8 keeps such objects in memory until a major garbage
 * collection.
 */
function addExpressMethods(
  app: Express,
  { IncomingMessage, ServerResponse }: HttpMessageClasses,
): void {
  for (const [key, { prototype }] of [
    ['request', IncomingMessage],
    ['response', ServerResponse],
  ] as const) {
    Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(express[key]));
    Object.defineProperty(prototype, 'app', { value: app, configurable: true, writable: true });
    Object.assign(app, { [key]: prototype });
  }
}

const limitContentType: RequestHandler = (request, _response, next) => {
  if ((request.headers['content-type']?.length ?? 0) <= MAX_CONTENT_TYPE_LENGTH) return next();
  next(
    Object.assign(
      new Error(`The Content-Type is longer than ${MAX_CONTENT_TYPE_LENGTH} characters.`),
      { status: 415 },
    ),
  );
};

function addProbes(app: Express, { services, readiness, collectMetrics }: AppDependencies): void {
  const { metrics } = services.config;

  app.get(LIVENESS_PATHS, (_request, response) => void response.json({ status: 'ok' }));
  app.get(READINESS_PATH, (_request, response) => {
    const { reason, degradations } = readiness.state;

    if (reason !== undefined) {
      return void response.status(503).json({ status: 'unavailable', reason });
    }

    if (!degradations.length) return void response.json({ status: 'ok' });
    response.json({ status: 'degraded', degraded: degradations.map((name) => DEGRADATIONS[name]) });
  });

  // Without METRICS_PORT, metrics are served on the main port, protected by METRICS_TOKEN.
  if (collectMetrics && metrics!.port === undefined) {
    app.get(new RegExp(`^${METRICS_PATH}$`), metricsHandler(metrics!.token, collectMetrics));
  }
}

function addPages(
  app: Express,
  { services, executor, restExecutor, prepareOperation, requestContexts }: AppDependencies,
): void {
  const { config, media } = services;

  // Pages declare that they have no icon, but browsers request one for JSON and images.
  app.get(
    '/favicon.ico',
    (_request, response) =>
      void response.status(204).set('Cache-Control', 'public, max-age=86400').end(),
  );
  app.use(signInRoutes(requestContexts.get, prepareOperation, executor, services));
  app.use(autocompleteRoutes(restExecutor.schema, prepareOperation, requestContexts.get));
  app.use(playgroundRoutes(requestContexts.get, config, executor.schema));
  app.use(localTimeRoutes());
  app.use(guideRoutes(requestContexts.get));
  app.use(
    referenceRoutes(restExecutor.schema, requestContexts.get, services.forwardedHeaders.basePath),
  );
  app.use('/media', createMediaRouter(media));
  app.use(muscleDrawingRoutes((id) => services.catalogue.get(Muscle, id)));
}

/**
 * Removes media type parameters from the Accept header, from which both Apollo and the response
 * policy choose a format.
 */
const ignoreMediaParameters: RequestHandler = ({ headers }, _response, next) => {
  if (headers.accept !== undefined) headers.accept = withoutMediaParameters(headers.accept);
  next();
};

function addGraphQL(
  app: Express,
  {
    services,
    executor,
    trustedDocuments,
    apollo,
    eventStreams,
    requestContexts,
    resultCache,
  }: AppDependencies,
): void {
  const { config, log } = services;

  app.use(
    '/graphql',
    ignoreMediaParameters,
    cachedResponder(requestContexts.get, resultCache),
    graphqlJsonParser(config, requestContexts.get, resultCache),
    eventStreams.handle,
  );
  app.use(
    createExportHandler({
      executor,
      trustedDocuments,
      config,
      contextOf: requestContexts.get,
      log,
    }),
  );
  app.use(
    '/graphql',
    uploadMiddleware(config, requestContexts.get),
    trustedDocumentsMiddleware(trustedDocuments),
    handleHeadLikeGet,
    createApolloHandler(apollo, requestContexts),
  );
}

const createApolloHandler = (
  apollo: ApolloServer<ApolloContext>,
  requestContexts: RequestContextStore,
): RequestHandler =>
  expressMiddleware(apollo, {
    context: async ({ req }: { req: Request }): Promise<ApolloContext> => {
      const requestContext = requestContexts.get(req);

      try {
        await requestContext.authentication.authenticateOnce();
        requestContext.budget?.requireRemainingBudget();
      } catch (error) {
        throw withHttpStatus(error, requestContext.responseHeaders());
      }

      return { requestContext };
    },
  });

/** Responds to unknown paths (404) with an HTML page for browsers, else with JSON. */
const notFoundHandler =
  (contextOf: RequestContextStore['get']): RequestHandler =>
  async (request, response) => {
    response.status(404).vary('Accept');

    if (request.accepts(['json', 'html']) !== 'html') {
      return void response.json({ detail: 'Not found.' });
    }

    const { authentication } = contextOf(request);

    // The header of the page shows who is signed in. Invalid credentials are ignored.
    await authentication.authenticate().catch(() => false);
    const link = { href: '/', label: 'Go to the home page' };

    response.set(PAGE_HEADERS).type('html');
    response.send(
      renderErrorPage(
        { title: 'Page not found', message: 'This page does not exist.', link },
        authentication.pageVisitor(),
      ),
    );
  };
