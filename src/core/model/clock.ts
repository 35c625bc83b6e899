/** Current date and time in the server's time zone, and conversion of ISO 8601 timestamps to UTC. */
import { DateTime } from 'luxon';

export const todayIn = (timeZone: string): string => DateTime.now().setZone(timeZone).toISODate()!;

/** Unix time in milliseconds at which `performance.now()` was 0, according to the current setting of the system clock. */
let timeOriginMs = performance.timeOrigin;
/** Maximum difference between the monotonic clock and the system clock. A larger one means that the system clock was adjusted. */
const MAX_CLOCK_DIFFERENCE_MS = 2;

/** Returns the current Unix time in milliseconds. Unlike that of `Date`, it has a fraction, with microsecond precision. */
function currentUnixMilliseconds(): number {
  if (Math.abs(timeOriginMs + performance.now() - Date.now()) > MAX_CLOCK_DIFFERENCE_MS)
    timeOriginMs = Date.now() - performance.now();
  return timeOriginMs + performance.now();
}

/** Returns the current time in ISO 8601 format with microseconds. */
export function currentTimestamp(timeZone: string): string {
  const unixMicroseconds = Math.floor(currentUnixMilliseconds() * 1000);
  const microsecondDigits = String(unixMicroseconds % 1_000_000).padStart(6, '0');
  return DateTime.fromMillis(Math.floor(unixMicroseconds / 1000), { zone: timeZone }).toFormat(
    `yyyy-MM-dd'T'HH:mm:ss'.${microsecondDigits}'ZZ`,
  );
}

/** Range of UTC timestamps whose year has four digits (0001 to 9999) in every time zone. */
const [MIN_UTC_TIMESTAMP, MAX_UTC_TIMESTAMP] = [
  '0001-01-02T00:00:00',
  '9999-12-30T23:59:59',
] as const;

const FRACTIONAL_SECONDS_PATTERN = /\.\d+/;

/**
 * Converts an ISO 8601 timestamp to UTC, because PostgreSQL rejects offsets of 16 hours and more. Returns undefined if it is invalid or out of range.
 */
export function toUtcTimestamp(timestamp: string): string | undefined {
  const [fraction = ''] = FRACTIONAL_SECONDS_PATTERN.exec(timestamp) ?? [];
  const utcTime = DateTime.fromISO(timestamp.replace(FRACTIONAL_SECONDS_PATTERN, ''), {
    zone: 'utc',
  });
  const isoText = utcTime.toISO({ includeOffset: false, suppressMilliseconds: true });
  return isoText !== null && isoText >= MIN_UTC_TIMESTAMP && isoText <= MAX_UTC_TIMESTAMP
    ? `${isoText}${fraction}Z`
    : undefined;
}
