/** express, GraphQL, REST and pages put together; no logic. */
import { expressMiddleware } from '@as-integrations/express5';
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AccessTokens } from '../auth/accesstokens';
import { Sessions } from '../auth/sessions';
import { Executor, type ExecutorOptions } from '../core/operation/execute';
import { isPassing, ofDatabase, overloaded, type KnownError } from '../core/model/errors';
import { jsonBody } from './bodies';
import { compressed } from '../platform/compression';
import { leaveUnread } from './connections';
import { HttpExchange, type Means } from '../exchange/exchange';
import { Exposure } from '../exchange/exposure';
import { serveMedia } from '../files/serve';
import type { Context } from '../core/context';
import { apolloServer, refusal, refuse, type GraphQLContext } from '../graphql/handler';
import { Door, type Why } from './door';
import { Gate } from './gate';
import { Idempotency } from '../exchange/idempotency';
import { exportRoutes } from '../graphql/export/route';
import { liveTransports } from '../graphql/live';
import { browsePages } from '../pages/browse';
import { missingPage } from '../pages/missing';
import { muscleDrawings } from '../pages/muscles';
import { playground } from '../pages/playground';
import { isReference, reference } from '../pages/reference';
import { SECURITY_TXT, securityTxt } from './securitytxt';
import { signInPages } from '../pages/signin';
import { suggestions } from '../pages/suggest';
import { REQUEST_ID } from '../exchange/origin';
import { Pressure } from './pressure';
import { Readiness } from './readiness';
import { Muscle } from '../resources/muscle';
import type { Prepare } from '../rest/endpoints';
import { corsOf, PRIVATE } from '../rest/respond';
import { BASE } from '../rest/routes';
import { restHandler } from '../rest/router';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import type { Services } from '../exchange/services';
import { tidied } from './target';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import { METRICS_PATH, metricsPage, type Scrape } from '../telemetry/scrape';
import { scrapeOf } from '../telemetry/worker';
import { TrustedDocuments, trustedDocuments } from '../graphql/trusted';
import { TooBusy, Turns } from '../platform/turns';
import { graphqlUploads } from '../graphql/uploads';

/** Of the Authorization header. */
const REST_SCHEMES = ['token'];
const GRAPHQL_SCHEMES = ['token', 'bearer'];

/** Whoever watches over the server is answered whatever it has to do. */
const HEALTH = '/health/';

/** Longer than any that means something: libraries take the square of its length to read it. */
const MAX_CONTENT_TYPE = 1000;

const shortTypes: RequestHandler = (request, _response, next) => {
  if ((request.headers['content-type']?.length ?? 0) <= MAX_CONTENT_TYPE) return next();
  next(Object.assign(new Error(`The Content-Type is longer than ${MAX_CONTENT_TYPE} characters.`), { status: 415 }));
};

export interface App {
  listener: RequestListener;
  /** A server's `connection` event. */
  connected(): void;
  /** For WebSockets: a server's `upgrade` event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** What the server tells of itself, where somebody may ask. */
  scrape?: Scrape;
  /** It is not ready any more, and whoever follows what happens is told to come back, which may be elsewhere. */
  leave(): void;
  stop(): Promise<void>;
}

/** What an answer of GraphQL depends on beside the operation. Who asks is part of all of it: `viewer` is in every document's reach. */
const GRAPHQL_HEADERS: readonly [string, string][] = [
  ['Cache-Control', PRIVATE],
  ['Vary', 'Accept, Accept-Language, Authorization, Cookie'],
];

/** Pages that wait to be made. */
const PAGES = { waiting: 100, ms: 1_500 };

/** Only where somebody asks for them. */
const loadMetrics = async (...given: ConstructorParameters<typeof Metrics>) =>
  new (await import('../telemetry/metrics.ts')).Metrics(...given);

const loadTracing = async (...given: ConstructorParameters<typeof Tracing>) =>
  new (await import('../telemetry/tracing.ts')).Tracing(...given);

export async function createApp(services: Services): Promise<App> {
  const { config, log, database, media, vault, origin } = services;
  const door = new Door(origin, log);
  const metrics =
    config.metrics &&
    (await loadMetrics(services, {
      turnedAway: door.turnedAway,
      lateness: () => gate.lateness,
      compiled: () => executor.kept,
      subscriptions: () => ({ running: executor.following, told: executor.toldEvents, ...live.connections() }),
    }));
  const means: Means = {
    ...services,
    metrics,
    tracing: config.tracing && (await loadTracing(config.tracing)),
    sessions: new Sessions(vault),
    accessTokens: new AccessTokens(config.maxTokens),
    exposure: new Exposure(config, origin, log),
    idempotency: new Idempotency(database, vault, config.keptAnswers, config.maxKeys, services.instance),
  };
  const executing: ExecutorOptions = { compiling: config.compileOperations ? undefined : 'never', maxCost: config.maxCost };
  const gate = new Gate();
  const pressure = new Pressure(config.maxLag, () => gate.lateness);
  const executor = new Executor(buildGraphQLSchema(), { ...executing, introspection: config.introspection });
  const restExecutor = new Executor(buildRestSchema(), executing);
  const trusted = new TrustedDocuments(config, executor.schema);
  const apollo = await apolloServer(executor, config, log);
  const pages = new Turns(2, PAGES);
  const prepare: Prepare = (document) => {
    const run = restExecutor.prepare(document);
    // What REST hands on is what `exchangeOf` has made.
    return (context, variables) => run(context as Context, variables);
  };
  const rest = restHandler({
    schema: restExecutor.schema,
    publicSchema: executor.schema,
    prepare,
    open: (request) => exchangeOf(request),
    pages: browsePages,
    inTurn: (work) => pages.run(work),
    limits: config,
    timeZone: config.timeZone,
  });
  let leaving = false;
  const exchanges = new WeakMap<IncomingMessage, HttpExchange>();
  const exchangeOf = (request: IncomingMessage) => exchanges.get(request)!;

  const live = liveTransports({
    executor,
    trusted,
    maxMessage: config.maxAnonymousBody,
    open: (request) => new HttpExchange(request, means, GRAPHQL_SCHEMES, 'graphql'),
    known: exchangeOf,
    networkOf: (request) => origin.network(request),
    refuses: (isStranger) => leaving || pressure.refuses(isStranger),
    failed: (error) => log.error({ err: error }, 'unexpected error in a subscription'),
  });

  const scrape = metrics && scrapeOf(metrics.registry);
  const readiness = new Readiness(database);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.get(`${HEALTH}live`, (_request, response) => void response.json({ status: 'ok' }));
  app.get(`${HEALTH}ready`, async (_request, response) => {
    const reason = await readiness.decide();
    response.status(reason === undefined ? 200 : 503).json(reason === undefined ? { status: 'ok' } : { status: 'unavailable', reason });
  });
  // Without a token it has a port of its own.
  if (scrape && config.metrics!.port === undefined) app.get(METRICS_PATH, metricsPage(config.metrics!.token, scrape));
  app.use(shortTypes);
  // Pages say that they have none; beside JSON and pictures browsers ask for it.
  app.get('/favicon.ico', (_request, response) => void response.status(204).set('Cache-Control', 'public, max-age=86400').end());
  app.get(SECURITY_TXT, securityTxt(config));
  app.use(signInPages(exchangeOf, prepare));
  app.use(suggestions(restExecutor.schema, prepare, exchangeOf));
  app.use(playground(exchangeOf, config, executor.schema));
  app.use(reference(restExecutor.schema, exchangeOf));
  app.use('/media', serveMedia(media));
  app.use(muscleDrawings((id) => services.reference.get(Muscle, id)));
  app.use('/graphql', jsonBody(config, exchangeOf), live.events);
  app.use(exportRoutes({ executor, trusted, config, exchangeOf, log }));
  app.use(
    '/graphql',
    graphqlUploads(config, exchangeOf),
    trustedDocuments(trusted),
    expressMiddleware(apollo, {
      context: async ({ req }: { req: Request }): Promise<GraphQLContext> => {
        const exchange = exchangeOf(req);
        await exchange.identified().catch((error) => {
          throw refusal(error);
        });
        return { exchange, full: exchange.context };
      },
    }),
  );
  app.use(missingPage(exchangeOf));
  /** The server has no time for it now: nothing was done. */
  function turnAway(
    request: IncomingMessage,
    response: ServerResponse,
    { message, extensions }: KnownError,
    further: Record<string, string> = {},
  ): void {
    const { code, retryAfter } = extensions;
    if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.url!.startsWith('/graphql')) return refuse(request, response, 503, String(code), message);
    const body = JSON.stringify({ detail: message });
    response.writeHead(503, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...further }).end(body);
  }

  const onError: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent) return next(error);
    if (error.status >= 400 && error.status < 500) {
      const { status, message } = error as { status: number; message: string };
      if (request.path.startsWith('/graphql')) return refuse(request, response, status, 'BAD_REQUEST', message);
      return void response.status(status).json({ detail: message });
    }
    failed(error, request, response);
  };
  app.use(onError);

  function failed(error: unknown, request: IncomingMessage, response: ServerResponse, further: Record<string, string> = {}): void {
    // The client went away, or took too long, while its body was read.
    if (request.destroyed && !request.complete) return void response.destroy();
    if (response.headersSent) {
      log.error({ id: request.headers[REQUEST_ID], err: error }, 'an answer could not be finished');
      return void response.destroy();
    }
    const id = String(request.headers[REQUEST_ID]);
    const refused = error instanceof TooBusy ? overloaded() : isPassing(error) ? (error as KnownError) : ofDatabase(error, log, id);
    if (refused) return turnAway(request, response, refused, further);
    log.error({ id, err: error }, 'unexpected error');
    const body = JSON.stringify({ detail: `Internal server error (id ${id}).` });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(500, { ...headers, ...further }).end(body);
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const isRest = request.url!.startsWith(BASE) && !isReference(request.url!);
    const exchange = isRest
      ? new HttpExchange(request, means, REST_SCHEMES, 'rest')
      : new HttpExchange(request, means, GRAPHQL_SCHEMES, 'graphql');
    exchanges.set(request, exchange);
    exchange.watch(response);
    exchange.watched(response);
    leaveUnread(request, response);
    compressed(request, response);
    // Whoever came by https once is not led to come by http.
    if (config.hsts && origin.isEncrypted(request)) response.setHeader('Strict-Transport-Security', `max-age=${config.hsts}`);
    // The API is most of the traffic and has no use for express, which costs more than half of a short request.
    if (isRest) return void rest(request, response).catch((error) => failed(error, request, response, corsOf(request)));
    // Whatever is answered, an error too, is what it says it is.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.url!.startsWith('/graphql')) for (const [name, value] of GRAPHQL_HEADERS) response.setHeader(name, value);
    app(request, response);
  }

  return {
    listener(request, response) {
      request.url = tidied(request.url!);
      response.setHeader('X-Request-Id', origin.identify(request));
      if (request.url.startsWith(HEALTH) || request.url === METRICS_PATH) return begin(request, response);
      const { authorization, cookie } = request.headers;
      // Whether they are any good costs more to say than to refuse.
      if (pressure.refuses(authorization === undefined && cookie === undefined)) {
        door.turnAway(request, 'pressure');
        return turnAway(request, response, overloaded(), corsOf(request));
      }
      gate.pass(
        () => origin.network(request),
        (waitedMs) => {
          if (response.destroyed) return;
          if (!pressure.isTooLate(waitedMs)) return begin(request, response);
          door.turnAway(request, 'late');
          turnAway(request, response, overloaded(), corsOf(request));
        },
      );
    },
    connected: gate.connected,
    upgrade(request, socket, head) {
      origin.identify(request);
      // Until somebody has it who says so, nobody hears of a client that is gone.
      socket.on('error', () => socket.destroy());
      const turnAwayFrom = (why: Why) => door.close(request, socket, why);
      if (leaving) return turnAwayFrom('leaving');
      if (pressure.refuses(true)) return turnAwayFrom('pressure');
      gate.pass(
        () => origin.network(request),
        (waitedMs) => {
          if (socket.destroyed) return;
          if (!pressure.isTooLate(waitedMs)) return live.upgrade(request, socket, head);
          turnAwayFrom('late');
        },
      );
    },
    leave() {
      leaving = true;
      readiness.end();
      live.end();
    },
    scrape,
    async stop() {
      pressure.stop();
      metrics?.stop();
      means.idempotency.stop();
      await Promise.all([apollo.stop(), means.tracing?.stop()]);
    },
  };
}
