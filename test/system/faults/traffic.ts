/** Readers and writers that continue through faults, and the outcome of each request. */
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../../setup/server-process';
import { SchedulingDelays, WAIT_LIMIT_MS } from '../../setup/waits';

const PAUSE_MS = 20;

/** Delay between attempts of a write. Ignores Retry-After to save time. */
const RETRY_MS = 200;
const REFRESH_MS = 250;

export interface Outcome {
  what: string;

  /** The HTTP status; 0 without a response. */
  status: number;
  retryAfter: boolean;
  text: string;

  /** The response time, without scheduling delays of this process and the server's. */
  ms: number;

  /** The error code when there was no response, such as ECONNRESET. */
  why?: string;

  /** Whether the connection was reused. */
  reused: boolean;

  /** When the request started, by `performance.now()`. */
  at: number;
}

interface TrafficRequest {
  method?: string;
  path: string;
  headers?: http.OutgoingHttpHeaders;
  body?: unknown;
}

export interface Verdict {
  requests: number;

  /** Counts by status, or by error code when there was no response. */
  outcomes: Record<string, number>;

  /** Responses of 5xx without Retry-After. */
  withoutRetryAfter: Outcome[];

  /** The longest response time. */
  silenceMs: number;

  /** Acknowledged writes that are not stored. */
  lost: string[];

  /** Writes that are stored more than once. */
  doubled: string[];
  acknowledged: number;

  /** Committed writes whose response was not stored under their key. */
  withoutResponse: string[];

  /**
   * The longest time for which a repeated write was rejected because the first one was still
   * running.
   */
  heldMs: number;
}

export class Traffic {
  readonly outcomes: Outcome[] = [];
  private readonly acknowledged: string[] = [];
  private readonly withoutResponse: string[] = [];
  private heldMs = 0;
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  private readonly working: Promise<void>[] = [];
  private readonly mark = `fault ${randomUUID()}`;
  private readonly delays: SchedulingDelays;
  private readonly refreshing: NodeJS.Timeout;
  private isStopped = false;

  constructor(
    private readonly server: Pick<Server, 'url' | 'workers'> & {
      readonly process: { readonly pid?: number };
    },
    private readonly token: string,
  ) {
    const processes = () => server.workers;

    this.delays = new SchedulingDelays([server.process.pid!], processes());
    // Workers are replaced when they end.
    this.refreshing = setInterval(() => this.delays.addStarted(...processes()), REFRESH_MS);
  }

  /** Sends a request, on a kept-alive connection or a new one. */
  async ask(
    what: string,
    { method = 'GET', path, headers = {}, body }: TrafficRequest,
    fresh = false,
  ): Promise<Outcome> {
    const began = performance.now();
    const elapsed = this.elapsed();
    const outcome = await new Promise<Outcome>((resolve) => {
      const done = (status: number, text: string, retryAfter = false, why?: string) =>
        resolve({
          what,
          status,
          retryAfter,
          text,
          ms: elapsed(),
          at: began,
          reused: request.reusedSocket,
          ...(why !== undefined && { why }),
        });
      const request = http.request(`${this.server.url}${path}`, {
        method,
        headers: {
          Authorization: `Token ${this.token}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        agent: fresh ? false : this.agent,
      });
      const failed = (error: NodeJS.ErrnoException) =>
        done(0, '', false, error.code ?? error.message);

      request.on('response', (response) => {
        const chunks: Buffer[] = [];

        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', failed);
        response.on('end', () =>
          done(
            response.statusCode!,
            Buffer.concat(chunks).toString(),
            response.headers['retry-after'] !== undefined,
          ),
        );
      });
      request.setTimeout(WAIT_LIMIT_MS, () =>
        request.destroy(Object.assign(new Error('given up'), { code: 'GIVEN_UP' })),
      );
      request.on('error', failed);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });

    this.outcomes.push(outcome);
    return outcome;
  }

  /**
   * Starts anonymous and signed-in readers over REST and GraphQL, every other one on new
   * connections.
   */
  read(readers: number): this {
    const readRequests: [string, TrafficRequest][] = [
      ['anonymous', { path: '/api/v2/exercise/?limit=3', headers: { Authorization: '' } }],
      ['user', { path: '/api/v2/workout/?limit=1' }],
      [
        'GraphQL',
        {
          method: 'POST',
          path: '/graphql',
          body: { query: '{ workouts(first: 1) { nodes { id } } }' },
        },
      ],
    ];

    for (let reader = 0; reader < readers; reader += 1) {
      const [what, request] = readRequests[reader % readRequests.length]!;

      this.work(async () => {
        await this.ask(what, request, reader % 2 === 1);
        await sleep(PAUSE_MS);
      });
    }

    return this;
  }

  /** Starts writers. Each repeats a write with its idempotency key until its outcome is known. */
  write(writers: number): this {
    for (let writer = 0; writer < writers; writer += 1) {
      let number = 0;

      this.work(async () => {
        await this.writeUntilKnown(`${this.mark} ${writer} ${(number += 1)}`, writer % 2 === 1);
        await sleep(PAUSE_MS);
      });
    }

    return this;
  }

  /** Starts clients that change these workouts repeatedly, each client one at a time. */
  update(clients: number, ids: readonly number[]): this {
    for (let client = 0; client < clients; client += 1) {
      let number = client;

      this.work(async () => {
        const id = ids[(number += clients) % ids.length]!;

        await this.ask('update', {
          method: 'PATCH',
          path: `/api/v2/workout/${id}/`,
          body: { comment: `changed ${number}` },
        });
        await sleep(PAUSE_MS);
      });
    }

    return this;
  }

  private work(step: () => Promise<void>): void {
    this.working.push(
      (async () => {
        while (!this.isStopped) await step();
      })(),
    );
  }

  private async writeUntilKnown(comment: string, byGraphQL: boolean): Promise<void> {
    const headers = { 'Idempotency-Key': randomUUID() };
    const query =
      'mutation ($comment: String!) { createWorkout(input: { name: $comment }) { workout { id } } }';
    const request: TrafficRequest = byGraphQL
      ? { method: 'POST', path: '/graphql', headers, body: { query, variables: { comment } } }
      : { method: 'POST', path: '/api/v2/workout/', headers, body: { comment } };
    let heldFor: (() => number) | undefined;

    for (
      const end = performance.now() + WAIT_LIMIT_MS;
      performance.now() < end;
      await sleep(RETRY_MS)
    ) {
      const { status, retryAfter, text } = await this.ask(
        byGraphQL ? 'mutation' : 'write',
        request,
      );

      if (status === 201 || (status === 200 && text.includes('"workout":{"id"'))) {
        return void this.acknowledged.push(comment);
      }

      if (status === 409 && !retryAfter) return void this.withoutResponse.push(comment);

      if (status === 409) {
        heldFor ??= this.elapsed();
        this.heldMs = Math.max(this.heldMs, heldFor());
      }

      // Written, but the result could not be read.
      const unread = status === 200 && text.includes('SERVICE_UNAVAILABLE');

      if (status !== 0 && status < 500 && status !== 409 && !unread) {
        throw new Error(`unexpected answer ${status}: ${text}`);
      }
    }

    throw new Error(`the outcome of the write ${comment} is unknown`);
  }

  /** Returns a function for the time from now on, without scheduling delays. */
  private elapsed(): () => number {
    const [began, delays] = [performance.now(), this.delays.measure()];

    return () => performance.now() - began - delays();
  }

  get acknowledgedSoFar(): number {
    return this.acknowledged.length;
  }

  /** The number of responses with this status so far. */
  counted(status: number): number {
    return this.outcomes.filter((outcome) => outcome.status === status).length;
  }

  /** Waits for running requests and evaluates them against the stored comments of all workouts. */
  async end(stored: () => Promise<string[]>): Promise<Verdict> {
    this.isStopped = true;
    await Promise.all(this.working);
    clearInterval(this.refreshing);
    this.agent.destroy();
    const times = new Map<string, number>();

    for (const comment of await stored()) times.set(comment, (times.get(comment) ?? 0) + 1);
    const outcomes: Record<string, number> = {};

    for (const { status, why } of this.outcomes) {
      const name = status ? String(status) : why!;

      outcomes[name] = (outcomes[name] ?? 0) + 1;
    }

    return {
      requests: this.outcomes.length,
      outcomes,
      withoutRetryAfter: this.outcomes.filter(
        ({ status, retryAfter }) => status >= 500 && !retryAfter,
      ),
      silenceMs: Math.round(Math.max(...this.outcomes.map(({ ms }) => ms))),
      lost: [...this.acknowledged, ...this.withoutResponse].filter(
        (comment) => !times.has(comment),
      ),
      doubled: [...times].filter(([, count]) => count > 1).map(([comment]) => comment),
      acknowledged: this.acknowledged.length,
      withoutResponse: this.withoutResponse,
      heldMs: Math.round(this.heldMs),
    };
  }
}
