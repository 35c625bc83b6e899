/** Axis ticks of a time chart: evenly spaced days, months or years. A label contains the year unless the previous tick is in the same year. */

export interface Tick {
  /** Milliseconds since 1970. */
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
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].map((unitsPerStep) => ({ unit: 'year' as const, unitsPerStep })),
];

/** Returns midnight in the time zone of the server. The constructor of `Date` would read a year below 100 as one of the 20th century. */
function localDate(year: number, month: number, day: number): Date {
  const date = new Date(2000, 0, 1);
  date.setFullYear(year, month, day);
  return date;
}

/** Parses a date with an optional time, `YYYY-MM-DDThh:mm:ss`, in the time zone of the server. */
export function parseLocalMoment(moment: string): Date {
  const [year, month, day, hours = 0, minutes = 0, seconds = 0] = moment.split(/[-T:]/).map(Number) as [number, number, number];
  const date = localDate(year, month - 1, day);
  date.setHours(hours, minutes, seconds);
  return date;
}

/** Returns the dates of the ticks. Days are counted back from the last one, which is always labelled; months and years begin on their first day. */
function tickDates({ unit, unitsPerStep }: TickStep, first: Date, last: Date): Date[] {
  const days: Date[] = [];
  if (unit === 'day') {
    for (
      let day = last;
      day >= first && days.length <= MAX_TICKS;
      day = localDate(day.getFullYear(), day.getMonth(), day.getDate() - unitsPerStep)
    )
      days.unshift(day);
    return days;
  }
  const months = unit === 'month' ? unitsPerStep : 12 * unitsPerStep;
  const from = first.getFullYear() * 12 + first.getMonth();
  for (let month = Math.floor(from / months) * months; days.length <= MAX_TICKS; month += months) {
    const day = localDate(Math.floor(month / 12), month % 12, 1);
    if (day > last) break;
    if (day >= first) days.push(day);
  }
  return days;
}

const monthNameOf = (day: Date) => day.toLocaleString('en', { month: 'short' });

function labelOf(day: Date, unit: TickStep['unit'], previousDay: Date | undefined): string {
  const year = String(day.getFullYear());
  if (unit === 'year') return year;
  const label = unit === 'month' ? monthNameOf(day) : `${day.getDate()} ${monthNameOf(day)}`;
  return previousDay?.getFullYear() === day.getFullYear() ? label : `${label} ${year}`;
}

/** Returns the ticks of the smallest step that has at most MAX_TICKS. `first` and `last` are dates such as `2026-11-22`. */
export function ticksOf(first: string, last: string): Tick[] {
  const [from, to] = [parseLocalMoment(first), parseLocalMoment(last)];
  const [step, days] = TICK_STEPS.map((candidate) => [candidate, tickDates(candidate, from, to)] as const).find(
    ([, dates]) => dates.length <= MAX_TICKS,
  )!;
  return days.map((day, index) => ({ time: day.getTime(), label: labelOf(day, step.unit, days[index - 1]) }));
}
