/** How late everything is that this process does, and which new requests it therefore refuses: strangers' first. */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const MEASURED_EVERY_MS = 100;
const NANOSECONDS = 1e6;
/** A single pause, for the collection of garbage perhaps, is no pressure. */
const HARMLESS = 0.3;
const MOST = 2 + HARMLESS;
/** A request that has waited so many times as long as anything may be late is not begun any more. */
const TOO_LATE = 5;
/** By how much the pressure rises in a second, at most, and falls. */
const RISE = 3;
const FALL = 1;

export class Pressure {
  private readonly delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private measured = performance.now();
  private timer?: NodeJS.Timeout;
  /** From 0 to 1 strangers are refused by this chance, from 1 to 2 everybody else too. */
  private level = 0;

  /** `maxLag` in milliseconds; 0: nobody is ever refused. `queued` tells how long what has not begun yet has waited. */
  constructor(
    private readonly maxLag: number,
    private readonly queued: () => number = () => 0,
  ) {
    if (!maxLag) return;
    this.delay.enable();
    this.timer = setInterval(() => this.measure(), MEASURED_EVERY_MS).unref();
  }

  /** Whether a new request is to be refused; by chance, so that the pressure becomes even instead of swinging. */
  refuses(isStranger: boolean): boolean {
    const chance = this.level - HARMLESS - (isStranger ? 0 : 1);
    return chance > 0 && Math.random() < chance;
  }

  /** Whether a request has waited so long that whoever sent it had better come again. */
  isTooLate(waitedMs: number): boolean {
    return this.maxLag > 0 && waitedMs > this.maxLag * TOO_LATE;
  }

  stop(): void {
    clearInterval(this.timer);
    this.delay.disable();
  }

  private measure(): void {
    const now = performance.now();
    const seconds = Math.min(now - this.measured, 2 * MEASURED_EVERY_MS) / 1000;
    this.measured = now;
    const lag = Math.max((this.delay.mean || 0) / NANOSECONDS - RESOLUTION_MS, this.queued());
    this.delay.reset();
    const change = lag > this.maxLag ? Math.min(RISE, lag / this.maxLag) : -FALL;
    const most = this.level === 0 ? HARMLESS : MOST;
    this.level = Math.min(most, Math.max(0, this.level + change * seconds));
  }
}
