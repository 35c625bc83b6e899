/** Parses dates that are given as year, month and day in a query string. */
import { DateTime } from 'luxon';
import { parseFormInteger } from './python-scalars';

const MAX_YEAR = 9999;

/** Builds an ISO date. Missing and empty parts default to today. */
export function parseDateParts(
  parts: { year?: string | null; month?: string | null; day?: string | null },
  today: string,
): string | undefined {
  const { year, month, day } = DateTime.fromISO(today);
  const dateParts = {
    year: parseFormInteger(parts.year) ?? year,
    month: parseFormInteger(parts.month) ?? month,
    day: parseFormInteger(parts.day) ?? day,
  };

  // Parts outside of the range are rejected here, because Luxon throws on NaN and accepts the year
  // 0 (1 BC).
  if (!Object.values(dateParts).every((part) => part >= 1 && part <= MAX_YEAR)) return undefined;

  return DateTime.fromObject(dateParts).toISODate() ?? undefined;
}
