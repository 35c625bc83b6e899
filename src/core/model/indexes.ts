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

/** An index under the name that Sequelize would give it, and the declaration that asks for it. */
interface DeclaredIndex {
  table: string;
  name: string;
  origin: string;
  options: IndexesOptions;
}

/** Adds its indexes to the model of each of these classes. All resources must be loaded, because their references lead to each other. */
export function index(entities: readonly Entity[]): void {
  const all = entities.flatMap((entity) => {
    const declared = indexesOf(entity);
    addOptions(entity.prototype, { indexes: declared.map(({ name, options }) => ({ ...options, name })) });
    return declared;
  });
  checkNames(all);
}

/** PostgreSQL would report only that a relation exists already, when a table is made. */
function checkNames(indexes: readonly DeclaredIndex[]): void {
  const byName = new Map<string, DeclaredIndex>();
  for (const declared of indexes) {
    const other = byName.get(declared.name);
    if (other) {
      const origins = [other, declared].map(({ table, origin }) => `on the table "${table}" for ${origin}`);
      throw new Error(`Two indexes have the name "${declared.name}": ${origins.join(', and ')}. Remove one of the two declarations.`);
    }
    byName.set(declared.name, declared);
  }
}

const quoted = (names: readonly string[]): string => `[${names.map((name) => `'${name}'`).join(', ')}]`;

function indexesOf(entity: Entity): DeclaredIndex[] {
  const { owned, owner, table, unique = [], ordering } = resourceOf(entity)!;
  const byOwner = owned && owner === OWNER.column ? [OWNER.column] : [];
  const made = new Map<string, DeclaredIndex>();
  /** `declaration` names an option of the resource, or one of its fields. */
  const add = (declaration: string, fields: readonly Part[], options: IndexesOptions = {}) => {
    const key = JSON.stringify([fields, options.unique ?? false]);
    const name = options.name ?? [table, ...fields.map(nameOf)].join('_');
    if (!made.has(key))
      made.set(key, { table, name, origin: `${declaration} of ${entity.name}`, options: { fields: [...fields], ...options } });
  };
  const order = orderOf(entity);
  const uniqueNames = uniqueColumns(entity);
  // What hangs below the row names its owner too.
  if (byOwner.length) add('`owned`', [...byOwner, 'id'], { unique: true });
  if (uniqueNames.length) add(`\`unique: ${quoted(unique)}\``, uniqueNames, { unique: true });
  if (order.length > 1) add(`\`ordering: ${quoted(ordering)}\``, [...byOwner, ...order]);
  // A public row that goes takes with it what anybody has below it: one index answers for that, and for what one user has there.
  for (const field of fieldsOf(entity).filter(isReference))
    add(`the reference \`${field.name}\``, resourceOf(field.target!())!.owned ? [...byOwner, field.column!] : [field.column!, ...byOwner]);
  for (const { name, column, maxLength = 0 } of filters(entity))
    if (column !== nameOf(order[0]!))
      add(`\`filters: ['${name}']\``, [...byOwner, column!], maxLength > LONGEST_IN_TREE ? { using: 'hash' } : {});
  for (const { name, column, sorted } of fieldsOf(entity))
    if (sorted)
      add(`\`sorted\` in the field \`${name}\``, [{ name: column!, collate: 'reader' }, 'id'], { name: `${table}_${column}_reader` });
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
