/** Type parsers of pg: 64-bit integers become numbers; dates, times, timestamps and decimals become strings in the format of the APIs. */
import { types } from 'pg';

const OID = { int8: 20, date: 1082, time: 1083, timestamptz: 1184 } as const;

const formatMicroseconds = (fraction: string | undefined) => (fraction ? `.${fraction.padEnd(6, '0')}` : '');

/** Formats a time of day: `18:00:00.5` becomes `18:00:00.500000`. A fraction of a second always has six digits; without one, nothing is added. */
const formatTime = (value: string) => value.replace(/\.(\d+)$/, (_, fraction: string) => formatMicroseconds(fraction));

/** Converts a timestamp to ISO 8601: `2021-03-10 08:00:00+01` becomes `2021-03-10T08:00:00+01:00`. */
function formatTimestamp(value: string): string {
  const parts = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?([+-]\d\d)(?::?(\d\d))?/.exec(value);
  return parts ? `${parts[1]}T${parts[2]}${formatMicroseconds(parts[3])}${parts[4]}:${parts[5] ?? '00'}` : value;
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
