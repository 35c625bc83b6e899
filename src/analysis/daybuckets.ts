/** Day buckets of analyses: the days, weeks, months and other periods by which results are grouped. */
import type { Row } from '../database/rows';
import { dayBucket, MONDAY, type DayBucket, type DayUnit } from '../core/grouping/timebuckets';

export const BUCKET_UNIT_DESCRIPTION = 'Units of time by which days are grouped.';
export const FIRST_DAY_ARGUMENT_OPTIONS = {
  defaultValue: MONDAY,
  description: 'The weekday on which weeks start.',
};
/** Maximum number of days in analyses that return a row for each day, even for days without data. */
export const MAX_SERIES_DAYS = 9_999;

/**
 * Returns a function that adds the day bucket of a row (`bucket`), derived from its column `start`. Consecutive rows with the same `start` share one
 * bucket object.
 */
export function createDayBucketAssigner(by: DayUnit): (row: Row) => Row {
  let previous: { start: unknown; bucket: DayBucket } | undefined;
  return (row) => {
    if (!previous || previous.start !== row.start)
      previous = { start: row.start, bucket: dayBucket(by, row.start) };
    return { ...row, bucket: previous.bucket };
  };
}
