/** Units of time: how rows are told apart by them in SQL, and from when to when a group lies. */
import { DateTime, IANAZone } from 'luxon';
import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../model/choices';
import { DateScalar, DateTimeScalar } from '../model/scalars';

const DAYS = {
  DAY: { description: 'From midnight to midnight.' },
  WEEKDAY: { description: 'All Mondays together, all Tuesdays, and so on.' },
  WEEK: { description: 'Seven days from the first day of the week; from Monday they are the weeks of ISO 8601.' },
  MONTH: { description: 'A month of one year.' },
  QUARTER: { description: 'Three months of one year, the first of which is January, April, July or October.' },
  YEAR: { description: 'From the first of January to the end of December.' },
};
const HOURS = {
  HOUR: { description: 'One hour of one day; the hour that comes twice at the end of summer time is two.' },
  HOUR_OF_DAY: { description: 'All hours from 8 to 9 o’clock together, whatever their day, and so on.' },
};

type Named<T> = { readonly [K in keyof T]: K };
const named = <T extends object>(units: T) => Object.fromEntries(Object.keys(units).map((name) => [name, name])) as Named<T>;

export type DayUnit = keyof typeof DAYS;
export const DayUnit = named(DAYS);
registerEnumType(DayUnit, { name: 'DayUnit', description: 'By what days are put together.', valuesConfig: DAYS });

export type TimeUnit = DayUnit | keyof typeof HOURS;
export const TimeUnit = named({ ...HOURS, ...DAYS });
registerEnumType(TimeUnit, { name: 'TimeUnit', description: 'By what moments are put together.', valuesConfig: { ...HOURS, ...DAYS } });

export type Unit = TimeUnit;

const DAYS_OF_WEEK = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

/** By the numbers of ISO 8601, which are the ids of the days of the week too. */
export const WEEKDAY = enumOf(
  'Weekday',
  'A day of the week.',
  DAYS_OF_WEEK.map((name, index) => [
    name,
    index + 1,
    `Day ${index + 1} of the week in ISO 8601, and the \`number\` of its group by \`WEEKDAY\`.`,
  ]),
);
export const MONDAY = 1;

const NUMBER = 'Of a weekday 1 for Monday to 7 for Sunday, of an hour of the day 0 to 23; null of all others.';

@ObjectType({ description: 'Days of one group.', simpleResolvers: true })
export class DayBucket {
  @Field(() => DayUnit, { description: 'By what the days were put together.' })
  declare unit: DayUnit;
  @Field(() => DateScalar, { nullable: true, description: 'The first day; null of a weekday.' })
  declare start: string | null;
  @Field(() => DateScalar, { nullable: true, description: 'The first day after it, where the next group starts; null of a weekday.' })
  declare end: string | null;
  @Field(() => Int, { nullable: true, description: NUMBER })
  declare number: number | null;
}

@ObjectType({ description: 'Moments of one group, in the time zone of the grouping.', simpleResolvers: true })
export class TimeBucket {
  @Field(() => TimeUnit, { description: 'By what the moments were put together.' })
  declare unit: TimeUnit;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'The first moment, with the offset of the time zone of the grouping; null of a weekday and of an hour of the day.',
  })
  declare start: string | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'The first moment after it, where the next group starts; null of a weekday and of an hour of the day.',
  })
  declare end: string | null;
  @Field(() => Int, { nullable: true, description: NUMBER })
  declare number: number | null;
}

export type Bucket = DayBucket | TimeBucket;

/** Characters, so that nothing long is looked up. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
export const isZone = (zone: string): boolean => ZONE.test(zone) && IANAZone.isValidZone(zone);

/** Of these there are a few, whatever the rows: they come again and again. */
export const isRecurring = (unit: Unit): boolean => unit === 'WEEKDAY' || unit === 'HOUR_OF_DAY';

/**
 * The value that rows of one group share: a number of what recurs, the moment at which an hour begins, else the first day. `day` is a date or a
 * timestamp without time zone as it is in the zone; `moment` the same as a moment, truncated to the hour of the zone.
 */
export function bucketSql(unit: Unit, firstDay: number, day: string, hour: string): string {
  switch (unit) {
    case 'HOUR':
      return hour;
    case 'HOUR_OF_DAY':
      return `extract(hour FROM ${day})::int`;
    case 'DAY':
      return `(${day})::date`;
    case 'WEEKDAY':
      return `extract(isodow FROM ${day})::int`;
    case 'WEEK':
      return firstDay === 1
        ? `date_trunc('week', (${day})::timestamp)::date`
        : `(date_trunc('week', (${day})::timestamp - interval '${firstDay - 1} days')::date + ${firstDay - 1})`;
    default:
      return `date_trunc('${unit.toLowerCase()}', (${day})::timestamp)::date`;
  }
}

/** From one value of `bucketSql` to the next; of what recurs its smallest and largest value instead. */
export const STEPS: Record<Unit, string> = {
  HOUR: '1 hour',
  HOUR_OF_DAY: '0 to 23',
  DAY: '1 day',
  WEEKDAY: '1 to 7',
  WEEK: '7 days',
  MONTH: '1 month',
  QUARTER: '3 months',
  YEAR: '1 year',
};

const SPANS: Partial<Record<Unit, object>> = {
  DAY: { days: 1 },
  WEEK: { weeks: 1 },
  MONTH: { months: 1 },
  QUARTER: { months: 3 },
  YEAR: { years: 1 },
};

const ISO_DAY = /^\d{4}-\d\d-\d\d$/;
/** Undefined for what no day of a calendar with four digits of a year is. */
const asDay = (day: string | null | undefined): string | null => (day && ISO_DAY.test(day) ? day : null);

const dayAfter = (unit: Unit, day: string) => asDay(DateTime.fromISO(day, { zone: 'utc' }).plus(SPANS[unit]!).toISODate());

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** In its zone; in UTC where the zone had an offset that is not told in minutes. */
const shown = (moment: DateTime) => (Number.isInteger(moment.offset) ? moment : moment.toUTC()).toFormat("yyyy-MM-dd'T'HH:mm:ssZZ");

/** The first moment of a day in a zone: the earlier one of two midnights, and where there is none that at which the day begins. */
export function startOfDay(day: string, zone: string): string {
  const offset = (at: number) => IANAZone.create(zone).offset(at) * MINUTE_MS;
  const local = Date.parse(`${day}T00:00:00Z`);
  const [before, after] = [local - offset(local - DAY_MS), local - offset(local + DAY_MS)];
  const found = [before, after].filter((at) => at + offset(at) === local);
  return shown(DateTime.fromMillis(found.length ? Math.min(...found) : before, { zone }));
}

/** A group of days by its value in SQL. */
export function dayBucket(unit: DayUnit, value: string | number): DayBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };
  const start = asDay(value);
  return { unit, start, end: start && dayAfter(unit, start), number: null };
}

/** A group of moments by its value in SQL. */
export function timeBucket(unit: TimeUnit, value: string | number, zone: string): TimeBucket {
  if (typeof value === 'number') return { unit, start: null, end: null, number: value };
  if (unit === 'HOUR') {
    const start = DateTime.fromISO(value, { zone });
    return { unit, start: shown(start), end: shown(start.plus({ hours: 1 })), number: null };
  }
  const [first, next] = [asDay(value), asDay(value) && dayAfter(unit, value)];
  return { unit, start: first && startOfDay(first, zone), end: next && startOfDay(next, zone), number: null };
}
