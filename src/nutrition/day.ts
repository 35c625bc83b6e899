/** A day given in parts, as the query of a client has them. */
import { DateTime } from 'luxon';
import { integerOf } from './form';

/** What is absent or empty is taken from today. Undefined where the parts make no day of the years 1 to 9999. */
export function dayOf({ year, month, day }: Partial<Record<'year' | 'month' | 'day', string | null>>, today: string): string | undefined {
  const now = DateTime.fromISO(today);
  const date = DateTime.fromObject({
    year: inRange(integerOf(year) ?? now.year),
    month: inRange(integerOf(month) ?? now.month),
    day: inRange(integerOf(day) ?? now.day),
  });
  return date.isValid ? date.toISODate() : undefined;
}

/** Luxon takes a negative year for one before Christ, and throws at what is no number; month 0 is what it calls invalid. */
const inRange = (part: number): number => (part >= 1 && part <= 9999 ? part : 0);
