/**
 * Composition root of the HTTP application: wires admission control, Express, GraphQL, REST and
 * HTML pages together.
 */
import type { IncomingMessage, RequestListener, ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '../engine/context';
import { Executor, type ExecutorOptions } from '../engine/execution/executor';
import { rejectWebSocketHandshake } from '../request/handshake-rejection';
import type { Services } from '../request/services';
import type { ServerGauges, Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import { createApolloServer } from '../graphql/apollo';
import { EventStreamTransport } from '../graphql/live/event-streams';
import { Subscriptions } from '../graphql/live/subscriptions';
import { WebSocketTransport } from '../graphql/live/websockets';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { TrustedDocuments } from '../graphql/trusted-documents';
import { htmlRenderer } from '../web/browse';
import type { Config } from '../shared/config';
import { CorsPolicy } from '../shared/cors';
import { yieldToNewConnections, longestWaitMs } from '../shared/fair-turns';
import { ClientLimiters } from '../shared/limiter';
import type { PrepareOperation } from '../rest/endpoints';
import { createRestHandler, type RestHandler } from '../rest/router';
import type { CollectMetrics } from '../telemetry/metrics-endpoint';
import { createMetricsCollector } from '../telemetry/worker-metrics';
import { AdmissionControl } from './admission-control';
import { createParserErrorListener } from './connections';
import { ErrorContainment } from './error-containment';
import { RequestContextStore } from './request-contexts';
import { ErrorResponder } from './error-responder';
import { DEGRADATIONS, Readiness, type Degradation } from './readiness';
import { createRequestListener } from './request-steps';
import { createExpressApp, type AppDependencies } from './routes';
import { ResultCache } from './result-cache';
import { findRepeatedHeader, normalizeTarget } from './request-target';

export interface App {
  listener: RequestListener;
  onConnection(): void;
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;

  /** Answers a request that Node.js cannot parse. */
  onClientError(error: Error, socket: Duplex): void;

  /** Renders the Prometheus metrics, unless they are disabled. */
  collectMetrics?: CollectMetrics;
  serverOptions: ServerOptions;

  /**
   * Reports "not ready", rejects new WebSockets and ends subscriptions, so that clients reconnect
   * to another instance.
   */
  startDraining(): void;
  stop(): Promise<void>;
}

const isWebSocketHandshake = ({ headers }: IncomingMessage): boolean =>
  /(?:^|,)\s*websocket\s*(?:,|$)/i.test(headers.upgrade ?? '');

/**
 * Ignores other protocols of an Upgrade header, such as h2c (RFC 9110, section 7.8). Node has this
 * option since 22.21 and 24.9.
 */
const WEBSOCKET_UPGRADE_OPTIONS = { shouldUpgradeCallback: isWebSocketHandshake };

const PAGE_RENDERING_LIMITS = { slots: 8, slotsPerClient: 2, maxQueued: 100, maxWaitMs: 1_500 };

export async function createApp(processServices: Services): Promise<App> {
  const { config, log, database, forwardedHeaders } = processServices;
  const errorResponder = new ErrorResponder(log, forwardedHeaders.basePath);
  const cors = new CorsPolicy(config.corsOrigins);
  const errorContainment = new ErrorContainment(log, errorResponder);
  const admissionControl = new AdmissionControl(
    config.maxLag,
    forwardedHeaders,
    log,
    errorResponder,
    errorContainment,
  );
  const resultCache = config.resultCache
    ? new ResultCache(config.resultCache, processServices.publicData)
    : undefined;
  const { executor, restExecutor } = createExecutors(processServices);
  const readiness = new Readiness(database);
  const gauges: ServerGauges = {
    readyFlag: () => Number(readiness.state.reason === undefined),
    degradationFlags: () => degradationFlags(readiness.state.degradations),
    rejectedCounts: admissionControl.rejectedCounts,
    queueingDelay: longestWaitMs,
    resultCache: () => resultCache,
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
  const dependencies: AppDependencies = {
    services,
    executor,
    restExecutor,
    prepareOperation,
    trustedDocuments,
    apollo,
    eventStreams,
    requestContexts,
    resultCache,
    readiness,
    errorResponder,
    errorContainment,
    cors,
    collectMetrics,
  };
  const restHandler = createAppRestHandler(dependencies);
  const expressApp = createExpressApp(dependencies);

  return {
    listener: createRequestListener({
      ...dependencies,
      admissionControl,
      restHandler,
      expressApp,
    }),
    onConnection: yieldToNewConnections,
    onUpgrade: createUpgradeListener({ ...dependencies, admissionControl, webSockets }),
    onClientError: createParserErrorListener(cors),
    startDraining() {
      admissionControl.startDraining();
      readiness.startDraining();
      eventStreams.endAllStreams();
      webSockets
        .endAllConnections()
        .catch((error: unknown) => log.error({ err: error }, 'unexpected error in a subscription'));
    },
    collectMetrics,
    serverOptions: { ...errorContainment.messageClasses, ...WEBSOCKET_UPGRADE_OPTIONS },
    async stop() {
      admissionControl.stop();
      readiness.stop();
      services.metrics?.stop();
      await Promise.all([apollo.stop(), services.tracing?.stop()]);
    },
  };
}

/**
 * Metric values of the degradations, such as a full disk: 1 if active, else 0, so that every time
 * series exists before the first fault.
 */
const degradationFlags = (activeDegradations: readonly Degradation[]): Record<string, number> =>
  Object.fromEntries(
    (Object.keys(DEGRADATIONS) as Degradation[]).map((name) => [
      name,
      Number(activeDegradations.includes(name)),
    ]),
  );

// Metrics and tracing are imported dynamically, so that their code is loaded only if they are
// enabled.

async function createMetrics(
  services: Services,
  gauges: ServerGauges,
): Promise<Metrics | undefined> {
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

    // Safe cast: every context that REST passes on is a `RequestContext`.
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
      const { clientKey } = requestContexts.get(message).session;

      return pageLimiters.forClient(clientKey).run(clientKey, callback);
    },
    multipartLimits: config,
    maxResponseBytes: config.maxResponseBytes,
  });
}

interface UpgradeDependencies extends Pick<
  AppDependencies,
  'services' | 'errorContainment' | 'cors'
> {
  admissionControl: AdmissionControl;
  webSockets: WebSocketTransport;
}

const createUpgradeListener =
  ({
    services: { forwardedHeaders },
    errorContainment,
    cors,
    admissionControl,
    webSockets,
  }: UpgradeDependencies): App['onUpgrade'] =>
  (request, socket, head) =>
    errorContainment.catchErrors(request, undefined, () => {
      request.url = normalizeTarget(request.url!);
      forwardedHeaders.assignRequestId(request);
      // Without this listener, socket errors while the handshake is queued would be uncaught
      // exceptions.
      socket.on('error', () => socket.destroy());

      // Needed only in Node versions without `shouldUpgradeCallback`.
      if (!isWebSocketHandshake(request)) {
        return rejectWebSocketHandshake(request, socket, '426 Upgrade Required');
      }

      if (findRepeatedHeader(request)) {
        return rejectWebSocketHandshake(request, socket, '400 Bad Request');
      }

      // The same-origin policy does not cover WebSockets, so a restriction of origins is enforced
      // here.
      const pageOrigin = request.headers.origin;

      if (
        pageOrigin !== undefined &&
        !cors.allowsOrigin(pageOrigin) &&
        pageOrigin !== new URL(forwardedHeaders.baseUrl(request)).origin
      ) {
        return rejectWebSocketHandshake(request, socket, '403 Forbidden');
      }

      admissionControl.admitWebSocket(request, socket, () =>
        webSockets.upgrade(request, socket, head),
      );
    });
