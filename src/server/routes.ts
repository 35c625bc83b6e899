/** The Express application: health probes, metrics, HTML pages, media files and GraphQL. REST does not go through Express. */
import type { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Executor } from '../core/operation/executor';
import type { Services } from '../request/services';
import { createMediaRouter } from '../files/serve';
import { createExportHandler } from '../graphql/export/route';
import { withHttpStatus, withoutMediaParameters } from '../graphql/httperrors';
import type { ApolloContext } from '../graphql/responsepolicy';
import type { EventStreamTransport } from '../graphql/live/eventstreams';
import { trustedDocumentsMiddleware, type TrustedDocuments } from '../graphql/trusteddocuments';
import { uploadMiddleware } from '../graphql/uploads';
import { notFoundHandler } from '../pages/notfound';
import { muscleDrawingRoutes } from '../pages/muscles';
import { playgroundRoutes } from '../pages/playground';
import { apiDocsRoutes } from '../pages/reference';
import { signInRoutes } from '../pages/signin';
import { autocompleteRoutes } from '../pages/autocomplete';
import { Muscle } from '../resources/muscle';
import type { CorsPolicy } from '../platform/cors';
import type { PrepareOperation } from '../rest/endpoints';
import { METRICS_PATH, metricsHandler, type CollectMetrics } from '../telemetry/metricsendpoint';
import { graphqlJsonParser } from './graphqlbodyparser';
import type { RequestContextStore } from './requestcontexts';
import type { ErrorContainment, HttpMessageClasses } from './errorcontainment';
import type { ErrorResponder } from './errorresponder';
import { DEGRADATIONS, type Readiness } from './readiness';

/** Paths of the liveness probe. Some platforms use `/health` or `/healthz` by default. */
const LIVENESS_PATHS = ['/health/live', '/health', '/healthz'];
const READINESS_PATH = '/health/ready';
/** Paths of health probes and metrics. Only these are exempt from admission control. */
const PROBE_PATHS = new Set([...LIVENESS_PATHS, READINESS_PATH, METRICS_PATH]);
export const isProbeRequest = ({ method, url = '' }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && PROBE_PATHS.has(url.split('?', 1)[0]!);

/** Maximum length of the Content-Type header in characters, far above any valid value. Libraries parse the header in quadratic time. */
const MAX_CONTENT_TYPE_LENGTH = 1000;

export interface AppDependencies {
  services: Services;
  executor: Executor;
  restExecutor: Executor;
  /** Parses a GraphQL document, validates it against the internal schema of the REST API, and returns a function that runs it. */
  prepareOperation: PrepareOperation;
  trustedDocuments: TrustedDocuments;
  apollo: ApolloServer<ApolloContext>;
  eventStreams: EventStreamTransport;
  requestContexts: RequestContextStore;
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
  // Paths are case-sensitive, as in the rules of proxies: otherwise, clients could bypass these rules by changing the case.
  app.enable('case sensitive routing');
  addProbes(app, dependencies);
  app.use(limitContentType);
  addPages(app, dependencies);
  addGraphQL(app, dependencies);
  app.use(notFoundHandler(dependencies.requestContexts.get));
  app.use(dependencies.errorResponder.expressErrorHandler);
  return app;
}

/**
 * Adds the methods of Express to the classes of requests and responses. Otherwise Express changes the prototype of each object, and V8 keeps an object
 * with a changed prototype, and everything that it references, until a major garbage collection.
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
    if (reason !== undefined)
      return void response.status(503).json({ status: 'unavailable', reason });
    if (!degradations.length) return void response.json({ status: 'ok' });
    response.json({ status: 'degraded', degraded: degradations.map((name) => DEGRADATIONS[name]) });
  });
  // Without METRICS_PORT, metrics are served on the main port, protected by METRICS_TOKEN.
  if (collectMetrics && metrics!.port === undefined)
    app.get(new RegExp(`^${METRICS_PATH}$`), metricsHandler(metrics!.token, collectMetrics));
}

function addPages(
  app: Express,
  { services, executor, restExecutor, prepareOperation, requestContexts }: AppDependencies,
): void {
  const { config, media } = services;
  // HTML pages declare that they have no icon, but browsers still request one when they display JSON or images.
  app.get(
    '/favicon.ico',
    (_request, response) =>
      void response.status(204).set('Cache-Control', 'public, max-age=86400').end(),
  );
  app.use(signInRoutes(requestContexts.get, prepareOperation, config));
  app.use(autocompleteRoutes(restExecutor.schema, prepareOperation, requestContexts.get));
  app.use(playgroundRoutes(requestContexts.get, config, executor.schema));
  app.use(apiDocsRoutes(restExecutor.schema, requestContexts.get));
  app.use('/media', createMediaRouter(media));
  app.use(muscleDrawingRoutes((id) => services.catalogue.get(Muscle, id)));
}

/** Removes media type parameters from the Accept header, by which both Apollo and the response policy choose the format of the response. */
const ignoreMediaParameters: RequestHandler = ({ headers }, _response, next) => {
  if (headers.accept !== undefined) headers.accept = withoutMediaParameters(headers.accept);
  next();
};

function addGraphQL(
  app: Express,
  { services, executor, trustedDocuments, apollo, eventStreams, requestContexts }: AppDependencies,
): void {
  const { config, log } = services;
  app.use(
    '/graphql',
    ignoreMediaParameters,
    graphqlJsonParser(config, requestContexts.get),
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
        requestContext.resolverContext.budget?.requireRemainingBudget();
      } catch (error) {
        throw withHttpStatus(error, requestContext.responseHeaders());
      }
      return { requestContext, resolverContext: requestContext.resolverContext };
    },
  });
