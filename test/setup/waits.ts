/** What a busy machine does not stretch: work instead of time, and states to wait for. */
import { until } from '../database/processes';
import type { Fitgraph } from './fitgraph';

/** How long this process worked for it, in milliseconds. */
export async function workOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Some statement of this database waits for a lock. */
export const lockIsAwaited = (fitgraph: Fitgraph): Promise<void> =>
  until('somebody waits for a lock', async () => {
    const waiting = await fitgraph.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
