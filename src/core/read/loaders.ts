/** One batch per relation and request: a list of n rows costs one statement for each relation shown, whatever n is. */
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { reachable, reachesAll, scope, visible } from '../access/access';
import { anyOf, binder, conditionOf, type Condition } from '../access/conditions';
import type { Context } from '../context';
import { fieldOf, fieldsOf, type Entity, type FieldMeta, type PartOf, type RowOf } from '../model/fields';
import { plansOfApis, rowFields } from './plan';
import { expression } from '../sql/expressions';
import { bound, orderKey, orderOf } from '../sql/ordering';
import { columnsOf, select, type Columns } from '../sql/select';
import { resourceOf } from '../model/registry';

type Key = number | string;
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

/** Loaders live as long as their request; the key tells what a batch selects. */
export class Loaders {
  private loaders = new Map<unknown, DataLoader<Key, unknown>>();
  /** Resolves once all objects of the answer that are ready are made, so that what they ask for is one batch; undefined if they are. */
  made?: () => Promise<void> | undefined;

  private readonly schedule = (dispatch: () => void): void => {
    const begin = () => {
      const waiting = this.made?.();
      if (waiting) void waiting.then(() => this.schedule(dispatch));
      else dispatch();
    };
    // As DataLoader does it: once all that is resolved now has asked.
    void Promise.resolve().then(() => process.nextTick(begin));
  };

  get<T>(key: unknown, batch: (keys: readonly Key[]) => Promise<T[]>): DataLoader<Key, T> {
    let loader = this.loaders.get(key);
    // What a batch throws before it waits for anything is an answer too; DataLoader would take it for a mistake in the program.
    if (!loader)
      this.loaders.set(
        key,
        (loader = new DataLoader<Key, T>(async (keys) => batch(keys), { maxBatchSize: 10_000, batchScheduleFn: this.schedule })),
      );
    return loader as DataLoader<Key, T>;
  }

  /** A write may have changed what was read. A map that is emptied leads from its former table to the next: once an old one holds another, V8 keeps all. */
  clear(): void {
    this.loaders = new Map();
  }
}

async function byIds(columns: Columns, ids: readonly Key[], only: readonly Condition[], { session }: Context): Promise<(Row | null)[]> {
  const { bind, values } = binder();
  const where = conditionOf([anyOf('id', ids), ...only], 't', bind);
  const rows = await session.read(select({ columns, where }), values);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** Groups are in the child's default order. */
async function byParents(
  entity: Entity,
  by: string,
  columns: Columns,
  ids: readonly Key[],
  order: readonly string[],
  context: Context,
  only: readonly Condition[] = [],
) {
  const parent = fieldOf(entity, by);
  const { bind, values } = binder();
  const where = conditionOf([anyOf(parent.column!, ids), ...visible(entity, context), ...only], 't', bind);
  const terms = bound(orderOf(entity, order.map(orderKey), context), bind);
  const text = select({ columns, beside: [[expression(parent, 't'), '_parent']], where, order: terms });
  const groups = new Map<Key, Row[]>(ids.map((id) => [id, []]));
  for (const row of await context.session.read(text, values)) groups.get(row._parent)!.push(row);
  return ids.map((id) => groups.get(id)!);
}

/** What a batch reads: its columns and, as its name, what tells it from batches that read less or more. */
interface Reading {
  name: string;
  columns: Columns;
}

/** From this length on a text is read only where it is selected. */
const LONG_TEXT = 500;

const readings = new Map<string, Reading>();
const readingsOfNodes = plansOfApis<Reading>();

/** Worked out values and long texts cost something; everything else is read always, so that all fields over the same rows share a batch. */
const isCostly = (field: FieldMeta) => !field.stored || (field.kind === 'string' && !((field.maxLength ?? Infinity) <= LONG_TEXT));

function readingOf(entity: Entity, wanted: ReadonlySet<string>, { api }: Pick<Context, 'api'>): Reading {
  const costly = fieldsOf(entity).filter((field) => isCostly(field) && wanted.has(field.name));
  const name = `${entity.name}(${costly.map((field) => field.name).join()}) ${api}`;
  let reading = readings.get(name);
  if (!reading) {
    const cheap = fieldsOf(entity).filter((field) => !isCostly(field));
    readings.set(
      name,
      (reading = {
        name,
        columns: columnsOf(
          entity,
          [...cheap, ...costly].map((field) => field.name),
          api,
        ),
      }),
    );
  }
  return reading;
}

const reading = (entity: Entity, info: Info, context: Context): Reading =>
  readingsOfNodes[context.api].of(info.fieldNodes, entity, () => readingOf(entity, rowFields(entity, info), context));

function rowLoader(entity: Entity, { name, columns }: Reading, context: Context): DataLoader<Key, Row | null> {
  return context.loaders.get<Row | null>(name, (ids) => byIds(columns, ids, reachable(entity, context), context));
}

/** The row that a reference names. Small public tables answer from memory, at once. */
export function loadParent(entity: Entity, id: number | null | undefined, context: Context, info: Info): Row | null | Promise<Row | null> {
  if (id === null || id === undefined) return null;
  if (resourceOf(entity)!.inMemory) return context.reference.get(entity, id);
  return rowLoader(entity, reading(entity, info, context), context).load(id);
}

/** The rows of a list of ids, in its order. */
export function loadLinked(entity: Entity, ids: readonly number[], context: Context, info: Info): Row[] | Promise<Row[]> {
  if (resourceOf(entity)!.inMemory) return ids.map((id) => context.reference.get(entity, id)).filter((row): row is Row => row !== null);
  return Promise.all(ids.map((id) => rowLoader(entity, reading(entity, info, context), context).load(id))).then((rows) =>
    rows.filter((row): row is Row => row !== null),
  );
}

function childLoader(
  entity: Entity,
  by: string,
  order: readonly string[],
  { name, columns }: Reading,
  context: Context,
  only?: NamedCondition,
): DataLoader<Key, Row[]> {
  const key = `${name}.${by} ${order.join()}${only ? ` ${only.name}` : ''}`;
  return context.loaders.get<Row[]>(key, (ids) => byParents(entity, by, columns, ids, order, context, only && [only.condition]));
}

export function loadChildren(
  entity: Entity,
  by: string,
  order: readonly string[],
  id: number,
  context: Context,
  info: Info,
): Promise<Row[]> {
  return childLoader(entity, by, order, reading(entity, info, context), context).load(id);
}

/** For resolvers of one's own: rows by id, with these fields; null for what the viewer is not shown. */
export function rowById<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  fields: readonly F[],
  id: number,
  context: Context,
): Promise<PartOf<M, F> | null> {
  return rowLoader(entity, readingOf(entity, new Set(fields), context), context).load(id) as Promise<PartOf<M, F> | null>;
}

/** What something is worked out from counts whether or not the viewer is shown the row itself. */
export function rowToCount<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  fields: readonly F[],
  id: number,
  context: Context,
): Promise<PartOf<M, F> | null> {
  if (reachesAll(entity, context)) return rowById(entity, fields, id, context);
  const { name, columns } = readingOf(entity, new Set(fields), context);
  return context.loaders
    .get<Row | null>(`any ${name}`, (ids) => byIds(columns, ids, scope(entity, context), context))
    .load(id) as Promise<PartOf<M, F> | null>;
}

/** Some of the rows below a parent. The name stands for the condition: equal names share a batch. */
export interface NamedCondition {
  name: string;
  condition: Condition;
}

/** For resolvers of one's own: the rows below a parent, with these fields, in default order. */
export function rowsBelow<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  by: keyof RowOf<M> & string,
  fields: readonly F[],
  id: number,
  context: Context,
  only?: NamedCondition,
): Promise<PartOf<M, F>[]> {
  const reading = readingOf(entity, new Set(fields), context);
  return childLoader(entity, by, resourceOf(entity)!.ordering, reading, context, only).load(id) as Promise<PartOf<M, F>[]>;
}

/** An index finds the neighbours of each day, however many rows there are. */
async function byNearness(entity: Entity, by: string, columns: Columns, days: readonly Key[], context: Context): Promise<(Row | null)[]> {
  const { bind, values } = binder();
  const wanted = bind(days);
  const column = expression(fieldOf(entity, by), 't');
  const neighbour = (comparison: string, descending: boolean) => {
    const where = conditionOf([...scope(entity, context), () => `${column} ${comparison} k."day"`], 't', bind);
    const order = bound(orderOf(entity, [{ path: [by], descending, nullsFirst: descending }, orderKey('id')], context), bind);
    return `(${select({ columns, where, order, limit: '1' })})`;
  };
  const rows = await context.session.read(
    `SELECT k."day" AS "_day", n.* FROM unnest(${wanted}::date[]) AS k("day") CROSS JOIN LATERAL (
      SELECT * FROM (${neighbour('<=', true)} UNION ALL ${neighbour('>', false)}) AS c ORDER BY abs(c."${by}" - k."day"), c."${by}" LIMIT 1) AS n`,
    values,
  );
  const found = new Map(rows.map((row) => [row._day as Key, row]));
  return days.map((day) => found.get(day) ?? null);
}

/** For resolvers of one's own: the row of the viewer whose day is nearest to this one, the earlier of two as near. */
export function rowNearest<M, F extends keyof RowOf<M> & string>(
  entity: Entity<M>,
  by: keyof RowOf<M> & string,
  fields: readonly F[],
  day: string,
  context: Context,
): Promise<PartOf<M, F> | null> {
  const key = `${entity.name} near ${by}(${fields.join()})`;
  return context.loaders
    .get<Row | null>(key, (days) => byNearness(entity, by, columnsOf(entity, [by, ...fields], context.api), days, context))
    .load(day) as Promise<PartOf<M, F> | null>;
}
