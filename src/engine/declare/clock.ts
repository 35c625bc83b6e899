/**
 * Current date and time in the server's time zone, and conversion of ISO 8601 timestamps to UTC.
 */
import { DateTime } from 'luxon';

export const todayIn = (timeZone: string): string => DateTime.now().setZone(timeZone).toISODate()!;

/** Unix time in milliseconds at which `performance.now()` was 0, by the current system clock. */
let timeOriginMs = performance.timeOrigin;

/**
 * A larger difference between the monotonic and the system clock means that the system clock was
 * adjusted.
 */
const MAX_CLOCK_DIFFERENCE_MS = 2;

/**
 * Current Unix time in milliseconds, with a fraction of microsecond precision, which `Date` lacks.
 */
function currentUnixMilliseconds(): number {
  if (Math.abs(timeOriginMs + performance.now() - Date.now()) > MAX_CLOCK_DIFFERENCE_MS) {
    timeOriginMs = Date.now() - performance.now();
  }

  return timeOriginMs + performance.now();
}

/** Current time in ISO 8601 format with microseconds. */
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
 * Converts an ISO 8601 timestamp to UTC, because PostgreSQL rejects offsets of 16 hours and more.
 * Invalid and out-of-range timestamps become undefined.
 */
export function toUtcTimestamp(timestamp: string): string | undefined {
  const [fraction = ''] = FRACTIONAL_SECONDS_PATTERN.exec(timestamp) ?? [];
  const utcTime = DateTime.fromISO(timestamp.replace(FRACTIONAL_SECONDS_PATTERN, ''), {
    zone: 'utc',
  });
  const isoText = utcTime.toISO({ includeOffset: false, suppressMilliseconds: true });

  const isInRange =
    isoText !== null && isoText >= MIN_UTC_TIMESTAMP && isoText <= MAX_UTC_TIMESTAMP;

  return isInRange ? `${isoText}${fraction}Z` : undefined;
}

const TIMESTAMP_PATTERN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/;

/**
 * Formats a timestamp with a UTC offset in UTC, as `YYYY-MM-DDThh:mm:ss[.ffffff]Z`. Other texts,
 * such as `infinity` in PostgreSQL, stay unchanged.
 */
export function formatInUtc(timestamp: string): string {
  const match = TIMESTAMP_PATTERN.exec(timestamp);

  if (!match) return timestamp;
  const [, localTime, fraction = '', offset] = match;
  const utcTime = new Date(`${localTime}${offset}`).toISOString().slice(0, localTime!.length);

  return Number(fraction) === 0 ? `${utcTime}Z` : `${utcTime}.${fraction.padEnd(6, '0')}Z`;
}
