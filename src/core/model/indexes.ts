/**
 * The indexes of a table, of the same facts: whatever lists are filtered by, ordered by or gathered by has one, and of rows that belong to users
 * each has the owner, because every statement names them: first, but after a reference to a row of everybody. None is the beginning of another.
 * Migrations make the indexes, and a test compares.
 */
import type { IndexesOptions } from 'sequelize';
import { addOptions } from 'sequelize-typescript';
import { OWNER } from './registry';
import { fieldOf, fieldsOf, type Entity, type FieldMeta } from './fields';
import { resourceOf } from './registry';

/** Longer texts, in characters, may not fit into a B-tree; whether they are equal their hashes tell. */
const LONGEST_IN_TREE = 500;

type Part = string | { name: string; order?: 'DESC'; collate?: string };

const nameOf = (part: Part): string => (typeof part === 'string' ? part : part.name);

/** For models of these, whose references lead to models that must be loaded. */
export function index(entities: readonly Entity[]): void {
  for (const entity of entities) addOptions(entity.prototype, { indexes: indexesOf(entity) });
}

function indexesOf(entity: Entity): IndexesOptions[] {
  const { owned, owner, table } = resourceOf(entity)!;
  const byOwner = owned && owner === OWNER.column ? [OWNER.column] : [];
  const made = new Map<string, IndexesOptions>();
  const add = (fields: readonly Part[], options: IndexesOptions = {}) => {
    const key = JSON.stringify([fields, options.unique ?? false]);
    if (!made.has(key)) made.set(key, { fields: [...fields], ...options });
  };
  const order = orderOf(entity);
  const unique = uniqueColumns(entity);
  // What hangs below the row names its owner too.
  if (byOwner.length) add([...byOwner, 'id'], { unique: true });
  if (unique.length) add(unique, { unique: true });
  if (order.length > 1) add([...byOwner, ...order]);
  // A public row that goes takes with it what anybody has below it: one index answers for that, and for what one user has there.
  for (const field of fieldsOf(entity).filter(isReference))
    add(resourceOf(field.target!())!.owned ? [...byOwner, field.column!] : [field.column!, ...byOwner]);
  for (const { column, maxLength = 0 } of filters(entity))
    if (column !== nameOf(order[0]!)) add([...byOwner, column!], maxLength > LONGEST_IN_TREE ? { using: 'hash' } : {});
  for (const { column, sorted } of fieldsOf(entity))
    if (sorted) add([{ name: column!, collate: 'reader' }, 'id'], { name: `${table}_${column}_reader` });
  return [...made.values()];
}

const isReference = (field: FieldMeta): boolean => field.stored && Boolean(field.target) && field.name !== OWNER.field;

/** The columns of the default order, which always ends with the id. */
function orderOf(entity: Entity): Part[] {
  const parts = resourceOf(entity)!.ordering.map((key): Part => {
    const descending = key.startsWith('-');
    const name = fieldOf(entity, descending ? key.slice(1) : key).column!;
    return descending ? { name, order: 'DESC' } : name;
  });
  return parts.at(-1) === 'id' ? parts : [...parts, 'id'];
}

/** The owner first, as in the other indexes. */
function uniqueColumns(entity: Entity): string[] {
  const names = [...(resourceOf(entity)!.unique ?? [])];
  return names.sort((a, b) => Number(b === OWNER.field) - Number(a === OWNER.field)).map((name) => fieldOf(entity, name).column!);
}

/** The stored fields that REST filters by, whatever its name for the resource; of a text without a bound nobody asks for all of it. */
function filters(entity: Entity): FieldMeta[] {
  const names = new Set(resourceOf(entity)!.fact.views.flatMap((view) => view.filters.map(({ field }) => field)));
  return fieldsOf(entity).filter(
    (field) => names.has(field.name) && field.stored && !field.target && !(field.kind === 'string' && !field.maxLength),
  );
}
