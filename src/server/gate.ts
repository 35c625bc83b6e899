/**
 * Where requests wait until they are begun, those of each caller in a line of their own, of which one is begun in turn: whoever sends much waits
 * for it alone. Node takes one new connection in each turn of its loop, so in long turns clients wait before the door, where nobody sees them, for
 * seconds and more. Turns are therefore kept short: only so much is begun in one, and nothing while connections come in.
 */

/** So long requests are begun in one turn. */
const SLICE_MS = 5;
/** So many turns in a row may go by with nothing but new connections. */
const MOST_TURNS = 64;

/** So many requests of a caller may wait; of more it is said at once that they come too late. */
const MOST_WAITING = 200;

interface Waiting {
  begin(waitedMs: number): void;
  since: number;
}

export class Gate {
  /** By caller, in the order of their turns. */
  private readonly lines = new Map<string, Waiting[]>();
  /** When the turn began in which something was begun last. */
  private turnBegan = 0;
  private turning = false;
  private isNew = false;
  private turns = 0;

  /** How many milliseconds a caller waits who asks for one thing at a time; whoever asks for more at once waits for that. */
  get lateness(): number {
    const now = performance.now();
    let late = 0;
    for (const line of this.lines.values()) if (line.length === 1) late = Math.max(late, now - line[0]!.since);
    return late;
  }

  /** To be called for each new connection. */
  readonly connected = (): void => {
    this.isNew = true;
    this.turn();
  };

  /** Begins now, or when its turn comes. */
  pass(callerOf: () => string, begin: (waitedMs: number) => void): void {
    const now = performance.now();
    if (!this.turning) {
      this.turnBegan = now;
      this.turn();
    }
    if (!this.lines.size && now - this.turnBegan < SLICE_MS) return begin(0);
    const caller = callerOf();
    const line = this.lines.get(caller);
    if (line && line.length >= MOST_WAITING) begin(Infinity);
    else if (line) line.push({ begin, since: now });
    else this.lines.set(caller, [{ begin, since: now }]);
  }

  private turn(): void {
    if (this.turning) return;
    this.turning = true;
    setImmediate(this.next);
  }

  private readonly next = (): void => {
    this.turning = false;
    if (this.isNew && this.turns < MOST_TURNS) {
      this.isNew = false;
      this.turns += 1;
      return this.turn();
    }
    this.isNew = false;
    this.turns = 0;
    this.turnBegan = performance.now();
    for (const [caller, line] of this.lines) {
      const now = performance.now();
      if (now - this.turnBegan >= SLICE_MS) break;
      const { begin, since } = line.shift()!;
      // Whoever has more to do comes after everybody else; what is added to a map while one walks through it is still met.
      this.lines.delete(caller);
      if (line.length) this.lines.set(caller, line);
      begin(now - since);
    }
    if (this.lines.size) this.turn();
  };
}
