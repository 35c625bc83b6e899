/**
 * Database indexes, derived from the declarations of resources: one for each filter, default order
 * and reference. Indexes of owned tables include the owner, because every statement filters by it.
 * The owner comes first, except after a reference to a public row. No index is a prefix of another.
 */
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../../src/engine/declare/fields';
import { OWNER_FIELD, resourceOf } from '../../src/engine/declare/registry';

/**
 * Longer texts may exceed the size limit of a B-tree entry and get a hash index, which supports
 * equality only.
 */
const MAX_BTREE_TEXT_CHARACTERS = 500;

/** Indexes that no declaration implies. */
const FURTHER_INDEXES: Partial<Record<string, string[]>> = {
  // Logs and planned sets refer to an exercise together with one of its translations.
  exercise: ['UNIQUE USING btree (id, exercise_base_id)'],
};

/**
 * Returns the indexes of a resource except that of its primary key, as PostgreSQL describes them.
 */
export function indexesOf(entity: Entity): string[] {
  const { table, isOwned, ownerColumn } = resourceOf(entity)!;
  const ownerPrefix = isOwned && ownerColumn === OWNER_FIELD.column ? [OWNER_FIELD.column] : [];
  const order = defaultOrderColumns(entity);
  const unique = uniqueColumns(entity);
  const indexes = new Set<string>();
  const addIndex = (columns: readonly string[], kind = 'USING btree') =>
    indexes.add(`${kind} (${columns.join(', ')})`);

  // Foreign keys of child rows refer to the owner as well as the id.
  if (ownerPrefix.length) addIndex([...ownerPrefix, 'id'], 'UNIQUE USING btree');
  if (unique.length) addIndex(unique, 'UNIQUE USING btree');
  if (order.length > 1) addIndex([...ownerPrefix, ...order]);

  // Deleting a public row cascades to the rows of all users that refer to it. One index serves that
  // cascade and the rows of one user.
  for (const field of fieldsOf(entity).filter(isReference)) {
    const columns = resourceOf(field.target!())!.isOwned
      ? [...ownerPrefix, field.column!]
      : [field.column!, ...ownerPrefix];

    if (columns.join() !== unique.join()) addIndex(columns);
  }

  for (const { column, maxLength = 0 } of restFilterFields(entity)) {
    if (column !== order[0]!.split(' ')[0]) {
      addIndex(
        [...ownerPrefix, column!],
        maxLength > MAX_BTREE_TEXT_CHARACTERS ? 'USING hash' : undefined,
      );
    }
  }

  for (const { column, indexedForSorting } of fieldsOf(entity)) {
    if (indexedForSorting) addIndex([`${column} COLLATE reader`, 'id']);
  }

  for (const index of FURTHER_INDEXES[table] ?? []) indexes.add(index);

  return [...indexes].sort();
}

const isReference = (field: EntityField): boolean =>
  field.isColumn && Boolean(field.target) && field.name !== OWNER_FIELD.field;

/** Returns the columns of the default order, which always ends with the id. */
function defaultOrderColumns(entity: Entity): string[] {
  const columns = resourceOf(entity)!.ordering.map((key) => {
    const descending = key.startsWith('-');
    const name = fieldOf(entity, descending ? key.slice(1) : key).column!;

    return descending ? `${name} DESC` : name;
  });

  return columns.at(-1) === 'id' ? columns : [...columns, 'id'];
}

/**
 * Returns the columns of the unique constraint, starting with the owner as in the other indexes.
 */
function uniqueColumns(entity: Entity): string[] {
  const names = [...(resourceOf(entity)!.uniqueFields ?? [])];

  return names
    .sort((a, b) => Number(b === OWNER_FIELD.field) - Number(a === OWNER_FIELD.field))
    .map((name) => fieldOf(entity, name).column!);
}

/**
 * Returns stored fields that REST filters by in any view. Texts without a length limit are
 * excluded, because filters by their full value are unlikely.
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
