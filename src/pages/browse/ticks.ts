/** Axis ticks of a time chart: evenly spaced days, months or years. A label contains the year unless the previous tick is in the same year. */
import { DateTime } from 'luxon';

export interface Tick {
  /** Time of the tick in milliseconds since 1970. */
  time: number;
  label: string;
}

interface TickStep {
  unit: 'day' | 'month' | 'year';
  unitsPerStep: number;
}

const MAX_TICKS = 8;
const TICK_STEPS: readonly TickStep[] = [
  ...[1, 2, 7, 14].map((unitsPerStep) => ({ unit: 'day' as const, unitsPerStep })),
  ...[1, 2, 3, 6].map((unitsPerStep) => ({ unit: 'month' as const, unitsPerStep })),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].map((unitsPerStep) => ({
    unit: 'year' as const,
    unitsPerStep,
  })),
];

/** Parses a date with an optional time, `YYYY-MM-DDThh:mm:ss`, as UTC, so that all days of a chart have the same length. */
export const parseMoment = (moment: string): DateTime =>
  DateTime.fromISO(moment, { zone: 'utc', locale: 'en' });

/** Returns the dates of the ticks. Days are counted back from the last one, which is always labelled; months and years begin on their first day. */
function tickDates({ unit, unitsPerStep }: TickStep, first: DateTime, last: DateTime): DateTime[] {
  const dates: DateTime[] = [];
  if (unit === 'day') {
    for (
      let date = last;
      date >= first && dates.length <= MAX_TICKS;
      date = date.minus({ days: unitsPerStep })
    )
      dates.unshift(date);
    return dates;
  }
  const monthsPerStep = unit === 'month' ? unitsPerStep : 12 * unitsPerStep;
  let date = first
    .startOf('month')
    .minus({ months: (first.year * 12 + first.month - 1) % monthsPerStep });
  for (; date <= last && dates.length <= MAX_TICKS; date = date.plus({ months: monthsPerStep }))
    if (date >= first) dates.push(date);
  return dates;
}

function labelOf(
  date: DateTime,
  unit: TickStep['unit'],
  previousDate: DateTime | undefined,
): string {
  if (unit === 'year') return String(date.year);
  return date.toFormat(
    `${unit === 'month' ? 'MMM' : 'd MMM'}${previousDate?.year === date.year ? '' : ' y'}`,
  );
}

/** Returns the ticks of the smallest step that has at most MAX_TICKS. `first` and `last` are dates such as `2026-11-22`. */
export function ticksOf(first: string, last: string): Tick[] {
  const [from, to] = [parseMoment(first), parseMoment(last)];
  const [step, dates] = TICK_STEPS.map(
    (candidate) => [candidate, tickDates(candidate, from, to)] as const,
  ).find(([, candidateDates]) => candidateDates.length <= MAX_TICKS)!;
  return dates.map((date, index) => ({
    time: date.toMillis(),
    label: labelOf(date, step.unit, dates[index - 1]),
  }));
}
