/** A process that answers requests as its supervisor orders, and tells it all the while that its loop turns. */
import cluster from 'node:cluster';
import type { EmbeddedConnection } from '../database/embedded';
import { readConfig } from '../platform/config';
import type { Message as MetricsMessage } from '../telemetry/worker';
import { ENDS, endOn, fail, ignoreClosedOutput } from './ending';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import { serve, type RunningServer } from './serve';

export interface Order {
  kind: 'serve';
  port: number;
  /** Whether to print where everything is. */
  announce: boolean;
  /** The embedded database, which the supervisor keeps. */
  embedded?: EmbeddedConnection;
}

export type Report = 'alive' | 'ready';

/** So many times it is heard within the time after which it is given up. */
const BEATS = 5;
const UNWATCHED_BEAT_MS = 1_000;

const report = (said: Report) => process.connected && process.send!(said);

/**
 * The supervisor holds the port too and lets go of it when this process is no longer connected to it. Were it to do so after this process has
 * closed the port, connections that came between would be reset.
 */
function leave(): void {
  cluster.worker!.exitedAfterDisconnect = true;
  process.disconnect();
}

function work(): void {
  ignoreClosedOutput();
  const config = readConfig();
  setInterval(() => report('alive'), config.workerTimeout / BEATS || UNWATCHED_BEAT_MS).unref();
  let server: RunningServer | undefined;
  endOn(['SIGTERM'], async () => {
    leave();
    await server?.stop();
  });
  // A terminal sends these to the whole process group, and the supervisor drains its workers.
  for (const signal of ENDS) if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  process.on('message', (order: Order | MetricsMessage) => {
    // Others talk over the same channel, such as who collects metrics.
    if (order.kind !== 'serve') return;
    // In lists of processes; a spare worker shows its argument `spare` until it serves.
    process.title = 'fitgraph worker';
    const { port, announce, embedded } = order;
    serve({ ...config, port }, { announce, embedded, ready: () => report('ready') }).then((running) => (server = running), fail);
  });
}

work();
// All of a start that needs neither the port nor the database is done before the order comes.
buildRestSchema();
buildGraphQLSchema();
