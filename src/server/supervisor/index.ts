/**
 * The process that keeps the server answering. It answers no request itself. It owns the embedded database, so that this outlives each worker,
 * starts the workers, which share the port, and puts another one in the place of each that has crashed or hangs.
 * It never listens itself: those who came between that and the first worker would be reset.
 *
 * A worker hangs when its loop has not turned for `WORKER_TIMEOUT`. Before that a spare one is started, which has all the code in memory and its
 * schemas made when it is needed, and is ended when it is not. Where one worker answers alone a spare one is always there. It takes the port over
 * before the one that hangs is killed, so that connections wait for it and none is reset. What the killed one had acknowledged is in the database.
 */
import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../platform/config';
import { openEmbedded, type Embedded } from '../../database/embedded';
import { ENDS, fail, onSignal } from '../ending';
import { createLog } from '../../platform/logging';
import { checkFiles } from '../files';
import { serveMetrics } from '../../telemetry/scrape';
import type { WorkersMetrics } from '../../telemetry/workers';
import type { Order, Report } from '../worker';
import { Keeper } from './keeper';
import { freePort } from './port';

/**
 * Of the workers, before whatever this process was started with: without them lists of thousands of rows wait for the collector. What a worker holds
 * for long, some 55 MB, may grow by so many percent before all of it is looked through: a file of a million rows keeps it below 300 MB in all so.
 */
export const MEMORY_FLAGS = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--heap-growing-percent=125'];

const CHECK_MS = 100;
/** A check so late was not the workers' fault: this process, and so perhaps they too, did not run meanwhile. */
const LATE_MS = 1_000;
/** Loading code and reading tables keeps the loop of a worker that starts busy. */
const START_SILENCE_MS = 60_000;
/** Of the time after which it is given up: from then on a silent worker is one that may hang. */
const SUSPICIOUS = 0.4;
/** Requests that run have 7 s to finish, a worker ends within 9, and the whole end takes no more than 10 s. */
const STOP_MS = 9_200;
const HARD_END_MS = 9_800;
/** So long the one that hangs is left alive for another to take its port over: when it is killed before that, connections are reset. */
const HANDOVER_MS = 15_000;
/** Where one worker answers alone, another one is kept in memory: this long after the last one began, when nobody waits for the start any more. */
const SPARE_AFTER_MS = 10_000;
/** Between starts that failed: twice as long each time. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const MAX_FAILED_STARTS = 6;

interface Member {
  worker: Worker;
  /** `spare`: waits for its orders. `leaving`: finishes what it has begun, and reports no more. */
  state: 'spare' | 'starting' | 'serving' | 'leaving';
  /** When it reported last, by the clock of this process. */
  lastReport: number;
  replaced: boolean;
}

const now = () => performance.now();
const begun = ({ state }: Member) => state === 'serving' || state === 'leaving';
const described = ({ worker }: Member) => ({ pid: worker.process.pid });

export class Supervisor {
  private readonly members = new Map<Worker, Member>();
  private readonly log;
  private keeper?: Keeper;
  /** Undefined where DATABASE_URL names another one. */
  private embedded?: Promise<Embedded>;
  private metrics?: WorkersMetrics;
  private port = 0;
  /** Whether a worker has ever served; until then a failure is one of the configuration, which the worker has told. */
  private begun = false;
  private running = false;
  private failedStarts = 0;
  private checked = now();
  /** When a worker was ordered to serve last. */
  private ordered = now();
  private stopping = false;
  private status = 0;

  constructor(private readonly config: Config) {
    this.log = createLog(config.logLevel);
  }

  /** Resolves once the first worker is started. */
  async run(): Promise<void> {
    checkFiles(this.config);
    this.keeper = new Keeper();
    onSignal(ENDS, () => this.stop());
    const { host, port } = this.config;
    this.port = await freePort(host, port);
    await this.measure();
    this.running = true;
    if (this.stopping) return this.end();
    // The kernel hands connections to whoever has time for them. Were this process to do so, one on its way to a worker that dies then
    // would never be answered and never be closed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: join(__dirname, '../worker.js'), execArgv: [...MEMORY_FLAGS, ...process.execArgv] });
    cluster.on('message', (worker, report: Report) => this.receive(worker, report));
    cluster.on('disconnect', (worker) => this.left(worker));
    cluster.on('exit', (worker, status, signal) => this.lost(worker, status, signal));
    setInterval(() => this.check(), CHECK_MS);
    const first = this.fork();
    if (!first) return this.giveIn(1, 'no process can be started');
    const { databaseUrl, dataDir } = this.config;
    // It starts while the worker loads its code.
    if (!databaseUrl) this.embedded = openEmbedded({ dataDir, restart: true, log: (message) => this.log.info(message) }).catch(fail);
    this.order(first);
  }

  private async measure(): Promise<void> {
    const { metrics } = this.config;
    if (!metrics) return;
    const { WorkersMetrics } = await import('../../telemetry/workers.ts');
    this.metrics = new WorkersMetrics(() => this.serving.map(({ worker }) => worker));
    if (metrics.port === undefined) return;
    const server = await serveMetrics(metrics, this.metrics.scrape);
    this.log.info(server.address() as AddressInfo, 'metrics');
  }

  private get serving(): Member[] {
    return [...this.members.values()].filter(({ state, replaced }) => state === 'serving' && !replaced);
  }

  private get spare(): Member | undefined {
    return [...this.members.values()].find(({ state }) => state === 'spare');
  }

  /** Undefined where the system has no descriptors or memory for another process. */
  private fork(args: string[] = []): Member | undefined {
    cluster.setupPrimary({ args });
    const worker = cluster.fork();
    worker.on('error', (error) => this.log.error({ err: error }, 'a worker cannot be started or reached'));
    if (worker.process.pid === undefined) return undefined;
    const member: Member = { worker, state: 'spare', lastReport: now(), replaced: false };
    this.members.set(worker, member);
    this.keep();
    return member;
  }

  private send(member: Member, order: Order): void {
    // One that has ended meanwhile is told by its exit.
    member.worker.send(order, () => undefined);
  }

  private order(member: Member): void {
    member.state = 'starting';
    this.ordered = now();
    member.lastReport = now();
    void this.orderOnceDatabaseRuns(member);
  }

  private async orderOnceDatabaseRuns(member: Member): Promise<void> {
    const embedded = await this.embedded;
    await embedded?.ready();
    this.send(member, { kind: 'serve', port: this.port, announce: !this.begun, embedded: embedded?.connection });
  }

  private replace(): Member | undefined {
    if (this.stopping) return undefined;
    const member = this.spare ?? this.fork();
    if (member) this.order(member);
    else this.replaceLater();
    return member;
  }

  private receive(worker: Worker, report: Report): void {
    const member = this.members.get(worker);
    if (!member || member.replaced) return;
    member.lastReport = now();
    if (report !== 'ready') return;
    member.state = 'serving';
    this.failedStarts = 0;
    // Migrations and first data are there now, so the others need not wait for each other.
    const first = !this.begun;
    this.begun = true;
    if (!first) return;
    for (let number = 1; number < this.config.workers; number += 1) this.replace();
  }

  private check(): void {
    const at = now();
    if (at - this.checked > CHECK_MS + LATE_MS) for (const member of this.members.values()) member.lastReport = at;
    this.checked = at;
    const { workerTimeout } = this.config;
    let suspected = false;
    for (const member of this.members.values()) {
      const limit = member.state === 'serving' ? workerTimeout : workerTimeout && START_SILENCE_MS;
      if (!limit || member.replaced || member.state === 'leaving') continue;
      const silence = at - member.lastReport;
      if (silence > limit) this.giveUp(member, silence);
      else if (member.state === 'serving' && silence > limit * SUSPICIOUS) suspected = true;
    }
    const { spare } = this;
    const isAlone = this.config.workers === 1 && this.begun && at - this.ordered > SPARE_AFTER_MS;
    if (!suspected && !isAlone) spare?.worker.process.kill('SIGKILL');
    else if (!spare && !this.stopping) this.fork(['spare']);
  }

  private giveUp(member: Member, silence: number): void {
    member.replaced = true;
    this.metrics?.lost('hung');
    this.log.error(
      { ...described(member), silentMs: Math.round(silence) },
      'a worker hangs: it is killed, and another one takes its place',
    );
    const kill = () => void member.worker.process.kill('SIGKILL');
    const others = this.serving.length > 0;
    const next = member.state === 'spare' ? undefined : this.replace();
    if (!next || others) return kill();
    const deadline = setTimeout(kill, HANDOVER_MS);
    next.worker.once('listening', () => {
      clearTimeout(deadline);
      kill();
    });
  }

  /** One that crashes leaves too; `lost` says so then. */
  private left(worker: Worker): void {
    const member = this.members.get(worker);
    if (member?.state !== 'serving' || member.replaced) return;
    member.state = 'leaving';
    setTimeout(() => worker.process.kill('SIGKILL'), STOP_MS).unref();
  }

  private lost(worker: Worker, status: number | null, signal: string | null): void {
    const member = this.members.get(worker);
    if (!member) return;
    this.members.delete(worker);
    this.keep();
    if (this.stopping) {
      if (status) this.status = status;
      if (this.members.size === 0) void this.end();
      return;
    }
    if (member.replaced || member.state === 'spare') return;
    if (!this.begun) return this.giveIn(status ?? 1, signal ? `the server was ended by ${signal} while it started` : undefined);
    const ended = { ...described(member), status: status ?? undefined, signal: signal ?? undefined };
    if (status !== 0) this.metrics?.lost('crashed');
    if (begun(member)) {
      this.log[status === 0 ? 'info' : 'error'](ended, 'a worker has ended, and another one takes its place');
      return void this.replace();
    }
    this.log.error(ended, 'a worker ended while it started');
    if (this.failedStarts + 1 >= MAX_FAILED_STARTS && this.serving.length === 0)
      return this.giveIn(1, `no worker could be started, ${this.failedStarts + 1} times in a row`);
    this.replaceLater();
  }

  private replaceLater(): void {
    this.failedStarts += 1;
    setTimeout(() => this.replace(), Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failedStarts - 1)));
  }

  private keep(): void {
    this.keeper!.know([...this.members.keys()].map(({ process: { pid } }) => pid!));
  }

  private giveIn(status: number, message?: string): void {
    this.status = status;
    if (message) process.stderr.write(`fitgraph: ${message}\n`);
    this.stop();
  }

  private stop(): void {
    this.stopping = true;
    for (const member of this.members.values()) member.worker.process.kill(member.state === 'spare' ? 'SIGKILL' : 'SIGTERM');
    const deadline = () => [...this.members.keys()].forEach((worker) => worker.process.kill('SIGKILL'));
    setTimeout(deadline, STOP_MS).unref();
    // An embedded database may hang while it stops.
    setTimeout(() => process.exit(this.status), HARD_END_MS).unref();
    // Until then `run` sees to it.
    if (this.members.size === 0 && this.running) void this.end();
  }

  private ending?: Promise<void>;

  private end(): Promise<void> {
    return (this.ending ??= (async () => {
      await (await this.embedded)?.release();
      process.exit(this.status);
    })().catch(fail));
  }
}
