/** A `groupBy` → expressions of a statement that rows of one group share, what they need to be joined with, and how `keys` shows their values. */
import { Decimal } from 'decimal.js';
import { atLeast, atMostElements } from '../../contract/messages';
import type { Row } from '../../database/rows';
import { reachable } from '../access/access';
import { collation } from '../sql/collation';
import { whereOf, type Bind } from '../access/conditions';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { fieldsOf, ofKind, type Entity, type FieldMeta } from '../model/fields';
import { expression } from '../sql/expressions';
import type { Given } from '../sql/where';
import { resourceOf } from '../model/registry';
import { isReference, linkKeysOf, valueKeysOf, type LinkKey, type ValueKey } from './facts';
import type { DayGroupBy, NumberGroupBy, TimeGroupBy } from './inputs';
import { JoinedRows, plainValue } from './joinedrows';
import { binName, buckets, idOf } from './types';
import { bucketSql, dayBucket, isRecurring, isZone, STEPS, timeBucket, type Unit } from './units';

const MAX_KEYS = 6;

export type GroupBy = { [member: string]: unknown };

export interface Key {
  /** Tells it from other keys of one grouping. */
  name: string;
  sql(bind: Bind): string;
  /** What it is ordered by, of its value. */
  place(value: string): string;
  /** Puts its value among the keys of a group. */
  show(keys: Row, value: Row[string]): void;
  /** If empty groups are asked for: all values between two. */
  series?(from: string, to: string, bind: Bind): string;
  /** How many there are of those. */
  steps?(from: string, to: string, bind: Bind): string;
}

export interface Keys {
  keys: Key[];
  /** Of a row; absent: all weigh 1. */
  weight?: string;
}

const same = (value: string) => value;

/** Reads one `groupBy`. */
class Reader {
  readonly keys: Key[] = [];
  readonly weights: string[] = [];

  constructor(
    private readonly entity: Entity,
    private readonly context: Context,
    private readonly rows: JoinedRows,
  ) {}

  element(element: GroupBy, place: string): void {
    // The input type has room for one only.
    const [[name, how]] = Object.entries(element).filter(([, one]) => one != null) as [[string, Given]];
    const ofField = name === 'field';
    const called = ofField ? (how as string) : name;
    const links = linkKeysOf(this.entity).find((key) => key.name === called);
    if (links) return this.linked(links, ofField ? { [links.fields[0]!.relation!.object]: '1' } : how, place);
    if (ofField)
      return this.value(
        valueKeysOf(this.entity).find((key) => key.name === called)!,
        place,
      );
    const field = fieldsOf(this.entity).find((one) => one.name === called)!;
    if (field.kind === 'date') return this.days(field, how, place);
    if (field.kind === 'datetime') return this.moments(field, how, place);
    return this.bins(field, how, place);
  }

  private add(key: Key, place: string): void {
    if (this.keys.some(({ name }) => name === key.name)) throw badArgument(place, 'There is such a key already.');
    if (key.series && this.keys.some(({ series }) => series)) throw badArgument(place, 'Another key asks for empty groups already.');
    this.keys.push(key);
  }

  private value({ name, path, entity, field }: ValueKey, place: string): void {
    const sql = plainValue(field, this.rows.at(path));
    const rules = collation(entity, field, this.context.api);
    const shown = isReference(field) ? idOf(name) : name;
    const show = (keys: Row, found: Row[string]) => void (keys[shown] = found);
    this.add({ name, sql: () => sql, place: (column) => `${column}${rules}`, show }, place);
  }

  private days(field: FieldMeta, { by, firstDay: first, empty }: DayGroupBy, place: string): void {
    const sql = bucketSql(by, first, expression(field, 't'), '');
    const show = (keys: Row, value: string | null) => put(keys, buckets(field), value === null ? null : dayBucket(by, value));
    this.add({ name: `${field.name} ${by}`, sql: () => sql, show, ...inTime(by, first, empty) }, place);
  }

  private moments(field: FieldMeta, how: TimeGroupBy, place: string): void {
    const { by, firstDay: first, empty, timeZone: zone = null } = how;
    if (zone !== null && !isZone(zone))
      throw badArgument(`${place}.timeZone`, 'Ensure that this is a zone of the IANA database such as Europe/Berlin.');
    const timeZone = zone ?? this.context.timeZone;
    const moment = expression(field, 't');
    const sql = (bind: Bind) => {
      const inZone = bind(timeZone);
      return bucketSql(by, first, `(${moment} AT TIME ZONE ${inZone}::text)`, `date_trunc('hour', ${moment}, ${inZone}::text)`);
    };
    const show = (keys: Row, value: string | null) => put(keys, buckets(field), value === null ? null : timeBucket(by, value, timeZone));
    this.add({ name: `${field.name} ${by}`, sql, show, ...inTime(by, first, empty) }, place);
  }

  private bins(field: FieldMeta, { width, from, empty }: NumberGroupBy, place: string): void {
    if (!new Decimal(width).greaterThan(0)) throw badArgument(`${place}.width`, 'Ensure this value is greater than 0.');
    const value = `${expression(field, 't')}::numeric`;
    const sql = (bind: Bind) => {
      const [wide, start] = [`${bind(width)}::numeric`, `${bind(from)}::numeric`];
      // The remainder of a negative number is negative, and exact as all of this is.
      return `trim_scale(${value} - mod(mod(${value} - ${start}, ${wide}) + ${wide}, ${wide}))`;
    };
    const show = (keys: Row, found: string | null) =>
      void (keys[binName(field)] = found === null ? null : { from: found, to: new Decimal(found).plus(width).toFixed() });
    this.add(
      {
        name: `${field.name} bin`,
        sql,
        place: same,
        show,
        ...(empty && {
          series: (low, high, bind) => `trim_scale(generate_series(${low}, ${high}, ${bind(width)}::numeric))`,
          steps: (low, high, bind) => `(${high} - ${low}) / ${bind(width)}::numeric`,
        }),
      },
      place,
    );
  }

  /** Through lists: a row for each of theirs. */
  private linked({ name, path, target, fields }: LinkKey, how: Record<string, string | null>, place: string): void {
    const given = fields.flatMap((field) => {
      const weight = how[field.relation!.object];
      if (weight == null) return [];
      if (new Decimal(weight).isNegative()) throw badArgument(`${place}.${field.relation!.object}`, atLeast(0));
      return [{ ...field.link!, weight }];
    });
    if (!given.length) throw badArgument(place, 'Say of one list at least how much those in it weigh.');
    const joined = `m${this.weights.length}`;
    const shown = reachable(target, this.context);
    const outer = this.rows.at(path);
    const own = given[0]!.via ?? 'id';
    if (given.some(({ via = 'id' }) => via !== own)) throw new Error(`lists of ${name} do not begin at one column`);
    this.rows.joins.push((_alias, bind) => {
      const seen = shown.length ? ` AND l."$" IN (SELECT z."id" FROM "${resourceOf(target)!.table}" z${whereOf(shown, 'z', bind)})` : '';
      const ways = given.map(({ table, own: from, other, weight, ...link }) => {
        const fixed = ofKind({ table, own: from, other, ...link }, 'l');
        return `SELECT l."${from}" AS "of", l."${other}" AS "id", ${bind(weight)}::numeric AS "weight" FROM "${table}" l WHERE TRUE${fixed}${seen.replace('$', other)}`;
      });
      // One row may be in two of the lists.
      const all = `SELECT u."of", u."id", max(u."weight") AS "weight" FROM (${ways.join(' UNION ALL ')}) u GROUP BY 1, 2`;
      return `LEFT JOIN (${all}) ${joined} ON ${joined}."of" = ${outer}."${own}"`;
    });
    this.weights.push(`coalesce(${joined}."weight", 1)`);
    this.add(
      {
        name: name,
        sql: () => `${joined}."id"`,
        place: same,
        show: (keys, value) => void (keys[idOf(name)] = value),
      },
      place,
    );
  }
}

function put(keys: Row, name: string, bucket: unknown): void {
  (keys[name] ??= []).push(bucket);
}

/** Of a step, at least. */
const DAYS: Partial<Record<Unit, number>> = { DAY: 1, WEEK: 7, MONTH: 28, QUARTER: 90, YEAR: 365 };

/** Where units of time stand, and all of them from one to another. */
function inTime(unit: Unit, first: number, empty: boolean): Pick<Key, 'place' | 'series' | 'steps'> {
  const step = STEPS[unit];
  const place = unit === 'WEEKDAY' ? (column: string) => `(${column} + ${7 - first}) % 7` : same;
  if (!empty) return { place };
  if (isRecurring(unit)) {
    const [low, high] = step.split(' to ');
    return { place, series: (from) => `generate_series(CASE WHEN ${from} IS NOT NULL THEN ${low} END, ${high})`, steps: () => high! };
  }
  if (unit === 'HOUR')
    return {
      place,
      series: (from, to) => `generate_series(${from}, ${to}, interval '${step}')`,
      steps: (from, to) => `extract(epoch FROM ${to} - ${from}) / 3600`,
    };
  return {
    place,
    series: (from, to) => `generate_series(${from}::timestamp, ${to}::timestamp, interval '${step}')::date`,
    steps: (from, to) => `(${to} - ${from}) / ${DAYS[unit]}`,
  };
}

/** What is shown of keys is made in the order of `groupBy`. */
export function keysOf(entity: Entity, groupBy: readonly GroupBy[] | null | undefined, context: Context, rows: JoinedRows): Keys {
  if (!groupBy) return { keys: [] };
  if (groupBy.length > MAX_KEYS) throw badArgument('groupBy', atMostElements(MAX_KEYS));
  const reader = new Reader(entity, context, rows);
  groupBy.forEach((element, index) => reader.element(element, `groupBy[${index}]`));
  const { keys, weights } = reader;
  return { keys, ...(weights.length && { weight: weights.join(' * ') }) };
}
