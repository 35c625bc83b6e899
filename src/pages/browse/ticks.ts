/** Axis ticks of a time chart: evenly spaced days, months or years. A label contains the year unless the previous tick is in the same year. */

export interface Tick {
  /** Milliseconds since 1970. */
  time: number;
  label: string;
}

interface Step {
  unit: 'day' | 'month' | 'year';
  unitsPerStep: number;
}

const MAX_TICKS = 8;
const STEPS: readonly Step[] = [
  ...[1, 2, 7, 14].map((unitsPerStep) => ({ unit: 'day' as const, unitsPerStep })),
  ...[1, 2, 3, 6].map((unitsPerStep) => ({ unit: 'month' as const, unitsPerStep })),
  ...[1, 2, 5, 10, 20, 50, 100, 1000].map((unitsPerStep) => ({ unit: 'year' as const, unitsPerStep })),
];

/** Parses `YYYY-MM-DD` in the time zone of the server, as the time axis of ECharts does. */
const parseLocalDate = (day: string): Date => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date);
};

/** Returns the dates of the ticks. Days are counted back from the last one, which is always labelled; months and years begin on their first day. */
function tickDates({ unit, unitsPerStep }: Step, first: Date, last: Date): Date[] {
  const days: Date[] = [];
  if (unit === 'day') {
    for (
      let day = last;
      day >= first && days.length <= MAX_TICKS;
      day = new Date(day.getFullYear(), day.getMonth(), day.getDate() - unitsPerStep)
    )
      days.unshift(day);
    return days;
  }
  const months = unit === 'month' ? unitsPerStep : 12 * unitsPerStep;
  const from = first.getFullYear() * 12 + first.getMonth();
  for (let month = Math.floor(from / months) * months; days.length <= MAX_TICKS; month += months) {
    const day = new Date(Math.floor(month / 12), month % 12, 1);
    if (day > last) break;
    if (day >= first) days.push(day);
  }
  return days;
}

const monthNameOf = (day: Date) => day.toLocaleString('en', { month: 'short' });

function labelOf(day: Date, unit: Step['unit'], previousDay: Date | undefined): string {
  const year = String(day.getFullYear());
  if (unit === 'year') return year;
  const label = unit === 'month' ? monthNameOf(day) : `${day.getDate()} ${monthNameOf(day)}`;
  return previousDay?.getFullYear() === day.getFullYear() ? label : `${label} ${year}`;
}

/** Returns the ticks of the smallest step that has at most MAX_TICKS. `first` and `last` are dates such as `2026-11-22`. */
export function ticksOf(first: string, last: string): Tick[] {
  const [from, to] = [parseLocalDate(first), parseLocalDate(last)];
  const [step, days] = STEPS.map((candidate) => [candidate, tickDates(candidate, from, to)] as const).find(
    ([, dates]) => dates.length <= MAX_TICKS,
  )!;
  return days.map((day, index) => ({ time: day.getTime(), label: labelOf(day, step.unit, days[index - 1]) }));
}
