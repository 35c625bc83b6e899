/** Composition root of the HTTP application: wires admission control, Express, GraphQL, REST and HTML pages together. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '../core/context';
import { Executor, type ExecutorOptions } from '../core/operation/executor';
import { logAndMeasureRequest } from '../request/accesslog';
import { rejectWebSocketHandshake } from '../request/handshakerejection';
import { cancelReadsOnDisconnect } from '../request/requestcontext';
import type { Services } from '../request/services';
import type { AppGauges, Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import { createApolloServer } from '../graphql/apollo';
import { EventStreamTransport } from '../graphql/live/eventstreams';
import { Subscriptions } from '../graphql/live/subscriptions';
import { WebSocketTransport } from '../graphql/live/websockets';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { TrustedDocuments } from '../graphql/trusteddocuments';
import { htmlRenderer } from '../pages/browse';
import { isApiDocsPath } from '../pages/reference';
import type { Config } from '../platform/config';
import { compressResponse } from '../platform/compression';
import { CorsPolicy } from '../platform/cors';
import { acceptConnections, longestWaitMs } from '../platform/fairturns';
import { ClientLimiters } from '../platform/limiter';
import type { PrepareOperation } from '../rest/endpoints';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import { createRestHandler, type RestHandler } from '../rest/router';
import { API_BASE_PATH } from '../rest/routes';
import type { CollectMetrics } from '../telemetry/metricsendpoint';
import { createMetricsCollector } from '../telemetry/workermetrics';
import { discardUnreadBody } from './connections';
import { AdmissionControl } from './admissioncontrol';
import { ErrorContainment } from './errorcontainment';
import { RequestContextStore } from './requestcontexts';
import { ErrorResponder } from './errorresponder';
import { DEGRADATIONS, Readiness, type Degradation } from './readiness';
import { isProbeRequest, createExpressApp, type AppDependencies } from './routes';
import { findRepeatedHeader, normalizeTarget } from './requesttarget';

export interface App {
  listener: RequestListener;
  onConnection(): void;
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Renders the Prometheus metrics; absent when metrics are disabled. */
  collectMetrics?: CollectMetrics;
  errorContainment: ErrorContainment;
  /** Reports "not ready", rejects new WebSockets and ends subscriptions, so that their clients reconnect, possibly to another instance. */
  startDraining(): void;
  stop(): Promise<void>;
}

/** Cache headers of GraphQL responses. All responses are private, because any document may select `viewer`. */
const GRAPHQL_HEADERS: readonly [string, string][] = [
  ['Cache-Control', PRIVATE_CACHE_CONTROL],
  ['Vary', 'Accept, Accept-Language, Authorization, Cookie'],
];

const PAGE_RENDERING_LIMITS = { slots: 8, slotsPerClient: 2, maxQueued: 100, maxWaitMs: 1_500 };

export async function createApp(processServices: Services): Promise<App> {
  const { config, log, database, forwardedHeaders } = processServices;
  const errorResponder = new ErrorResponder(log);
  const cors = new CorsPolicy(config.corsOrigins);
  const errorContainment = new ErrorContainment(log, errorResponder);
  const admissionControl = new AdmissionControl(
    config.maxLag,
    forwardedHeaders,
    log,
    errorResponder,
    errorContainment,
  );
  const { executor, restExecutor } = createExecutors(processServices);
  const readiness = new Readiness(database);
  const gauges: AppGauges = {
    readyFlag: () => Number(readiness.state.reason === undefined),
    degradationFlags: () => degradationFlags(readiness.state.degradations),
    rejectedCounts: admissionControl.rejectedCounts,
    queueingDelay: longestWaitMs,
    subscriptionCounts: () => ({
      running: executor.openSubscriptionCount,
      deliveredEvents: executor.deliveredEventCount,
      eventStreams: eventStreams.openStreamCount,
      webSockets: webSockets.connectionCount,
    }),
  };
  const services = {
    ...processServices,
    metrics: await createMetrics(processServices, gauges),
    tracing: await createTracing(config),
  };
  const requestContexts = new RequestContextStore(services);
  const trustedDocuments = new TrustedDocuments(config, executor.schema);
  const apollo = await createApolloServer(executor, config, log);
  const subscriptions = new Subscriptions(executor, trustedDocuments);
  const eventStreams = new EventStreamTransport(
    subscriptions,
    trustedDocuments,
    requestContexts.get,
  );
  const webSockets = new WebSocketTransport(subscriptions, {
    maxMessageBytes: config.maxAnonymousBody,
    createContext: requestContexts.createForWebSocket,
    clientNetworkOf: (request) => forwardedHeaders.clientNetwork(request),
    shouldRejectSubscriptions: admissionControl.shouldReject,
    log,
  });
  const collectMetrics = services.metrics && createMetricsCollector(services.metrics.registry);
  const prepareOperation = createOperationPreparer(restExecutor);
  await readiness.start();
  const handleAdmittedRequest = createAdmittedRequestListener({
    services,
    executor,
    restExecutor,
    prepareOperation,
    trustedDocuments,
    apollo,
    eventStreams,
    requestContexts,
    readiness,
    errorResponder,
    errorContainment,
    cors,
    collectMetrics,
  });
  return {
    ...createServerListeners(
      { services, errorResponder, errorContainment, cors, admissionControl, webSockets },
      handleAdmittedRequest,
    ),
    startDraining() {
      admissionControl.startDraining();
      readiness.startDraining();
      eventStreams.endAllStreams();
      webSockets
        .endAllConnections()
        .catch((error: unknown) => log.error({ err: error }, 'unexpected error in a subscription'));
    },
    collectMetrics,
    errorContainment,
    async stop() {
      admissionControl.stop();
      readiness.stop();
      services.metrics?.stop();
      await Promise.all([apollo.stop(), services.tracing?.stop()]);
    },
  };
}

/**
 * Returns, for metrics, 1 for each active degradation (such as a full disk) and 0 for all others, so that every time series exists before the first fault.
 */
const degradationFlags = (presentDegradations: readonly Degradation[]): Record<string, number> =>
  Object.fromEntries(
    (Object.keys(DEGRADATIONS) as Degradation[]).map((name) => [
      name,
      Number(presentDegradations.includes(name)),
    ]),
  );

// The code of metrics and tracing is imported dynamically, so that it is loaded only if they are enabled.

async function createMetrics(services: Services, gauges: AppGauges): Promise<Metrics | undefined> {
  if (!services.config.metrics) return undefined;
  const { Metrics } = await import('../telemetry/metrics.ts');
  return new Metrics(services, gauges);
}

async function createTracing({ tracing }: Config): Promise<Tracing | undefined> {
  if (!tracing) return undefined;
  const { Tracing } = await import('../telemetry/tracing.ts');
  return new Tracing(tracing);
}

function createExecutors({
  config,
  plannerStatistics,
}: Services): Record<'executor' | 'restExecutor', Executor> {
  const options: ExecutorOptions = { ...config, catalogueSizes: plannerStatistics };
  return {
    executor: new Executor(buildGraphQLSchema(), options),
    restExecutor: new Executor(buildRestSchema(), { ...options, introspection: 'anyone' }),
  };
}

const createOperationPreparer =
  (restExecutor: Executor): PrepareOperation =>
  (document) => {
    const run = restExecutor.prepareInternalOperation(document);
    // Safe cast: every context that REST passes on was created by `createRequestContext`.
    return (context, variables) => run(context as Context, variables);
  };

function createAppRestHandler({
  services: { config },
  executor,
  restExecutor,
  prepareOperation,
  requestContexts,
}: AppDependencies): RestHandler {
  const pageLimiters = new ClientLimiters(PAGE_RENDERING_LIMITS);
  const { schema } = restExecutor;
  return createRestHandler({
    schema,
    prepareOperation,
    contextOf: requestContexts.get,
    createHtmlRenderer: (api) =>
      htmlRenderer({
        ...api,
        schema,
        publicSchema: executor.schema,
        prepareOperation,
        permitsExports: !config.persistedOnly,
      }),
    limitRendering: (message, callback) => {
      const { clientKey } = requestContexts.get(message).resolverContext.session;
      return pageLimiters.of(clientKey).run(clientKey, callback);
    },
    multipartLimits: config,
    maxResponseBytes: config.maxResponseBytes,
    timeZone: config.timeZone,
  });
}

function createAdmittedRequestListener(dependencies: AppDependencies): RequestListener {
  const { services, requestContexts, errorResponder, cors } = dependencies;
  const { config, forwardedHeaders } = services;
  const restHandler = createAppRestHandler(dependencies);
  const expressApp = createExpressApp(dependencies);
  return (request, response) => {
    const isRestRequest = request.url!.startsWith(API_BASE_PATH) && !isApiDocsPath(request.url!);
    const context = requestContexts.create(request, isRestRequest);
    cancelReadsOnDisconnect(context, response);
    logAndMeasureRequest(request, response, context, services);
    compressResponse(request, response);
    if (cors.respondToPreflight(request, response)) return;
    // RFC 6797 permits this header (HSTS) only in responses over HTTPS.
    if (config.hsts && forwardedHeaders.isEncrypted(request))
      response.setHeader('Strict-Transport-Security', `max-age=${config.hsts}`);
    // REST bypasses Express, which would account for more than half of the duration of a short request.
    if (isRestRequest)
      return void restHandler(request, response).catch((error) =>
        errorResponder.handleError(error, request, response),
      );
    // X-Content-Type-Options is set before routing, so that error responses also have it.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.url!.startsWith('/graphql'))
      for (const [name, value] of GRAPHQL_HEADERS) response.appendHeader(name, value);
    expressApp(request, response);
  };
}

interface ListenerDependencies extends Pick<
  AppDependencies,
  'services' | 'errorResponder' | 'errorContainment' | 'cors'
> {
  admissionControl: AdmissionControl;
  webSockets: WebSocketTransport;
}

const createServerListeners = (
  {
    services: { forwardedHeaders },
    errorResponder,
    errorContainment,
    cors,
    admissionControl,
    webSockets,
  }: ListenerDependencies,
  handleAdmittedRequest: RequestListener,
): Pick<App, 'listener' | 'onConnection' | 'onUpgrade'> => ({
  listener: (request, response) =>
    errorContainment.catchErrors(request, response, () => {
      const repeatedHeader = findRepeatedHeader(request);
      if (repeatedHeader)
        return errorResponder.sendError(
          request,
          response,
          400,
          'BAD_REQUEST',
          `The header ${repeatedHeader} may occur only once.`,
        );
      request.url = normalizeTarget(request.url!);
      response.setHeader('X-Request-Id', forwardedHeaders.assignRequestId(request));
      cors.addHeaders(request, response);
      discardUnreadBody(request, response);
      if (isProbeRequest(request)) return handleAdmittedRequest(request, response);
      admissionControl.admit(request, response, handleAdmittedRequest);
    }),
  onConnection: acceptConnections,
  onUpgrade: (request, socket, head) =>
    errorContainment.catchErrors(request, undefined, () => {
      forwardedHeaders.assignRequestId(request);
      // Handles socket errors while the handshake is queued. Otherwise, they would be uncaught exceptions.
      socket.on('error', () => socket.destroy());
      if (findRepeatedHeader(request))
        return rejectWebSocketHandshake(request, socket, '400 Bad Request');
      // The same-origin policy does not cover WebSockets, so a restriction of origins is enforced here.
      const pageOrigin = request.headers.origin;
      if (
        pageOrigin !== undefined &&
        !cors.allowsOrigin(pageOrigin) &&
        pageOrigin !== forwardedHeaders.baseUrl(request)
      )
        return rejectWebSocketHandshake(request, socket, '403 Forbidden');
      admissionControl.admitSocket(request, socket, () =>
        webSockets.upgrade(request, socket, head),
      );
    }),
});
