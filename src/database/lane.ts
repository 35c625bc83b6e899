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

export interface Waiting {
  readonly caller: Caller;
  /** When it is refused, on the clock of `performance.now`. */
  readonly until: number;
  begin(): void;
  refuse(why: Error): void;
}

/** Those that wait as long as each other, in the order in which they came; one timer serves them all. */
class Queue {
  readonly waiting = new Set<Waiting>();
  private timer?: NodeJS.Timeout;

  /** How many were refused because their time was over. */
  expired = 0;

  constructor(private readonly ms: number) {}

  add(caller: Caller, begin: () => void, refuse: (why: Error) => void): Waiting {
    const waiting = { caller, until: performance.now() + this.ms, begin, refuse };
    this.waiting.add(waiting);
    if (!this.timer && this.ms !== Infinity) this.arm(this.ms);
    return waiting;
  }

  private arm(ms: number): void {
    this.timer = setTimeout(() => this.expire(), Math.ceil(ms)).unref();
  }

  private expire(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const waiting of this.waiting) {
      if (waiting.until > now) return this.arm(waiting.until - now);
      this.waiting.delete(waiting);
      this.expired += 1;
      waiting.refuse(new Overloaded());
    }
  }
}

export class Lane {
  private taken = 0;
  private refused = 0;
  private readonly held = new Map<Caller, number>();
  /** Work that has begun goes on before new work begins. */
  private readonly begun: Queue;
  private readonly fresh: Queue;
  /** Of one caller. */
  private readonly most: number;

  constructor(
    private readonly places: number,
    private readonly patience: Patience,
  ) {
    this.most = places > 2 ? places - 1 : places;
    this.begun = new Queue(patience.ms * BEGUN_WAITS_LONGER);
    this.fresh = new Queue(patience.ms);
  }

  /**
   * A place, to be given back by `leave`: at once if one is free, and then nothing is answered; else `begin` is called when there is one. Throws
   * Overloaded where too many wait, and calls `refuse` with it where that takes too long; of work that has `begun`, more may wait.
   */
  enter(caller: Caller, begun: boolean, begin: () => void, refuse: (why: Error) => void): Waiting | undefined {
    if (this.mayHave(caller)) {
      this.take(caller);
      return undefined;
    }
    if (!begun && this.isFull(caller)) {
      this.refused += 1;
      throw new Overloaded();
    }
    return (begun ? this.begun : this.fresh).add(caller, begin, refuse);
  }

  get standing(): { places: number; busy: number; waiting: number; refused: number } {
    const { begun, fresh } = this;
    const waiting = begun.waiting.size + fresh.waiting.size;
    return { places: this.places, busy: this.taken, waiting, refused: this.refused + begun.expired + fresh.expired };
  }

  giveUp(waiting: Waiting, why: Error): void {
    const waited = this.begun.waiting.delete(waiting) || this.fresh.waiting.delete(waiting);
    if (waited) waiting.refuse(why);
  }

  leave(caller: Caller): void {
    this.taken -= 1;
    const left = this.held.get(caller)! - 1;
    if (left) this.held.set(caller, left);
    else this.held.delete(caller);
    const next = this.next(this.begun) ?? this.next(this.fresh);
    if (!next) return;
    this.take(next.caller);
    next.begin();
  }

  private next({ waiting }: Queue): Waiting | undefined {
    for (const one of waiting)
      if (this.mayHave(one.caller)) {
        waiting.delete(one);
        return one;
      }
    return undefined;
  }

  /** No caller has more than half of the queue. */
  private isFull(caller: Caller): boolean {
    const { waiting } = this.patience;
    const half = Math.ceil(waiting / 2);
    const { size } = this.fresh.waiting;
    if (size < half) return false;
    if (size >= waiting) return true;
    let own = 0;
    for (const other of this.fresh.waiting) if (other.caller === caller) own += 1;
    return own >= half;
  }

  private mayHave(caller: Caller): boolean {
    return this.taken < this.places && (this.held.get(caller) ?? 0) < this.most;
  }

  private take(caller: Caller): void {
    this.taken += 1;
    this.held.set(caller, (this.held.get(caller) ?? 0) + 1);
  }
}
