/** Cursors for keyset pagination (https://use-the-index-luke.com/no-offset): the values of a row in the terms of a sort order, encoded. */
import type { GraphQLScalarType } from 'graphql';
import { isUuid } from '../../contract/bounds';
import type { Row } from '../../database/rows';
import type { FieldKind } from '../../contract/metadata';
import type { ParameterBinder, SqlCondition } from '../access/conditions';
import { decodeCursor, encodeCursor } from '../model/cursors';
import { invalidArgumentError } from '../model/errors';
import { sqlType } from './columntypes';
import type { BoundOrderTerm, OrderTerm } from './ordering';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from '../model/scalars';

type CursorTerm = Omit<OrderTerm, 'sql'>;

const orderSignature = (terms: readonly CursorTerm[]) =>
  terms
    .map(
      ({ cursorKey, descending, nullsFirst }) =>
        `${descending ? '-' : ''}${cursorKey}${nullsFirst === descending ? '' : '!'}`,
    )
    .join();

/** Returns the cursor of a row. The row must include the values of the sort terms as `_0`, `_1` and so on. */
export function rowCursor(terms: readonly CursorTerm[], row: Row): string {
  return encodeCursor([orderSignature(terms), ...terms.map((_, index) => row[`_${index}`])]);
}

/** Decodes a cursor and validates it, because a client may have forged it. Returns one value per sort term. */
export function parseCursor(
  argumentName: string,
  terms: readonly CursorTerm[],
  cursor: string,
): unknown[] {
  const invalidCursorError = () =>
    invalidArgumentError(argumentName, 'This is not a valid cursor for this list.');
  const [cursorSignature, ...values] = decodeCursor(cursor) ?? [];
  if (typeof cursorSignature !== 'string') throw invalidCursorError();
  if (cursorSignature !== orderSignature(terms))
    throw invalidArgumentError(argumentName, 'This cursor belongs to a different order or search.');
  const isValid = ({ kind, isNullable: nullable }: CursorTerm, index: number) =>
    values[index] === null ? nullable : isValidForKind(kind, values[index]);
  if (values.length !== terms.length || !terms.every(isValid)) throw invalidCursorError();
  return values;
}

const SCALARS_BY_KIND: Partial<Record<FieldKind, GraphQLScalarType>> = {
  decimal: DecimalScalar,
  date: DateScalar,
  time: TimeScalar,
  datetime: DateTimeScalar,
};

/** Whether PostgreSQL can parse a value from a cursor as a value of the given field kind. */
function isValidForKind(kind: FieldKind, value: unknown): boolean {
  if (kind === 'integer' || kind === 'relation') return value === ((value as number) | 0);
  if (kind === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string' || value.includes('\0')) return false;
  if (kind === 'uuid') return isUuid(value);
  try {
    SCALARS_BY_KIND[kind]?.parseValue(value);
    return true;
  } catch {
    return false;
  }
}

type CursorValues = readonly unknown[];

const sortsNullsLast = ({ isNullable: nullable, nullsFirst }: BoundOrderTerm) =>
  nullable && !nullsFirst;

/** Returns SQL conditions, to be combined with OR, for the values that follow the given value in the order of a sort term; none if no value can follow it. */
function laterValueConditions(term: BoundOrderTerm, value: unknown, placeholder: string): string[] {
  const { sql, descending, nullsFirst } = term;
  if (value === null) return nullsFirst ? [`${sql} IS NOT NULL`] : [];
  return [
    `${sql} ${descending ? '<' : '>'} ${placeholder}`,
    ...(sortsNullsLast(term) ? [`${sql} IS NULL`] : []),
  ];
}

const equalCondition = ({ sql }: BoundOrderTerm, value: unknown, placeholder: string) =>
  value === null ? `${sql} IS NULL` : `${sql} = ${placeholder}`;

const bindValues = (
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string[] =>
  terms.map((term, index) =>
    values[index] === null ? 'NULL' : `${bind(values[index])}::${sqlType(term)}`,
  );

export function rowAtCursorConditionSql(
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string {
  const placeholders = bindValues(terms, values, bind);
  return terms
    .map((term, index) => equalCondition(term, values[index], placeholders[index]!))
    .join(' AND ');
}

/**
 * Maximum number of sort terms for which the cursor condition is split into alternatives, so that each can use an index; no index has more columns. With
 * more terms, there is a single condition, because the length of the alternatives is quadratic: a statement with 47 terms took seconds to plan.
 */
const MAX_TERMS_WITH_ALTERNATIVE_CONDITIONS = 4;

/**
 * Returns alternative conditions for the rows after a cursor: equal values in the first sort terms and a later value in the next term. No row meets
 * two of them, and each matches one range of an index. Orders with more than MAX_TERMS_WITH_ALTERNATIVE_CONDITIONS terms get a single condition.
 */
export function afterCursorAlternativeConditions(
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string[] {
  const placeholders = bindValues(terms, values, bind);
  const laterConditions = (term: BoundOrderTerm, index: number) =>
    laterValueConditions(term, values[index], placeholders[index]!);
  const equalConditionOf = (term: BoundOrderTerm, index: number) =>
    equalCondition(term, values[index], placeholders[index]!);
  if (terms.length > MAX_TERMS_WITH_ALTERNATIVE_CONDITIONS) {
    // A null value of the cursor may yield no condition. The last term, the id, is never null, so at least one condition remains.
    const nestedCondition = terms.reduceRight((laterTermsCondition, term, index) => {
      const equalThenLaterConditions = laterTermsCondition
        ? [`${equalConditionOf(term, index)} AND ${laterTermsCondition}`]
        : [];
      return `(${[...laterConditions(term, index), ...equalThenLaterConditions].join(' OR ')})`;
    }, '');
    return [nestedCondition];
  }
  return terms.flatMap((term, index) => {
    const equalConditions = terms.slice(0, index).map(equalConditionOf);
    return laterConditions(term, index).map((laterCondition) =>
      [...equalConditions, laterCondition].join(' AND '),
    );
  });
}

export const afterCursorCondition =
  (terms: readonly BoundOrderTerm[], values: CursorValues): SqlCondition =>
  (_alias, bind) =>
    `(${afterCursorAlternativeConditions(terms, values, bind)
      .map((alternativeCondition) => `(${alternativeCondition})`)
      .join(' OR ')})`;
