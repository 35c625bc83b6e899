/**
 * Time buckets (day, week, hour of day, …): SQL that groups rows by a unit of time, and the start
 * and end of each bucket.
 */
import { DateTime, IANAZone } from 'luxon';
import { Field, Int, ObjectType } from 'type-graphql';
import { registerEnum } from '../declare/choices';
import { createEnum } from '../declare/enums';
import { DateScalar, DateTimeScalar } from '../declare/scalars';

const DAY_UNITS = {
  DAY: 'From midnight to midnight.',
  WEEKDAY: 'All Mondays, all Tuesdays, and so on.',
  WEEK: 'Seven days from the first day of the week. Weeks that start on Monday are the weeks of ISO 8601.',
  MONTH: 'A calendar month.',
  QUARTER: 'A calendar quarter, starting in January, April, July or October.',
  YEAR: 'A calendar year.',
};
const HOUR_UNITS = {
  HOUR: 'An hour of one day. The repeated hour at the end of daylight saving time counts as two.',
  HOUR_OF_DAY: 'All hours from 8 to 9 o’clock of all days, and so on.',
};

export type DayUnit = keyof typeof DAY_UNITS;
export const DayUnit = createEnum('DayUnit', 'Units of time by which days are grouped.', DAY_UNITS);

export type TimeUnit = DayUnit | keyof typeof HOUR_UNITS;
export const TimeUnit = createEnum('TimeUnit', 'Units of time by which times are grouped.', {
  ...HOUR_UNITS,
  ...DAY_UNITS,
});

const DAYS_OF_WEEK = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

/**
 * Enum of weekdays. Its values are the numbers of ISO 8601, which are also row ids of the days of
 * the week.
 */
export const WEEKDAY_ENUM = registerEnum(
  'Weekday',
  'A day of the week.',
  DAYS_OF_WEEK.map((name, index) => [
    name,
    index + 1,
    `Day ${index + 1} of the week in ISO 8601, and the \`number\` of its group by \`WEEKDAY\`.`,
  ]),
);
export const MONDAY = 1;

const BUCKET_NUMBER_DESCRIPTION =
  'For weekdays, 1 (Monday) to 7 (Sunday); for hours of the day, 0 to 23; otherwise null.';

@ObjectType({ description: 'The days of one group.', simpleResolvers: true })
export class DayBucket {
  @Field(() => DayUnit, { description: 'The unit of time of the group.' })
  declare unit: DayUnit;
  @Field(() => DateScalar, { nullable: true, description: 'The first day; null for weekdays.' })
  declare start: string | null;
  @Field(() => DateScalar, {
    nullable: true,
    description: 'The first day of the next group; null for weekdays.',
  })
  declare end: string | null;
  @Field(() => Int, { nullable: true, description: BUCKET_NUMBER_DESCRIPTION })
  declare number: number | null;
}

@ObjectType({
  description: 'The times of one group.',
  simpleResolvers: true,
})
export class TimeBucket {
  @Field(() => TimeUnit, { description: 'The unit of time of the group.' })
  declare unit: TimeUnit;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Start of the group; null for weekdays and hours of the day.',
  })
  declare start: string | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'Start of the next group; null for weekdays and hours of the day.',
  })
  declare end: string | null;
  @Field(() => Int, { nullable: true, description: BUCKET_NUMBER_DESCRIPTION })
  declare number: number | null;
}

export type DayOrTimeBucket = DayBucket | TimeBucket;

/** Cyclic units (weekday, hour of day) have few groups, whatever the range of dates. */
export const isCyclicUnit = (unit: TimeUnit): boolean =>
  unit === 'WEEKDAY' || unit === 'HOUR_OF_DAY';

/**
 * SQL of a row's bucket: the number of a cyclic unit, the start of an hour, or the first day of a
 * longer unit. `daySql` is a date or a local timestamp; `hourSql` is the same time as timestamptz,
 * truncated to the hour of the time zone.
 */
export function bucketSql(
  unit: TimeUnit,
  firstDayOfWeek: number,
  daySql: string,
  hourSql: string,
): string {
  switch (unit) {
    case 'HOUR':
      return hourSql;
    case 'HOUR_OF_DAY':
      return `extract(hour FROM ${daySql})::int`;
    case 'DAY':
      return `(${daySql})::date`;
    case 'WEEKDAY':
      return `extract(isodow FROM ${daySql})::int`;
    case 'WEEK':
      return weekStartSql(daySql, firstDayOfWeek - 1);
    default:
      return `date_trunc('${unit.toLowerCase()}', (${daySql})::timestamp)::date`;
  }
}

function weekStartSql(daySql: string, daysAfterMonday: number): string {
  if (daysAfterMonday === 0) return `date_trunc('week', (${daySql})::timestamp)::date`;

  return `(date_trunc('week', (${daySql})::timestamp - interval '${daysAfterMonday} days')::date + ${daysAfterMonday})`;
}

/** Length of a bucket as a PostgreSQL interval. For cyclic units, the range of bucket numbers. */
export const BUCKET_DURATIONS: Record<TimeUnit, string> = {
  HOUR: '1 hour',
  HOUR_OF_DAY: '0 to 23',
  DAY: '1 day',
  WEEKDAY: '1 to 7',
  WEEK: '7 days',
  MONTH: '1 month',
  QUARTER: '3 months',
  YEAR: '1 year',
};

/** The smallest and the largest bucket number of a cyclic unit. */
export function cyclicBounds(unit: TimeUnit): { low: string; high: string } {
  const [low, high] = BUCKET_DURATIONS[unit].split(' to ') as [string, string];

  return { low, high };
}

/**
 * SQL: generates the values of `bucketSql` from one to another, except for hours. A cyclic unit has
 * all of its values unless `fromSql` is null.
 */
export function bucketSeriesSql(unit: TimeUnit, fromSql: string, toSql: string): string {
  if (isCyclicUnit(unit)) {
    const { low, high } = cyclicBounds(unit);

    return `generate_series(CASE WHEN ${fromSql} IS NOT NULL THEN ${low} END, ${high})`;
  }

  return `generate_series(${fromSql}::timestamp, ${toSql}::timestamp, interval '${BUCKET_DURATIONS[unit]}')::date`;
}

const ISO_DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;

/** Replaces dates whose year does not have four digits by null. */
const isoDayOrNull = (day: string | null | undefined): string | null =>
  day && ISO_DAY_PATTERN.test(day) ? day : null;

/** First day after the bucket that starts on `start`. */
const bucketEnd = (unit: TimeUnit, start: string) =>
  isoDayOrNull(
    DateTime.fromISO(start, { zone: 'utc' })
      .plus({ [unit.toLowerCase()]: 1 })
      .toISODate(),
  );

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/**
 * First moment of a day in a time zone: the earlier of two midnights if clocks go back, or the end
 * of a gap that skips midnight.
 */
function startOfDay(day: string, zone: string): string {
  const offsetMsAt = (instantMs: number) => IANAZone.create(zone).offset(instantMs) * MINUTE_MS;
  const localMidnightMs = Date.parse(`${day}T00:00:00Z`);
  const midnightByEarlierOffsetMs = localMidnightMs - offsetMsAt(localMidnightMs - DAY_MS);
  const midnightByLaterOffsetMs = localMidnightMs - offsetMsAt(localMidnightMs + DAY_MS);
  const midnightsMs = [midnightByEarlierOffsetMs, midnightByLaterOffsetMs].filter(
    (instantMs) => instantMs + offsetMsAt(instantMs) === localMidnightMs,
  );
  // Without a midnight, the offset before the gap yields the end of the gap.
  const startMs = midnightsMs.length ? Math.min(...midnightsMs) : midnightByEarlierOffsetMs;

  return new Date(startMs).toISOString();
}

/** Day bucket for a value of `bucketSql`: a weekday number or the first day of the bucket. */
export function dayBucket(unit: DayUnit, value: string | number): DayBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };
  const start = isoDayOrNull(value);

  return { unit, start, end: start && bucketEnd(unit, start), number: null };
}

/**
 * Time bucket for a value of `bucketSql`: a weekday, an hour of day, the first day of the bucket,
 * or the start of an hour.
 */
export function timeBucket(unit: TimeUnit, value: string | number, zone: string): TimeBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };

  if (unit === 'HOUR') {
    const end = new Date(Date.parse(value) + HOUR_MS).toISOString();

    return { unit, start: value, end, number: null };
  }

  const firstDay = isoDayOrNull(value);
  const nextDay = firstDay && bucketEnd(unit, firstDay);

  return {
    unit,
    start: firstDay && startOfDay(firstDay, zone),
    end: nextDay && startOfDay(nextDay, zone),
    number: null,
  };
}
