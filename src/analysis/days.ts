/** How questions put days together. */
import type { Row } from '../database/rows';
import { dayBucket, MONDAY, type DayBucket, type DayUnit } from '../core/grouping/units';

export const BY_DAYS = 'By what days are put together.';
export const FIRST_DAY = { defaultValue: MONDAY, description: 'With which day weeks begin.' };
/** Where days without anything have rows too. */
export const MAX_DAYS = 9_999;

/** Shows the days of each row by their `start`. Neighbours share them: rows come by their days. */
export function inBuckets(by: DayUnit): (row: Row) => Row {
  let last: { start: unknown; bucket: DayBucket } | undefined;
  return (row) => {
    if (!last || last.start !== row.start) last = { start: row.start, bucket: dayBucket(by, row.start) };
    return { ...row, bucket: last.bucket };
  };
}
