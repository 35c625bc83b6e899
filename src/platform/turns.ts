/** At most so many pieces of work at a time; the others wait for their turn. With `p-limit` as many would wait as come, and as long as it takes. */

/** There is more to do than can be done soon. */
export class TooBusy extends Error {}

export interface Patience {
  /** How many may wait. */
  waiting: number;
  /** And how long, in milliseconds. */
  ms: number;
}

export class Turns {
  private free: number;
  private readonly waiting = new Set<() => void>();

  /** Without a `patience` all wait as long as it takes. */
  constructor(
    places: number,
    private readonly patience: Patience = { waiting: Infinity, ms: Infinity },
  ) {
    this.free = places;
  }

  /** Throws TooBusy where the turn would not come in time; then nothing has been done. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.turn();
    try {
      return await work();
    } finally {
      const [next] = this.waiting;
      if (next) next();
      else this.free += 1;
    }
  }

  private turn(): Promise<void> {
    const { waiting, ms } = this.patience;
    if (this.waiting.size >= waiting) return Promise.reject(new TooBusy());
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.waiting.delete(begin);
        reject(new TooBusy());
      };
      const timer = ms === Infinity ? undefined : setTimeout(giveUp, ms);
      const begin = () => {
        clearTimeout(timer);
        this.waiting.delete(begin);
        resolve();
      };
      this.waiting.add(begin);
    });
  }
}
