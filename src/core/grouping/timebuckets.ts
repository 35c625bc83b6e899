/** Time buckets (day, week, hour of day, …): the SQL expressions that group rows by a unit of time, and the start and end of each bucket. */
import { DateTime, IANAZone } from 'luxon';
import { Field, Int, ObjectType } from 'type-graphql';
import { registerEnum } from '../model/choices';
import { createEnum } from '../model/enums';
import { DateScalar, DateTimeScalar } from '../model/scalars';

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

/** Enum of weekdays. Its values are the numbers of ISO 8601, which are also the row ids of the days of the week. */
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
  description: 'The times of one group, in the time zone of the grouping.',
  simpleResolvers: true,
})
export class TimeBucket {
  @Field(() => TimeUnit, { description: 'The unit of time of the group.' })
  declare unit: TimeUnit;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      'Start of the group, with the offset of its time zone; null for weekdays and hours of the day.',
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

/** Whether a unit is cyclic (weekday, hour of day), so that its number of groups is small, whatever the range of dates. */
export const isCyclicUnit = (unit: TimeUnit): boolean =>
  unit === 'WEEKDAY' || unit === 'HOUR_OF_DAY';

/**
 * Returns SQL of a row's bucket: the number of a cyclic unit, the start of an hour, or the first day of a longer unit. `daySql` is SQL of a date or of a
 * timestamp without time zone (local time). `hourSql` is SQL of the same time as timestamptz, truncated to the hour of the time zone.
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
      return firstDayOfWeek === 1
        ? `date_trunc('week', (${daySql})::timestamp)::date`
        : `(date_trunc('week', (${daySql})::timestamp - interval '${firstDayOfWeek - 1} days')::date + ${firstDayOfWeek - 1})`;
    default:
      return `date_trunc('${unit.toLowerCase()}', (${daySql})::timestamp)::date`;
  }
}

/** Length of a bucket as a PostgreSQL interval; for cyclic units, such as weekdays, the smallest and the largest bucket number. */
export const BUCKET_LENGTHS: Record<TimeUnit, string> = {
  HOUR: '1 hour',
  HOUR_OF_DAY: '0 to 23',
  DAY: '1 day',
  WEEKDAY: '1 to 7',
  WEEK: '7 days',
  MONTH: '1 month',
  QUARTER: '3 months',
  YEAR: '1 year',
};

const ISO_DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;
/** Returns a date in ISO format unchanged; null if its year does not have four digits. */
const isoDayOrNull = (day: string | null | undefined): string | null =>
  day && ISO_DAY_PATTERN.test(day) ? day : null;

/** Returns the first day after the bucket that starts on `start`; null if its year has more than four digits. */
const bucketEnd = (unit: TimeUnit, start: string) =>
  isoDayOrNull(
    DateTime.fromISO(start, { zone: 'utc' })
      .plus({ [unit.toLowerCase()]: 1 })
      .toISODate(),
  );

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Formats a time by RFC 3339 in its own zone, or in UTC if the zone's offset is not in whole minutes (historical local times). */
const formatDateTime = (dateTime: DateTime) =>
  (Number.isInteger(dateTime.offset) ? dateTime : dateTime.toUTC()).toFormat(
    "yyyy-MM-dd'T'HH:mm:ssZZ",
  );

/** Returns the first moment of a day in a time zone: the earlier of two midnights if clocks go back, or the end of a gap that skips midnight. */
function startOfDay(day: string, zone: string): string {
  const offsetMsAt = (at: number) => IANAZone.create(zone).offset(at) * MINUTE_MS;
  const localMidnightMs = Date.parse(`${day}T00:00:00Z`);
  const [before, after] = [
    localMidnightMs - offsetMsAt(localMidnightMs - DAY_MS),
    localMidnightMs - offsetMsAt(localMidnightMs + DAY_MS),
  ];
  const midnights = [before, after].filter((at) => at + offsetMsAt(at) === localMidnightMs);
  return formatDateTime(
    DateTime.fromMillis(midnights.length ? Math.min(...midnights) : before, { zone }),
  );
}

/** Returns the day bucket for a value computed by `bucketSql`: a weekday number, or the first day of the bucket. */
export function dayBucket(unit: DayUnit, value: string | number): DayBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };
  const start = isoDayOrNull(value);
  return { unit, start, end: start && bucketEnd(unit, start), number: null };
}

/**
 * Returns the time bucket, in a time zone, for a value computed by `bucketSql`: the number of a weekday or hour of day, the first day of the bucket, or
 * the start of an hour.
 */
export function timeBucket(unit: TimeUnit, value: string | number, zone: string): TimeBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };
  if (unit === 'HOUR') {
    const start = DateTime.fromISO(value, { zone });
    return {
      unit,
      start: formatDateTime(start),
      end: formatDateTime(start.plus({ hours: 1 })),
      number: null,
    };
  }
  const [first, next] = [isoDayOrNull(value), isoDayOrNull(value) && bucketEnd(unit, value)];
  return {
    unit,
    start: first && startOfDay(first, zone),
    end: next && startOfDay(next, zone),
    number: null,
  };
}
