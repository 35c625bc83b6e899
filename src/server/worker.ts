/** Entry point of a worker process. It serves requests when the supervisor sends the order, and sends heartbeats while its event loop is running. */
import cluster from 'node:cluster';
import { warmUpIntrospectionCache } from '../core/operation/introspectioncache';
import type { EmbeddedConnection } from '../database/embedded';
import type { BoundSocket } from '../internals/node';
import { readConfig } from '../platform/config';
import type { MetricsMessage } from '../telemetry/workermetrics';
import { TERMINATION_SIGNALS } from '../platform/terminationsignals';
import { exitOnSignal, exitWithError, ignoreClosedStdout } from './termination';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { serve, type RunningServer } from './serve';

export interface SupervisorMessage {
  kind: 'serve';
  port: number;
  shouldPrintUrls: boolean;
  /** Connection parameters of the embedded database; absent if the supervisor runs none. */
  embeddedConnection?: EmbeddedConnection;
}

export type WorkerMessage = 'alive' | 'ready';

const HEARTBEATS_PER_TIMEOUT = 5;
/** Interval of heartbeats with WORKER_TIMEOUT=off. */
const DEFAULT_HEARTBEAT_INTERVAL_MS = 1_000;

const reportToSupervisor = (report: WorkerMessage) => process.connected && process.send!(report);

/** Disconnects from the supervisor, which then no longer counts this worker as serving. */
function disconnectFromSupervisor(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

function startWorker(): void {
  ignoreClosedStdout();
  const config = readConfig();
  setInterval(() => reportToSupervisor('alive'), config.workerTimeout / HEARTBEATS_PER_TIMEOUT || DEFAULT_HEARTBEAT_INTERVAL_MS).unref();
  let server: RunningServer | undefined;
  exitOnSignal(['SIGTERM'], async () => {
    disconnectFromSupervisor();
    await server?.stop();
  });
  // Ignores termination signals except SIGTERM: on Ctrl-C, a terminal sends one to all its processes, but only the supervisor stops workers (SIGTERM).
  for (const signal of TERMINATION_SIGNALS) if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  process.on('message', (message: SupervisorMessage | MetricsMessage, socket?: BoundSocket) => {
    // Ignores the messages of the metrics aggregation, which arrive on the same channel.
    if (message.kind !== 'serve') return;
    // Changes the title that `ps` shows: until now, it ended with the argument `spare` if the process was a spare worker.
    process.title = 'fitgraph worker';
    const { port, shouldPrintUrls, embeddedConnection } = message;
    serve(
      { ...config, port },
      { shouldPrintUrls, embeddedConnection, boundSocket: socket, onReady: () => reportToSupervisor('ready') },
    ).then((runningServer) => (server = runningServer), exitWithError);
  });
}

startWorker();
// While the process waits for the message to start serving, it builds the schemas and introspection results, which need neither a port nor the database.
buildRestSchema();
warmUpIntrospectionCache(buildGraphQLSchema());
