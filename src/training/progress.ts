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
  const entriesByDay = new Map<string, T[]>();
  for (const entry of entries) {
    const day = entriesByDay.get(entry.date);
    if (day) day.push(entry);
    else entriesByDay.set(entry.date, [entry]);
  }
  return [...entriesByDay].map(([date, logs]) => ({ date, logs }));
}

/**
 * Returns the lines of a progress chart: one per number of repetitions, in order of first occurrence. A line has one point per day: the heaviest weight.
 */
export function progressChartLines(entries: readonly LogEntry[]): LogEntry[][] {
  const lines = new Map<number, Map<string, LogEntry>>();
  for (const { date, reps, weight } of entries) {
    if (!lines.has(reps)) lines.set(reps, new Map());
    const line = lines.get(reps)!;
    const heaviestEntry = line.get(date);
    if (!heaviestEntry || Number(weight) > Number(heaviestEntry.weight))
      line.set(date, { date, reps, weight });
  }
  return [...lines.values()].map((line) => [...line.values()]);
}
