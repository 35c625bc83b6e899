/**
 * Waits and measurements that do not depend on the load of the machine: one generous limit for
 * every wait, CPU time instead of elapsed time, and elapsed time without the time a process was
 * ready to run and had no processor.
 */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fitgraph } from './fitgraph';

/**
 * Limit of a single wait. Shorter than `testTimeout` in jest.config.js, so that a failure names the
 * condition.
 */
export const WAIT_LIMIT_MS = 240_000;

/** Timeout of tests that take longer than ten seconds on a machine without other work. */
export const LONG_TIMEOUT_MS = 900_000;
const POLL_MS = 20;

/** Polls until `check` returns true; throws after WAIT_LIMIT_MS. */
export async function until(
  condition: string,
  check: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + WAIT_LIMIT_MS;

  while (!(await check())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${condition}`);
    await sleep(POLL_MS);
  }
}

/** Returns the CPU time of this process during the task, in milliseconds. */
export async function workOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();

  await task();
  const { user, system } = process.cpuUsage(before);

  return (user + system) / 1_000;
}

const ROUNDS = 5;
const MIN_CONTROL_MS = 10;

/** Upper limit of `growth` for linear work: 4 would be exact, quadratic work has 16. */
export const LINEAR = 8;

/**
 * Returns how much more CPU time a task takes for an input of full size than for a quarter of it.
 * Both run in turn, and the smallest of several ratios counts: caches and sibling hardware threads
 * affect both alike, a compilation or garbage collection affects single rounds only.
 */
export async function growth(task: (share: 1 | 0.25) => unknown): Promise<number> {
  const ratios: number[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    const quarter = await workOf(() => task(0.25));

    ratios.push((await workOf(() => task(1))) / Math.max(quarter, MIN_CONTROL_MS));
    // The smallest ratio counts, so one below the limit is enough.
    if (ratios.at(-1)! < LINEAR) break;
  }

  return Math.min(...ratios);
}

/**
 * Returns how long a thread has waited for a processor since it started, in milliseconds; 0 if it
 * has ended or the kernel does not count it.
 */
function delayIn(schedstat: string): number {
  try {
    return Number(fs.readFileSync(schedstat, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

/**
 * Returns how long the main threads of these processes have waited for a processor since they
 * started, in milliseconds.
 */
export const schedulingDelay = (...pids: number[]): number =>
  pids.reduce((sum, pid) => sum + delayIn(`/proc/${pid}/schedstat`), 0);

/** Returns the same for each thread of a process, such as those that hash passwords, by thread. */
export const threadDelays = (pid: number): Map<string, number> => {
  const tasks = `/proc/${pid}/task`;

  return new Map(
    fs.existsSync(tasks)
      ? fs.readdirSync(tasks).map((thread) => [thread, delayIn(`${tasks}/${thread}/schedstat`)])
      : [],
  );
};

/**
 * Measures the scheduling delays of this process, of `chain` (processes that a response may need
 * one after the other) and of the processes that serve requests. Only one of the latter serves a
 * request at a time, so only the largest of their delays is added. A process that has ended keeps
 * its last reading.
 */
export class SchedulingDelays {
  private readonly readings = new Map<number, { first: number; last: number }>();

  constructor(
    private readonly chain: readonly number[],
    processes: readonly number[],
  ) {
    for (const pid of processes) this.track(pid, schedulingDelay(pid));
  }

  /**
   * Adds processes. Must be called often with all current processes: those that are new count as
   * just started.
   */
  addStarted(...processes: number[]): void {
    for (const pid of processes) this.track(pid, 0);
  }

  /** Returns a function for the delays from now on, in milliseconds. */
  measure(): () => number {
    const own = this.ownDelay();
    const before = this.read();

    return () => {
      const grown = [...this.read()].map(
        ([pid, delay]) => delay - (before.get(pid) ?? this.readings.get(pid)!.first),
      );

      return this.ownDelay() - own + Math.max(0, ...grown);
    };
  }

  private track(pid: number, first: number): void {
    if (!this.readings.has(pid)) this.readings.set(pid, { first, last: first });
  }

  private ownDelay(): number {
    return schedulingDelay(process.pid, ...this.chain);
  }

  private read(): Map<number, number> {
    for (const [pid, reading] of this.readings) {
      reading.last = Math.max(reading.last, schedulingDelay(pid));
    }

    return new Map([...this.readings].map(([pid, { last }]) => [pid, last]));
  }
}

/** Measures like `SchedulingDelays.measure`, for a fixed set of processes. */
export const delaysOf = (...pids: number[]): (() => number) =>
  new SchedulingDelays([], pids).measure();

/**
 * Returns how long a task takes, in milliseconds, without the scheduling delays of this process and
 * of the processes it depends on.
 */
export async function timeOf(task: () => Promise<unknown>, ...pids: number[]): Promise<number> {
  const delays = delaysOf(...pids);
  const began = performance.now();
  let isOver = false;
  const finished = task().finally(() => (isOver = true));

  // Reads repeatedly, because processes may end meanwhile.
  while (!isOver) {
    delays();
    await Promise.race([finished, sleep(POLL_MS)]);
  }

  await finished;
  return performance.now() - began - delays();
}

/** Resolves once some statement of this database waits for a lock. */
export const lockIsAwaited = (fitgraph: Fitgraph): Promise<void> =>
  until('a statement waits for a lock', async () => {
    const waiting = await fitgraph.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
    );

    return waiting.length > 0;
  });
