/** The real server in a process of its own under attack: how long it takes to answer, whether it lives meanwhile, and how much memory it takes. */
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { childrenOf } from '../../database/processes';
import { build, Installation, type Server } from '../../server/running';
import { schedulingDelay, WAIT_LIMIT_MS } from '../../setup/waits';

/** Limits for an answer or refusal, and for `/health/live` meanwhile; the time in which processes had no processor comes on top. */
export const ANSWERED_MS = 2_000;
export const ALIVE_MS = 500;
export const MEMORY_MB = 600;

/**
 * What is promised of time holds for a machine that has time for it. The server and who watches it come before the tests that run beside them
 * where the tests may say so, which root alone may.
 */
function goFirst(): void {
  if (os.userInfo().uid === 0) os.setPriority(os.constants.priority.PRIORITY_HIGH);
}

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  ms: number;
}

/** By a connection of its own, so that what others do is not in its way. A status of 0: no answer before it was given up. */
export function send(
  base: string,
  {
    method = 'GET',
    path,
    headers = {},
    body,
  }: { method?: string; path: string; headers?: http.OutgoingHttpHeaders; body?: string | Buffer },
): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve) => {
    const none = (text: string) => resolve({ status: 0, headers: {}, text, ms: performance.now() - began });
    const request = http.request(`${base}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => none(error.message));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
          ms: performance.now() - began,
        }),
      );
    });
    request.setTimeout(WAIT_LIMIT_MS, () => request.destroy(new Error('given up')));
    request.on('error', (error) => none(error.message));
    request.end(body);
  });
}

export const graphql = (base: string, query: string, variables?: unknown, headers: http.OutgoingHttpHeaders = {}): Promise<Reply> =>
  send(base, {
    method: 'POST',
    path: '/graphql',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });

export const p95 = (replies: readonly Reply[]): number =>
  replies.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(replies.length * 0.95)]!;

export interface Damage<T> {
  result: T;
  /** The longest time that `/health/live` took, without scheduling delays. */
  aliveMs: number;
  /** The most that an answer may take: ANSWERED_MS and the scheduling delays during the attack. */
  answerLimitMs: number;
  /** The most memory that the process which answers has held so far. */
  memoryMb: number;
}

export class Siege {
  private constructor(
    private readonly installation: Installation,
    readonly server: Server,
    private readonly workers = server.workers,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<Siege> {
    build();
    goFirst();
    const installation = await Installation.started({ LOG_LEVEL: 'warn', ...environment });
    return new Siege(installation, await installation.start());
  }

  get base(): string {
    return this.server.url;
  }

  get dataDir(): string {
    return this.installation.dataDir;
  }

  get token(): string {
    return this.server.demo.token;
  }

  /** The token of somebody new. */
  async user(name: string): Promise<string> {
    const { stdout } = await this.installation.command('user', 'create', name, '--password', `password of ${name}`);
    return /\b[0-9a-f]{40}\b/.exec(stdout)![0];
  }

  /** The process that answers. */
  get worker(): number {
    return this.workers[0]!;
  }

  async end(): Promise<void> {
    await this.installation.remove();
    if (os.userInfo().uid === 0) os.setPriority(os.constants.priority.PRIORITY_NORMAL);
  }

  /**
   * Returns a function for the scheduling delays, from now on, of all that an answer depends on, in milliseconds. A request is served by one process
   * of the database at a time, or by one that reads images, so that only the largest of their delays counts.
   */
  delays(others = this.others()): () => number {
    const delaysOf = (pids: number[]) => pids.map((pid) => schedulingDelay(pid));
    const [main, rest] = [schedulingDelay(process.pid, this.worker), delaysOf(others)];
    return () => {
      const grown = delaysOf(others).map((delay, index) => delay - rest[index]!);
      return schedulingDelay(process.pid, this.worker) - main + Math.max(0, ...grown);
    };
  }

  /** Processes of the database and of images. */
  private others(): number[] {
    return [...this.installation.processes.filter((pid) => pid !== this.worker), ...childrenOf(this.worker, 'imageworker.js')];
  }

  /** Sends requests whose `ms` are without scheduling delays. */
  timer(): (request: () => Promise<Reply>) => Promise<Reply> {
    const others = this.others();
    return async (request) => {
      const delays = this.delays(others);
      const reply = await request();
      return { ...reply, ms: reply.ms - delays() };
    };
  }

  /** Runs an attack while a thread probes whether the server lives. */
  async under<T>(attack: () => Promise<T>): Promise<Damage<T>> {
    const watch = new Worker(path.join(__dirname, 'watch.js'), {
      workerData: { base: this.base, server: this.worker, limitMs: WAIT_LIMIT_MS },
    });
    try {
      await once(watch, 'message');
      const delays = this.delays();
      const result = await attack();
      const answerLimitMs = ANSWERED_MS + delays();
      const longest = once(watch, 'message');
      watch.postMessage('over');
      const [aliveMs] = (await longest) as [number];
      return { result, aliveMs, answerLimitMs, memoryMb: this.memoryMb };
    } finally {
      await watch.terminate();
    }
  }

  /** Peak of the resident set. A worker that had to be replaced has broken down, whatever the next one takes. */
  private get memoryMb(): number {
    if (this.server.workers.join() !== this.workers.join()) return Infinity;
    const peaks = this.workers.map((pid) => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]));
    return Math.max(...peaks) / 1024;
  }
}
