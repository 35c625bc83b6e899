/** Reads rows by id and unpaginated lists, with the columns that the selection set needs. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../access/access';
import { columnIsOneOf, createParameterBinder, allOfSql, columnEquals } from '../access/conditions';
import type { Context } from '../context';
import { notFoundError } from '../declare/errors';
import type { Entity } from '../declare/fields';
import { rejectNodeIdOfOtherType, resolveRowId } from '../declare/node';
import { resourceOf } from '../declare/registry';
import { bindOrderTerms, parseOrderField, orderTerms } from '../sql/ordering';
import { requiredRowColumns } from './query-plan';
import { columnSet, buildSelectRowsStatement, buildSelectStatement } from '../sql/select';

const MAX_LIST_ROWS = 10_000;

type ResolveInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

export async function readRowsById(
  entity: Entity,
  ids: readonly number[],
  context: Context,
  info: ResolveInfo,
): Promise<Map<number, Row>> {
  const conditions = [columnIsOneOf('id', ids), ...visibleRowConditions(entity, context)];
  const rows = await context.session.query(
    ...buildSelectRowsStatement(requiredRowColumns(entity, info, context), conditions),
  );

  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Reads the id of the viewer's row of an entity with one row per user. */
export async function readViewerRowId(entity: Entity, context: Context): Promise<number> {
  const columns = columnSet(entity, ['id'], context.policies.textOrder);
  const [row] = await context.session.query(
    ...buildSelectRowsStatement(columns, visibleRowConditions(entity, context)),
  );

  return row!.id as number;
}

export async function readAllRows(
  entity: Entity,
  context: Context,
  info: ResolveInfo,
): Promise<Row[]> {
  const { bind, values } = createParameterBinder();
  const where = allOfSql(visibleRowConditions(entity, context), 't', bind);
  const order = bindOrderTerms(
    orderTerms(entity, resourceOf(entity)!.ordering.map(parseOrderField), context.policies),
    bind,
  );

  return context.session.query(
    buildSelectStatement({
      columns: requiredRowColumns(entity, info, context),
      where,
      order,
      limit: bind(MAX_LIST_ROWS),
    }),
    values,
  );
}

/** The result of a lookup that finds no row: null, or NOT_FOUND in REST. */
export function missingRow({ policies }: Pick<Context, 'policies'>): null {
  if (policies.reportsMissingRows) throw notFoundError();

  return null;
}

/** Reads a visible row by its `id` or `nodeId`. */
export async function readRowById(
  entity: Entity,
  id: unknown,
  context: Context,
  info: ResolveInfo,
): Promise<Row | null> {
  const rowId = resolveRowId(entity.name, id);
  const conditions = visibleRowConditions(entity, context);

  if (context.policies.acceptsNodeIds) rejectNodeIdOfOtherType(entity.name, id, ['id']);
  if (rowId === undefined) return missingRow(context);
  const columns = requiredRowColumns(entity, info, context);
  const [row] = await context.session.query(
    ...buildSelectRowsStatement(columns, [columnEquals('id', rowId), ...conditions]),
  );

  return row ?? missingRow(context);
}
