/**
 * Database indexes, derived from the declarations of resources: one for each filter, default order and reference. Indexes of owned tables include the
 * owner, because every statement filters by it. The owner comes first, except after a reference to a public row. No index is a prefix of another.
 * Migrations create the indexes; a test compares them with these.
 */
import type { IndexesOptions } from 'sequelize';
import { addOptions } from 'sequelize-typescript';
import { OWNER_FIELD } from '../../src/core/model/registry';
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../../src/core/model/fields';
import { resourceOf } from '../../src/core/model/registry';

/** Longer texts may exceed the size limit of a B-tree entry and get a hash index, which supports equality only. */
const MAX_BTREE_TEXT_CHARACTERS = 500;

type IndexColumn = string | { name: string; order?: 'DESC'; collate?: string };

const columnName = (column: IndexColumn): string =>
  typeof column === 'string' ? column : column.name;

/** An index with the name that Sequelize would give it, and the declaration that requires it (for error messages). */
interface DeclaredIndex {
  table: string;
  name: string;
  origin: string;
  options: IndexesOptions;
}

/** Adds the indexes to the models. All resources must be loaded, because they refer to each other. */
export function declareIndexes(entities: readonly Entity[]): void {
  const indexes = entities.flatMap((entity) => {
    const entityIndexes = indexesOf(entity);
    addOptions(entity.prototype, {
      indexes: entityIndexes.map(({ name, options }) => ({ ...options, name })),
    });
    return entityIndexes;
  });
  rejectDuplicateNames(indexes);
}

/** Rejects duplicate index names at startup. PostgreSQL would only report that the relation exists, when the table is created. */
function rejectDuplicateNames(indexes: readonly DeclaredIndex[]): void {
  const byName = new Map<string, DeclaredIndex>();
  for (const candidate of indexes) {
    const sameName = byName.get(candidate.name);
    if (sameName) {
      const origins = [sameName, candidate].map(
        ({ table, origin }) => `on the table "${table}" for ${origin}`,
      );
      throw new Error(
        `Two indexes have the name "${candidate.name}": ${origins.join(', and ')}. Remove one of the two declarations.`,
      );
    }
    byName.set(candidate.name, candidate);
  }
}

const formatNames = (names: readonly string[]): string =>
  `[${names.map((name) => `'${name}'`).join(', ')}]`;

function indexesOf(entity: Entity): DeclaredIndex[] {
  const { isOwned, ownerColumn, table, uniqueFields = [], ordering } = resourceOf(entity)!;
  const ownerPrefix = isOwned && ownerColumn === OWNER_FIELD.column ? [OWNER_FIELD.column] : [];
  const indexesByKey = new Map<string, DeclaredIndex>();
  /** `declaration` is an option of the resource or one of its fields, as named in error messages. */
  const addIndex = (
    declaration: string,
    fields: readonly IndexColumn[],
    options: IndexesOptions = {},
  ) => {
    const key = JSON.stringify([fields, options.unique ?? false]);
    const name = options.name ?? [table, ...fields.map(columnName)].join('_');
    if (!indexesByKey.has(key))
      indexesByKey.set(key, {
        table,
        name,
        origin: `${declaration} of ${entity.name}`,
        options: { fields: [...fields], ...options },
      });
  };
  const order = defaultOrderColumns(entity);
  const uniqueNames = uniqueColumns(entity);
  // Foreign keys of child rows refer to the owner as well as the id.
  if (ownerPrefix.length) addIndex('`isOwned`', [...ownerPrefix, 'id'], { unique: true });
  if (uniqueNames.length)
    addIndex(`\`uniqueFields: ${formatNames(uniqueFields)}\``, uniqueNames, { unique: true });
  if (order.length > 1)
    addIndex(`\`ordering: ${formatNames(ordering)}\``, [...ownerPrefix, ...order]);
  // Deleting a public row cascades to the rows of all users that refer to it. One index serves that cascade and the rows of one user.
  for (const field of fieldsOf(entity).filter(isReference)) {
    const columns = resourceOf(field.target!())!.isOwned
      ? [...ownerPrefix, field.column!]
      : [field.column!, ...ownerPrefix];
    if (columns.join() !== uniqueNames.join()) addIndex(`the reference \`${field.name}\``, columns);
  }
  for (const { name, column, maxLength = 0 } of restFilterFields(entity))
    if (column !== columnName(order[0]!))
      addIndex(
        `\`filters: ['${name}']\``,
        [...ownerPrefix, column!],
        maxLength > MAX_BTREE_TEXT_CHARACTERS ? { using: 'hash' } : {},
      );
  for (const { name, column, indexedForSorting } of fieldsOf(entity))
    if (indexedForSorting)
      addIndex(
        `\`indexedForSorting\` in the field \`${name}\``,
        [{ name: column!, collate: 'reader' }, 'id'],
        {
          name: `${table}_${column}_reader`,
        },
      );
  return [...indexesByKey.values()];
}

const isReference = (field: EntityField): boolean =>
  field.isColumn && Boolean(field.target) && field.name !== OWNER_FIELD.field;

/** Returns the columns of the default order, which always ends with the id. */
function defaultOrderColumns(entity: Entity): IndexColumn[] {
  const columns = resourceOf(entity)!.ordering.map((key): IndexColumn => {
    const descending = key.startsWith('-');
    const name = fieldOf(entity, descending ? key.slice(1) : key).column!;
    return descending ? { name, order: 'DESC' } : name;
  });
  return columns.at(-1) === 'id' ? columns : [...columns, 'id'];
}

/** Returns the columns of the unique constraint, starting with the owner as in the other indexes. */
function uniqueColumns(entity: Entity): string[] {
  const names = [...(resourceOf(entity)!.uniqueFields ?? [])];
  return names
    .sort((a, b) => Number(b === OWNER_FIELD.field) - Number(a === OWNER_FIELD.field))
    .map((name) => fieldOf(entity, name).column!);
}

/**
 * Returns stored fields that REST filters by in any view. Texts without a length limit are excluded, because filters by their full value are
 * unlikely.
 */
function restFilterFields(entity: Entity): EntityField[] {
  const names = new Set(
    resourceOf(entity)!.metadata.views.flatMap((view) => view.filters.map(({ field }) => field)),
  );
  return fieldsOf(entity).filter(
    (field) =>
      names.has(field.name) &&
      field.isColumn &&
      !field.target &&
      !(field.kind === 'string' && !field.maxLength),
  );
}
