/** Type parsers of pg: 64-bit integers become numbers; dates, times, timestamps and decimals become strings in the format of the APIs. */
import { types } from 'pg';

const OID = { int8: 20, date: 1082, time: 1083, timestamptz: 1184 } as const;

const formatMicroseconds = (fraction: string | undefined) =>
  fraction ? `.${fraction.padEnd(6, '0')}` : '';

/** Formats a time of day: `18:00:00.5` becomes `18:00:00.500000`. A fraction of a second always has six digits; without one, nothing is added. */
const formatTime = (value: string) =>
  value.replace(/\.(\d+)$/, (_, fraction: string) => formatMicroseconds(fraction));

/**
 * Converts a timestamp to ISO 8601: `2021-03-10 08:00:00+01` becomes `2021-03-10T08:00:00+01:00`. ISO 8601 has no offsets with seconds, which time zones had
 * before standard time. A timestamp with such an offset is converted to UTC.
 */
function formatTimestamp(value: string): string {
  const match = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-])(\d\d)(?::?(\d\d))?(?::(\d\d))?/.exec(
    value,
  );
  if (!match) return value;
  const [, day, time, fraction, sign, hours, minutes = '00', seconds] = match;
  if (seconds === undefined)
    return `${day}T${time}${formatMicroseconds(fraction)}${sign}${hours}:${minutes}`;
  const offset =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * (sign === '-' ? -1000 : 1000);
  const utcTimestamp = new Date(Date.parse(`${day}T${time}Z`) - offset).toISOString();
  return `${utcTimestamp.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}${formatMicroseconds(fraction)}+00:00`;
}

export const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  switch (oid) {
    case OID.int8:
      return Number;
    case OID.date:
      return (value: string) => value;
    case OID.time:
      return formatTime;
    case OID.timestamptz:
      return formatTimestamp;
    default:
      return types.getTypeParser(oid, format);
  }
}) as typeof types.getTypeParser;
