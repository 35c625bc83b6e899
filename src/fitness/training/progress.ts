/** Progress in an exercise: its logs grouped by day, and as lines of a chart. */
import { groupBy } from '../../shared/multimap';

export interface LogEntry {
  date: string;
  reps: number;
  weight: string;
}

export interface LoggedDay<T> {
  date: string;
  logs: T[];
}

export const groupByDay = <T extends LogEntry>(entries: readonly T[]): LoggedDay<T>[] =>
  [...groupBy(entries, ({ date }) => date)].map(([date, logs]) => ({ date, logs }));

/**
 * Builds a progress chart with one line per number of repetitions. Each point of a line is the
 * heaviest weight of a day.
 */
export function progressChartLines(entries: readonly LogEntry[]): LogEntry[][] {
  const lines = new Map<number, Map<string, LogEntry>>();

  for (const { date, reps, weight } of entries) {
    if (!lines.has(reps)) lines.set(reps, new Map());
    const line = lines.get(reps)!;
    const heaviestEntry = line.get(date);

    if (!heaviestEntry || Number(weight) > Number(heaviestEntry.weight)) {
      line.set(date, { date, reps, weight });
    }
  }

  return [...lines.values()].map((line) => [...line.values()]);
}
