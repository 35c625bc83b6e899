/** What day and moment it is in the zone of the server, and moments that were said elsewhere. */
import { DateTime } from 'luxon';

export const today = (timeZone: string): string => DateTime.now().setZone(timeZone).toISODate()!;

/** The time at which `performance.now()` was 0, by the system's clock as it is set now. */
let origin = performance.timeOrigin;
/** By how much the clocks differ at most as long as neither was set. */
const ROUNDING_MS = 2;

/** Milliseconds since 1970 with the microseconds that Date lacks. */
function preciseTime(): number {
  if (Math.abs(origin + performance.now() - Date.now()) > ROUNDING_MS) origin = Date.now() - performance.now();
  return origin + performance.now();
}

/** To the microsecond. */
export function now(timeZone: string): string {
  const micros = Math.floor(preciseTime() * 1000);
  const fraction = String(micros % 1_000_000).padStart(6, '0');
  return DateTime.fromMillis(Math.floor(micros / 1000), { zone: timeZone }).toFormat(`yyyy-MM-dd'T'HH:mm:ss'.${fraction}'ZZ`);
}

/** Between these every zone shows a year from 1 to 9999. */
const [FIRST, LAST] = ['0001-01-02T00:00:00', '9999-12-30T23:59:59'] as const;

/** Of a second, point and all. */
const FRACTION = /\.\d+/;

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
