/**
 * Process supervisor (primary of https://nodejs.org/api/cluster.html). It owns the embedded PostgreSQL, so that PostgreSQL outlives each worker. It starts the
 * workers, which share the port, and replaces those that crash or hang. It serves no requests. It binds the port and keeps the socket open, so that connections
 * wait instead of being refused while no worker is running. Only the workers listen on it: if the supervisor did, connections that arrived before the first
 * worker would be reset.
 *
 * A worker is considered hung when it has sent no heartbeat for `WORKER_TIMEOUT`, because its event loop is blocked. It is killed; no acknowledged write is
 * lost, because it has already been committed. After a fraction of that time, a spare worker is started: it loads the code and builds the schemas, but serves
 * requests only when it replaces another worker. With a single worker, there is always a spare.
 */
import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../platform/config';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../../database/embedded';
import { TERMINATION_SIGNALS } from '../../platform/terminationsignals';
import { exitWithError, onFirstSignal } from '../termination';
import { createLogger } from '../../platform/logging';
import { validateConfiguredFiles } from '../configuredfiles';
import { serveMetrics } from '../../telemetry/metricsendpoint';
import type { AggregatedMetrics } from '../../telemetry/aggregatedmetrics';
import type { SupervisorMessage, WorkerMessage } from '../worker';
import { Backoff } from './backoff';
import { OrphanReaper } from './orphanreaper';
import type { BoundSocket } from '../../internals/node';
import { choosePort, reservePort } from './port';
import { forkWorker, hasServed, workerLogFields, type WorkerProcess } from './workerprocess';

/**
 * V8 flags of the workers. Flags with which the supervisor was started are appended and override them. The larger young generation speeds up lists
 * of thousands of rows. The old generation, about 55 MB, may grow only by the given percentage before a full garbage collection, which keeps an
 * export of a million rows below 300 MB.
 */
export const V8_MEMORY_FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--heap-growing-percent=125'];

const WORKER_CHECK_INTERVAL_MS = 100;
/**
 * Maximum delay of the periodic check for hung workers. After a longer one, the silence of the workers is ignored: the supervisor was suspended, and perhaps
 * the workers were too.
 */
const MAX_CHECK_DELAY_MS = 1_000;
/**
 * Time without a heartbeat after which a starting worker counts as hung. It is longer than that of a serving one, because loading code and reading tables
 * blocks the event loop.
 */
const WORKER_START_TIMEOUT_MS = 60_000;
/** Fraction of WORKER_TIMEOUT without a heartbeat of a worker after which a spare worker is started, because the worker may be hung. */
const SPARE_START_FRACTION_OF_WORKER_TIMEOUT = 0.4;
/**
 * Timeouts of the shutdown, in which requests have 7 s to finish and a worker has 9 s to exit. Then the supervisor kills the workers; it exits within
 * 10 s, the usual limit of container runtimes.
 */
const WORKER_STOP_TIMEOUT_MS = 9_200;
const EXIT_TIMEOUT_MS = 9_800;
/** Delay between the starts of a single worker and of its spare worker, so that the spare does not slow down the worker's start. */
const SPARE_START_DELAY_MS = 10_000;
/** Number of consecutive failed starts after which the supervisor gives up if no worker is serving. */
const MAX_FAILED_STARTS = 6;

const now = () => performance.now();

export class Supervisor {
  private readonly workerProcesses = new Map<Worker, WorkerProcess>();
  private readonly log;
  private orphanReaper?: OrphanReaper;
  /** The embedded database; absent with DATABASE_URL. */
  private embeddedDatabase?: Promise<EmbeddedDatabase>;
  private metrics?: AggregatedMetrics;
  private port = 0;
  private socket?: BoundSocket;
  /** Whether any worker has served requests. Until then, a worker's failure is assumed to be a configuration error, which it has reported. */
  private hasAnyWorkerServed = false;
  private isRunning = false;
  private readonly workerStartBackoff = new Backoff();
  private readonly spareStartBackoff = new Backoff();
  private lastCheckAt = now();
  private lastServeOrderAt = now();
  private isStopping = false;
  private exitStatus = 0;

  constructor(private readonly config: Config) {
    this.log = createLogger(config.logLevel);
  }

  async run(): Promise<void> {
    validateConfiguredFiles(this.config);
    this.orphanReaper = new OrphanReaper();
    onFirstSignal(TERMINATION_SIGNALS, () => this.stop());
    const { host, port } = this.config;
    this.port = await choosePort(host, port);
    this.socket = await reservePort(host, this.port);
    await this.startMetrics();
    this.isRunning = true;
    if (this.isStopping) return this.exitGracefully();
    // The workers share one socket, so the kernel distributes the connections.
    cluster.setupPrimary({ exec: join(__dirname, '../worker.js'), execArgv: [...V8_MEMORY_FLAGS, ...process.execArgv] });
    cluster.on('message', (worker, report: WorkerMessage) => this.receiveReport(worker, report));
    cluster.on('disconnect', (worker) => this.handleDisconnect(worker));
    cluster.on('exit', (worker, status, signal) => this.handleExit(worker, status, signal));
    setInterval(() => this.checkWorkers(), WORKER_CHECK_INTERVAL_MS);
    const firstWorker = this.fork();
    if (!firstWorker) return this.abort(1, 'no worker process could be started');
    const { databaseUrl, dataDir } = this.config;
    // Starts PostgreSQL now, while the first worker is loading its code.
    if (!databaseUrl)
      this.embeddedDatabase = openEmbeddedDatabase({ dataDir, shouldRestart: true, log: (message) => this.log.info(message) }).catch(
        exitWithError,
      );
    this.orderToServe(firstWorker);
  }

  private async startMetrics(): Promise<void> {
    const { metrics } = this.config;
    if (!metrics) return;
    const { AggregatedMetrics } = await import('../../telemetry/aggregatedmetrics.ts');
    this.metrics = new AggregatedMetrics(() => this.servingWorkers.map(({ worker }) => worker));
    if (metrics.port === undefined) return;
    const server = await serveMetrics(metrics, this.metrics.scrape);
    this.log.info(server.address() as AddressInfo, 'metrics');
  }

  private get servingWorkers(): WorkerProcess[] {
    return [...this.workerProcesses.values()].filter(({ state, isHung }) => state === 'serving' && !isHung);
  }

  /** The spare worker, unless it has been killed. */
  private get spareWorker(): WorkerProcess | undefined {
    return [...this.workerProcesses.values()].find(({ state, isHung, isUnneeded }) => state === 'spare' && !isHung && !isUnneeded);
  }

  /** Starts a worker process. Returns undefined if the system lacks the resources for it. */
  private fork(args: string[] = []): WorkerProcess | undefined {
    const workerProcess = forkWorker(args, this.log);
    if (!workerProcess) return undefined;
    this.workerProcesses.set(workerProcess.worker, workerProcess);
    this.updateOrphanReaper();
    return workerProcess;
  }

  private startSpareWorker(): void {
    if (!this.fork(['spare'])) this.spareStartBackoff.recordFailure();
  }

  private orderToServe(workerProcess: WorkerProcess): void {
    workerProcess.state = 'starting';
    this.lastServeOrderAt = now();
    workerProcess.lastReportAt = now();
    void this.sendServeOrderOnceDatabaseRuns(workerProcess);
  }

  private async sendServeOrderOnceDatabaseRuns(workerProcess: WorkerProcess): Promise<void> {
    const embeddedDatabase = await this.embeddedDatabase;
    await embeddedDatabase?.waitForRestart();
    const { port, hasAnyWorkerServed } = this;
    const message: SupervisorMessage = {
      kind: 'serve',
      port,
      shouldPrintUrls: !hasAnyWorkerServed,
      embeddedConnection: embeddedDatabase?.connection,
    };
    // Errors of sending the message are ignored: they mean that the worker has exited, which the handler of the `exit` event handles.
    workerProcess.worker.send(message, this.socket as unknown as Server, () => undefined);
  }

  private startReplacementWorker(): void {
    if (this.isStopping) return;
    const { spareWorker } = this;
    if (spareWorker) this.spareStartBackoff.reset();
    const workerProcess = spareWorker ?? this.fork();
    if (workerProcess) this.orderToServe(workerProcess);
    else this.startReplacementWorkerLater();
  }

  private receiveReport(worker: Worker, report: WorkerMessage): void {
    const workerProcess = this.workerProcesses.get(worker);
    if (!workerProcess || workerProcess.isHung) return;
    workerProcess.lastReportAt = now();
    if (report !== 'ready') return;
    workerProcess.state = 'serving';
    this.workerStartBackoff.reset();
    // The first worker migrates and seeds the database. The others are started after it, in parallel.
    const isFirstStart = !this.hasAnyWorkerServed;
    this.hasAnyWorkerServed = true;
    if (!isFirstStart) return;
    for (let number = 1; number < this.config.workers; number += 1) this.startReplacementWorker();
  }

  private checkWorkers(): void {
    const checkedAt = now();
    if (checkedAt - this.lastCheckAt > WORKER_CHECK_INTERVAL_MS + MAX_CHECK_DELAY_MS)
      for (const workerProcess of this.workerProcesses.values()) workerProcess.lastReportAt = checkedAt;
    this.lastCheckAt = checkedAt;
    const { workerTimeout } = this.config;
    let hasSuspectedHungWorker = false;
    for (const workerProcess of this.workerProcesses.values()) {
      const heartbeatTimeout = workerProcess.state === 'serving' ? workerTimeout : workerTimeout && WORKER_START_TIMEOUT_MS;
      if (!heartbeatTimeout || workerProcess.isHung || workerProcess.state === 'leaving') continue;
      const silenceMs = checkedAt - workerProcess.lastReportAt;
      if (silenceMs > heartbeatTimeout) this.replaceHungWorker(workerProcess, silenceMs);
      else if (workerProcess.state === 'serving' && silenceMs > heartbeatTimeout * SPARE_START_FRACTION_OF_WORKER_TIMEOUT)
        hasSuspectedHungWorker = true;
    }
    const { spareWorker } = this;
    const needsSpareWorker =
      this.config.workers === 1 && this.hasAnyWorkerServed && checkedAt - this.lastServeOrderAt > SPARE_START_DELAY_MS;
    if (!hasSuspectedHungWorker && !needsSpareWorker) this.killSpareWorker(spareWorker);
    else if (!spareWorker && !this.isStopping && this.spareStartBackoff.isDelayOver) this.startSpareWorker();
  }

  private killSpareWorker(spareWorker: WorkerProcess | undefined): void {
    if (!spareWorker) return;
    spareWorker.isUnneeded = true;
    spareWorker.worker.process.kill('SIGKILL');
  }

  private replaceHungWorker(workerProcess: WorkerProcess, silenceMs: number): void {
    workerProcess.isHung = true;
    this.metrics?.countLostWorker('hung');
    this.log.error({ ...workerLogFields(workerProcess), silentMs: Math.round(silenceMs) }, 'a worker hangs; it is killed and replaced');
    if (workerProcess.state !== 'spare') this.startReplacementWorker();
    workerProcess.worker.process.kill('SIGKILL');
  }

  /** Marks a worker as shutting down. Also called for a crashed worker, which `handleExit` then replaces. */
  private handleDisconnect(worker: Worker): void {
    const workerProcess = this.workerProcesses.get(worker);
    if (workerProcess?.state !== 'serving' || workerProcess.isHung) return;
    workerProcess.state = 'leaving';
    setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_TIMEOUT_MS).unref();
  }

  private handleExit(worker: Worker, status: number | null, signal: string | null): void {
    const workerProcess = this.workerProcesses.get(worker);
    if (!workerProcess) return;
    this.workerProcesses.delete(worker);
    this.updateOrphanReaper();
    if (this.isStopping) {
      if (status) this.exitStatus = status;
      if (this.workerProcesses.size === 0) void this.exitGracefully();
      return;
    }
    if (workerProcess.isHung || workerProcess.isUnneeded) return;
    const fields = { ...workerLogFields(workerProcess), status: status ?? undefined, signal: signal ?? undefined };
    if (workerProcess.state === 'spare') {
      this.log.error(fields, 'a spare worker has exited');
      return void this.spareStartBackoff.recordFailure();
    }
    if (!this.hasAnyWorkerServed) return this.abort(status ?? 1, signal ? `the server was killed by ${signal} during startup` : undefined);
    if (status !== 0) this.metrics?.countLostWorker('crashed');
    if (hasServed(workerProcess)) {
      this.log[status === 0 ? 'info' : 'error'](fields, 'a worker has exited and is replaced');
      return this.startReplacementWorker();
    }
    this.log.error(fields, 'a worker exited during startup');
    this.startReplacementWorkerLater();
    const { failureCount } = this.workerStartBackoff;
    if (failureCount >= MAX_FAILED_STARTS && this.servingWorkers.length === 0)
      this.abort(1, `no worker could be started in ${failureCount} attempts`);
  }

  private startReplacementWorkerLater(): void {
    setTimeout(() => this.startReplacementWorker(), this.workerStartBackoff.recordFailure());
  }

  private updateOrphanReaper(): void {
    this.orphanReaper!.setWorkerPids([...this.workerProcesses.keys()].map(({ process: { pid } }) => pid!));
  }

  private abort(status: number, message?: string): void {
    this.exitStatus = status;
    if (message) process.stderr.write(`fitgraph: ${message}\n`);
    this.stop();
  }

  private stop(): void {
    this.isStopping = true;
    // Closes this process's socket of the port, so that the port is closed when the last worker stops listening.
    this.socket?.close();
    for (const workerProcess of this.workerProcesses.values())
      workerProcess.worker.process.kill(workerProcess.state === 'spare' ? 'SIGKILL' : 'SIGTERM');
    const killAllWorkers = () => [...this.workerProcesses.keys()].forEach((worker) => worker.process.kill('SIGKILL'));
    setTimeout(killAllWorkers, WORKER_STOP_TIMEOUT_MS).unref();
    // Exits even if the embedded PostgreSQL hangs while it stops.
    setTimeout(() => process.exit(this.exitStatus), EXIT_TIMEOUT_MS).unref();
    // If the supervisor is still starting, `run` exits at the end of the start.
    if (this.workerProcesses.size === 0 && this.isRunning) void this.exitGracefully();
  }

  private gracefulExit?: Promise<void>;

  private exitGracefully(): Promise<void> {
    return (this.gracefulExit ??= (async () => {
      await (await this.embeddedDatabase)?.release();
      process.exit(this.exitStatus);
    })().catch(exitWithError));
  }
}
