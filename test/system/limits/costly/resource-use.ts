/**
 * Measures what one request costs a worker process: CPU time, memory, and the longest stop of its
 * event loop.
 */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

export interface ResourceUse {
  cpuMs: number;
  memoryMb: number;
  stopMs: number;

  /** Whether the worker was idle in the end. */
  isIdle: boolean;
}

/**
 * The worker is idle if it has used less CPU time than this in an interval. The probes of the event
 * loop need about a tenth of it.
 */
const IDLE_INTERVAL_MS = 40;
const IDLE_CPU_MS = 8;

/** Longer than any statement or deadline of the server. */
const IDLE_LIMIT_MS = 70_000;

/**
 * Bars for one request: CPU time of the worker, and the longest time without a turn of its event
 * loop.
 */
export const MAX_CPU_MS = 2_000;
export const MAX_STOP_MS = 250;

const NS_PER_MS = 1_000_000;
const KB_PER_MB = 1_024;

/**
 * Makes the kernel count the peak of the resident memory anew
 * (https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html).
 */
const RESET_PEAK = '5';

/** Returns the CPU time of the main thread of a process, in milliseconds. */
export const mainThreadTimeOf = (pid: number): number => threadTimeOf(pid, String(pid));

const threadTimeOf = (pid: number, thread: string): number =>
  Number(fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) /
  NS_PER_MS;

/** Returns the CPU time of all threads of a process that run, in milliseconds. */
export function cpuTimeOf(pid: number): number {
  return fs.readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    try {
      return sum + threadTimeOf(pid, thread);
    } catch {
      // The thread has ended.
      return sum;
    }
  }, 0);
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');

  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) / KB_PER_MB;
}

export const residentMemoryOf = (pid: number): number => memoryOf(pid, 'VmRSS');

/**
 * Waits until the worker is idle. `isBusy` is whether others still work for the worker, such as its
 * database. Returns whether it became idle.
 */
export async function waitUntilIdle(pid: number, isBusy: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + IDLE_LIMIT_MS;

  while (performance.now() < end) {
    const before = cpuTimeOf(pid);

    await sleep(IDLE_INTERVAL_MS);
    if (cpuTimeOf(pid) - before < IDLE_CPU_MS && !(await isBusy())) return true;
  }

  return false;
}

export class ResourceMeter {
  private readonly probe: Worker;

  private constructor(
    private readonly pid: number,
    base: string,
    private readonly isBusy: () => Promise<boolean>,
  ) {
    this.probe = new Worker(path.join(__dirname, 'probe.js'), {
      workerData: { base, server: pid },
    });
  }

  static async start(
    pid: number,
    base: string,
    isBusy: () => Promise<boolean>,
  ): Promise<ResourceMeter> {
    const meter = new ResourceMeter(pid, base, isBusy);

    await once(meter.probe, 'message');
    return meter;
  }

  async end(): Promise<void> {
    await this.probe.terminate();
  }

  /**
   * Measures from the start of `work` until the worker is idle again, which may be later than the
   * answer.
   */
  async measure<T>(work: () => Promise<T>): Promise<{ result: T; use: ResourceUse }> {
    await waitUntilIdle(this.pid, this.isBusy);
    await this.takeLongestStop();
    fs.writeFileSync(`/proc/${this.pid}/clear_refs`, RESET_PEAK);

    const cpuBefore = cpuTimeOf(this.pid);
    const memoryBefore = residentMemoryOf(this.pid);
    const result = await work();
    const isIdle = await waitUntilIdle(this.pid, this.isBusy);

    const use = {
      cpuMs: cpuTimeOf(this.pid) - cpuBefore,
      memoryMb: memoryOf(this.pid, 'VmHWM') - memoryBefore,
      stopMs: await this.takeLongestStop(),
      isIdle,
    };

    return { result, use };
  }

  private async takeLongestStop(): Promise<number> {
    const answer = once(this.probe, 'message');

    this.probe.postMessage('report');
    const [longestMs] = (await answer) as [number];

    return longestMs;
  }
}
