/** Starts the HTTP or HTTPS server with its application and returns its port and a function for a graceful shutdown. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { warmUpIntrospectionCache } from '../core/operation/introspectioncache';
import type { EmbeddedConnection } from '../database/embedded';
import { buildGraphQLSchema } from '../graphql/schema';
import type { Config } from '../platform/config';
import { closeStalledConnections, serializePipelinedRequests, serverTimeouts } from './connections';
import { ConnectionDrainer } from './draining';
import { createLogger } from '../platform/logging';
import { serveMetrics } from '../telemetry/metricsendpoint';
import { validateConfiguredFiles } from './configuredfiles';
import { bootstrap, type RunningApp } from './bootstrap';
import { watchTls } from './tls';

const MAX_DRAIN_AFTER_ERROR_MS = 5_000;

export interface RunningServer {
  port: number;
  stop(): Promise<void>;
}

export interface ServeOptions {
  shouldPrintUrls?: boolean;
  /** Called when the server accepts requests, before the URLs are printed and "ready" is logged. */
  onReady?: () => void;
  /** Connection to the embedded database, if the primary runs it. */
  embeddedConnection?: EmbeddedConnection;
}

export async function serve(
  config: Config,
  { shouldPrintUrls = true, onReady, embeddedConnection }: ServeOptions = {},
): Promise<RunningServer> {
  const { forwardedHeaders, tls } = validateConfiguredFiles(config);
  const log = createLogger(config.logLevel);
  const runningApp = await bootstrap(config, forwardedHeaders, log, embeddedConnection);
  const options = { ...serverTimeouts(config), ...runningApp.app.errorContainment.messageClasses };
  const httpsServer =
    tls &&
    createTlsServer({ ...options, ...tls, handshakeTimeout: config.clientTimeout || undefined });
  const server = httpsServer ?? createServer(options);
  closeStalledConnections(server, config);
  const drainer = new ConnectionDrainer(server);
  server
    .on('request', serializePipelinedRequests(runningApp.app.listener))
    .on('upgrade', runningApp.app.onUpgrade)
    .on('connection', runningApp.app.onConnection);
  warmUpIntrospectionCache(buildGraphQLSchema());
  try {
    await listen(server, config);
  } catch (error) {
    await runningApp.close();
    throw error;
  }
  const { collectMetrics } = runningApp.app;
  // A worker does not listen on METRICS_PORT, because the primary serves the metrics of all workers there.
  const metricsServer =
    collectMetrics &&
    !cluster.isWorker &&
    config.metrics?.port !== undefined &&
    (await serveMetrics(config.metrics, collectMetrics));
  const stopWatchingTls = tls && httpsServer && watchTls(config.tls!, tls, httpsServer, log);
  const { port } = server.address() as AddressInfo;
  onReady?.();
  if (shouldPrintUrls && config.production) logHints(runningApp, log);
  else if (shouldPrintUrls) printBanner(config, port, runningApp);
  log.info({ port, url: baseUrl(config, port) }, 'ready');
  const stop = async (drainNotice: number) => {
    stopWatchingTls?.();
    if (metricsServer) metricsServer.close();
    runningApp.app.startDraining();
    await drainer.drain(drainNotice);
    await runningApp.close();
  };
  exitOnUncaughtError(log, () => stop(0));
  return { port, stop: () => stop(config.drainNotice) };
}

/**
 * Ends the process after an error that belongs to no request, such as that of a timer or a promise, because its state is unknown. It accepts no connections, and
 * open requests have some seconds to finish.
 */
function exitOnUncaughtError(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'uncaught error');
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), MAX_DRAIN_AFTER_ERROR_MS);
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

/** In production, hints about an empty catalogue or missing accounts are logged instead of printed, because every line of stdout must be a log line. */
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
  if (demoAccount)
    lines.push(
      '',
      `Created a demo account. User ${demoAccount.username}, password ${demoAccount.password}`,
      `Authorization: Token ${demoAccount.token}`,
    );
  if (hasEmptyCatalogue) lines.push('', EMPTY_CATALOGUE_HINT);
  if (hasNoAccounts) lines.push('', NO_ACCOUNTS_HINT);
  process.stdout.write(`\n${lines.map((line) => line && `  ${line}`).join('\n')}\n\n`);
}
