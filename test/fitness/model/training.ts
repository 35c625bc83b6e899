/**
 * Reference model of masses, repetitions and estimates of logs in plain JavaScript. It shares no
 * code with the implementation.
 */
import { Decimal } from 'decimal.js';
import { DateTime } from 'luxon';
import { daysBetween, firstDayOf, nextDay, type Row } from '../../system/engine/grouping-model';

export const Exact = Decimal.clone({
  precision: 45,
  rounding: Decimal.ROUND_HALF_UP,
  toExpNeg: -50,
  toExpPos: 50,
});
const POUND = '0.45359237';
const DAY_MS = 86_400_000;

export const WEEKDAYS = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;

export interface Log {
  id: number;
  date: string;
  exercise: number;
  workout: number;
  reps: number;
  weight: string;
  rir: string | null;
  repetitionUnit: number;
  weightUnit: number;
}
export interface Athlete {
  prefersPounds: boolean;
  gender: string | null;
  weights: { date: string; weight: string; unit: string }[];
  sessions: { date: string; workout: number }[];
  logs: Log[];

  /** By exercise: its muscles, each with the factor by which a set counts for it. */
  muscles: Map<number, Map<number, number>>;
}

/** A translation of the squat. */
export const SQUAT_IN_GERMAN = 5;

/** Returns the exercise of a translation. */
export const baseOf = (exercise: number) => (exercise === SQUAT_IN_GERMAN ? 1 : exercise);

export type Formula = 'EPLEY' | 'BRZYCKI' | 'WATHAN' | 'LOMBARDI' | 'MAYHEW';

export const exact = (value: Decimal.Value) => new Exact(value);

/**
 * Values are first rounded to this number of decimals, because 1 / 3 × 3, for example, is slightly
 * less than 1.
 */
const SAME_PLACES = 30;

export const formatDecimal = (value: Decimal | null, places = 2) =>
  value && value.toDecimalPlaces(SAME_PLACES).toDecimalPlaces(places).plus(0).toFixed(places);
export const sum = (values: readonly (Decimal | null)[]) =>
  values.reduce<Decimal>((total, one) => (one ? total.plus(one) : total), exact(0));
export const largest = (values: readonly Decimal[]) =>
  values.length ? Exact.max(...values) : null;
export const inUnit = (unit: string, value: Decimal | null, places = 2) =>
  formatDecimal(value && (unit === 'LB' ? value.dividedBy(POUND) : value), places);
export const dayOf = (date: string) => Date.parse(date) / DAY_MS;
export const dayAfter = (date: string, days: number) =>
  new Date((dayOf(date) + days) * DAY_MS).toISOString().slice(0, 10);

/** Whether a range of days overlaps the requested one. */
export type Counts = (first: string, last?: string) => boolean;
const USUAL: Record<string, object> = {
  ...{ DAY: { days: 89 }, WEEKDAY: { weeks: 25 }, WEEK: { weeks: 25 } },
  ...{ MONTH: { months: 25 }, QUARTER: { quarters: 25 }, YEAR: { years: 25 } },
};

export function dateRangeOf(
  { from, until, last, by = 'DAY', firstDay = 'MONDAY', standing = false }: Row,
  today: string,
): { start: string; end: string; counts: Counts } {
  const end = until ?? today;
  const begin = firstDayOf(by === 'WEEKDAY' ? 'WEEK' : by, end, WEEKDAYS.indexOf(firstDay) + 1);
  const usual = DateTime.fromISO(begin, { zone: 'utc' }).minus(USUAL[by]!).toISODate()!;
  const start = from ?? (last === null && !standing ? usual : '0001-01-01');

  return { start, end, counts: (one, other = one) => other >= start && one <= end };
}

export function groups<T>(rows: readonly T[], key: (row: T) => unknown): T[][] {
  const found = new Map<string, T[]>();

  for (const row of rows) {
    found.set(JSON.stringify(key(row)), [...(found.get(JSON.stringify(key(row))) ?? []), row]);
  }

  return [...found.values()];
}

/** Sorts by several keys, nulls last. */
export const ordered = <T extends Row>(rows: T[], ...keys: ((row: T) => any)[]): T[] =>
  rows.sort((a, b) => {
    for (const key of keys) {
      const [one, two] = [key(a), key(b)];

      if (one === two) continue;
      if (one === null || two === null) return one === null ? 1 : -1;

      return one < two ? -1 : 1;
    }

    return 0;
  });

/** Converts the weight of a weight entry to kilograms. */
export const kilogramsOf = ({ weight, unit }: Athlete['weights'][number]): Decimal =>
  exact(weight).times(unit === 'lb' ? POUND : 1);

export const preferredUnit = ({ prefersPounds }: Pick<Athlete, 'prefersPounds'>) =>
  prefersPounds ? POUND : 1;

/** Returns the body weight in kg according to the weight entry nearest to the day. */
export function bodyOn(
  date: string,
  person: Pick<Athlete, 'prefersPounds' | 'weights'>,
): Decimal | null {
  const distance = (entry: { date: string }) => Math.abs(dayOf(entry.date) - dayOf(date));
  const [nearest] = [...person.weights].sort(
    (a, b) => distance(a) - distance(b) || dayOf(a.date) - dayOf(b.date),
  );

  return nearest ? kilogramsOf(nearest) : null;
}

const masses = new WeakMap<Log, Decimal | null>();

/** Returns the mass of a log in kg, cached because it is needed repeatedly. */
export function massOf(log: Log, person: Athlete): Decimal | null {
  if (!masses.has(log)) masses.set(log, liftedMass(log, person));

  return masses.get(log)!;
}

function liftedMass({ weight, weightUnit, date }: Log, person: Athlete): Decimal | null {
  if (weightUnit === 1) return exact(weight);
  if (weightUnit === 2) return exact(weight).times(POUND);

  return weightUnit === 3
    ? (bodyOn(date, person)?.plus(exact(weight).times(preferredUnit(person))) ?? null)
    : null;
}

export const repsOf = ({ repetitionUnit, reps }: Pick<Log, 'repetitionUnit' | 'reps'>) =>
  repetitionUnit <= 2 ? reps : null;
const reserveOf = ({ rir }: Log) => (rir ? Number(rir) : null);

const FORMULAS: Record<Formula, (mass: Decimal, r: number) => Decimal> = {
  EPLEY: (mass, r) => mass.times(exact(30).plus(r)).dividedBy(30),
  BRZYCKI: (mass, r) => mass.times(36).dividedBy(exact(37).minus(r)),
  WATHAN: (mass, r) =>
    mass.times(100).dividedBy(exact('-0.075').times(r).exp().times('53.8').plus('48.8')),
  LOMBARDI: (mass, r) => mass.times(exact(r).pow('0.1')),
  MAYHEW: (mass, r) =>
    mass.times(100).dividedBy(exact('-0.055').times(r).exp().times('41.9').plus('52.2')),
};

export function oneRepMax(log: Log, formula: Formula, person: Athlete): Decimal | null {
  const [mass, reps] = [massOf(log, person), repsOf(log)];

  if (!mass?.greaterThan(0) || reps === null || reps < 1) return null;
  const r = reps + (reserveOf(log) ?? 0);

  if (r > 12) return null;

  return r === 1 ? mass : FORMULAS[formula](mass, r);
}

export function intensity(log: Log, formula: Formula, person: Athlete): string | null {
  const before = person.logs.filter(
    ({ exercise, date }) => baseOf(exercise) === baseOf(log.exercise) && date <= log.date,
  );
  const best = largest(before.flatMap((one) => oneRepMax(one, formula, person) ?? []));
  const mass = massOf(log, person);

  return best && mass && formatDecimal(mass.times(100).dividedBy(best), 1);
}

/** Returns the grouping key of a date: the number of a weekday, or the first day of the bucket. */
export const placeOf = (by: string, firstDay: string, date: string): string | number =>
  by === 'WEEKDAY'
    ? ((dayOf(date) + 3) % 7) + 1
    : firstDayOf(by, date, WEEKDAYS.indexOf(firstDay as 'MONDAY') + 1);

/** Returns the grouping keys from one up to that of a date; all weekdays, if any is one. */
export function placesUpTo(
  by: string,
  firstDay: string,
  low: string | number,
  date: string,
): (string | number)[] {
  if (by === 'WEEKDAY') return [1, 2, 3, 4, 5, 6, 7];

  return daysBetween(by, String(low), String(placeOf(by, firstDay, date)));
}

/** Returns the bucket of a grouping key as GraphQL returns it. */
export const bucketOf = (by: string, place: string | number) =>
  typeof place === 'number'
    ? { unit: by, start: null, end: null, number: place }
    : { unit: by, start: place, end: nextDay(by, place), number: null };

export const tonnage = (logs: readonly Log[], person: Athlete) =>
  sum(logs.map((log) => massOf(log, person)?.times(repsOf(log) ?? 0) ?? null));
export const isHard = (log: Log) =>
  (repsOf(log) ?? 0) >= 5 && repsOf(log)! <= 30 && (reserveOf(log) ?? 0) <= 4;
