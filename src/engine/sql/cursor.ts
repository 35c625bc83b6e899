/**
 * Cursors for keyset pagination (https://use-the-index-luke.com/no-offset). A cursor encodes the
 * signature of a sort order and the values of a row in the terms of that order.
 */
import type { GraphQLScalarType } from 'graphql';
import { isUuid } from '../../shared/bounds';
import type { Row } from '../../database/rows';
import type { FieldKind } from '../../shared/metadata';
import type { ParameterBinder, SqlCondition } from '../access/conditions';
import { decodeCursor, encodeCursor } from '../declare/cursors';
import { invalidArgumentError } from '../declare/errors';
import { sqlType } from './column-types';
import type { BoundOrderTerm, OrderTerm } from './ordering';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from '../declare/scalars';

type CursorTerm = Omit<OrderTerm, 'sql'>;

/**
 * Signature of a sort term: `-` marks a descending order, `!` a position of nulls other than the
 * default.
 */
function termSignature({ cursorKey, descending, nullsFirst }: CursorTerm): string {
  const directionMark = descending ? '-' : '';
  const nullsMark = nullsFirst === descending ? '' : '!';

  return `${directionMark}${cursorKey}${nullsMark}`;
}

const orderSignature = (terms: readonly CursorTerm[]) => terms.map(termSignature).join();

/** Cursor of a row. The row must include the values of the sort terms as `_0`, `_1` and so on. */
export function rowCursor(terms: readonly CursorTerm[], row: Row): string {
  return encodeCursor([orderSignature(terms), ...terms.map((_, index) => row[`_${index}`])]);
}

/**
 * Decodes a cursor to one value per sort term. Validates it, because a client may have forged it.
 */
export function parseCursor(
  argumentName: string,
  terms: readonly CursorTerm[],
  cursor: string,
): unknown[] {
  const invalidCursorError = () =>
    invalidArgumentError(argumentName, 'This is not a valid cursor for this list.');
  const [cursorSignature, ...values] = decodeCursor(cursor) ?? [];

  if (typeof cursorSignature !== 'string') throw invalidCursorError();

  if (cursorSignature !== orderSignature(terms)) {
    throw invalidArgumentError(argumentName, 'This cursor belongs to a different order or search.');
  }

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

/** Whether PostgreSQL can parse a value from a cursor as the field kind. */
function isValidForKind(kind: FieldKind, value: unknown): boolean {
  // `| 0` converts to a 32-bit integer, the range of PostgreSQL's type `int`.
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

/** OR branches for values that follow the given value in the order of a sort term. */
function laterValueBranches(term: BoundOrderTerm, value: unknown, placeholder: string): string[] {
  const { sql, descending, nullsFirst } = term;

  if (value === null) return nullsFirst ? [`${sql} IS NOT NULL`] : [];

  return [
    `${sql} ${descending ? '<' : '>'} ${placeholder}`,
    ...(sortsNullsLast(term) ? [`${sql} IS NULL`] : []),
  ];
}

const equalSql = ({ sql }: BoundOrderTerm, value: unknown, placeholder: string) =>
  value === null ? `${sql} IS NULL` : `${sql} = ${placeholder}`;

const bindValues = (
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string[] =>
  terms.map((term, index) =>
    values[index] === null ? 'NULL' : `${bind(values[index])}::${sqlType(term)}`,
  );

export function atCursorSql(
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string {
  const placeholders = bindValues(terms, values, bind);

  return terms
    .map((term, index) => equalSql(term, values[index], placeholders[index]!))
    .join(' AND ');
}

/**
 * Maximum number of sort terms whose cursor condition is split into OR branches that can each use
 * an index; no index has more columns. The total length of branches is quadratic: a statement with
 * 47 terms took seconds to plan.
 */
const MAX_BRANCH_TERMS = 4;

/**
 * OR branches for the rows after a cursor: equal values in the first sort terms and a later value
 * in the next term. The branches are disjoint, and each matches one range of an index. More than
 * MAX_BRANCH_TERMS sort terms yield a single branch.
 */
export function afterBranches(
  terms: readonly BoundOrderTerm[],
  values: CursorValues,
  bind: ParameterBinder,
): string[] {
  const placeholders = bindValues(terms, values, bind);
  const laterBranches = (term: BoundOrderTerm, index: number) =>
    laterValueBranches(term, values[index], placeholders[index]!);
  const equalTo = (term: BoundOrderTerm, index: number) =>
    equalSql(term, values[index], placeholders[index]!);

  if (terms.length > MAX_BRANCH_TERMS) {
    // A null value of the cursor may yield no condition. The last term, the id, is never null, so
    // at least one condition remains.
    const nestedCondition = terms.reduceRight((laterTermsCondition, term, index) => {
      const conditions = laterBranches(term, index);

      if (laterTermsCondition) {
        conditions.push(`${equalTo(term, index)} AND ${laterTermsCondition}`);
      }

      return `(${conditions.join(' OR ')})`;
    }, '');

    return [nestedCondition];
  }

  return terms.flatMap((term, index) => {
    const equalities = terms.slice(0, index).map(equalTo);

    return laterBranches(term, index).map((laterBranch) =>
      [...equalities, laterBranch].join(' AND '),
    );
  });
}

export const afterCursorCondition =
  (terms: readonly BoundOrderTerm[], values: CursorValues): SqlCondition =>
  (_alias, bind) =>
    `(${afterBranches(terms, values, bind)
      .map((branch) => `(${branch})`)
      .join(' OR ')})`;
