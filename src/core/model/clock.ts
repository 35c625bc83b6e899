/** What day and moment it is in the zone of the server, and moments that were said elsewhere. */
import { DateTime } from 'luxon';

export const today = (timeZone: string): string => DateTime.now().setZone(timeZone).toISODate()!;
export const now = (timeZone: string): string => DateTime.now().setZone(timeZone).toISO({ includeOffset: true })!;

/** Between these every zone shows a year from 1 to 9999. */
const [FIRST, LAST] = ['0001-01-02T00:00:00', '9999-12-30T23:59:59'] as const;

/** Of a second, point and all. */
export const FRACTION = /\.\d+/;

/**
 * The same moment, microseconds and all, with an offset that PostgreSQL reads: it knows none of 16 hours and more. Undefined for what is
 * no moment, or out of range.
 */
export function inUtc(moment: string): string | undefined {
  const [fraction = ''] = FRACTION.exec(moment) ?? [];
  const utc = DateTime.fromISO(moment.replace(FRACTION, ''), { zone: 'utc' });
  const seconds = utc.toISO({ includeOffset: false, suppressMilliseconds: true });
  return seconds !== null && seconds >= FIRST && seconds <= LAST ? `${seconds}${fraction}Z` : undefined;
}
