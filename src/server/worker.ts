/**
 * Entry point of a worker process. It serves requests after a message from the primary, and sends
 * heartbeats while its event loop is running.
 */
import cluster from 'node:cluster';
import { warmUpIntrospectionCache } from '../engine/execution/introspection-cache';
import type { EmbeddedConnection } from '../database/embedded';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { readConfig } from '../shared/config';
import { TERMINATION_SIGNALS } from '../shared/termination-signals';
import { answerMetricsRequests, type ScrapeMessage } from '../telemetry/worker-metrics';
import { serve, type RunningServer } from './serve';
import { WriteCounter } from './write-counter';
import { exitOnSignal, exitWithError, ignoreOutputErrors } from './termination';

export interface PrimaryMessage {
  kind: 'serve';
  port: number;
  shouldPrintUrls: boolean;

  /** Connection to the embedded database, if the primary runs it. */
  embeddedConnection?: EmbeddedConnection;
}

export type WorkerMessage = 'alive' | 'ready';

const HEARTBEATS_PER_TIMEOUT = 5;

/** Interval of heartbeats with WORKER_TIMEOUT=off, which sets `workerTimeout` to 0. */
const DEFAULT_HEARTBEAT_INTERVAL_MS = 1_000;

const sendToPrimary = (message: WorkerMessage) => process.connected && process.send!(message);

/**
 * Disconnects from the primary, which then no longer expects heartbeats. Without
 * `exitedAfterDisconnect`, node:cluster would end this process at once.
 */
function disconnectFromPrimary(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

function startWorker(): void {
  process.title = 'fitgraph worker';
  ignoreOutputErrors();
  // Ignored: the channel fails only if the primary has exited, and then node:cluster ends this
  // process.
  cluster.worker!.on('error', () => undefined);
  answerMetricsRequests();
  const config = readConfig();

  const heartbeatIntervalMs =
    config.workerTimeout / HEARTBEATS_PER_TIMEOUT || DEFAULT_HEARTBEAT_INTERVAL_MS;

  setInterval(() => sendToPrimary('alive'), heartbeatIntervalMs).unref();
  let server: RunningServer | undefined;

  exitOnSignal(['SIGTERM'], async () => {
    disconnectFromPrimary();
    await server?.stop();
  });

  // Ignores Ctrl-C, which a terminal sends to all processes: the primary stops the workers with
  // SIGTERM.
  for (const signal of TERMINATION_SIGNALS) {
    if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  }

  process.on('message', (message: PrimaryMessage | ScrapeMessage) => {
    // Ignores requests for metrics, which arrive on the same channel and are handled elsewhere.
    if (message.kind !== 'serve') return;
    const { port, shouldPrintUrls, embeddedConnection } = message;

    serve(
      { ...config, port },
      {
        shouldPrintUrls,
        embeddedConnection,
        writeCounter: config.workers > 1 ? new WriteCounter(WriteCounter.WORKER_FD) : undefined,
        onReady: () => sendToPrimary('ready'),
      },
    ).then((runningServer) => (server = runningServer), exitWithError);
  });
}

startWorker();
// While the process waits to serve, it builds the schemas and introspection results, which need
// neither a port nor the database.
buildRestSchema();
warmUpIntrospectionCache(buildGraphQLSchema());
