/** One batch per relation and request: a list of n rows costs one statement for each relation shown, whatever n is. */
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/connection';
import { scope } from './access';
import { anyOf, binder, whereOf, type Condition } from './conditions';
import type { Context } from './context';
import { fieldOf, type Entity } from './fields';
import { columnsOf, expression, from, rowColumns } from './plan';
import { orderOf, orderSql } from './ordering';
import { resourceOf } from './resource';

type Key = number | string;
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Loaders live as long as their request; the key tells what a batch selects. */
export class Loaders {
  private readonly loaders = new Map<unknown, DataLoader<Key, any>>();

  get<T>(key: unknown, batch: (keys: readonly Key[]) => Promise<T[]>): DataLoader<Key, T> {
    let loader = this.loaders.get(key);
    if (!loader) this.loaders.set(key, (loader = new DataLoader<Key, T>(batch, { maxBatchSize: 10_000 })));
    return loader;
  }

  /** A write may have changed what was read. */
  clear(): void {
    this.loaders.clear();
  }
}

async function byIds(entity: Entity, columns: string, ids: readonly Key[], context: Context): Promise<(Row | null)[]> {
  const { bind, values } = binder();
  const where = whereOf([anyOf('id', ids), ...scope(entity, context)], 't', bind);
  const rows = await context.session.query(`SELECT ${columns} ${from(entity)}${where}`, values);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** Groups are in the child's default order. */
async function byParents(
  entity: Entity,
  by: string,
  columns: string,
  ids: readonly Key[],
  order: readonly string[],
  context: Context,
  among: readonly Condition[] = [],
) {
  const parent = fieldOf(entity, by);
  const { bind, values } = binder();
  const where = whereOf([anyOf(parent.column!, ids), ...scope(entity, context), ...among], 't', bind);
  const sorted = orderSql(orderOf(entity, order));
  const text = `SELECT ${columns}, ${expression(parent, 't')} AS "_parent" ${from(entity)}${where} ORDER BY ${sorted}`;
  const groups = new Map<Key, Row[]>(ids.map((id) => [id, []]));
  for (const row of await context.session.query(text, values)) groups.get(row._parent)!.push(row);
  return ids.map((id) => groups.get(id)!);
}

/** The row that a reference names. Small public tables answer from memory, at once. */
export function loadParent(entity: Entity, id: number | null, context: Context, info: Info): Row | null | Promise<Row | null> {
  if (id === null || id === undefined) return null;
  if (resourceOf(entity)!.inMemory) return context.reference.get(entity, id);
  return context.loaders.get<Row | null>(info.fieldNodes, (ids) => byIds(entity, rowColumns(entity, info), ids, context)).load(id);
}

/** The rows of a list of ids, in its order. */
export function loadLinked(entity: Entity, ids: readonly number[], context: Context, info: Info): Row[] | Promise<Row[]> {
  if (resourceOf(entity)!.inMemory) return ids.map((id) => context.reference.get(entity, id)).filter((row): row is Row => row !== null);
  const loader = context.loaders.get<Row | null>(info.fieldNodes, (keys) => byIds(entity, rowColumns(entity, info), keys, context));
  return loader.loadMany(ids).then((rows) => rows.filter((row): row is Row => row !== null && !(row instanceof Error)));
}

export function loadChildren(
  entity: Entity,
  by: string,
  order: readonly string[],
  id: number,
  context: Context,
  info: Info,
): Promise<Row[]> {
  return context.loaders
    .get<Row[]>(info.fieldNodes, (ids) => byParents(entity, by, rowColumns(entity, info), ids, order, context))
    .load(id);
}

/** For resolvers of one's own: rows by id, with these fields. */
export function rowById(entity: Entity, fields: readonly string[], id: number, context: Context): Promise<Row | null> {
  const key = `${entity.name}(${fields.join()})`;
  return context.loaders.get<Row | null>(key, (ids) => byIds(entity, columnsOf(entity, fields), ids, context)).load(id);
}

/** Some of the rows below a parent. The name stands for the condition: equal names share a batch. */
export interface Among {
  name: string;
  condition: Condition;
}

/** For resolvers of one's own: the rows below a parent, with these fields, in default order. */
export function rowsBelow(
  entity: Entity,
  by: string,
  fields: readonly string[],
  id: number,
  context: Context,
  among?: Among,
): Promise<Row[]> {
  const key = `${entity.name}.${by}(${fields.join()})${among ? ` ${among.name}` : ''}`;
  const { ordering } = resourceOf(entity)!;
  return context.loaders
    .get<Row[]>(key, (ids) => byParents(entity, by, columnsOf(entity, fields), ids, ordering, context, among && [among.condition]))
    .load(id);
}
