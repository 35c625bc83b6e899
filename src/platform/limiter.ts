/**
 * Concurrency limiter (bulkhead, https://en.wikipedia.org/wiki/Bulkhead_pattern) with a bounded fair queue: round robin over clients, first in first
 * out within one. Of a full queue the client with the most entries loses its newest one to a client with fewer. Libraries such as p-limit have
 * neither a share for each client nor a bound and a deadline of the queue.
 */

/** Nothing has been done; the same work may be offered again later. */
export class Overloaded extends Error {
  constructor() {
    super('too many requests wait for the same resource');
  }
}

export interface LimiterOptions {
  /** How much may run at a time. */
  slots: number;
  /** Of it, for each client; as much as there is where absent. */
  slotsPerClient?: number;
  maxQueued?: number;
  maxQueuedPerClient?: number;
  /** Infinity: as long as it takes. */
  maxWaitMs?: number;
}

/** Work that waits for a slot. */
export interface Queued<Client> {
  readonly client: Client;
  /** Resumed work was admitted before: it goes first, waits longer, and is not counted against the bounds of the queue. */
  readonly isResumed: boolean;
  start(): void;
  reject(why: Error): void;
  timer?: NodeJS.Timeout;
}

/** What was done for resumed work so far would be lost. */
const RESUMED_WAITS_LONGER = 10;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Queues by client, in the order of their next turns. */
type Queues<Client> = Map<Client, Set<Queued<Client>>>;

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

  /** Runs `work` once there is a slot. Throws Overloaded where there will be none in time. */
  async run<T>(client: Client, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start, reject) => {
      if (!this.enter(client, false, start, reject)) start();
    });
    try {
      return await work();
    } finally {
      this.leave(client);
    }
  }

  /** Takes a slot, to be given back by `leave`, or nothing. */
  tryEnter(client: Client): boolean {
    const isFree = this.hasSlot(client);
    if (isFree) this.take(client);
    return isFree;
  }

  /** Slots that a client has. */
  runningOf(client: Client): number {
    return this.running.get(client) ?? 0;
  }

  /**
   * Takes a slot, to be given back by `leave`. Undefined: it is taken now. Otherwise `start` is called when it is, or `reject` when there is none in
   * time. Throws Overloaded where the queue is full.
   */
  enter(client: Client, isResumed: boolean, start: () => void, reject: (why: Error) => void): Queued<Client> | undefined {
    if (this.tryEnter(client)) return undefined;
    if (!isResumed && !this.makeRoom(client)) {
      this.rejected += 1;
      throw new Overloaded();
    }
    return this.enqueue({ client, isResumed, start, reject });
  }

  leave(client: Client): void {
    this.busy -= 1;
    const left = this.runningOf(client) - 1;
    if (left) this.running.set(client, left);
    else this.running.delete(client);
    const next = this.next(this.resumed) ?? this.next(this.fresh);
    if (!next) return;
    this.take(next.client);
    next.start();
  }

  /** Ends the wait of an entry that is still queued. */
  abandon(queued: Queued<Client>, why: Error): void {
    if (this.dequeue(queued)) queued.reject(why);
  }

  private hasSlot(client: Client): boolean {
    return this.busy < this.limits.slots && this.runningOf(client) < this.limits.slotsPerClient;
  }

  private take(client: Client): void {
    this.busy += 1;
    this.running.set(client, this.runningOf(client) + 1);
  }

  private enqueue(queued: Queued<Client>): Queued<Client> {
    const queues = queued.isResumed ? this.resumed : this.fresh;
    const own = queues.get(queued.client) ?? new Set();
    queues.set(queued.client, own.add(queued));
    if (queued.isResumed) this.queuedResumed += 1;
    else this.queuedFresh += 1;
    const waitMs = this.limits.maxWaitMs * (queued.isResumed ? RESUMED_WAITS_LONGER : 1);
    if (waitMs <= MAX_TIMER_MS) queued.timer = setTimeout(() => this.shed(queued), waitMs).unref();
    return queued;
  }

  private dequeue(queued: Queued<Client>): boolean {
    const queues = queued.isResumed ? this.resumed : this.fresh;
    const own = queues.get(queued.client);
    if (!own?.delete(queued)) return false;
    if (!own.size) queues.delete(queued.client);
    if (queued.isResumed) this.queuedResumed -= 1;
    else this.queuedFresh -= 1;
    clearTimeout(queued.timer);
    return true;
  }

  private shed(queued: Queued<Client>): void {
    this.rejected += 1;
    this.abandon(queued, new Overloaded());
  }

  /** The first entry of the next client that may have a slot; that client is last from now on. */
  private next(queues: Queues<Client>): Queued<Client> | undefined {
    for (const [client, own] of queues) {
      if (!this.hasSlot(client)) continue;
      const [first] = own;
      this.dequeue(first!);
      if (queues.delete(client)) queues.set(client, own);
      return first;
    }
    return undefined;
  }

  /** Whether one more entry of this client may be queued, at the cost of a client with more of them if need be. */
  private makeRoom(client: Client): boolean {
    const { maxQueued, maxQueuedPerClient } = this.limits;
    const own = this.fresh.get(client)?.size ?? 0;
    if (own >= maxQueuedPerClient) return false;
    if (this.queuedFresh < maxQueued) return true;
    const longest = [...this.fresh.values()].reduce((one, other) => (other.size > one.size ? other : one), new Set<Queued<Client>>());
    if (longest.size <= own + 1) return false;
    this.shed([...longest].at(-1)!);
    return true;
  }
}
