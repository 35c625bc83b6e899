/**
 * CPU contention: how much longer work takes than its CPU time, because other work occupies the processors. It is measured on the main thread of this process
 * (`schedstat` in https://docs.kernel.org/scheduler/sched-stats.html) and is 1 if the operating system does not report it.
 */
import { readFile } from 'node:fs/promises';

const INTERVAL_MS = 1_000;
/** Maximum slowdown. Work that overloads the machine must not hide how long it takes. */
const MAX_SLOWDOWN = 5;

interface ThreadTimes {
  /** Nanoseconds for which the thread ran. */
  running: number;
  /** Nanoseconds for which the thread was ready to run, but had no processor. */
  waiting: number;
}

function parseThreadTimes(text: string): ThreadTimes {
  const [running = 0, waiting = 0] = text.split(' ').map(Number);
  return { running, waiting };
}

export class CpuContention {
  /** Duration of work in the latest interval as a multiple of its CPU time, between 1 and MAX_SLOWDOWN. */
  slowdown = 1;
  private previous?: ThreadTimes;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly file = '/proc/self/schedstat') {
    this.timer = setInterval(() => void this.measure(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async measure(): Promise<void> {
    const current = await readFile(this.file, 'latin1').then(parseThreadTimes, () => undefined);
    const { previous } = this;
    this.previous = current;
    const running = current && previous ? current.running - previous.running : 0;
    this.slowdown = running > 0 ? Math.min(MAX_SLOWDOWN, 1 + (current!.waiting - previous!.waiting) / running) : 1;
  }
}
