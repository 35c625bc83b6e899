/** One row by its id. */
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/connection';
import { visible } from './access';
import { binder, equals, whereOf } from './conditions';
import type { Context } from './context';
import { notFound } from './errors';
import type { Entity } from './fields';
import { rowIdOf } from './node';
import { from, rowColumns } from './plan';

/** The row of the scope with this id or `nodeId`, with the columns that the selection needs. */
export async function readOne(
  entity: Entity,
  id: unknown,
  context: Context,
  info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
): Promise<Row> {
  const number = rowIdOf(entity.name, id);
  const conditions = visible(entity, context);
  if (number === undefined) throw notFound();
  const { bind, values } = binder();
  const where = whereOf([equals('id', number), ...conditions], 't', bind);
  const [row] = await context.session.query(`SELECT ${rowColumns(entity, info, context)} ${from(entity)}${where}`, values);
  if (!row) throw notFound();
  return row;
}
