/**
 * Waits and measurements that do not depend on the load of the machine: one generous limit for every wait, CPU time instead of elapsed time, and
 * elapsed time without the time a process was ready to run and had no processor.
 */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fitgraph } from './fitgraph';

/** Limit of a single wait. Shorter than `testTimeout` in jest.config.js, so that a failure names the condition. */
export const WAIT_LIMIT_MS = 240_000;
const POLL_MS = 20;

/** Polls until `check` returns true; throws after WAIT_LIMIT_MS. */
export async function until(condition: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_LIMIT_MS;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${condition}`);
    await sleep(POLL_MS);
  }
}

/** CPU time of this process during the task, in milliseconds. */
export async function workOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const ROUNDS = 5;

/**
 * CPU time of a task relative to that of a control. Both run in turn, and the smallest of several ratios counts: caches and sibling hardware
 * threads affect both alike, and a compilation or a garbage collection affects single rounds only.
 */
export async function relativeWork(task: () => unknown, control: () => unknown, rounds = ROUNDS): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const expected = await workOf(control);
    ratios.push((await workOf(task)) / Math.max(expected, 1));
  }
  return Math.min(...ratios);
}

/**
 * Milliseconds that the main threads of these processes have waited for a processor since they started (the second field of
 * `/proc/<pid>/schedstat`); 0 where the kernel does not count them.
 */
export function schedulingDelay(...pids: number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
    } catch {
      return sum;
    }
  }, 0);
}

/** Resolves once some statement of this database waits for a lock. */
export const lockIsAwaited = (fitgraph: Fitgraph): Promise<void> =>
  until('a statement waits for a lock', async () => {
    const waiting = await fitgraph.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
