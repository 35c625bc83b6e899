/**
 * Fair request queue: one queue per client network, served round robin, so that a client with many requests delays only itself.
 * Node accepts one new connection per event-loop turn. With long turns, clients would wait in the kernel's accept queue for seconds, which load shedding
 * cannot measure. Turns are therefore kept short: each one starts requests for only a few milliseconds, and none while new connections arrive.
 */

/** Time per event-loop turn for starting requests. */
const REQUEST_START_BUDGET_MS = 5;
/** Maximum number of consecutive event-loop turns that only accept connections, before queued requests are started again. */
const MAX_CONSECUTIVE_ACCEPT_ONLY_TURNS = 64;

/**
 * Maximum number of queued requests per client. Further ones are passed on with an infinite queueing delay, so that they are rejected unless load shedding is
 * disabled.
 */
const MAX_QUEUED_PER_CLIENT = 200;

interface QueuedRequest {
  start(waitedMs: number): void;
  queuedAt: number;
}

export class FairRequestQueue {
  /** Queues by client network, in round-robin order. */
  private readonly queues = new Map<string, QueuedRequest[]>();
  private eventLoopTurnStartedAt = 0;
  private isEventLoopTurnScheduled = false;
  private hasNewConnection = false;
  private consecutiveAcceptOnlyTurns = 0;

  /**
   * Longest queueing delay, in milliseconds, of clients with a single queued request. Clients with several are excluded, because they also wait for their own
   * requests.
   */
  get queueingDelay(): number {
    const now = performance.now();
    let longestDelay = 0;
    for (const queue of this.queues.values()) if (queue.length === 1) longestDelay = Math.max(longestDelay, now - queue[0]!.queuedAt);
    return longestDelay;
  }

  readonly onConnection = (): void => {
    this.hasNewConnection = true;
    this.scheduleEventLoopTurn();
  };

  /** Calls `start` now, or later in round-robin order, with the queueing delay in milliseconds. The delay is Infinity if the client's queue is full. */
  enqueue(findClientKey: () => string, start: (waitedMs: number) => void): void {
    const now = performance.now();
    if (!this.isEventLoopTurnScheduled) {
      this.eventLoopTurnStartedAt = now;
      this.scheduleEventLoopTurn();
    }
    if (!this.queues.size && now - this.eventLoopTurnStartedAt < REQUEST_START_BUDGET_MS) return start(0);
    const client = findClientKey();
    const queue = this.queues.get(client);
    if (queue && queue.length >= MAX_QUEUED_PER_CLIENT) start(Infinity);
    else if (queue) queue.push({ start, queuedAt: now });
    else this.queues.set(client, [{ start, queuedAt: now }]);
  }

  private scheduleEventLoopTurn(): void {
    if (this.isEventLoopTurnScheduled) return;
    this.isEventLoopTurnScheduled = true;
    setImmediate(this.startQueuedRequests);
  }

  private readonly startQueuedRequests = (): void => {
    this.isEventLoopTurnScheduled = false;
    if (this.hasNewConnection && this.consecutiveAcceptOnlyTurns < MAX_CONSECUTIVE_ACCEPT_ONLY_TURNS) {
      this.hasNewConnection = false;
      this.consecutiveAcceptOnlyTurns += 1;
      return this.scheduleEventLoopTurn();
    }
    this.hasNewConnection = false;
    this.consecutiveAcceptOnlyTurns = 0;
    this.eventLoopTurnStartedAt = performance.now();
    for (const [client, queue] of this.queues) {
      const now = performance.now();
      if (now - this.eventLoopTurnStartedAt >= REQUEST_START_BUDGET_MS) break;
      const { start, queuedAt } = queue.shift()!;
      // Moves the client to the end of the round robin. The loop reaches it again, because iterating a map also visits entries added during the loop.
      this.queues.delete(client);
      if (queue.length) this.queues.set(client, queue);
      start(now - queuedAt);
    }
    if (this.queues.size) this.scheduleEventLoopTurn();
  };
}
