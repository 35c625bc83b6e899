/**
 * Primary process of a cluster (https://nodejs.org/api/cluster.html). It owns the embedded PostgreSQL, so that PostgreSQL outlives each worker, and serves no
 * requests. It starts the workers, which share the port, starts one again after its exit, and kills one that has sent no heartbeat for `WORKER_TIMEOUT`, because
 * its event loop is blocked. No acknowledged write is lost, because it has already been committed.
 */
import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../database/embedded';
import type { Config } from '../platform/config';
import { createLogger } from '../platform/logging';
import { TERMINATION_SIGNALS } from '../platform/terminationsignals';
import type { ClusterMetrics } from '../telemetry/clustermetrics';
import { serveMetrics } from '../telemetry/metricsendpoint';
import { validateConfiguredFiles } from './configuredfiles';
import { choosePort } from './port';
import { exitWithError, onFirstSignal } from './termination';
import type { PrimaryMessage, WorkerMessage } from './worker';

/**
 * V8 flags of the workers. Flags with which the primary was started are appended and override them. The larger young generation speeds up lists of thousands
 * of rows. The old generation, about 55 MB, may grow only by the given percentage before a full garbage collection, which keeps an export of a million rows
 * below 300 MB.
 */
export const V8_MEMORY_FLAGS = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=32',
  '--heap-growing-percent=125',
];

const CHECK_INTERVAL_MS = 100;
/** Delay of a check above which the silence of the workers is ignored: all processes were suspended. */
const MAX_CHECK_DELAY_MS = 1_000;
/** Time without a heartbeat after which a starting worker is killed. Loading code and reading tables blocks its event loop for longer than requests do. */
const WORKER_START_TIMEOUT_MS = 60_000;
/** Delay before an exited worker is started again. It doubles with each worker that exits before it has served. */
const MIN_RESTART_DELAY_MS = 1_000;
const MAX_RESTART_DELAY_MS = 30_000;
/** Requests have 7 s to finish, and a worker has 9 s to exit. The primary exits within 10 s, the usual limit of container runtimes. */
const WORKER_STOP_TIMEOUT_MS = 9_200;
const EXIT_TIMEOUT_MS = 9_800;

interface WorkerState {
  /** Time of the latest message of the worker, by `performance.now()`. */
  lastReportAt: number;
  isServing: boolean;
  isHung: boolean;
}

export class Primary {
  private readonly states = new Map<Worker, WorkerState>();
  private readonly log;
  private embeddedDatabase?: Promise<EmbeddedDatabase>;
  private metrics?: ClusterMetrics;
  private port = 0;
  /** Whether any worker has served requests. Until then, its exit is a configuration error, which it has reported. */
  private hasServed = false;
  private failedStarts = 0;
  private lastCheckAt = performance.now();
  private isStopping = false;
  private exitStatus = 0;

  constructor(private readonly config: Config) {
    this.log = createLogger(config.logLevel);
  }

  async run(): Promise<void> {
    const { host, port, databaseUrl, dataDir } = this.config;
    validateConfiguredFiles(this.config);
    onFirstSignal(TERMINATION_SIGNALS, () => this.stop());
    this.port = await choosePort(host, port);
    await this.startMetrics();
    if (this.isStopping) return;

    // The workers accept connections themselves, from a socket that they share.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: join(__dirname, 'worker.js'),
      execArgv: [...V8_MEMORY_FLAGS, ...process.execArgv],
    });
    cluster.on('message', (worker, message: WorkerMessage) => this.receiveReport(worker, message));
    cluster.on('disconnect', (worker) => this.handleDisconnect(worker));
    cluster.on('exit', (worker, status, signal) => this.handleExit(worker, status, signal));
    setInterval(() => this.checkWorkers(), CHECK_INTERVAL_MS);

    if (!databaseUrl)
      this.embeddedDatabase = openEmbeddedDatabase({
        dataDir,
        shouldRestart: true,
        log: (message) => this.log.info(message),
      }).catch(exitWithError);
    this.startWorker();
  }

  private async startMetrics(): Promise<void> {
    const { metrics } = this.config;
    if (!metrics) return;
    const { ClusterMetrics } = await import('../telemetry/clustermetrics.ts');
    this.metrics = new ClusterMetrics(
      () => [...this.states.values()].filter(({ isServing }) => isServing).length,
    );
    if (metrics.port === undefined) return;
    const server = await serveMetrics(metrics, this.metrics.scrape);
    this.log.info(server.address() as AddressInfo, 'metrics');
  }

  private startWorker(): void {
    if (this.isStopping) return;
    try {
      const worker = cluster.fork();
      worker.on('error', (error) =>
        this.log.error({ err: error }, 'a worker could not be started or reached'),
      );
      if (worker.process.pid === undefined) return this.startWorkerLater();
      this.states.set(worker, { lastReportAt: performance.now(), isServing: false, isHung: false });
      void this.orderToServe(worker);
    } catch (error) {
      this.log.error({ err: error }, 'a worker could not be started');
      this.startWorkerLater();
    }
  }

  private startWorkerLater(): void {
    const delayMs = Math.min(MAX_RESTART_DELAY_MS, MIN_RESTART_DELAY_MS * 2 ** this.failedStarts);
    setTimeout(() => this.startWorker(), delayMs);
  }

  private async orderToServe(worker: Worker): Promise<void> {
    const embeddedDatabase = await this.embeddedDatabase;
    await embeddedDatabase?.waitForRestart();
    const { port, hasServed } = this;
    const message: PrimaryMessage = {
      kind: 'serve',
      port,
      shouldPrintUrls: !hasServed,
      embeddedConnection: embeddedDatabase?.connection,
    };
    // An error means that the worker has exited.
    worker.send(message, () => undefined);
  }

  private receiveReport(worker: Worker, message: WorkerMessage): void {
    const state = this.states.get(worker);
    if (!state) return;
    state.lastReportAt = performance.now();
    if (message !== 'ready') return;

    state.isServing = true;
    this.failedStarts = 0;
    // The first worker migrates and seeds the database. The others are started after it.
    if (!this.hasServed)
      for (let number = 1; number < this.config.workers; number += 1) this.startWorker();
    this.hasServed = true;
  }

  private checkWorkers(): void {
    const now = performance.now();
    const wereSuspended = now - this.lastCheckAt > MAX_CHECK_DELAY_MS;
    this.lastCheckAt = now;
    const { workerTimeout } = this.config;
    for (const [worker, state] of this.states) {
      if (wereSuspended) state.lastReportAt = now;
      const silentMs = now - state.lastReportAt;
      const timeoutMs = state.isServing ? workerTimeout : WORKER_START_TIMEOUT_MS;
      if (!workerTimeout || state.isHung || !worker.isConnected() || silentMs <= timeoutMs)
        continue;
      state.isHung = true;
      this.log.error(
        { pid: worker.process.pid, silentMs: Math.round(silentMs) },
        'a worker hangs; it is killed and replaced',
      );
      worker.process.kill('SIGKILL');
    }
  }

  /** A worker disconnects before it drains its connections. */
  private handleDisconnect(worker: Worker): void {
    setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_TIMEOUT_MS).unref();
  }

  private handleExit(worker: Worker, status: number | null, signal: string | null): void {
    const { isServing, isHung } = this.states.get(worker)!;
    this.states.delete(worker);
    if (this.isStopping || !this.hasServed) {
      if (signal && !this.isStopping)
        process.stderr.write(`fitgraph: the server was killed by ${signal} during startup\n`);
      this.exitStatus = (status ?? (this.isStopping ? 0 : 1)) || this.exitStatus;
      return this.stop();
    }
    if (status !== 0) this.metrics?.countLostWorker(isHung ? 'hung' : 'crashed');
    this.log[status === 0 ? 'info' : 'error'](
      { pid: worker.process.pid, status, signal },
      'a worker has exited and is replaced',
    );
    if (!isServing) this.failedStarts += 1;
    this.startWorkerLater();
  }

  /** Stops all workers. Exits when none runs, or when the time is over. */
  private stop(): void {
    if (!this.isStopping) {
      const killAll = (signal: NodeJS.Signals) =>
        [...this.states.keys()].forEach((worker) => worker.process.kill(signal));
      killAll('SIGTERM');
      setTimeout(() => killAll('SIGKILL'), WORKER_STOP_TIMEOUT_MS).unref();
      setTimeout(() => process.exit(this.exitStatus), EXIT_TIMEOUT_MS).unref();
    }
    this.isStopping = true;
    if (this.states.size === 0) void this.exitGracefully();
  }

  private async exitGracefully(): Promise<void> {
    const embeddedDatabase = await this.embeddedDatabase;
    await embeddedDatabase?.release().catch(exitWithError);
    process.exit(this.exitStatus);
  }
}
