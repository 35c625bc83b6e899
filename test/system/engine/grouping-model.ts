/**
 * Reference model of grouped lists in plain JavaScript. It shares no code with the implementation.
 */
import { Decimal } from 'decimal.js';
import { DateTime } from 'luxon';

const Exact = Decimal.clone({ precision: 45, rounding: Decimal.ROUND_HALF_UP });

export type Row = Record<string, any>;

/** A key value of a row, and the weight with which the row counts in that group. */
export interface Place {
  value: string | number | null;
  weight?: string;
}

/**
 * One element of `groupBy`: its input, the key values of a row (`of`), and its value in the `keys`
 * of a returned group (`valueFrom`).
 */
export interface Key {
  input: object;
  of(row: Row): Place[];
  valueFrom(keys: Row): unknown;

  /** Returns the sort key of a value; absent if the order is not checked. */
  place?(value: any): number | string;

  /**
   * Returns all values in a range; absent unless empty groups are requested. The range is undefined
   * if no row has a value.
   */
  between?(low: any, high: any): (string | number)[];
}

export interface Group {
  values: (string | number | null)[];
  rows: { row: Row; weight: Decimal }[];
}

const ONE = new Exact(1);
const parsed = new Map<unknown, Decimal>();

/** Parses a decimal. The result is cached, because values repeat. */
function exact(value: unknown): Decimal {
  let known = parsed.get(value);

  if (!known) parsed.set(value, (known = new Exact(value as string)));

  return known;
}

const tag = (values: readonly unknown[]) => JSON.stringify(values);

export function groupsOf(rows: readonly Row[], keys: readonly Key[]): Map<string, Group> {
  const groups = new Map<string, Group>();

  const groupAt = (values: Group['values']) => {
    const known = groups.get(tag(values));

    if (known) return known;
    const newGroup: Group = { values, rows: [] };

    groups.set(tag(values), newGroup);
    return newGroup;
  };

  if (!keys.length) groupAt([]);

  for (const row of rows) {
    let places: { values: Group['values']; weight: Decimal }[] = [{ values: [], weight: ONE }];

    for (const key of keys) {
      places = places.flatMap(({ values, weight }) =>
        key.of(row).map((place) => ({
          values: [...values, place.value],
          weight: place.weight === undefined ? weight : weight.times(place.weight),
        })),
      );
    }

    for (const { values, weight } of places) groupAt(values).rows.push({ row, weight });
  }

  const index = keys.findIndex(({ between }) => between);

  if (index >= 0) {
    const found = [...groups.values()].map(({ values }) => values);
    const presentValues = found.map((values) => values[index]!).filter((value) => value !== null);

    presentValues.sort((a, b) =>
      Number(a) > Number(b) || (Number.isNaN(Number(a)) && a > b) ? 1 : -1,
    );
    const steps = keys[index]!.between!(presentValues[0], presentValues.at(-1));
    const combinations = keys.length === 1 ? [[null]] : found;

    for (const values of combinations) {
      for (const step of steps) groupAt(values.map((value, at) => (at === index ? step : value)));
    }
  }

  return groups;
}

const rounded = (value: Decimal) => value.toDecimalPlaces(10).toFixed();
const plain = (value: unknown) =>
  value === null || value === undefined ? null : new Exact(value as string).toFixed();

export interface Fields {
  numbers: string[];
  extremes: string[];
  distinct: string[];
}

/** Computes the expected statistics of a group, in the same form as `readStatistics`. */
export function computeStatistics(
  { rows }: Group,
  { numbers, extremes, distinct }: Fields,
  ps: readonly string[],
): Row {
  const rowsWithValue = (field: string) => rows.filter(({ row }) => row[field] !== null);
  const of = (fields: string[], work: (field: string) => unknown) =>
    Object.fromEntries(fields.map((field) => [field, work(field)]));
  const sorted = new Map(
    numbers.map((field) => [
      field,
      rowsWithValue(field)
        .map(({ row }) => exact(row[field]))
        .sort((a, b) => a.comparedTo(b)),
    ]),
  );

  const percentile = (p: string) => (field: string) => {
    const all = sorted.get(field)!;

    if (!all.length) return null;
    const place = new Exact(p).times(all.length - 1);
    const [low, high] = [all[place.floor().toNumber()]!, all[place.ceil().toNumber()]!];

    return rounded(low.plus(place.minus(place.floor()).times(high.minus(low))));
  };

  const sum = (field: string) =>
    rowsWithValue(field).reduce(
      (total, { row, weight }) =>
        total.plus(weight === ONE ? exact(row[field]) : weight.times(exact(row[field]))),
      new Exact(0),
    );

  const extreme = (direction: 1 | -1) => (field: string) => {
    const numeric = numbers.includes(field);
    const values = rowsWithValue(field).map(({ row }) => row[field]);

    if (!values.length) return null;
    const compare = (a: any, b: any) =>
      numeric ? exact(a).comparedTo(exact(b)) : Number(a > b) - Number(a < b);
    const sign = (a: any, b: any) => compare(a, b) * direction;
    const found = values.reduce((a, b) => (sign(a, b) <= 0 ? a : b));

    return numeric ? plain(found) : found;
  };

  return {
    count: rows.length,
    weightedCount: rows.reduce((total, { weight }) => total.plus(weight), new Exact(0)).toFixed(),
    sum: of(numbers, (field) => (rowsWithValue(field).length ? sum(field).toFixed() : null)),
    avg: of(numbers, (field) => {
      const weights = rowsWithValue(field).reduce(
        (total, { weight }) => total.plus(weight),
        new Exact(0),
      );

      return weights.isZero() ? null : rounded(sum(field).dividedBy(weights));
    }),
    stddev: of(numbers, (field) => {
      const all = sorted.get(field)!;

      if (all.length < 2) return null;
      // Multiplies deviations by the number of values, so that only the last step divides and
      // rounds.
      const total = all.reduce((a, b) => a.plus(b));
      const squares = all.reduce(
        (sum, one) => sum.plus(one.times(all.length).minus(total).pow(2)),
        new Exact(0),
      );

      return rounded(squares.dividedBy(all.length ** 2 * (all.length - 1)).sqrt());
    }),
    median: of(numbers, percentile('0.5')),
    percentiles: ps.map((p) => of(numbers, percentile(p))),
    min: of(extremes, extreme(1)),
    max: of(extremes, extreme(-1)),
    countDistinct: of(
      distinct,
      (field) => new Set(rowsWithValue(field).map(({ row }) => String(row[field]))).size,
    ),
  };
}

/** Extracts the statistics of a returned group, with normalized decimals. */
export function readStatistics(
  node: Row,
  { numbers, distinct }: Fields,
  ps: readonly string[],
): Row {
  const decimals = (values: Row = {}) =>
    Object.fromEntries(
      Object.entries(values).map(([field, value]) => [
        field,
        numbers.includes(field) ? plain(value) : value,
      ]),
    );

  return {
    count: node.count,
    weightedCount: plain(node.weightedCount),
    sum: decimals(node.sum),
    avg: decimals(node.avg),
    stddev: decimals(node.stddev),
    median: decimals(node.median),
    percentiles: ps.map((_, index) => decimals(node[`p${index}`])),
    min: decimals(node.min),
    max: decimals(node.max),
    countDistinct: Object.fromEntries(distinct.map((field) => [field, node[`${field}_distinct`]])),
  };
}

const iso = (day: DateTime) => day.toISODate()!;
const utc = (day: string) => DateTime.fromISO(day, { zone: 'utc' });

/** Returns the first day of the week, month, quarter or year of a day. */
export function firstDayOf(unit: string, day: string, weekBegins: number): string {
  const { year, month, weekday } = utc(day);

  if (unit === 'WEEK') return iso(utc(day).minus({ days: (weekday - weekBegins + 7) % 7 }));
  if (unit === 'MONTH') return iso(DateTime.utc(year, month, 1));
  if (unit === 'QUARTER') return iso(DateTime.utc(year, month - ((month - 1) % 3), 1));

  return unit === 'YEAR' ? iso(DateTime.utc(year, 1, 1)) : day;
}

const STEP: Record<string, object> = {
  DAY: { days: 1 },
  WEEK: { days: 7 },
  MONTH: { months: 1 },
  QUARTER: { months: 3 },
  YEAR: { years: 1 },
};

export const nextDay = (unit: string, day: string): string => iso(utc(day).plus(STEP[unit]!));

export function daysBetween(unit: string, low: string, high: string): string[] {
  const found = [];

  for (let day = low; day <= high; day = nextDay(unit, day)) found.push(day);

  return found;
}

const starts = new Map<string, number>();
const QUARTER_OF_AN_HOUR = 900_000;
const STRIDE = 16 * QUARTER_OF_AN_HOUR;

/**
 * Returns the first moment, in milliseconds, at which the clocks of a zone show this day or a later
 * one.
 */
export function dawn(day: string, zone: string): number {
  const key = `${day} ${zone}`;
  const known = starts.get(key);

  if (known !== undefined) return known;
  const isBefore = (moment: number) => iso(DateTime.fromMillis(moment, { zone })) < day;
  let at = Date.parse(`${day}T00:00:00Z`) - 16 * 4 * QUARTER_OF_AN_HOUR;

  // Searches in strides of four hours, then goes back one stride in case clocks were set back, and
  // searches in quarters of an hour.
  while (isBefore(at + STRIDE)) at += STRIDE;
  at -= STRIDE;
  while (isBefore(at)) at += QUARTER_OF_AN_HOUR;
  starts.set(key, at);
  return at;
}
