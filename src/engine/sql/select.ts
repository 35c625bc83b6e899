/**
 * Builds SELECT statements over the table alias `t`. Statements of the same shape have the same
 * text, so that each shape is prepared once per connection.
 */
import { LRUCache } from 'lru-cache';
import type { StatementParameters } from '../../database/rows';
import { createParameterBinder, allOfSql, type SqlCondition } from '../access/conditions';
import { fieldsOf, type Entity } from '../declare/fields';
import { memoizePerEntity } from '../declare/memoize';
import type { TextOrder } from '../declare/policies';
import { fieldSqlExpression, fromClause } from './expressions';
import { orderByClause, type OrderByTerm } from './ordering';

/** An SQL expression over the table alias `t`, and its column name in the result. */
export type SelectedExpression = readonly [expression: string, name: string];

export interface SelectedColumns {
  readonly entity: Entity;

  /** Identifies the column set in keys of other caches. */
  readonly cacheKey: number;
  readonly fieldNames: readonly string[];
  readonly selectListSql: string;
}

/** Clauses of a SELECT statement. */
export interface SelectClauses {
  columns: SelectedColumns;
  extraExpressions?: readonly SelectedExpression[];
  joins?: string;

  /** Conditions on the table alias `t`. */
  where?: string;
  order?: readonly OrderByTerm[];

  /** LIMIT as a number or placeholder. */
  limit?: string;

  /** OFFSET as a number or placeholder. */
  offset?: string;
}

const MAX_CACHED_COLUMN_SETS = 5_000;

const columnSetCache = new LRUCache<string, SelectedColumns>({ max: MAX_CACHED_COLUMN_SETS });

let lastCacheKey = 0;

/** Identifies an entity in cache keys by a number, because two entities may have the same name. */
const entityCacheKey = memoizePerEntity(() => (lastCacheKey += 1));

const buildSelectList = (expressions: readonly SelectedExpression[]): string =>
  expressions.map(([sql, name]) => `${sql} AS "${name}"`).join(', ');

/** Column set of the given fields and the id, from a cache. */
export function columnSet(
  entity: Entity,
  names: Iterable<string>,
  textOrder: TextOrder,
): SelectedColumns {
  const fieldNames = new Set(['id', ...names]);
  const fields = fieldsOf(entity).filter(({ name }) => fieldNames.has(name));
  const selectedFieldNames = fields.map(({ name }) => name);
  const columnSetKey = `${entityCacheKey(entity)} ${textOrder} ${selectedFieldNames.join()}`;
  const cachedColumns = columnSetCache.get(columnSetKey);

  if (cachedColumns) return cachedColumns;

  const selectListSql = buildSelectList(
    fields.map((field) => [fieldSqlExpression(field, 't', textOrder), field.name]),
  );

  lastCacheKey += 1;
  const columns = {
    entity,
    cacheKey: lastCacheKey,
    fieldNames: selectedFieldNames,
    selectListSql,
  };

  columnSetCache.set(columnSetKey, columns);
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

/**
 * Builds the statement, with its parameters, that selects all rows for which the conditions hold.
 */
export function buildSelectRowsStatement(
  columns: SelectedColumns,
  conditions: readonly SqlCondition[],
): [text: string, values: StatementParameters] {
  const { bind, values } = createParameterBinder();

  return [buildSelectStatement({ columns, where: allOfSql(conditions, 't', bind) }), values];
}
