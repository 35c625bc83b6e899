/** Entry point of a worker process: serves requests when the supervisor orders it and sends heartbeats while its event loop runs. */
import cluster from 'node:cluster';
import { warmUpIntrospection } from '../core/operation/introspectioncache';
import type { EmbeddedConnection } from '../database/embedded';
import type { BoundSocket } from '../internals/node';
import { readConfig } from '../platform/config';
import type { MetricsMessage as MetricsMessage } from '../telemetry/workermetrics';
import { TERMINATION_SIGNALS, exitOnSignal, exitWithError, ignoreClosedOutput } from './termination';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { serve, type RunningServer } from './serve';

export interface SupervisorMessage {
  kind: 'serve';
  port: number;
  announce: boolean;
  /** The embedded database, which the supervisor keeps. */
  embedded?: EmbeddedConnection;
}

export type WorkerMessage = 'alive' | 'ready';

const HEARTBEATS_PER_TIMEOUT = 5;
/** With WORKER_TIMEOUT=0. */
const DEFAULT_HEARTBEAT_INTERVAL_MS = 1_000;

const sendReport = (report: WorkerMessage) => process.connected && process.send!(report);

/** Disconnects from the supervisor, which then does not count this worker as serving. */
function disconnect(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

function start(): void {
  ignoreClosedOutput();
  const config = readConfig();
  setInterval(() => sendReport('alive'), config.workerTimeout / HEARTBEATS_PER_TIMEOUT || DEFAULT_HEARTBEAT_INTERVAL_MS).unref();
  let server: RunningServer | undefined;
  exitOnSignal(['SIGTERM'], async () => {
    disconnect();
    await server?.stop();
  });
  // Ignored, because a terminal sends them to the whole process group; the supervisor stops its workers with SIGTERM.
  for (const signal of TERMINATION_SIGNALS) if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  process.on('message', (order: SupervisorMessage | MetricsMessage, socket?: BoundSocket) => {
    // The channel also carries messages of the metrics collector.
    if (order.kind !== 'serve') return;
    // For `ps`; until now a spare worker shows its argument `spare`.
    process.title = 'fitgraph worker';
    const { port, announce, embedded } = order;
    serve({ ...config, port }, { announce, embedded, socket, ready: () => sendReport('ready') }).then(
      (running) => (server = running),
      exitWithError,
    );
  });
}

start();
// Builds the schemas and introspection results, which need neither port nor database, while the process waits for its order.
buildRestSchema();
warmUpIntrospection(buildGraphQLSchema());
