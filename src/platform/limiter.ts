/**
 * Concurrency limiter (bulkhead, https://en.wikipedia.org/wiki/Bulkhead_pattern) with a bounded fair queue: the client with the fewest busy slots is next,
 * round robin among equals, first in first out for each client. If the queue is full, an entry of a client with few entries displaces the newest entry of the client with the most. Libraries such as
 * p-limit limit neither the slots of a client nor the length and the waiting time of the queue.
 */

/** Client of a concurrency limiter: a user's id, the network of an anonymous client, or a name for the server itself. */
export type LimiterClientKey = string | number;

export const SERVER_CLIENT_KEY = 'own';

/** Error of work that is rejected because of overload. The rejected work has not begun, so that it can be retried. */
export class OverloadedError extends Error {
  constructor() {
    super('too many requests are waiting for the same resource');
  }
}

export interface LimiterOptions {
  slots: number;
  /** Maximum number of slots that one client may occupy at a time. Default: all slots of the limiter. */
  slotsPerClient?: number;
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Maximum time for which work waits in the queue for a slot. Default: unlimited. */
  maxWaitMs?: number;
}

export interface QueuedWork<Client> {
  readonly client: Client;
  /**
   * Whether the work continues a request that had a slot before. Resumed work has priority among clients with equally many busy slots, may wait longer, and
   * does not count towards the limits of the queue.
   */
  readonly isResumed: boolean;
  start(): void;
  reject(error: Error): void;
  timer?: NodeJS.Timeout;
}

/** Factor by which resumed work may wait longer, because a rejection would waste what the request has already done. */
const RESUMED_WAIT_FACTOR = 10;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Queues by client, in round-robin order. */
type QueuesByClient<Client> = Map<Client, Set<QueuedWork<Client>>>;

export class ConcurrencyLimiter<Client> {
  readonly limits: Required<LimiterOptions>;
  private readonly slotsByClient = new Map<Client, number>();
  private readonly resumedWorkQueues: QueuesByClient<Client> = new Map();
  /** Queues of new work: no earlier work of the same request has had a slot. */
  private readonly newWorkQueues: QueuesByClient<Client> = new Map();
  private busySlots = 0;
  private queuedNewWorkCount = 0;
  private queuedResumedWorkCount = 0;
  private rejectedCount = 0;

  constructor({
    slots,
    slotsPerClient = slots,
    maxQueued = Infinity,
    maxQueuedPerClient = Infinity,
    maxWaitMs = Infinity,
  }: LimiterOptions) {
    this.limits = { slots, slotsPerClient, maxQueued, maxQueuedPerClient, maxWaitMs };
  }

  get usage(): { slots: number; busy: number; queued: number; rejected: number } {
    return {
      slots: this.limits.slots,
      busy: this.busySlots,
      queued: this.queuedNewWorkCount + this.queuedResumedWorkCount,
      rejected: this.rejectedCount,
    };
  }

  /**
   * Waits for a free slot and takes it; return it with `release`. Throws OverloadedError if the queue is full or the wait exceeds `maxWaitMs`. If the work
   * has to wait, `onQueued` receives its queue entry, which can be passed to `cancel`.
   */
  waitForSlot(
    client: Client,
    isResumed = false,
    onQueued?: (queuedWork: QueuedWork<Client>) => void,
  ): Promise<void> {
    return new Promise<void>((start, reject) => {
      const queuedWork = this.acquireOrQueue(client, isResumed, start, reject);
      if (queuedWork) onQueued?.(queuedWork);
      else start();
    });
  }

  /** Runs `callback` as soon as a slot is free. If the queue is full or the wait takes too long, throws OverloadedError instead of running it. */
  async run<T>(client: Client, callback: () => Promise<T>): Promise<T> {
    await this.waitForSlot(client);
    try {
      return await callback();
    } finally {
      this.release(client);
    }
  }

  /** Takes a slot, which the caller must return with `release`. Returns false if no slot is free. */
  tryAcquire(client: Client): boolean {
    const isFree = this.hasFreeSlot(client);
    if (isFree) this.takeSlot(client);
    return isFree;
  }

  busySlotsOf(client: Client): number {
    return this.slotsByClient.get(client) ?? 0;
  }

  /**
   * Takes a free slot and returns undefined, or queues the work and returns its entry. For queued work, `start` is called when a slot has been taken, or
   * `reject` after `maxWaitMs`. Return the slot with `release`. Throws OverloadedError if the queue is full.
   */
  acquireOrQueue(
    client: Client,
    isResumed: boolean,
    start: () => void,
    reject: (error: Error) => void,
  ): QueuedWork<Client> | undefined {
    if (this.tryAcquire(client)) return undefined;
    if (!isResumed && !this.tryMakeRoom(client)) {
      this.rejectedCount += 1;
      throw new OverloadedError();
    }
    return this.enqueue({ client, isResumed, start, reject });
  }

  /** Frees a slot of a client and starts the next queued work. */
  release(client: Client): void {
    this.busySlots -= 1;
    const remainingBusySlots = this.busySlotsOf(client) - 1;
    if (remainingBusySlots) this.slotsByClient.set(client, remainingBusySlots);
    else this.slotsByClient.delete(client);
    const nextWork = this.takeNext();
    if (!nextWork) return;
    this.takeSlot(nextWork.client);
    nextWork.start();
  }

  /** Removes work from the queue and passes `error` to the `reject` callback of that work. */
  cancel(queuedWork: QueuedWork<Client>, error: Error): void {
    if (this.dequeue(queuedWork)) queuedWork.reject(error);
  }

  private hasFreeSlot(client: Client): boolean {
    return (
      this.busySlots < this.limits.slots && this.busySlotsOf(client) < this.limits.slotsPerClient
    );
  }

  private takeSlot(client: Client): void {
    this.busySlots += 1;
    this.slotsByClient.set(client, this.busySlotsOf(client) + 1);
  }

  private enqueue(queuedWork: QueuedWork<Client>): QueuedWork<Client> {
    const queues = queuedWork.isResumed ? this.resumedWorkQueues : this.newWorkQueues;
    const queue = queues.get(queuedWork.client) ?? new Set();
    queues.set(queuedWork.client, queue.add(queuedWork));
    if (queuedWork.isResumed) this.queuedResumedWorkCount += 1;
    else this.queuedNewWorkCount += 1;
    const waitMs = this.limits.maxWaitMs * (queuedWork.isResumed ? RESUMED_WAIT_FACTOR : 1);
    if (waitMs <= MAX_TIMER_MS)
      queuedWork.timer = setTimeout(() => this.rejectOverdueWork(queuedWork), waitMs).unref();
    return queuedWork;
  }

  private dequeue(queuedWork: QueuedWork<Client>): boolean {
    const queues = queuedWork.isResumed ? this.resumedWorkQueues : this.newWorkQueues;
    const queue = queues.get(queuedWork.client);
    if (!queue?.delete(queuedWork)) return false;
    if (!queue.size) queues.delete(queuedWork.client);
    if (queuedWork.isResumed) this.queuedResumedWorkCount -= 1;
    else this.queuedNewWorkCount -= 1;
    clearTimeout(queuedWork.timer);
    return true;
  }

  private rejectOverdueWork(queuedWork: QueuedWork<Client>): void {
    this.rejectedCount += 1;
    this.cancel(queuedWork, new OverloadedError());
  }

  /** Removes and returns the first entry of the next client that may take a slot, and moves that client to the end of the round robin. */
  private takeNext(): QueuedWork<Client> | undefined {
    let next: { queues: QueuesByClient<Client>; client: Client; busySlots: number } | undefined;
    for (const queues of [this.resumedWorkQueues, this.newWorkQueues])
      for (const client of queues.keys()) {
        const busySlots = this.busySlotsOf(client);
        if (this.hasFreeSlot(client) && (!next || busySlots < next.busySlots))
          next = { queues, client, busySlots };
      }
    if (!next) return undefined;
    const { queues, client } = next;
    const queue = queues.get(client)!;
    const [first] = queue;
    this.dequeue(first!);
    if (queues.delete(client)) queues.set(client, queue);
    return first;
  }

  /** Whether another entry of this client may be queued. If necessary, makes room by shedding the newest entry of the client with the longest queue. */
  private tryMakeRoom(client: Client): boolean {
    const { maxQueued, maxQueuedPerClient } = this.limits;
    const queuedCountOfClient = this.newWorkQueues.get(client)?.size ?? 0;
    if (queuedCountOfClient >= maxQueuedPerClient) return false;
    if (this.queuedNewWorkCount < maxQueued) return true;
    const longestQueue = [...this.newWorkQueues.values()].reduce(
      (one, other) => (other.size > one.size ? other : one),
      new Set<QueuedWork<Client>>(),
    );
    if (longestQueue.size <= queuedCountOfClient + 1) return false;
    this.rejectOverdueWork([...longestQueue].at(-1)!);
    return true;
  }
}

export interface ClientLimiterOptions extends LimiterOptions {
  /** Slots of all anonymous clients. Default: as many as users have. */
  anonymousSlots?: number;
}

/** Maximum share of the anonymous slots that one network may occupy. */
const MAX_NETWORK_SHARE = 1 / 3;

/** Separate limits for signed-in users and for anonymous clients, so that neither wait for the other. No client occupies all slots. */
export class ClientLimiters {
  readonly users: ConcurrencyLimiter<LimiterClientKey>;
  readonly anonymous: ConcurrencyLimiter<LimiterClientKey>;

  constructor({
    slots,
    anonymousSlots = slots,
    slotsPerClient = slots > 2 ? slots - 1 : slots,
    ...queueLimits
  }: ClientLimiterOptions) {
    this.users = new ConcurrencyLimiter({ slots, slotsPerClient, ...queueLimits });
    const slotsPerNetwork = Math.max(1, Math.floor(anonymousSlots * MAX_NETWORK_SHARE));
    this.anonymous = new ConcurrencyLimiter({
      slots: anonymousSlots,
      slotsPerClient: Math.min(slotsPerClient, slotsPerNetwork),
      ...queueLimits,
    });
  }

  /** Returns the limiter of a client. The server itself counts as a user. */
  of(client: LimiterClientKey): ConcurrencyLimiter<LimiterClientKey> {
    return typeof client === 'number' || client === SERVER_CLIENT_KEY ? this.users : this.anonymous;
  }
}
