/**
 * Builds SELECT statements over the table alias `t`. Statements of the same shape have the same text, so that each shape is prepared once per
 * connection.
 */
import { LRUCache } from 'lru-cache';
import type { StatementParameters } from '../../database/rows';
import { createParameterBinder, conjunctionSql, type SqlCondition } from '../access/conditions';
import { fieldsOf, type Entity } from '../model/fields';
import { memoizePerEntity } from '../model/memoize';
import type { TextOrder } from '../model/policies';
import { fieldSqlExpression, fromClause } from './expressions';
import { orderByClause, type OrderByTerm } from './ordering';

/** An SQL expression over the table alias `t`, and the name of its value in the result. */
export type SelectedExpression = readonly [expression: string, name: string];

export interface SelectedColumns {
  readonly entity: Entity;
  readonly cacheKey: number;
  readonly fieldNames: readonly string[];
  readonly selectListSql: string;
}

/** Clauses of a SELECT statement, without its bind parameters. */
export interface SelectClauses {
  columns: SelectedColumns;
  extraExpressions?: readonly SelectedExpression[];
  joins?: string;
  /** Conditions on the table alias `t`. */
  where?: string;
  order?: readonly OrderByTerm[];
  /** LIMIT as a number or the placeholder of a parameter. */
  limit?: string;
  /** OFFSET as a number or the placeholder of a parameter. */
  offset?: string;
}

const MAX_CACHED_COLUMN_SETS = 5_000;

const columnSetCache = new LRUCache<string, SelectedColumns>({ max: MAX_CACHED_COLUMN_SETS });

let lastCacheKey = 0;
/** Returns a number that identifies an entity in cache keys. The name does not identify it, because two entities may have the same name. */
const entityCacheKey = memoizePerEntity(() => (lastCacheKey += 1));

const buildSelectList = (expressions: readonly SelectedExpression[]): string =>
  expressions.map(([sql, name]) => `${sql} AS "${name}"`).join(', ');

/** Returns the cached column set for the given fields, to which the id is added. */
export function columnSet(
  entity: Entity,
  names: Iterable<string>,
  textOrder: TextOrder,
): SelectedColumns {
  const fieldNames = new Set(['id', ...names]);
  const fields = fieldsOf(entity).filter(({ name }) => fieldNames.has(name));
  const selectedFieldNames = fields.map(({ name }) => name);
  const columnSetKey = `${entityCacheKey(entity)} ${textOrder} ${selectedFieldNames.join()}`;
  let columns = columnSetCache.get(columnSetKey);
  if (!columns) {
    const sql = buildSelectList(
      fields.map((field) => [fieldSqlExpression(field, 't', textOrder), field.name]),
    );
    columnSetCache.set(
      columnSetKey,
      (columns = {
        entity,
        cacheKey: (lastCacheKey += 1),
        fieldNames: selectedFieldNames,
        selectListSql: sql,
      }),
    );
  }
  return columns;
}

export function buildSelectStatement({
  columns,
  extraExpressions = [],
  joins = '',
  where,
  order = [],
  limit,
  offset,
}: SelectClauses): string {
  const extraColumnsSql = extraExpressions.length ? `, ${buildSelectList(extraExpressions)}` : '';
  return [
    `SELECT ${columns.selectListSql}${extraColumnsSql} ${fromClause(columns.entity)}${joins}`,
    ...(where ? [`WHERE ${where}`] : []),
    ...(order.length ? [`ORDER BY ${orderByClause(order)}`] : []),
    ...(limit ? [`LIMIT ${limit}`] : []),
    ...(offset ? [`OFFSET ${offset}`] : []),
  ].join(' ');
}

/** Returns the statement that selects all rows for which the conditions hold, and its parameters. */
export function buildSelectRowsStatement(
  columns: SelectedColumns,
  conditions: readonly SqlCondition[],
): [text: string, values: StatementParameters] {
  const { bind, values } = createParameterBinder();
  return [buildSelectStatement({ columns, where: conjunctionSql(conditions, 't', bind) }), values];
}
