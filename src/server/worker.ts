/** Entry point of a worker process. It serves requests when the primary orders it, and sends heartbeats while its event loop is running. */
import cluster from 'node:cluster';
import { warmUpIntrospectionCache } from '../core/operation/introspectioncache';
import type { EmbeddedConnection } from '../database/embedded';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { readConfig } from '../platform/config';
import { TERMINATION_SIGNALS } from '../platform/terminationsignals';
import { answerPrimary, type ScrapeMessage } from '../telemetry/workermetrics';
import { serve, type RunningServer } from './serve';
import { exitOnSignal, exitWithError, ignoreClosedStdout } from './termination';

export interface PrimaryMessage {
  kind: 'serve';
  port: number;
  shouldPrintUrls: boolean;
  /** Connection parameters of the embedded database; absent if the primary runs none. */
  embeddedConnection?: EmbeddedConnection;
}

export type WorkerMessage = 'alive' | 'ready';

const HEARTBEATS_PER_TIMEOUT = 5;
/** Interval of heartbeats with WORKER_TIMEOUT=off. */
const DEFAULT_HEARTBEAT_INTERVAL_MS = 1_000;

const report = (message: WorkerMessage) => process.connected && process.send!(message);

/** Disconnects from the primary, which then no longer waits for heartbeats. */
function disconnect(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

function startWorker(): void {
  process.title = 'fitgraph worker';
  ignoreClosedStdout();
  // Ignores write errors of the channel to a primary that has exited. The end of the channel ends this process.
  cluster.worker!.on('error', () => undefined);
  answerPrimary();
  const config = readConfig();
  setInterval(
    () => report('alive'),
    config.workerTimeout / HEARTBEATS_PER_TIMEOUT || DEFAULT_HEARTBEAT_INTERVAL_MS,
  ).unref();
  let server: RunningServer | undefined;
  exitOnSignal(['SIGTERM'], async () => {
    disconnect();
    await server?.stop();
  });
  // Ignores termination signals except SIGTERM: on Ctrl-C, a terminal sends one to all its processes, but only the primary stops workers (SIGTERM).
  for (const signal of TERMINATION_SIGNALS)
    if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  process.on('message', (message: PrimaryMessage | ScrapeMessage) => {
    // Ignores the messages of metrics, which arrive on the same channel.
    if (message.kind !== 'serve') return;
    const { port, shouldPrintUrls, embeddedConnection } = message;
    serve(
      { ...config, port },
      { shouldPrintUrls, embeddedConnection, onReady: () => report('ready') },
    ).then((runningServer) => (server = runningServer), exitWithError);
  });
}

startWorker();
// While the process waits for the message to start serving, it builds the schemas and introspection results, which need neither a port nor the database.
buildRestSchema();
warmUpIntrospectionCache(buildGraphQLSchema());
