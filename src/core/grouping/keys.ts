/** A `groupBy` → expressions of a statement that rows of one group share, what they need to be joined with, and how `keys` shows their values. */
import { Decimal } from 'decimal.js';
import { atLeast, atMostElements } from '../../contract/messages';
import type { Row } from '../../database/rows';
import { reachable } from '../access/access';
import { collation } from '../sql/collation';
import { whereOf, type Bind, type Condition } from '../access/conditions';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { fieldsOf, ofKind, type Entity, type FieldMeta } from '../model/fields';
import { expression } from '../sql/expressions';
import type { Given } from '../sql/where';
import { resourceOf } from '../model/registry';
import { groupableOf, handleOf, isReference, linksOf, referencesOf, type Links } from './facts';
import type { DayGroupBy, NumberGroupBy, TimeGroupBy } from './inputs';
import { binName, buckets, linkedId, throughName } from './types';
import { bucketSql, dayBucket, dayNumber, isRecurring, isZone, STEPS, timeBucket, type Unit } from './units';

export const MAX_KEYS = 6;

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
  joins: Condition[];
  /** Of a row; absent: all weigh 1. */
  weight?: string;
}

const same = (value: string) => value;

/** Reads one `groupBy`. */
class Reader {
  readonly keys: Key[] = [];
  readonly joins: Condition[] = [];
  readonly weights: string[] = [];
  /** Aliases of rows that references lead to, by their paths. */
  private readonly joined = new Map<string, string>();

  constructor(
    private readonly entity: Entity,
    private readonly context: Context,
  ) {}

  element(element: GroupBy, place: string): void {
    const path: FieldMeta[] = [];
    let entity = this.entity;
    let alias = 't';
    for (let value: unknown = element; ;) {
      if (typeof value === 'string') return this.field(entity, value, path, alias, place);
      const [[name, inner]] = Object.entries(value as GroupBy).filter(([, one]) => one != null) as [[string, Given]];
      const reference = referencesOf(entity).find((field) => field.object === name);
      if (name === 'field') value = inner;
      else if (reference) {
        path.push(reference);
        alias = this.join(path, alias);
        entity = reference.target!();
        value = inner;
      } else return this.group(entity, name, inner, path, alias, place);
    }
  }

  private join(path: readonly FieldMeta[], outer: string): string {
    const key = path.map(({ name }) => name).join('.');
    const known = this.joined.get(key);
    if (known) return known;
    const alias = `k${this.joined.size}`;
    this.joined.set(key, alias);
    const reference = path.at(-1)!;
    const target = reference.target!();
    const shown = reachable(target, this.context);
    this.joins.push((_alias, bind) => {
      const also = shown.map((condition) => ` AND ${condition(alias, bind)}`).join('');
      return `LEFT JOIN "${resourceOf(target)!.table}" ${alias} ON ${alias}."id" = ${expression(reference, outer)}${also}`;
    });
    return alias;
  }

  private add(key: Key, place: string): void {
    if (this.keys.some(({ name }) => name === key.name)) throw badArgument(place, 'There is such a key already.');
    if (key.series && this.keys.some(({ series }) => series)) throw badArgument(place, 'Another key asks for empty groups already.');
    this.keys.push(key);
  }

  private field(entity: Entity, name: string, path: readonly FieldMeta[], alias: string, place: string): void {
    const field = groupableOf(entity).find((one) => handleOf(one) === name)!;
    const value = expression(field, alias);
    // A choice that REST left blank is none.
    const sql = field.enum && field.null && field.blank ? `NULLIF(${value}, '')` : value;
    const rules = collation(entity, field, this.context.api);
    this.add(
      {
        name: named(path, name),
        sql: () => sql,
        place: (column) => `${column}${rules}`,
        show: (keys, found) => void (within(keys, path)[field.name] = found),
      },
      place,
    );
  }

  private group(entity: Entity, name: string, how: Given, path: readonly FieldMeta[], alias: string, place: string): void {
    const links = linksOf(entity).find((one) => one.name === name);
    if (links) return this.linked(links, how, path, alias, place);
    const field = fieldsOf(entity).find((one) => !isReference(one) && one.name === name)!;
    if (field.kind === 'date') return this.days(field, how, path, alias, place);
    if (field.kind === 'datetime') return this.moments(field, how, path, alias, place);
    return this.bins(field, how, path, alias, place);
  }

  private days(field: FieldMeta, { by, firstDay, empty }: DayGroupBy, path: readonly FieldMeta[], alias: string, place: string): void {
    const first = dayNumber(firstDay);
    const sql = bucketSql(by, first, expression(field, alias), '');
    const show = (keys: Row, value: string | null) => put(within(keys, path), buckets(field), value === null ? null : dayBucket(by, value));
    this.add({ name: named(path, `${field.name} ${by}`), sql: () => sql, show, ...inTime(by, first, empty) }, place);
  }

  private moments(field: FieldMeta, how: TimeGroupBy, path: readonly FieldMeta[], alias: string, place: string): void {
    const { by, firstDay, empty, timeZone: zone = null } = how;
    if (zone !== null && !isZone(zone))
      throw badArgument(`${place}.timeZone`, 'Ensure that this is a zone of the IANA database such as Europe/Berlin.');
    const timeZone = zone ?? this.context.timeZone;
    const first = dayNumber(firstDay);
    const moment = expression(field, alias);
    const sql = (bind: Bind) => {
      const inZone = bind(timeZone);
      return bucketSql(by, first, `(${moment} AT TIME ZONE ${inZone}::text)`, `date_trunc('hour', ${moment}, ${inZone}::text)`);
    };
    const show = (keys: Row, value: string | null) =>
      put(within(keys, path), buckets(field), value === null ? null : timeBucket(by, value, timeZone));
    this.add({ name: named(path, `${field.name} ${by}`), sql, show, ...inTime(by, first, empty) }, place);
  }

  private bins(field: FieldMeta, { width, from, empty }: NumberGroupBy, path: readonly FieldMeta[], alias: string, place: string): void {
    if (!new Decimal(width).greaterThan(0)) throw badArgument(`${place}.width`, 'Ensure this value is greater than 0.');
    const value = `${expression(field, alias)}::numeric`;
    const sql = (bind: Bind) => {
      const [wide, start] = [`${bind(width)}::numeric`, `${bind(from)}::numeric`];
      // The remainder of a negative number is negative, and exact as all of this is.
      return `trim_scale(${value} - mod(mod(${value} - ${start}, ${wide}) + ${wide}, ${wide}))`;
    };
    const show = (keys: Row, found: string | null) =>
      void (within(keys, path)[binName(field)] = found === null ? null : { from: found, to: new Decimal(found).plus(width).toFixed() });
    this.add(
      {
        name: named(path, `${field.name} bin`),
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
  private linked(
    { name, target, fields }: Links,
    how: Record<string, string | null>,
    path: readonly FieldMeta[],
    alias: string,
    place: string,
  ): void {
    const given = fields.flatMap((field) => {
      const weight = how[field.relation!.object];
      if (weight == null) return [];
      if (new Decimal(weight).isNegative()) throw badArgument(`${place}.${field.relation!.object}`, atLeast(0));
      return [{ ...field.link!, weight }];
    });
    if (!given.length) throw badArgument(place, 'Say of one list at least how much those in it weigh.');
    const joined = `m${this.weights.length}`;
    const shown = reachable(target, this.context);
    const outer = alias;
    const own = given[0]!.via ?? 'id';
    if (given.some(({ via = 'id' }) => via !== own)) throw new Error(`lists of ${name} do not begin at one column`);
    this.joins.push((_alias, bind) => {
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
        name: named(path, name),
        sql: () => `${joined}."id"`,
        place: same,
        show: (keys, value) => void (within(keys, path)[linkedId(name)] = value),
      },
      place,
    );
  }
}

const named = (path: readonly FieldMeta[], name: string) => [...path.map(handleOf), name].join('.');

/** The keys that are fields of the row at the end of a path. */
function within(keys: Row, path: readonly FieldMeta[]): Row {
  return path.reduce((outer, reference) => (outer[throughName(reference)] ??= {}) as Row, keys);
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
export function keysOf(entity: Entity, groupBy: readonly GroupBy[] | null | undefined, context: Context): Keys {
  if (!groupBy) return { keys: [], joins: [] };
  if (groupBy.length > MAX_KEYS) throw badArgument('groupBy', atMostElements(MAX_KEYS));
  const reader = new Reader(entity, context);
  groupBy.forEach((element, index) => reader.element(element, `groupBy[${index}]`));
  const { keys, joins, weights } = reader;
  return { keys, joins, ...(weights.length && { weight: weights.join(' * ') }) };
}
