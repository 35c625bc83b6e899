/** A share of the database for one kind of callers: so much at a time, a bounded queue, and a place left for others whoever crowds in. */
import { Overloaded } from './refusals';

/** Who asks: a user by the id, a stranger by the network. */
export type Caller = string | number;

export interface Patience {
  /** How many may wait. */
  waiting: number;
  /** And how long, in milliseconds; Infinity: as long as it takes. */
  ms: number;
}

/** What has been done for it already would be in vain. */
const BEGUN_WAITS_LONGER = 10;

interface Waiting {
  caller: Caller;
  begin(): void;
  refuse(why: Error): void;
}

export class Lane {
  private taken = 0;
  private readonly held = new Map<Caller, number>();
  /** Work that has begun goes on before new work begins. */
  private readonly begun = new Set<Waiting>();
  private readonly fresh = new Set<Waiting>();
  /** Of one caller. */
  private readonly most: number;

  constructor(
    private readonly places: number,
    private readonly patience: Patience,
  ) {
    this.most = places > 2 ? places - 1 : places;
  }

  /**
   * A place, to be given back by `leave`; nothing is to be awaited where one is free. Throws Overloaded where too many wait or it takes too long;
   * of work that has `begun`, more may wait.
   */
  enter(caller: Caller, begun: boolean, stopped: (stop: (why: Error) => void) => void): Promise<void> | undefined {
    if (this.mayHave(caller)) return void this.take(caller);
    if (!begun && this.isFull(caller)) throw new Overloaded();
    return begun
      ? this.wait(caller, this.begun, this.patience.ms * BEGUN_WAITS_LONGER, stopped)
      : this.wait(caller, this.fresh, this.patience.ms, stopped);
  }

  leave(caller: Caller): void {
    this.taken -= 1;
    const left = this.held.get(caller)! - 1;
    if (left) this.held.set(caller, left);
    else this.held.delete(caller);
    for (const waiting of [this.begun, this.fresh])
      for (const next of waiting)
        if (this.mayHave(next.caller)) {
          next.begin();
          return;
        }
  }

  /** No caller has more than half of the queue. */
  private isFull(caller: Caller): boolean {
    const { waiting } = this.patience;
    const half = Math.ceil(waiting / 2);
    if (this.fresh.size < half) return false;
    if (this.fresh.size >= waiting) return true;
    let own = 0;
    for (const other of this.fresh) if (other.caller === caller) own += 1;
    return own >= half;
  }

  private mayHave(caller: Caller): boolean {
    return this.taken < this.places && (this.held.get(caller) ?? 0) < this.most;
  }

  private take(caller: Caller): void {
    this.taken += 1;
    this.held.set(caller, (this.held.get(caller) ?? 0) + 1);
  }

  private wait(caller: Caller, queue: Set<Waiting>, ms: number, stopped: (stop: (why: Error) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        queue.delete(waiting);
      };
      const waiting: Waiting = {
        caller,
        begin: () => {
          over();
          this.take(caller);
          resolve();
        },
        refuse: (why) => {
          over();
          reject(why);
        },
      };
      const timer = ms === Infinity ? undefined : setTimeout(() => waiting.refuse(new Overloaded()), ms);
      queue.add(waiting);
      stopped(waiting.refuse);
    });
  }
}
