/** Reads rows by id, and unpaginated lists, with the columns that the selection set needs. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { visible } from '../access/access';
import { anyOf, binder, conditionOf, equals } from '../access/conditions';
import type { Context } from '../context';
import { notFound } from '../model/errors';
import type { Entity } from '../model/fields';
import { refuseOtherType, rowIdOf } from '../model/node';
import { resourceOf } from '../model/registry';
import { bound, orderKey, orderOf } from '../sql/ordering';
import { rowColumns } from './plan';
import { columnsOf, select } from '../sql/select';

const MAX_LIST_ROWS = 10_000;

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Reads the visible rows with the given ids in one statement. */
export async function readSome(entity: Entity, ids: readonly number[], context: Context, info: Info): Promise<Map<number, Row>> {
  const { bind, values } = binder();
  const where = conditionOf([anyOf('id', ids), ...visible(entity, context)], 't', bind);
  const rows = await context.session.read(select({ columns: rowColumns(entity, info, context), where }), values);
  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Returns the id of the viewer's row of an entity with one row per user. */
export async function ownId(entity: Entity, context: Context): Promise<number> {
  const { bind, values } = binder();
  const where = conditionOf(visible(entity, context), 't', bind);
  const [row] = await context.session.read(select({ columns: columnsOf(entity, ['id'], context.api), where }), values);
  return row!.id as number;
}

/** Reads all visible rows in their default order. */
export async function readAll(entity: Entity, context: Context, info: Info): Promise<Row[]> {
  const { bind, values } = binder();
  const where = conditionOf(visible(entity, context), 't', bind);
  const order = bound(orderOf(entity, resourceOf(entity)!.ordering.map(orderKey), context), bind);
  return context.session.read(select({ columns: rowColumns(entity, info, context), where, order, limit: bind(MAX_LIST_ROWS) }), values);
}

/** Reads a visible row by its `id` or `nodeId`. Throws NOT_FOUND if there is none. */
export async function readOne(entity: Entity, id: unknown, context: Context, info: Info): Promise<Row> {
  const rowId = rowIdOf(entity.name, id);
  const conditions = visible(entity, context);
  if (context.api === 'graphql') refuseOtherType(entity.name, id, 'id');
  if (rowId === undefined) throw notFound();
  const { bind, values } = binder();
  const where = conditionOf([equals('id', rowId), ...conditions], 't', bind);
  const [row] = await context.session.read(select({ columns: rowColumns(entity, info, context), where }), values);
  if (!row) throw notFound();
  return row;
}
