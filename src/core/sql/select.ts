/**
 * Builds SELECT statements from Sequelize models. Statements of the same shape are built once, cached as text and run as a named prepared statement.
 * Conditions, computed columns and the joins of `each` filters (one result row per matching id) are inserted as literal SQL: Sequelize cannot express
 * many of them, such as lists of linked ids, relations, trigram similarity and cursors, and the cache key needs their text anyway.
 */
import { LRUCache } from 'lru-cache';
import { col, literal, type Model, type ModelStatic } from 'sequelize';
import type { StatementParameters } from '../../database/rows';
import { renderSelect } from '../../internals/sequelize';
import { createParameterBinder, conjunctionSql, type SqlCondition } from '../access/conditions';
import { fieldsOf, type Entity, type EntityField } from '../model/fields';
import { memoizePerEntity } from '../model/memoize';
import { resourceOf } from '../model/registry';
import type { TextOrder } from '../model/policies';
import { fieldSqlExpression } from './expressions';
import { sortDirection, orderByClause, type OrderByTerm } from './ordering';

/** An SQL expression over the table alias `t`, and the name of its value in the result. */
export type SelectedExpression = readonly [expression: string, name: string];

export interface SelectedColumns {
  readonly entity: Entity;
  /** Identifies the column set in the keys of the statement cache. */
  readonly cacheKey: number;
  readonly attributes: readonly (readonly [expression: ReturnType<typeof col | typeof literal>, name: string])[];
}

/** Describes a SELECT statement, except for its bind parameters. */
export interface SelectClauses {
  columns: SelectedColumns;
  /** Additional expressions to select. */
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
const MAX_CACHED_STATEMENTS = 5_000;
const MAX_CACHED_CHARACTERS = 5_000_000;

const columnSetCache = new LRUCache<string, SelectedColumns>({ max: MAX_CACHED_COLUMN_SETS });
const statementCache = new LRUCache<string, string>({
  max: MAX_CACHED_STATEMENTS,
  maxSize: MAX_CACHED_CHARACTERS,
  sizeCalculation: (text, shape) => text.length + shape.length,
});

let lastCacheKey = 0;
/** Returns a number that identifies an entity in cache keys. Names would not, because two entities may have the same name. */
const entityCacheKey = memoizePerEntity(() => (lastCacheKey += 1));

const fieldExpression = (field: EntityField, textOrder: TextOrder) =>
  field.column ? col(`t.${field.column}`) : literal(fieldSqlExpression(field, 't', textOrder));

/** Returns the cached column set for the given fields, to which the id is added. */
export function columnSet(entity: Entity, names: Iterable<string>, textOrder: TextOrder): SelectedColumns {
  const fieldNames = new Set(['id', ...names]);
  const fields = fieldsOf(entity).filter(({ name }) => fieldNames.has(name));
  const key = `${entityCacheKey(entity)} ${textOrder} ${fields.map(({ name }) => name).join()}`;
  let columns = columnSetCache.get(key);
  if (!columns) {
    columns = { entity, cacheKey: (lastCacheKey += 1), attributes: fields.map((field) => [fieldExpression(field, textOrder), field.name]) };
    columnSetCache.set(key, columns);
  }
  return columns;
}

const CACHE_KEY_SEPARATOR = '\0';

export function selectStatement(shape: SelectClauses): string {
  const { columns, extraExpressions = [], joins = '', where = '', order = [], limit = '', offset = '' } = shape;
  const extraKey = extraExpressions.flat().join(CACHE_KEY_SEPARATOR);
  const key = [columns.cacheKey, extraKey, joins, where, orderByClause(order), limit, offset].join(CACHE_KEY_SEPARATOR);
  let text = statementCache.get(key);
  if (text === undefined) statementCache.set(key, (text = generateUncachedSelect(shape)));
  return text;
}

/** Returns the statement that selects all rows for which the conditions hold, and its parameters. */
export function selectRowsStatement(
  columns: SelectedColumns,
  conditions: readonly SqlCondition[],
): [text: string, values: StatementParameters] {
  const { bind, values } = createParameterBinder();
  return [selectStatement({ columns, where: conjunctionSql(conditions, 't', bind) }), values];
}

/** Generates a SELECT statement without the cache. */
export function generateUncachedSelect({
  columns: { entity, attributes },
  extraExpressions = [],
  joins,
  where,
  order,
  limit,
  offset,
}: SelectClauses): string {
  const model = entity as unknown as ModelStatic<Model>;
  const generate = (options: object) => renderSelect(model, resourceOf(entity)!.table, { tableAs: 't', ...options });
  const selectList = [...attributes, ...extraExpressions.map(([value, name]) => [literal(value), name])];
  const clauses = {
    ...(where && { where: literal(where) }),
    ...(order?.length && { order: order.map((term) => [literal(term.sql), sortDirection(term)]) }),
    ...(limit && { limit: literal(limit) }),
    ...(offset && { offset: literal(offset) }),
  };
  const statement = generate({ attributes: selectList, ...clauses });
  if (!joins) return statement;
  const selectFrom = generate({ attributes: selectList });
  return `${selectFrom}${joins}${statement.slice(selectFrom.length)}`;
}
