/**
 * Ticks of a time axis: evenly spaced days, months or years. A label omits the year if the previous
 * tick has the same.
 */
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

/** Parses a local date and time as UTC, so that all days of a chart have the same length. */
export const parseAsUtc = (text: string): DateTime =>
  DateTime.fromISO(text, { zone: 'utc', locale: 'en' });

/**
 * Dates of the ticks. Steps of days are counted back from the last day; ticks of months and years
 * are on their first day.
 */
function tickDates({ unit, unitsPerStep }: TickStep, first: DateTime, last: DateTime): DateTime[] {
  const dates: DateTime[] = [];

  if (unit === 'day') {
    let day = last;

    while (day >= first && dates.length <= MAX_TICKS) {
      dates.unshift(day);
      day = day.minus({ days: unitsPerStep });
    }

    return dates;
  }

  const monthsPerStep = unit === 'month' ? unitsPerStep : 12 * unitsPerStep;
  let month = first
    .startOf('month')
    .minus({ months: (first.year * 12 + first.month - 1) % monthsPerStep });

  while (month <= last && dates.length <= MAX_TICKS) {
    if (month >= first) dates.push(month);
    month = month.plus({ months: monthsPerStep });
  }

  return dates;
}

function tickLabel(
  date: DateTime,
  unit: TickStep['unit'],
  previousDate: DateTime | undefined,
): string {
  if (unit === 'year') return String(date.year);

  const dayAndMonth = unit === 'month' ? 'MMM' : 'd MMM';
  const year = previousDate?.year === date.year ? '' : ' y';

  return date.toFormat(dayAndMonth + year);
}

/**
 * Ticks with the smallest step that needs at most MAX_TICKS. `first` and `last` are dates such as
 * `2026-11-22`.
 */
export function ticksOf(first: string, last: string): Tick[] {
  const [from, to] = [parseAsUtc(first), parseAsUtc(last)];
  const [step, dates] = TICK_STEPS.map(
    (candidate) => [candidate, tickDates(candidate, from, to)] as const,
  ).find(([, candidateDates]) => candidateDates.length <= MAX_TICKS)!;

  return dates.map((date, index) => ({
    time: date.toMillis(),
    label: tickLabel(date, step.unit, dates[index - 1]),
  }));
}
