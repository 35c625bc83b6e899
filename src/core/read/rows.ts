/** Reads rows by id and lists without pagination, with the columns that the selection set needs. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../access/access';
import {
  columnIsOneOf,
  createParameterBinder,
  conjunctionSql,
  columnEquals,
} from '../access/conditions';
import type { Context } from '../context';
import { notFoundError } from '../model/errors';
import type { Entity } from '../model/fields';
import { rejectNodeIdOfOtherType, resolveRowId } from '../model/node';
import { resourceOf } from '../model/registry';
import { bindOrderTerms, parseOrderField, orderTerms } from '../sql/ordering';
import { requiredRowColumns } from './queryplan';
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

/** Returns the id of the viewer's row of an entity with one row per user. */
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
  const where = conjunctionSql(visibleRowConditions(entity, context), 't', bind);
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

/** Reads a visible row by its `id` or `nodeId`. Throws NOT_FOUND if there is none. */
export async function readRowById(
  entity: Entity,
  id: unknown,
  context: Context,
  info: ResolveInfo,
): Promise<Row> {
  const rowId = resolveRowId(entity.name, id);
  const conditions = visibleRowConditions(entity, context);
  if (context.policies.acceptsNodeIds) rejectNodeIdOfOtherType(entity.name, id, 'id');
  if (rowId === undefined) throw notFoundError();
  const columns = requiredRowColumns(entity, info, context);
  const [row] = await context.session.query(
    ...buildSelectRowsStatement(columns, [columnEquals('id', rowId), ...conditions]),
  );
  if (!row) throw notFoundError();
  return row;
}
