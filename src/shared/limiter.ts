/**
 * Concurrency limiter (bulkhead, https://en.wikipedia.org/wiki/Bulkhead_pattern) with a bounded
 * fair queue. The client with the fewest busy slots is next. A full queue sheds the newest entry of
 * the client with the longest queue.
 */

/**
 * Key of a limiter's client: a user's id, the network of an anonymous client, or SERVER_CLIENT_KEY.
 */
export type LimiterClientKey = string | number;

/** Key of work of the server itself. */
export const SERVER_CLIENT_KEY = 'own';

/**
 * Error of work that is rejected because of overload. The work has not begun, so it can be retried.
 */
export class OverloadedError extends Error {
  constructor() {
    super('too many requests are waiting for the same resource');
  }
}

export interface LimiterOptions {
  slots: number;

  /** Maximum number of slots that one client may occupy. Default: all. */
  slotsPerClient?: number;
  maxQueued?: number;
  maxQueuedPerClient?: number;

  /** Maximum waiting time in the queue. Default: unlimited. */
  maxWaitMs?: number;
}

export interface QueuedWork<Client> {
  readonly client: Client;

  /**
   * Whether the work continues a request that had a slot before. Resumed work has priority among
   * clients with equally many busy slots, waits longer, and does not count towards the limits of
   * the queue.
   */
  readonly isResumed: boolean;
  start(): void;
  reject(error: Error): void;
  timer?: NodeJS.Timeout;
}

/**
 * Resumed work may wait this many times as long, because a rejection would waste what its request
 * has already done.
 */
const RESUMED_WAIT_FACTOR = 10;

/** Longest delay of `setTimeout`. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Queues by client, in round-robin order. */
type QueuesByClient<Client> = Map<Client, Set<QueuedWork<Client>>>;

export class ConcurrencyLimiter<Client> {
  readonly limits: Required<LimiterOptions>;
  private readonly slotsByClient = new Map<Client, number>();
  private readonly resumedWorkQueues: QueuesByClient<Client> = new Map();

  /** Queues of work whose request has not had a slot before. */
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
   * Waits for a slot and takes it, until `release`. Throws OverloadedError if the queue is full or
   * the wait exceeds `maxWaitMs`. If the work has to wait, `onQueued` receives its queue entry, for
   * `cancel`.
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

  /**
   * Runs `callback` as soon as a slot is free. Throws OverloadedError if the queue is full or the
   * wait too long.
   */
  async run<T>(client: Client, callback: () => Promise<T>): Promise<T> {
    await this.waitForSlot(client);

    try {
      return await callback();
    } finally {
      this.release(client);
    }
  }

  /** Takes a slot until `release`, if one is free. */
  tryAcquire(client: Client): boolean {
    const isFree = this.hasFreeSlot(client);

    if (isFree) this.takeSlot(client);

    return isFree;
  }

  busySlotsOf(client: Client): number {
    return this.slotsByClient.get(client) ?? 0;
  }

  /**
   * Takes a free slot until `release`, or queues the work and returns its entry. Queued work gets
   * `start` when it has a slot, or `reject` after `maxWaitMs`. Throws OverloadedError if the queue
   * is full.
   */
  acquireOrQueue(
    client: Client,
    isResumed: boolean,
    start: () => void,
    reject: (error: Error) => void,
  ): QueuedWork<Client> | undefined {
    if (this.tryAcquire(client)) return undefined;

    if (!isResumed && !this.tryAdmitToQueue(client)) {
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

  /** Removes work from the queue and rejects it with an error. */
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

    if (waitMs <= MAX_TIMER_MS) {
      queuedWork.timer = setTimeout(() => this.shedWork(queuedWork), waitMs).unref();
    }

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

  private shedWork(queuedWork: QueuedWork<Client>): void {
    this.rejectedCount += 1;
    this.cancel(queuedWork, new OverloadedError());
  }

  /**
   * Dequeues the next work that may take a slot, and moves its client to the end of the round
   * robin.
   */
  private takeNext(): QueuedWork<Client> | undefined {
    let next: { queues: QueuesByClient<Client>; client: Client; busySlots: number } | undefined;

    for (const queues of [this.resumedWorkQueues, this.newWorkQueues]) {
      for (const client of queues.keys()) {
        const busySlots = this.busySlotsOf(client);

        if (this.hasFreeSlot(client) && (!next || busySlots < next.busySlots)) {
          next = { queues, client, busySlots };
        }
      }
    }

    if (!next) return undefined;
    const { queues, client } = next;
    const queue = queues.get(client)!;
    const [firstWork] = queue;

    this.dequeue(firstWork!);
    if (queues.delete(client)) queues.set(client, queue);

    return firstWork;
  }

  /**
   * Whether another entry of a client may be queued. If the queue is full, sheds the newest entry
   * of the client with the longest queue.
   */
  private tryAdmitToQueue(client: Client): boolean {
    const { maxQueued, maxQueuedPerClient } = this.limits;
    const queueLength = this.newWorkQueues.get(client)?.size ?? 0;

    if (queueLength >= maxQueuedPerClient) return false;
    if (this.queuedNewWorkCount < maxQueued) return true;
    const longestQueue = [...this.newWorkQueues.values()].reduce(
      (longest, queue) => (queue.size > longest.size ? queue : longest),
      new Set<QueuedWork<Client>>(),
    );

    if (longestQueue.size <= queueLength + 1) return false;
    this.shedWork([...longestQueue].at(-1)!);
    return true;
  }
}

export interface ClientLimiterOptions extends LimiterOptions {
  /** Slots of all anonymous clients. Default: as many as for users. */
  anonymousSlots?: number;
}

/** Maximum share of the anonymous slots that one network may occupy. */
const MAX_NETWORK_SHARE = 1 / 3;

/**
 * Separate limiters for signed-in users and for anonymous clients, so that neither wait for the
 * other. By default, no client can occupy all slots if there are more than two.
 */
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

  /** The limiter of a client. The server itself counts as a user. */
  forClient(client: LimiterClientKey): ConcurrencyLimiter<LimiterClientKey> {
    return typeof client === 'number' || client === SERVER_CLIENT_KEY ? this.users : this.anonymous;
  }
}
