/**
 * CPU contention: how much longer work takes than its CPU time, because other work occupies the processors. It is measured on the main thread of this process
 * (`schedstat` in https://docs.kernel.org/scheduler/sched-stats.html) and is 1 if the operating system does not report it.
 */
import { readFileSync } from 'node:fs';

const MEASUREMENT_INTERVAL_MS = 1_000;
/**
 * Maximum of `slowdown`, by which measured durations are divided. Without a maximum, work that itself overloads the machine would seem to take no time.
 */
const MAX_SLOWDOWN = 10;

interface ThreadTimes {
  /** Nanoseconds for which the main thread ran on a processor. */
  runningNs: number;
  /** Nanoseconds for which the main thread was ready to run, but had no processor. */
  waitingNs: number;
}

function parseThreadTimes(text: string): ThreadTimes {
  const [runningNs = 0, waiting = 0] = text.split(' ').map(Number);
  return { runningNs, waitingNs: waiting };
}

export class CpuContention {
  /**
   * Slowdown by CPU contention in the latest interval (at first: since the start of the process): the duration of work divided by its CPU time, between 1
   * and MAX_SLOWDOWN.
   */
  slowdown = 1;
  private previousTimes: ThreadTimes = { runningNs: 0, waitingNs: 0 };
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly file = '/proc/self/schedstat') {
    this.measure();
    this.timer = setInterval(() => this.measure(), MEASUREMENT_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  measure(): void {
    const currentTimes = this.readThreadTimes();
    const runningNs = currentTimes.runningNs - this.previousTimes.runningNs;
    const waitingNs = currentTimes.waitingNs - this.previousTimes.waitingNs;
    this.previousTimes = currentTimes;
    this.slowdown = runningNs > 0 ? Math.min(MAX_SLOWDOWN, 1 + waitingNs / runningNs) : 1;
  }

  private readThreadTimes(): ThreadTimes {
    try {
      return parseThreadTimes(readFileSync(this.file, 'latin1'));
    } catch {
      return this.previousTimes;
    }
  }
}
