/**
 * Uniqueness check: finds rows of a write that would violate a unique constraint, such as two body
 * weights on one day.
 */
import { ownerConditions } from '../access/access';
import { createParameterBinder, whereClause } from '../access/conditions';
import type { Context } from '../context';
import { withDefaults, type RowDraft } from './drafts';
import { fieldOf, type Entity, type EntityField } from '../declare/fields';
import { sqlType } from '../sql/column-types';
import { fromClause } from '../sql/expressions';
import { OWNER_FIELD, resourceOf, type FieldValues } from '../declare/registry';

/** Fields that must be unique together among the rows of one owner. */
export const uniqueFields = (entity: Entity): EntityField[] =>
  (resourceOf(entity)!.uniqueFields ?? [])
    .filter((name) => name !== OWNER_FIELD.field)
    .map((name) => fieldOf(entity, name));

/** Fields that must be unique together and that the API exposes. */
export const exposedUniqueFields = (entity: Entity, api: Context['api']): EntityField[] =>
  (resourceOf(entity)!.uniqueFields ?? [])
    .map((name) => fieldOf(entity, name))
    .filter(
      ({ hiddenInRest, exclusiveTo = api }) =>
        exclusiveTo === api && !(api === 'rest' && hiddenInRest),
    );

/**
 * Django REST framework's message for duplicates. Names only fields that the API of the request
 * exposes.
 */
export function duplicateMessage(entity: Entity, api: Context['api']): string {
  const apiNameOf = ({ restKey, relationFieldName, name }: EntityField) =>
    api === 'rest' ? restKey : (relationFieldName ?? name);
  const names = exposedUniqueFields(entity, api).map(apiNameOf).sort();

  if (names.length === 1) return `The field ${names[0]} must be unique.`;

  return `The fields ${names.join(', ')} must make a unique set.`;
}

/**
 * Finds drafts that violate a unique constraint, and for each the id of the conflicting stored row.
 * Drafts that only duplicate another draft of the same write have no such id.
 */
export async function findDuplicates(
  entity: Entity,
  drafts: readonly RowDraft[],
  context: Context,
): Promise<Map<RowDraft, number | undefined>> {
  const fields = uniqueFields(entity);
  const conflictingIdByDraft = new Map<RowDraft, number | undefined>();
  const draftByKey = new Map<string, RowDraft>();
  const keyByNewParent = new Map<RowDraft, string>();

  const newParentKey = (parent: RowDraft) => {
    const existingKey = keyByNewParent.get(parent);

    if (existingKey !== undefined) return existingKey;
    keyByNewParent.set(parent, `new ${keyByNewParent.size}`);
    return keyByNewParent.get(parent);
  };

  const rows: { draft: RowDraft; key: unknown[] }[] = [];

  for (const draft of drafts) {
    if (draft.id !== undefined && !fields.some(({ name }) => name in draft.input)) continue;
    let values: FieldValues = { ...draft.currentValues, ...draft.input };

    if (draft.id === undefined) values = withDefaults(entity, draft.input, context);
    const newParent =
      draft.parent && draft.parent.draft.id === undefined ? draft.parent : undefined;
    const key = fields.map(({ name }) =>
      name === newParent?.referenceFieldName ? newParentKey(newParent.draft) : values[name],
    );

    // Rows without a value in a unique field are never duplicates. Other checks report missing
    // required values.
    if (key.some((value) => value == null)) continue;
    const keyJson = JSON.stringify(key);

    if (draftByKey.has(keyJson)) conflictingIdByDraft.set(draft, undefined);
    else draftByKey.set(keyJson, draft);

    // A unique key that includes a new parent row cannot conflict with stored rows.
    if (!newParent || !fields.some(({ name }) => name === newParent.referenceFieldName)) {
      rows.push({ draft, key });
    }
  }

  if (rows.length === 0) return conflictingIdByDraft;
  const { bind, values } = createParameterBinder();
  const arrayParameters = fields.map(
    (field, index) => `${bind(rows.map(({ key }) => key[index]))}::${sqlType(field)}[]`,
  );
  const columns = fields.map(({ column }) => `"${column}"`);
  const equalKeysSql = columns.map((column) => `t.${column} = k.${column}`).join(' AND ');
  // Current keys of the rows to be written are ignored, because they are about to change.
  const isOtherRowSql = (alias: string) =>
    `${alias}."id" <> ALL(${bind(rows.flatMap(({ draft }) => draft.id ?? []))}::int[])`;
  const conflictingRows = await context.session.query(
    `SELECT k."place", t."id" ${fromClause(entity)}
      JOIN unnest(${arrayParameters.join(', ')}) WITH ORDINALITY AS k(${columns.join(', ')},
      "place") ON ${equalKeysSql}${whereClause([...ownerConditions(entity, context), isOtherRowSql], 't', bind)}`,
    values,
  );

  for (const { place, id } of conflictingRows) {
    conflictingIdByDraft.set(rows[place - 1]!.draft, id as number);
  }

  return conflictingIdByDraft;
}
