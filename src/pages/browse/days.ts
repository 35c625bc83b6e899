/** Which days are named below a chart, and how: all alike, with the year where it is not that of the one before. */

export interface Tick {
  at: number;
  label: string;
}

interface Step {
  unit: 'day' | 'month' | 'year';
  of: number;
}

/** So many have room beside each other. */
const MOST = 8;
const STEPS: readonly Step[] = [
  ...[1, 2, 7, 14].map((of) => ({ unit: 'day' as const, of })),
  ...[1, 2, 3, 6].map((of) => ({ unit: 'month' as const, of })),
  ...[1, 2, 5, 10, 20, 50, 100, 1000].map((of) => ({ unit: 'year' as const, of })),
];

/** Days are those of the clock here, as the axis takes them. */
const dateOf = (day: string): Date => {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  return new Date(year, month - 1, date);
};

/** Days are counted back from the newest, which is what people look for; months and years begin where those of the calendar do. */
function daysOf({ unit, of }: Step, first: Date, last: Date): Date[] {
  const days: Date[] = [];
  if (unit === 'day') {
    for (let day = last; day >= first && days.length <= MOST; day = new Date(day.getFullYear(), day.getMonth(), day.getDate() - of))
      days.unshift(day);
    return days;
  }
  const months = unit === 'month' ? of : 12 * of;
  const from = first.getFullYear() * 12 + first.getMonth();
  for (let month = Math.floor(from / months) * months; days.length <= MOST; month += months) {
    const day = new Date(Math.floor(month / 12), month % 12, 1);
    if (day > last) break;
    if (day >= first) days.push(day);
  }
  return days;
}

const monthOf = (day: Date) => day.toLocaleString('en', { month: 'short' });

function labelOf(day: Date, unit: Step['unit'], before: Date | undefined): string {
  const year = String(day.getFullYear());
  if (unit === 'year') return year;
  const label = unit === 'month' ? monthOf(day) : `${day.getDate()} ${monthOf(day)}`;
  return before?.getFullYear() === day.getFullYear() ? label : `${label} ${year}`;
}

/** From the first to the last day, `2026-11-22` each. */
export function ticksOf(first: string, last: string): Tick[] {
  const [from, to] = [dateOf(first), dateOf(last)];
  const [step, days] = STEPS.map((one) => [one, daysOf(one, from, to)] as const).find(([, some]) => some.length <= MOST)!;
  return days.map((day, index) => ({ at: day.getTime(), label: labelOf(day, step.unit, days[index - 1]) }));
}
