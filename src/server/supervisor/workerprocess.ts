/** Worker processes, as their supervisor knows them. */
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';

export interface WorkerProcess {
  worker: Worker;
  /** `spare`: started, but not yet ordered to serve. `leaving`: finishes its open requests and sends no further heartbeats. */
  state: 'spare' | 'starting' | 'serving' | 'leaving';
  /** Time of the latest message (heartbeat or `ready`) from the worker, by the supervisor's `performance.now()`. */
  lastReportAt: number;
  /** Whether the worker hung. It is then killed and replaced by another one. */
  isHung: boolean;
  /** Whether the supervisor has killed this spare worker because none is needed any more. */
  isUnneeded?: boolean;
}

export const hasServed = ({ state }: WorkerProcess): boolean => state === 'serving' || state === 'leaving';
export const workerLogFields = ({ worker }: WorkerProcess) => ({ pid: worker.process.pid });

/** Starts a worker process with these arguments. Logs the error and returns undefined if the system lacks file descriptors or memory for it. */
export function forkWorker(args: string[], log: Logger): WorkerProcess | undefined {
  cluster.setupPrimary({ args });
  const worker = tryFork(log);
  if (!worker) return undefined;
  worker.on('error', (error) => log.error({ err: error }, 'a worker could not be started or reached'));
  if (worker.process.pid === undefined) return undefined;
  return { worker, state: 'spare', lastReportAt: performance.now(), isHung: false };
}

/** Starts a worker process. Returns undefined if Node throws because memory is lacking. For a lack of file descriptors, the worker emits an event. */
function tryFork(log: Logger): Worker | undefined {
  try {
    return cluster.fork();
  } catch (error) {
    log.error({ err: error }, 'a worker could not be started');
    return undefined;
  }
}
