/** Cursors: the values that a row has in the terms of an order, so that a list can go on behind it (keyset paging). */
import type { GraphQLScalarType } from 'graphql';
import { isUuid } from '../../contract/bounds';
import type { Row } from '../../database/rows';
import type { Kind } from '../../contract/facts';
import type { Bind, Condition } from '../access/conditions';
import { badArgument } from '../model/errors';
import { sqlType } from '../model/fields';
import type { BoundTerm, OrderTerm } from './ordering';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from '../model/scalars';

type Term = Omit<OrderTerm, 'sql'>;

/** Tells the order that a cursor belongs to. */
const signature = (terms: readonly Term[]) =>
  terms.map(({ key, descending, nullsFirst }) => `${descending ? '-' : ''}${key}${nullsFirst === descending ? '' : '!'}`).join();

/** Of a row that was selected with the terms' values, as `_0`, `_1` and so on. */
export function cursorOf(terms: readonly Term[], row: Row): string {
  return Buffer.from(JSON.stringify([signature(terms), ...terms.map((_, index) => row[`_${index}`])])).toString('base64url');
}

/** The values in a cursor, which a client may have made up. */
export function parseCursor(argument: string, terms: readonly Term[], cursor: string): unknown[] {
  const none = () => badArgument(argument, 'This is not a cursor of this list.');
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw none();
  }
  if (!Array.isArray(parts) || typeof parts[0] !== 'string') throw none();
  if (parts[0] !== signature(terms)) throw badArgument(argument, 'This cursor belongs to another order of the list, or to another search.');
  const values: unknown[] = parts.slice(1);
  if (values.length !== terms.length || !terms.every(({ kind }, index) => values[index] === null || fits(kind, values[index])))
    throw none();
  return values;
}

const SCALARS: Partial<Record<Kind, GraphQLScalarType>> = {
  decimal: DecimalScalar,
  date: DateScalar,
  time: TimeScalar,
  datetime: DateTimeScalar,
};

/** Whether PostgreSQL can read the value as one of this kind. */
function fits(kind: Kind, value: unknown): boolean {
  if (kind === 'integer' || kind === 'relation') return value === ((value as number) | 0);
  if (kind === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string' || value.includes('\0')) return false;
  if (kind === 'uuid') return isUuid(value);
  try {
    SCALARS[kind]?.parseValue(value);
    return true;
  } catch {
    return false;
  }
}

type Values = readonly unknown[];

const nullsAfter = ({ null: nullable, nullsFirst }: BoundTerm) => nullable && !nullsFirst;

/** The ways in which one term alone can have a later value. */
function later(term: BoundTerm, value: unknown, place: string): string[] {
  const { sql, descending, nullsFirst } = term;
  if (value === null) return nullsFirst ? [`${sql} IS NOT NULL`] : [];
  return [`${sql} ${descending ? '<' : '>'} ${place}`, ...(nullsAfter(term) ? [`${sql} IS NULL`] : [])];
}

const equal = ({ sql }: BoundTerm, value: unknown, place: string) => (value === null ? `${sql} IS NULL` : `${sql} = ${place}`);

const placesOf = (terms: readonly BoundTerm[], values: Values, bind: Bind): string[] =>
  terms.map((term, index) => (values[index] === null ? 'NULL' : `${bind(values[index])}::${sqlType(term)}`));

/** A row has exactly the given values. */
export function at(terms: readonly BoundTerm[], values: Values, bind: Bind): string {
  const places = placesOf(terms, values, bind);
  return terms.map((term, index) => equal(term, values[index], places[index]!)).join(' AND ');
}

/**
 * The ways in which a row can come after the given values: the same in the first terms and later in the next one. No row comes in two of
 * them, and an index in this order has the rows of each side by side.
 */
export function waysBeyond(terms: readonly BoundTerm[], values: Values, bind: Bind): string[] {
  const places = placesOf(terms, values, bind);
  return terms.flatMap((term, index) => {
    const same = terms.slice(0, index).map((earlier, j) => equal(earlier, values[j], places[j]!));
    return later(term, values[index], places[index]!).map((further) => [...same, further].join(' AND '));
  });
}

/** Rows that come after the given values in this order. */
export const beyond =
  (terms: readonly BoundTerm[], values: Values): Condition =>
  (_alias, bind) =>
    `(${waysBeyond(terms, values, bind)
      .map((way) => `(${way})`)
      .join(' OR ')})`;
