/**
 * Primary process of a cluster (https://nodejs.org/api/cluster.html). It runs the embedded
 * PostgreSQL and serves no requests. It starts and restarts the workers, and kills a worker that
 * sends no heartbeat for `WORKER_TIMEOUT`, because its event loop is blocked.
 */
import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../database/embedded';
import type { Config } from '../shared/config';
import { createLogger } from '../shared/logging';
import { TERMINATION_SIGNALS } from '../shared/termination-signals';
import type { ClusterMetrics } from '../telemetry/cluster-metrics';
import { serveMetrics } from '../telemetry/metrics-endpoint';
import { validateConfiguredFiles } from './configured-files';
import { choosePort } from './port';
import { exitWithError, onFirstSignal } from './termination';
import type { PrimaryMessage, WorkerMessage } from './worker';
import { WriteCounter } from './write-counter';

/**
 * V8 flags of the workers. The flags of the primary override them. The larger young generation
 * speeds up lists of thousands of rows. Slow growth of the old generation keeps an export of a
 * million rows below 300 MB.
 */
export const V8_MEMORY_FLAGS = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=32',
  '--heap-growing-percent=125',
];

const WORKER_CHECK_INTERVAL_MS = 100;

/**
 * If a check of the workers is later than this, all processes were suspended, so missing heartbeats
 * are ignored.
 */
const MAX_CHECK_DELAY_MS = 1_000;

/**
 * Heartbeat timeout of a starting worker. Loading code and reading tables blocks its event loop for
 * longer than requests do.
 */
const WORKER_START_TIMEOUT_MS = 60_000;

/**
 * Delay before a worker that has exited is replaced. Doubles each time a worker exits before
 * serving.
 */
const MIN_RESTART_DELAY_MS = 1_000;
const MAX_RESTART_DELAY_MS = 30_000;

/**
 * Requests have 7 s to finish, a worker has 9 s to exit, and the primary exits within 10 s, the
 * usual limit of container runtimes.
 */
const WORKER_STOP_TIMEOUT_MS = 9_200;
const EXIT_TIMEOUT_MS = 9_800;

interface WorkerState {
  /** Time of the latest message, by `performance.now()`. */
  lastReportAt: number;
  isServing: boolean;
  isHung: boolean;
}

export class Primary {
  private readonly stateByWorker = new Map<Worker, WorkerState>();
  private readonly log;
  private embeddedDatabase?: Promise<EmbeddedDatabase>;
  private metrics?: ClusterMetrics;
  private port = 0;

  /**
   * Whether any worker has served requests. Until then, an exit is a configuration error that the
   * worker has reported.
   */
  private hasServed = false;
  private failedStarts = 0;
  private lastCheckAt = performance.now();
  private isStopping = false;
  private exitStatus = 0;

  constructor(private readonly config: Config) {
    this.log = createLogger(config.logLevel);
  }

  async run(): Promise<void> {
    const { host, port, databaseUrl, dataDir, workers } = this.config;

    validateConfiguredFiles(this.config);
    onFirstSignal(TERMINATION_SIGNALS, () => this.stop());
    this.port = await choosePort(host, port);
    await this.startMetrics();
    if (this.isStopping) return;

    // The workers accept connections themselves from a shared socket.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: join(__dirname, 'worker.js'),
      execArgv: [...V8_MEMORY_FLAGS, ...process.execArgv],
      // The last one becomes WriteCounter.WORKER_FD.
      stdio: [0, 1, 2, 'ipc', ...(workers > 1 ? [WriteCounter.create(dataDir)] : [])],
    });
    cluster.on('message', (worker, message: WorkerMessage) => this.handleReport(worker, message));
    cluster.on('disconnect', (worker) => this.handleDisconnect(worker));
    cluster.on('exit', (worker, status, signal) => this.handleExit(worker, status, signal));
    setInterval(() => this.checkWorkers(), WORKER_CHECK_INTERVAL_MS);

    if (!databaseUrl) {
      this.embeddedDatabase = openEmbeddedDatabase({
        dataDir,
        shouldRestart: true,
        log: (message) => this.log.info(message),
      }).catch(exitWithError);
    }

    this.startWorker();
  }

  private async startMetrics(): Promise<void> {
    const { metrics } = this.config;

    if (!metrics) return;
    const { ClusterMetrics } = await import('../telemetry/cluster-metrics.ts');

    this.metrics = new ClusterMetrics(
      () => [...this.stateByWorker.values()].filter(({ isServing }) => isServing).length,
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
      if (worker.process.pid === undefined) return this.startWorkerAfterDelay();
      this.stateByWorker.set(worker, {
        lastReportAt: performance.now(),
        isServing: false,
        isHung: false,
      });
      void this.sendServeMessage(worker);
    } catch (error) {
      this.log.error({ err: error }, 'a worker could not be started');
      this.startWorkerAfterDelay();
    }
  }

  private startWorkerAfterDelay(): void {
    const delayMs = Math.min(MAX_RESTART_DELAY_MS, MIN_RESTART_DELAY_MS * 2 ** this.failedStarts);

    setTimeout(() => this.startWorker(), delayMs);
  }

  private async sendServeMessage(worker: Worker): Promise<void> {
    const embeddedDatabase = await this.embeddedDatabase;

    await embeddedDatabase?.waitForRestart();
    const { port, hasServed } = this;
    const message: PrimaryMessage = {
      kind: 'serve',
      port,
      shouldPrintUrls: !hasServed,
      embeddedConnection: embeddedDatabase?.connection,
    };

    // Ignores errors, which mean that the worker has exited (see `handleExit`).
    worker.send(message, () => undefined);
  }

  private handleReport(worker: Worker, message: WorkerMessage): void {
    const state = this.stateByWorker.get(worker);

    if (!state) return;
    state.lastReportAt = performance.now();
    if (message !== 'ready') return;

    state.isServing = true;
    this.failedStarts = 0;

    // The first worker migrates and seeds the database before the others start.
    if (!this.hasServed) {
      for (let number = 1; number < this.config.workers; number += 1) this.startWorker();
    }

    this.hasServed = true;
  }

  private checkWorkers(): void {
    const now = performance.now();
    const wereSuspended = now - this.lastCheckAt > MAX_CHECK_DELAY_MS;

    this.lastCheckAt = now;
    const { workerTimeout } = this.config;

    for (const [worker, state] of this.stateByWorker) {
      if (wereSuspended) state.lastReportAt = now;
      const silentMs = now - state.lastReportAt;
      const timeoutMs = state.isServing ? workerTimeout : WORKER_START_TIMEOUT_MS;

      if (!workerTimeout || state.isHung || !worker.isConnected() || silentMs <= timeoutMs) {
        continue;
      }

      state.isHung = true;
      this.log.error(
        { pid: worker.process.pid, silentMs: Math.round(silentMs) },
        'a worker hangs; it is killed and replaced',
      );
      worker.process.kill('SIGKILL');
    }
  }

  /** A disconnected worker drains its connections and is killed if it takes too long. */
  private handleDisconnect(worker: Worker): void {
    setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_TIMEOUT_MS).unref();
  }

  private handleExit(worker: Worker, status: number | null, signal: string | null): void {
    const { isServing, isHung } = this.stateByWorker.get(worker)!;

    this.stateByWorker.delete(worker);

    if (this.isStopping || !this.hasServed) {
      if (signal && !this.isStopping) {
        process.stderr.write(`fitgraph: the server was killed by ${signal} during startup\n`);
      }

      this.exitStatus = (status ?? (this.isStopping ? 0 : 1)) || this.exitStatus;
      return this.stop();
    }

    if (status !== 0) this.metrics?.countLostWorker(isHung ? 'hung' : 'crashed');
    this.log[status === 0 ? 'info' : 'error'](
      { pid: worker.process.pid, status, signal },
      'a worker has exited and is replaced',
    );
    if (!isServing) this.failedStarts += 1;
    this.startWorkerAfterDelay();
  }

  /** Stops all workers and exits when the last one has exited, or after EXIT_TIMEOUT_MS. */
  private stop(): void {
    if (!this.isStopping) {
      const killAll = (signal: NodeJS.Signals) =>
        [...this.stateByWorker.keys()].forEach((worker) => worker.process.kill(signal));

      killAll('SIGTERM');
      setTimeout(() => killAll('SIGKILL'), WORKER_STOP_TIMEOUT_MS).unref();
      setTimeout(() => process.exit(this.exitStatus), EXIT_TIMEOUT_MS).unref();
    }

    this.isStopping = true;
    if (this.stateByWorker.size === 0) void this.exitGracefully();
  }

  private async exitGracefully(): Promise<void> {
    const embeddedDatabase = await this.embeddedDatabase;

    await embeddedDatabase?.release().catch(exitWithError);
    process.exit(this.exitStatus);
  }
}
