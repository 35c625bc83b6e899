/**
 * DataLoaders (https://github.com/graphql/dataloader): a list costs one statement per selected
 * relation, not one per row.
 */
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import {
  referencedRowConditions,
  maySeeAllReferencedRows,
  ownerConditions,
  childRowConditions,
} from '../access/access';
import {
  columnIsOneOf,
  createParameterBinder,
  allOfSql,
  type SqlCondition,
} from '../access/conditions';
import type { Context } from '../context';
import {
  fieldOf,
  fieldsOf,
  type Entity,
  type EntityField,
  type RowFields,
  type RowOf,
  positionFieldOf,
} from '../declare/fields';
import type { BatchLoader, LoaderKey } from './batch-loader';
import { cacheBySelection, requiredRowFieldNames } from './query-plan';
import { fieldSqlExpression } from '../sql/expressions';
import { bindOrderTerms, parseOrderField, orderTerms } from '../sql/ordering';
import {
  columnSet,
  buildSelectRowsStatement,
  buildSelectStatement,
  type SelectedColumns,
} from '../sql/select';
import { resourceOf } from '../declare/registry';

type ResolveInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

async function readRowPerId(
  columns: SelectedColumns,
  ids: readonly LoaderKey[],
  conditions: readonly SqlCondition[],
  { session }: Context,
): Promise<(Row | null)[]> {
  const rows = await session.query(
    ...buildSelectRowsStatement(columns, [columnIsOneOf('id', ids), ...conditions]),
  );
  const rowsById = new Map(rows.map((row) => [row.id, row]));

  return ids.map((id) => rowsById.get(id) ?? null);
}

/** Reads the child rows of several parent rows, ordered within each parent row. */
async function readRowsByParents(
  entity: Entity,
  referenceFieldName: string,
  columns: SelectedColumns,
  ids: readonly LoaderKey[],
  ordering: readonly string[],
  context: Context,
  conditions: readonly SqlCondition[] = [],
) {
  const parentField = fieldOf(entity, referenceFieldName);
  const { bind, values } = createParameterBinder();
  const where = allOfSql(
    [
      columnIsOneOf(parentField.column!, ids),
      ...childRowConditions(entity, context),
      ...conditions,
    ],
    't',
    bind,
  );
  const terms = bindOrderTerms(
    orderTerms(entity, ordering.map(parseOrderField), context.policies),
    bind,
  );
  const text = buildSelectStatement({
    columns,
    extraExpressions: [[fieldSqlExpression(parentField, 't'), '_parent']],
    where,
    order: terms,
  });
  const rowsByParent = new Map<LoaderKey, Row[]>(ids.map((id) => [id, []]));

  for (const row of await context.session.query(text, values)) {
    rowsByParent.get(row._parent)!.push(row);
  }

  return ids.map((id) => rowsByParent.get(id)!);
}

const MAX_SHORT_TEXT_CHARACTERS = 500;

/**
 * Whether a field is read only if selected: computed fields and long strings. Other fields are
 * always read, so that loads of the same rows share a batch.
 */
const isReadOnDemand = (field: EntityField) =>
  (!field.isColumn && !field.readWithColumns) ||
  (field.kind === 'string' && (field.maxLength ?? Infinity) > MAX_SHORT_TEXT_CHARACTERS);

const batchColumns = (
  entity: Entity,
  fieldNames: ReadonlySet<string>,
  { policies }: Pick<Context, 'policies'>,
): SelectedColumns => {
  const fields = fieldsOf(entity).filter(
    (field) => !isReadOnDemand(field) || fieldNames.has(field.name),
  );

  return columnSet(
    entity,
    fields.map(({ name }) => name),
    policies.textOrder,
  );
};

const batchColumnsOfSelection = cacheBySelection((entity, info, context) =>
  batchColumns(entity, requiredRowFieldNames(entity, info), context),
);

function rowLoader(
  entity: Entity,
  columns: SelectedColumns,
  context: Context,
  conditionsOf: typeof referencedRowConditions = referencedRowConditions,
): BatchLoader<Row | null> {
  return context.loaders.getOrCreate<Row | null>(
    `rows ${conditionsOf.name} ${columns.cacheKey}`,
    (ids) => readRowPerId(columns, ids, conditionsOf(entity, context), context),
  );
}

/**
 * Loads a referenced row, unless the viewer may not reference it. Small public tables are read from
 * memory, synchronously.
 */
export function loadReferencedRow(
  entity: Entity,
  id: number | null | undefined,
  context: Context,
  info: ResolveInfo,
): Row | null | Promise<Row | null> {
  if (id === null || id === undefined) return null;
  const { catalogue } = context.services;

  if (resourceOf(entity)!.isCachedInMemory) {
    // A row that does not exist in memory is newer than the last notification.
    return catalogue.get(entity, id) ?? catalogue.reload().then(() => catalogue.get(entity, id));
  }

  return rowLoader(entity, batchColumnsOfSelection(entity, info, context), context).get(id);
}

/** Loads rows in the order of the given ids. Omits rows that the viewer may not see. */
export function loadRowsById(
  entity: Entity,
  ids: readonly number[],
  context: Context,
  info: ResolveInfo,
): Row[] | Promise<Row[]> {
  const visibleRows = (loadedRows: (Row | null)[]) =>
    loadedRows.filter((row): row is Row => row !== null);

  if (resourceOf(entity)!.isCachedInMemory) {
    const { catalogue } = context.services;
    const readCached = () => ids.map((id) => catalogue.get(entity, id));
    const cachedRows = readCached();

    return cachedRows.includes(null)
      ? catalogue.reload().then(() => visibleRows(readCached()))
      : visibleRows(cachedRows);
  }

  const rows = rowLoader(entity, batchColumnsOfSelection(entity, info, context), context).getAll(
    ids,
  );

  return rows instanceof Promise ? rows.then(visibleRows) : visibleRows(rows);
}

/** Sort fields of child rows. In GraphQL, rows with positions are in the order of these. */
export function orderingOfChildren(entity: Entity, { api }: Context): readonly string[] {
  const { ordering } = resourceOf(entity)!;
  const position = api === 'graphql' ? positionFieldOf(entity) : undefined;

  return position ? [...new Set([position.name, ...ordering])] : ordering;
}

function childLoader(
  entity: Entity,
  referenceFieldName: string,
  ordering: readonly string[],
  columns: SelectedColumns,
  context: Context,
  filter?: NamedCondition,
): BatchLoader<Row[]> {
  const filterKey = filter ? ` ${filter.name}` : '';
  const cacheKey = `child rows ${columns.cacheKey}.${referenceFieldName} ${ordering.join()}${filterKey}`;

  return context.loaders.getOrCreate<Row[]>(cacheKey, (ids) =>
    readRowsByParents(
      entity,
      referenceFieldName,
      columns,
      ids,
      ordering,
      context,
      filter && [filter.condition],
    ),
  );
}

export function loadChildren(
  entity: Entity,
  referenceFieldName: string,
  ordering: readonly string[],
  id: number,
  context: Context,
  info: ResolveInfo,
): Row[] | Promise<Row[]> {
  return childLoader(
    entity,
    referenceFieldName,
    ordering,
    batchColumnsOfSelection(entity, info, context),
    context,
  ).get(id);
}

/** Loads fields of a row for custom resolvers, unless the viewer may not see the row. */
export function loadRowFields<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  fields: readonly F[],
  id: number,
  context: Context,
): Promise<RowFields<M, F> | null> {
  return rowLoader(entity, batchColumns(entity, new Set(fields), context), context).load(
    id,
  ) as Promise<RowFields<M, F> | null>;
}

/**
 * Loads fields of a row for a calculation, even if the row itself is hidden from the viewer, such
 * as a row pending review.
 */
export function loadRowEvenIfHidden<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  fields: readonly F[],
  id: number,
  context: Context,
): Promise<RowFields<M, F> | null> {
  if (maySeeAllReferencedRows(entity, context)) return loadRowFields(entity, fields, id, context);
  const columns = batchColumns(entity, new Set(fields), context);

  return rowLoader(entity, columns, context, ownerConditions).load(id) as Promise<RowFields<
    M,
    F
  > | null>;
}

/**
 * A filter on child rows. Loads with the same `name` share a batch, so the name must identify the
 * condition.
 */
export interface NamedCondition {
  name: string;
  condition: SqlCondition;
}

/** Loads fields of child rows for custom resolvers. */
export function loadChildFields<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  referenceFieldName: keyof RowOf<M> & string,
  fields: readonly F[],
  id: number,
  context: Context,
  filter?: NamedCondition,
): Promise<RowFields<M, F>[]> {
  const columns = batchColumns(entity, new Set(fields), context);

  return childLoader(
    entity,
    referenceFieldName,
    orderingOfChildren(entity, context),
    columns,
    context,
    filter,
  ).load(id) as Promise<RowFields<M, F>[]>;
}

/**
 * Reads the row nearest to each day. PostgreSQL finds the rows just before and after the day in an
 * index, so the time does not depend on the number of rows.
 */
async function readRowsNearestToDays(
  entity: Entity,
  dateFieldName: string,
  columns: SelectedColumns,
  days: readonly LoaderKey[],
  context: Context,
): Promise<(Row | null)[]> {
  const { bind, values } = createParameterBinder();
  const daysParameter = bind(days);
  const column = fieldSqlExpression(fieldOf(entity, dateFieldName), 't');

  const nearestRowSql = (comparisonOperator: string, descending: boolean) => {
    const where = allOfSql(
      [...ownerConditions(entity, context), () => `${column} ${comparisonOperator} k."day"`],
      't',
      bind,
    );
    const order = bindOrderTerms(
      orderTerms(
        entity,
        [{ path: [dateFieldName], descending, nullsFirst: descending }, parseOrderField('id')],
        context.policies,
      ),
      bind,
    );

    return `(${buildSelectStatement({ columns, where, order, limit: '1' })})`;
  };

  const rows = await context.session.query(
    `SELECT k."day" AS "_day", n.* FROM unnest(${daysParameter}::date[]) AS k("day")
      CROSS JOIN LATERAL (
      SELECT * FROM (${nearestRowSql('<=', true)} UNION ALL ${nearestRowSql('>', false)}) AS c
      ORDER BY abs(c."${dateFieldName}" - k."day"), c."${dateFieldName}" LIMIT 1) AS n`,
    values,
  );
  const rowsByDay = new Map(rows.map((row) => [row._day as LoaderKey, row]));

  return days.map((day) => rowsByDay.get(day) ?? null);
}

/**
 * Loads fields of the viewer's row nearest to a day, for custom resolvers. Prefers the earlier of
 * two equally near rows.
 */
export function loadRowNearestToDay<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  dateFieldName: keyof RowOf<M> & string,
  fields: readonly F[],
  day: string,
  context: Context,
): Promise<RowFields<M, F> | null> {
  const cacheKey = `${entity.name} near ${dateFieldName}(${fields.join()})`;

  return context.loaders
    .getOrCreate<Row | null>(cacheKey, (days) =>
      readRowsNearestToDays(
        entity,
        dateFieldName,
        columnSet(entity, [dateFieldName, ...fields], context.policies.textOrder),
        days,
        context,
      ),
    )
    .load(day) as Promise<RowFields<M, F> | null>;
}
