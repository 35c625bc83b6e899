/** Starts the HTTP or HTTPS server with its application. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { warmUpIntrospectionCache } from '../engine/execution/introspection-cache';
import type { EmbeddedConnection } from '../database/embedded';
import type { SharedCounter } from '../engine/changes/public-data';
import { buildGraphQLSchema } from '../graphql/schema';
import type { Config } from '../shared/config';
import { limitResponseTime, serializePipelinedRequests, serverTimeouts } from './connections';
import { createLogger } from '../shared/logging';
import { serveMetrics } from '../telemetry/metrics-endpoint';
import { validateConfiguredFiles } from './configured-files';
import { readTls, watchTls } from './tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { checkSecretKey, recordKeyFingerprint } from '../accounts/key-fingerprint';
import { TokenVault } from '../accounts/tokens';
import { createApp, type App } from './app';
import { Media } from '../files/media';
import { migrateUp } from '../database/migrate';
import { openDatabase } from '../database/open';
import type { ForwardedHeaders } from '../request/forwarded-headers';
import { startServices } from '../request/services';
import { seedDemo, seedReferenceData, type DemoAccount } from '../transfer/seed';

interface RunningApp {
  app: App;

  /** The demo account, if this start has created it. */
  demoAccount?: DemoAccount;

  /** Whether there is no user account. Checked only in production. */
  hasNoAccounts: boolean;

  /**
   * Whether the catalogue (exercises, foods) is empty. The first start fills it only in an embedded
   * database. In an external one, the operator does so with `fitgraph seed` or `fitgraph import`.
   */
  hasEmptyCatalogue: boolean;
  close(): Promise<void>;
}

/**
 * Opens and migrates the database, seeds an empty embedded one, starts the services and creates the
 * app.
 */
async function bootstrap(
  config: Config,
  forwardedHeaders: ForwardedHeaders,
  log: Logger,
  { embeddedConnection, writeCounter }: ServeOptions,
): Promise<RunningApp> {
  const openedDatabase = await openDatabase(config, (message) => log.info(message), {
    shouldRestart: true,
    embeddedConnection,
  });
  const { database } = openedDatabase;

  try {
    await checkSecretKey(database, openedDatabase.secretKey);
    const appliedMigrations = await migrateUp(database, {
      reportWait: (message) => log.warn(message),
    });

    if (appliedMigrations.length) log.info({ migrations: appliedMigrations }, 'database migrated');
    await recordKeyFingerprint(database, openedDatabase.secretKey);
    const tokenVault = new TokenVault(openedDatabase.secretKey);
    const demoAccount = openedDatabase.isEmbedded ? await seedInitialData() : undefined;
    const { services, stop } = await startServices(
      config,
      database,
      tokenVault,
      forwardedHeaders,
      log,
      writeCounter,
    );
    const app = await createApp(services);

    return {
      app,
      demoAccount,
      hasNoAccounts:
        config.production &&
        !(await database.queryAsServer('SELECT FROM "user_account" LIMIT 1')).length,
      hasEmptyCatalogue: !(await database.queryAsServer('SELECT FROM "language" LIMIT 1')).length,
      async close() {
        await app.stop();
        await stop();
        await openedDatabase.close();
      },
    };

    async function seedInitialData(): Promise<DemoAccount | undefined> {
      const seedOptions = { database, tokenVault, timeZone: config.timeZone };
      const isNewDatabase = await seedReferenceData(seedOptions, await Media.openAndCheck(config));

      return isNewDatabase && config.createsDemoAccount ? seedDemo(seedOptions) : undefined;
    }
  } catch (error) {
    await openedDatabase.close();
    throw error;
  }
}

const CLOSE_INTERVAL_MS = 50;
const DRAIN_TIMEOUT_MS = 7_000;

/**
 * Connection draining (graceful shutdown) that interrupts no client. `/health/ready` already fails,
 * so load balancers send no new requests. Keep-alive connections get `Connection: close` with their
 * next response. Then the port and idle connections are closed.
 */
class ConnectionDrainer {
  private isDraining = false;

  constructor(private readonly server: Server) {
    // The listener is prepended, because the request handler may send its response immediately.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.isDraining) response.setHeader('Connection', 'close');
    });
  }

  /**
   * Drains the server until all connections are closed. During `noticePeriodMs`, it still accepts
   * new connections.
   */
  async drain(noticePeriodMs: number): Promise<void> {
    const { server } = this;

    this.isDraining = true;
    // Gives load balancers and clients time to react, unless no connection is open.
    if (await promisify(server.getConnections).call(server)) await sleep(noticePeriodMs);

    const serverClosed = once(server, 'close');

    server.close();
    const closingTimer = setInterval(() => server.closeIdleConnections(), CLOSE_INTERVAL_MS);

    await Promise.race([
      serverClosed,
      sleep(DRAIN_TIMEOUT_MS - noticePeriodMs, undefined, { ref: false }),
    ]);
    clearInterval(closingTimer);
    server.closeAllConnections();
  }
}

const DRAIN_AFTER_ERROR_MS = 5_000;

export interface RunningServer {
  port: number;
  stop(): Promise<void>;
}

export interface ServeOptions {
  shouldPrintUrls?: boolean;

  /** Called when the server accepts requests, before URLs are printed and "ready" is logged. */
  onReady?: () => void;

  /** Connection to the embedded database, if the primary runs it. */
  embeddedConnection?: EmbeddedConnection;

  /** Shared with the other workers, if there are any. */
  writeCounter?: SharedCounter;
}

export async function serve(config: Config, options: ServeOptions = {}): Promise<RunningServer> {
  const { shouldPrintUrls = true, onReady } = options;
  const forwardedHeaders = validateConfiguredFiles(config);
  const log = createLogger(config.logLevel);
  const runningApp = await bootstrap(config, forwardedHeaders, log, options);
  const serverOptions = { ...serverTimeouts(config), ...runningApp.app.serverOptions };
  const { tls } = config;
  // The TLS files are read again, because they may have been renewed while the app was starting.
  const httpsServer =
    tls &&
    createTlsServer({
      ...serverOptions,
      ...readTls(tls),
      handshakeTimeout: config.clientTimeout || undefined,
    });
  const server = httpsServer ?? createServer(serverOptions);

  limitResponseTime(server, config);
  const drainer = new ConnectionDrainer(server);

  server
    .on('request', serializePipelinedRequests(runningApp.app.listener))
    .on('upgrade', runningApp.app.onUpgrade)
    .on('clientError', runningApp.app.onClientError)
    .on('connection', runningApp.app.onConnection);
  warmUpIntrospectionCache(buildGraphQLSchema());

  try {
    await listen(server, config);
  } catch (error) {
    await runningApp.close();
    throw error;
  }

  const { collectMetrics } = runningApp.app;
  // Workers do not listen on METRICS_PORT: there, the primary serves the metrics of all workers.
  const metricsServer =
    collectMetrics &&
    !cluster.isWorker &&
    config.metrics?.port !== undefined &&
    (await serveMetrics(config.metrics, collectMetrics));
  const stopWatchingTls = httpsServer && watchTls(tls!, httpsServer, log);
  const { port } = server.address() as AddressInfo;

  onReady?.();
  if (shouldPrintUrls && config.production) logHints(runningApp, log);
  else if (shouldPrintUrls) printBanner(config, port, runningApp);
  log.info({ port, url: baseUrl(config, port) }, 'ready');

  const stop = async (noticePeriodMs = config.drainNotice) => {
    stopWatchingTls?.();
    if (metricsServer) metricsServer.close();
    runningApp.app.startDraining();
    await drainer.drain(noticePeriodMs);
    await runningApp.close();
  };

  exitOnUncaughtError(log, () => stop(0));
  return { port, stop };
}

/**
 * Ends the process after an error that belongs to no request, because its state is unknown. Open
 * requests have some seconds to finish.
 */
function exitOnUncaughtError(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;

  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'uncaught error');
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), DRAIN_AFTER_ERROR_MS);
    void stop().finally(() => process.exit(1));
  });
}

async function listen(server: Server, { port, host }: Config): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

const baseUrl = ({ publicUrl, tls }: Config, port: number): string =>
  publicUrl ?? `${tls ? 'https' : 'http'}://localhost:${port}`;

const EMPTY_CATALOGUE_HINT =
  'The catalogue is empty. To fill it: fitgraph seed, or fitgraph import';
const NO_ACCOUNTS_HINT =
  'There are no accounts yet. To create one: fitgraph user create <name> --superuser';

/** Logs hints about missing data in production, where every line of stdout must be a log line. */
function logHints({ hasNoAccounts, hasEmptyCatalogue }: RunningApp, log: Logger): void {
  if (hasEmptyCatalogue) log.warn(EMPTY_CATALOGUE_HINT);
  if (hasNoAccounts) log.warn(NO_ACCOUNTS_HINT);
}

function printBanner(
  config: Config,
  port: number,
  { demoAccount, hasNoAccounts, hasEmptyCatalogue }: RunningApp,
): void {
  const serverUrl = baseUrl(config, port);
  const lines = [
    `GraphQL     ${serverUrl}/graphql`,
    `REST        ${serverUrl}/api/v2/`,
    `Playground  ${serverUrl}/playground`,
  ];

  if (demoAccount) {
    lines.push(
      '',
      `Created a demo account. User ${demoAccount.username}, password ${demoAccount.password}`,
      `Authorization: Token ${demoAccount.token}`,
    );
  }

  if (hasEmptyCatalogue) lines.push('', EMPTY_CATALOGUE_HINT);
  if (hasNoAccounts) lines.push('', NO_ACCOUNTS_HINT);
  process.stdout.write(`\n${lines.map((line) => line && `  ${line}`).join('\n')}\n\n`);
}
