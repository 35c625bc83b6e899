/** express, GraphQL, REST and pages put together; no logic. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '../core/context';
import { Executor, type ExecutorOptions } from '../core/operation/execute';
import type { Services } from '../exchange/services';
import { apolloServer } from '../graphql/handler';
import { liveTransports } from '../graphql/live/transports';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { TrustedDocuments } from '../graphql/trusted';
import { browsePages } from '../pages/browse';
import { isReference } from '../pages/reference';
import { compressed } from '../platform/compression';
import { corsOf } from '../platform/cors';
import { Limiter } from '../platform/limiter';
import type { Prepare } from '../rest/endpoints';
import { PRIVATE } from '../rest/respond';
import { restHandler, type Handler } from '../rest/router';
import { BASE } from '../rest/routes';
import type { Scrape } from '../telemetry/scrape';
import { scrapeOf } from '../telemetry/worker';
import { leaveUnread } from './connections';
import { Door } from './door';
import { Exchanges } from './exchanges';
import { Failures } from './failures';
import { dependenciesOf } from './dependencies';
import { Readiness } from './readiness';
import { isProbe, routesOf, type Parts } from './routes';
import { repeatedHeader, tidied } from './target';

export interface App {
  listener: RequestListener;
  /** A server's `connection` event. */
  connected(): void;
  /** For WebSockets: a server's `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** What the server tells of itself, where somebody may ask. */
  scrape?: Scrape;
  failures: Failures;
  /** It is not ready any more, and whoever follows what happens is told to come back, which may be elsewhere. */
  leave(): void;
  /** Makes what may wait until the first requests have been answered. */
  prepare(): void;
  stop(): Promise<void>;
}

/** What an answer of GraphQL depends on beside the operation. Who asks is part of all of it: `viewer` is in every document's reach. */
const GRAPHQL_HEADERS: readonly [string, string][] = [
  ['Cache-Control', PRIVATE],
  ['Vary', 'Accept, Accept-Language, Authorization, Cookie'],
];

/** Pages that wait to be made. */
const PAGES = { slots: 2, maxQueued: 100, maxWaitMs: 1_500 };

export async function createApp(services: Services): Promise<App> {
  const { config, log, database, origin } = services;
  const failures = new Failures(log);
  const door = new Door(config.maxLag, origin, log, failures);
  const { executor, restExecutor } = executorsOf(services);
  const dependencies = await dependenciesOf(services, {
    turnedAway: door.turnedAway,
    lateness: () => door.lateness,
    subscriptions: () => ({ running: executor.following, told: executor.toldEvents, ...live.connections() }),
  });
  const exchanges = new Exchanges(dependencies);
  const trusted = new TrustedDocuments(config, executor.schema);
  const apollo = await apolloServer(executor, config, log);
  const live = liveTransports({
    executor,
    trusted,
    maxMessage: config.maxAnonymousBody,
    open: exchanges.open,
    known: exchanges.of,
    networkOf: (request) => origin.network(request),
    refuses: door.refuses,
    log,
    failed: (error) => log.error({ err: error }, 'unexpected error in a subscription'),
  });
  const scrape = dependencies.metrics && scrapeOf(dependencies.metrics.registry);
  const readiness = new Readiness(database);
  const prepare = operationsOf(restExecutor);
  const begin = answering({ services, executor, restExecutor, prepare, trusted, apollo, live, exchanges, readiness, failures, scrape });
  return {
    ...entrance(services, failures, door, live, begin),
    leave() {
      door.leave();
      readiness.end();
      live.end();
    },
    scrape,
    failures,
    prepare: () => executor.introspection.prepare(),
    async stop() {
      door.stop();
      dependencies.metrics?.stop();
      dependencies.idempotency.stop();
      await Promise.all([apollo.stop(), dependencies.tracing?.stop()]);
    },
  };
}

function executorsOf({ config, widths }: Services): Record<'executor' | 'restExecutor', Executor> {
  const { compileOperations, maxCost, maxResponse, introspection } = config;
  const executing: ExecutorOptions = { compiles: compileOperations, maxCost, maxResponse, widthOf: widths.of };
  return {
    executor: new Executor(buildGraphQLSchema(), { ...executing, introspection }),
    restExecutor: new Executor(buildRestSchema(), executing),
  };
}

const operationsOf =
  (restExecutor: Executor): Prepare =>
  (document) => {
    const run = restExecutor.prepare(document);
    // What REST hands on is what `Exchanges` has made.
    return (context, variables) => run(context as Context, variables);
  };

function restOf({ services: { config }, executor, restExecutor, prepare, exchanges }: Parts): Handler {
  const pages = new Limiter<undefined>(PAGES);
  const { schema } = restExecutor;
  return restHandler({
    schema,
    prepare,
    open: exchanges.of,
    pages: (described) => browsePages({ ...described, schema, publicSchema: executor.schema, prepare }),
    inTurn: (work) => pages.run(undefined, work),
    limits: config,
    maxResponse: config.maxResponse,
    timeZone: config.timeZone,
  });
}

/** What answers a request that has been let in. */
function answering(parts: Parts): RequestListener {
  const { services, exchanges, failures } = parts;
  const { config, origin } = services;
  const rest = restOf(parts);
  const routes = routesOf(parts);
  return (request, response) => {
    const isRest = request.url!.startsWith(BASE) && !isReference(request.url!);
    const exchange = exchanges.begin(request, isRest);
    exchange.watch(response);
    exchange.watched(response);
    compressed(request, response);
    // Whoever came by https once is not led to come by http.
    if (config.hsts && origin.isEncrypted(request)) response.setHeader('Strict-Transport-Security', `max-age=${config.hsts}`);
    // The API is most of the traffic and has no use for express, which costs more than half of a short request.
    if (isRest) return void rest(request, response).catch((error) => failures.failed(error, request, response, corsOf(request)));
    // Whatever is answered, an error too, is what it says it is.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.url!.startsWith('/graphql')) for (const [name, value] of GRAPHQL_HEADERS) response.setHeader(name, value);
    routes(request, response);
  };
}

const entrance = (
  { origin }: Services,
  failures: Failures,
  door: Door,
  live: Pick<App, 'upgrade'>,
  begin: RequestListener,
): Pick<App, 'listener' | 'connected' | 'upgrade'> => ({
  listener(request, response) {
    const repeated = repeatedHeader(request);
    if (repeated) return failures.refuse(request, response, 400, 'BAD_REQUEST', `The header ${repeated} may stand once.`);
    request.url = tidied(request.url!);
    response.setHeader('X-Request-Id', origin.identify(request));
    leaveUnread(request, response);
    if (isProbe(request)) return begin(request, response);
    door.admit(request, response, begin);
  },
  connected: door.connected,
  upgrade(request, socket, head) {
    origin.identify(request);
    // Until somebody has it who says so, nobody hears of a client that is gone.
    socket.on('error', () => socket.destroy());
    door.admitSocket(request, socket, () => live.upgrade(request, socket, head));
  },
});
