/**
 * At most so many pieces of work at a time; the others wait, in one queue for each caller, which have a turn one after the other. With `p-limit` as
 * the queue would have no limit and no timeout, and the caller with the most requests would get the most turns.
 */

export class TooBusy extends Error {}

export interface Patience {
  /** How many may wait. */
  waiting: number;
  /** And how long, in milliseconds. */
  ms: number;
}

interface Waiting {
  begin(): void;
  giveUp(): void;
}

export class Turns {
  private free: number;
  private count = 0;
  /** Waiting callers, the one that was served last at the end. */
  private readonly queues = new Map<unknown, Set<Waiting>>();

  /** Without a `patience` all wait as long as it takes. */
  constructor(
    private readonly places: number,
    private readonly patience: Patience = { waiting: Infinity, ms: Infinity },
  ) {
    this.free = places;
  }

  get isIdle(): boolean {
    return this.free === this.places;
  }

  /** Throws TooBusy where the turn would not come in time; then nothing has been done. */
  async run<T>(work: () => Promise<T>, caller?: unknown): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.turn(caller);
    try {
      return await work();
    } finally {
      const [next] = this.queues;
      if (next) this.next(...next);
      else this.free += 1;
    }
  }

  private next(caller: unknown, queue: Set<Waiting>): void {
    const [first] = queue;
    first!.begin();
    // Behind the others, if somebody still waits there.
    if (this.queues.delete(caller)) this.queues.set(caller, queue);
  }

  private turn(caller: unknown): Promise<void> {
    const { waiting, ms } = this.patience;
    if (this.count >= waiting && !this.makeRoom(caller)) return Promise.reject(new TooBusy());
    const queue = this.queues.get(caller) ?? new Set();
    this.queues.set(caller, queue);
    this.count += 1;
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        queue.delete(one);
        this.count -= 1;
        if (queue.size === 0) this.queues.delete(caller);
      };
      const one: Waiting = {
        begin() {
          over();
          resolve();
        },
        giveUp() {
          over();
          reject(new TooBusy());
        },
      };
      const timer = ms === Infinity ? undefined : setTimeout(() => one.giveUp(), ms);
      queue.add(one);
    });
  }

  /** The last of the longest queue leaves for a caller who has fewer waiting. */
  private makeRoom(caller: unknown): boolean {
    const longest = [...this.queues.values()].reduce((one, other) => (other.size > one.size ? other : one));
    if (longest.size <= (this.queues.get(caller)?.size ?? 0) + 1) return false;
    [...longest].at(-1)!.giveUp();
    return true;
  }
}
