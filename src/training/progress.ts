/** Progress in an exercise: its logs grouped by day, and as lines of a chart. */

export interface LogEntry {
  date: string;
  reps: number;
  weight: string;
}

export interface LoggedDay<T> {
  date: string;
  logs: T[];
}

export function groupByDay<T extends LogEntry>(entries: readonly T[]): LoggedDay<T>[] {
  const days = new Map<string, T[]>();
  for (const entry of entries) {
    const day = days.get(entry.date);
    if (day) day.push(entry);
    else days.set(entry.date, [entry]);
  }
  return [...days].map(([date, logs]) => ({ date, logs }));
}

/**
 * Returns the lines of a progress chart: one per number of repetitions, in order of first occurrence. A line has one point per day: the heaviest weight.
 */
export function progressChartLines(entries: readonly LogEntry[]): LogEntry[][] {
  const lines = new Map<number, Map<string, LogEntry>>();
  for (const { date, reps, weight } of entries) {
    if (!lines.has(reps)) lines.set(reps, new Map());
    const line = lines.get(reps)!;
    const best = line.get(date);
    if (!best || Number(weight) > Number(best.weight)) line.set(date, { date, reps, weight });
  }
  return [...lines.values()].map((line) => [...line.values()]);
}
