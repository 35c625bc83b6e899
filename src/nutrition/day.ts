/** A day given in parts, as the query of a client has them. */
import { DateTime } from 'luxon';
import { integerIn } from './form';

const MAX_YEAR = 9999;

/** What is absent or empty is taken from today. Undefined where the parts make no day of the years 1 to 9999. */
export function dayOf(parts: { year?: string | null; month?: string | null; day?: string | null }, today: string): string | undefined {
  const { year, month, day } = DateTime.fromISO(today);
  const date = { year: integerIn(parts.year) ?? year, month: integerIn(parts.month) ?? month, day: integerIn(parts.day) ?? day };
  // Luxon throws at what is no number and takes year 0 for one before Christ.
  if (!Object.values(date).every((part) => part >= 1 && part <= MAX_YEAR)) return undefined;
  return DateTime.fromObject(date).toISODate() ?? undefined;
}
