/**
 * Concurrency limiter (bulkhead, https://en.wikipedia.org/wiki/Bulkhead_pattern) with a bounded fair queue: round robin over clients, first in first
 * out within one. In a full queue, an entry of a client with fewer displaces the newest one of the client with the most. Libraries such as p-limit have
 * neither a share for each client nor a bound and a deadline of the queue.
 */

/** Thrown before any of the work was done, so it can be retried. */
export class OverloadedError extends Error {
  constructor() {
    super('too many requests wait for the same resource');
  }
}

export interface LimiterOptions {
  slots: number;
  /** Default: all slots. */
  slotsPerClient?: number;
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Default: unlimited. */
  maxWaitMs?: number;
}

export interface QueuedWork<Client> {
  readonly client: Client;
  /** Whether the work was admitted before. Resumed work has priority, waits longer and does not count against the bounds of the queue. */
  readonly isResumed: boolean;
  start(): void;
  reject(error: Error): void;
  timer?: NodeJS.Timeout;
}

/** Resumed work waits this much longer, because its progress would be lost. */
const RESUMED_WAIT_FACTOR = 10;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Queues by client, in round-robin order. */
type Queues<Client> = Map<Client, Set<QueuedWork<Client>>>;

export class Limiter<Client> {
  readonly limits: Required<LimiterOptions>;
  private readonly running = new Map<Client, number>();
  private readonly resumed: Queues<Client> = new Map();
  private readonly fresh: Queues<Client> = new Map();
  private busy = 0;
  private queuedFresh = 0;
  private queuedResumed = 0;
  private rejected = 0;

  constructor({
    slots,
    slotsPerClient = slots,
    maxQueued = Infinity,
    maxQueuedPerClient = Infinity,
    maxWaitMs = Infinity,
  }: LimiterOptions) {
    this.limits = { slots, slotsPerClient, maxQueued, maxQueuedPerClient, maxWaitMs };
  }

  get state(): { slots: number; busy: number; queued: number; rejected: number } {
    return { slots: this.limits.slots, busy: this.busy, queued: this.queuedFresh + this.queuedResumed, rejected: this.rejected };
  }

  /**
   * Takes a slot, which `release` must return, as soon as one is free. Throws Overloaded if the queue is full or the wait exceeds `maxWaitMs`.
   * `onQueued` receives the entry to `cancel`, if the work has to wait.
   */
  waitForSlot(client: Client, isResumed = false, onQueued?: (queued: QueuedWork<Client>) => void): Promise<void> {
    return new Promise<void>((start, reject) => {
      const queued = this.acquire(client, isResumed, start, reject);
      if (queued) onQueued?.(queued);
      else start();
    });
  }

  /** Runs `work` as soon as a slot is free. Throws as `waitForSlot` does. */
  async run<T>(client: Client, work: () => Promise<T>): Promise<T> {
    await this.waitForSlot(client);
    try {
      return await work();
    } finally {
      this.release(client);
    }
  }

  /** Takes a free slot, which `release` must return; returns false if there is none. */
  tryAcquire(client: Client): boolean {
    const isFree = this.hasSlot(client);
    if (isFree) this.takeSlot(client);
    return isFree;
  }

  slotsOf(client: Client): number {
    return this.running.get(client) ?? 0;
  }

  /**
   * Takes a slot, which `release` must return, and returns undefined; or queues the work and returns its entry. Then `start` is called once a slot
   * is taken, or `reject` after `maxWaitMs`. Throws Overloaded if the queue is full.
   */
  acquire(client: Client, isResumed: boolean, start: () => void, reject: (error: Error) => void): QueuedWork<Client> | undefined {
    if (this.tryAcquire(client)) return undefined;
    if (!isResumed && !this.makeRoom(client)) {
      this.rejected += 1;
      throw new OverloadedError();
    }
    return this.enqueue({ client, isResumed, start, reject });
  }

  release(client: Client): void {
    this.busy -= 1;
    const remaining = this.slotsOf(client) - 1;
    if (remaining) this.running.set(client, remaining);
    else this.running.delete(client);
    const next = this.takeNext(this.resumed) ?? this.takeNext(this.fresh);
    if (!next) return;
    this.takeSlot(next.client);
    next.start();
  }

  cancel(queued: QueuedWork<Client>, error: Error): void {
    if (this.dequeue(queued)) queued.reject(error);
  }

  private hasSlot(client: Client): boolean {
    return this.busy < this.limits.slots && this.slotsOf(client) < this.limits.slotsPerClient;
  }

  private takeSlot(client: Client): void {
    this.busy += 1;
    this.running.set(client, this.slotsOf(client) + 1);
  }

  private enqueue(queued: QueuedWork<Client>): QueuedWork<Client> {
    const queues = queued.isResumed ? this.resumed : this.fresh;
    const queue = queues.get(queued.client) ?? new Set();
    queues.set(queued.client, queue.add(queued));
    if (queued.isResumed) this.queuedResumed += 1;
    else this.queuedFresh += 1;
    const waitMs = this.limits.maxWaitMs * (queued.isResumed ? RESUMED_WAIT_FACTOR : 1);
    if (waitMs <= MAX_TIMER_MS) queued.timer = setTimeout(() => this.shed(queued), waitMs).unref();
    return queued;
  }

  private dequeue(queued: QueuedWork<Client>): boolean {
    const queues = queued.isResumed ? this.resumed : this.fresh;
    const queue = queues.get(queued.client);
    if (!queue?.delete(queued)) return false;
    if (!queue.size) queues.delete(queued.client);
    if (queued.isResumed) this.queuedResumed -= 1;
    else this.queuedFresh -= 1;
    clearTimeout(queued.timer);
    return true;
  }

  private shed(queued: QueuedWork<Client>): void {
    this.rejected += 1;
    this.cancel(queued, new OverloadedError());
  }

  /** Removes and returns the first entry of the next client that may have a slot, and moves that client to the end. */
  private takeNext(queues: Queues<Client>): QueuedWork<Client> | undefined {
    for (const [client, queue] of queues) {
      if (!this.hasSlot(client)) continue;
      const [first] = queue;
      this.dequeue(first!);
      if (queues.delete(client)) queues.set(client, queue);
      return first;
    }
    return undefined;
  }

  /** Whether one more entry of this client may be queued; sheds one of the client with the longest queue if necessary. */
  private makeRoom(client: Client): boolean {
    const { maxQueued, maxQueuedPerClient } = this.limits;
    const queuedOfClient = this.fresh.get(client)?.size ?? 0;
    if (queuedOfClient >= maxQueuedPerClient) return false;
    if (this.queuedFresh < maxQueued) return true;
    const longest = [...this.fresh.values()].reduce((one, other) => (other.size > one.size ? other : one), new Set<QueuedWork<Client>>());
    if (longest.size <= queuedOfClient + 1) return false;
    this.shed([...longest].at(-1)!);
    return true;
  }
}
