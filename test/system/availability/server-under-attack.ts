/** A server process under attack: measures response times, liveness and memory. */
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { childrenOf } from '../../database/processes';
import {
  build,
  DEFAULT_WORKER_TIMEOUT,
  Installation,
  type Server,
} from '../../setup/server-process';
import { schedulingDelay, threadDelays, WAIT_LIMIT_MS } from '../../setup/waits';

/** Limits for a response and for `/health/live`, to which scheduling delays are added. */
export const RESPONSE_LIMIT_MS = 2_000;
export const LIVENESS_LIMIT_MS = 500;
export const MEMORY_MB = 600;

const { PRIORITY_HIGH, PRIORITY_NORMAL } = os.constants.priority;

/**
 * Sets the priority of this process and of the servers that it starts, so that other tests on the
 * machine do not delay them. Only root may do so.
 */
function setPriority(priority: number): void {
  if (os.userInfo().uid === 0) os.setPriority(priority);
}

export const raisePriority = (): void => setPriority(PRIORITY_HIGH);
export const resetPriority = (): void => setPriority(PRIORITY_NORMAL);

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  ms: number;
}

/** Sends a request on a new connection. Status 0 means that there was no response. */
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
    const none = (text: string) =>
      resolve({ status: 0, headers: {}, text, ms: performance.now() - began });
    // A path in a URL would be percent-encoded, which makes some of them three times as long.
    const request = http.request(base, { method, path, headers, agent: false }, (response) => {
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

    request.setTimeout(WAIT_LIMIT_MS, () => request.destroy(new Error('timed out')));
    request.on('error', (error) => none(error.message));
    request.end(body);
  });
}

export const graphql = (
  base: string,
  query: string,
  variables?: unknown,
  headers: http.OutgoingHttpHeaders = {},
): Promise<Reply> =>
  send(base, {
    method: 'POST',
    path: '/graphql',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });

export const p95 = (replies: readonly Reply[]): number =>
  replies.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(replies.length * 0.95)]!;

export interface Measurement<T> {
  result: T;

  /** The longest response time of `/health/live`, without scheduling delays. */
  aliveMs: number;

  /** Limit for response times: ANSWERED_MS and the scheduling delays during the attack. */
  answerLimitMs: number;

  /** Peak memory of the worker process. */
  memoryMb: number;
}

export class Siege {
  private constructor(
    private readonly installation: Installation,
    readonly server: Server,
    private readonly workers = server.workers,
  ) {}

  /**
   * Starts a server. By default, statements may wait 10 s for a connection, because on a busy
   * machine those before them take longer. Tests measure response times without scheduling delays.
   */
  static async start(environment: Record<string, string> = {}): Promise<Siege> {
    build();
    raisePriority();
    const installation = await Installation.started({
      ...DEFAULT_WORKER_TIMEOUT,
      LOG_LEVEL: 'warn',
      MAX_WAIT: '10s',
      // As for attackers whose requests all differ.
      RESULT_CACHE: 'off',
      ...environment,
    });

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

  /** Creates a user and returns the user's token. */
  async user(name: string): Promise<string> {
    const { stdout } = await this.installation.command(
      'user',
      'create',
      name,
      '--password',
      `password of ${name}`,
    );

    return /\b[0-9a-f]{40}\b/.exec(stdout)![0];
  }

  /** The process that serves requests. */
  get worker(): number {
    return this.workers[0]!;
  }

  async end(): Promise<void> {
    await this.installation.remove();
    resetPriority();
  }

  /**
   * Returns a function for the scheduling delays, from now on, of all processes and threads that
   * serve a request, in milliseconds. One database or image process, or thread of the worker,
   * serves it at a time, so only the largest of their delays counts.
   */
  delays(helperProcesses = this.helperProcesses()): () => number {
    const delaysOf = () => [
      ...helperProcesses.map((pid) => [String(pid), schedulingDelay(pid)] as const),
      ...threadDelays(this.worker),
    ];
    const [main, before] = [schedulingDelay(process.pid, this.worker), new Map(delaysOf())];

    return () => {
      const grown = delaysOf().map(([id, delay]) =>
        id === String(this.worker) ? 0 : delay - (before.get(id) ?? 0),
      );

      return schedulingDelay(process.pid, this.worker) - main + Math.max(0, ...grown);
    };
  }

  /** Database and image processes. */
  private helperProcesses(): number[] {
    return [
      ...this.installation.processes.filter((pid) => pid !== this.worker),
      ...childrenOf(this.worker, 'image-worker.js'),
    ];
  }

  /** Returns a function that sends requests and subtracts scheduling delays from their `ms`. */
  timer(): (request: () => Promise<Reply>) => Promise<Reply> {
    const helperProcesses = this.helperProcesses();

    return async (request) => {
      const delays = this.delays(helperProcesses);
      const reply = await request();

      return { ...reply, ms: reply.ms - delays() };
    };
  }

  /** Runs an attack while a thread probes the liveness of the server. */
  async measureDuring<T>(attack: () => Promise<T>): Promise<Measurement<T>> {
    const watch = new Worker(path.join(__dirname, 'liveness-monitor.js'), {
      workerData: { base: this.base, server: this.worker, limitMs: WAIT_LIMIT_MS },
    });

    try {
      await once(watch, 'message');
      const delays = this.delays();
      const result = await attack();
      const answerLimitMs = RESPONSE_LIMIT_MS + delays();
      const longest = once(watch, 'message');

      watch.postMessage('over');
      const [aliveMs] = (await longest) as [number];

      return { result, aliveMs, answerLimitMs, memoryMb: this.memoryMb };
    } finally {
      await watch.terminate();
    }
  }

  /** Peak resident memory; infinite if a worker has crashed and been replaced. */
  private get memoryMb(): number {
    if (this.server.workers.join() !== this.workers.join()) return Infinity;
    const peaks = this.workers.map((pid) =>
      Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]),
    );

    return Math.max(...peaks) / 1024;
  }
}
