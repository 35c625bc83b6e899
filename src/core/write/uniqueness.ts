/** Uniqueness check: finds rows of a write that would violate a unique constraint, such as two body weights on one day. */
import { ownerConditions } from '../access/access';
import { createParameterBinder, whereClause } from '../access/conditions';
import type { Context } from '../context';
import { withDefaults, type RowDraft } from './drafts';
import { fieldOf, type Entity, type EntityField } from '../model/fields';
import { sqlType } from '../sql/columntypes';
import { fromClause } from '../sql/expressions';
import { OWNER_FIELD, resourceOf } from '../model/registry';

/** Returns the fields that must be unique together among the rows of one owner. */
export const uniqueFields = (entity: Entity): EntityField[] =>
  (resourceOf(entity)!.uniqueFields ?? [])
    .filter((name) => name !== OWNER_FIELD.field)
    .map((name) => fieldOf(entity, name));

/**
 * Returns Django REST framework's message for duplicates. It contains only fields that the API of the request exposes, by their names in that API.
 */
export function duplicateMessage(entity: Entity, api: Context['api']): string {
  const isExposed = ({ hiddenInRest, exclusiveTo = api }: EntityField) =>
    exclusiveTo === api && !(api === 'rest' && hiddenInRest);
  const apiNameOf = ({ restKey, objectFieldName, name }: EntityField) =>
    api === 'rest' ? restKey : (objectFieldName ?? name);
  const fields = (resourceOf(entity)!.uniqueFields ?? [])
    .map((name) => fieldOf(entity, name))
    .filter(isExposed);
  const names = fields.map(apiNameOf).sort();
  return names.length === 1
    ? `The field ${names[0]} must be unique.`
    : `The fields ${names.join(', ')} must make a unique set.`;
}

/**
 * Returns the drafts that would be duplicates, each mapped to the id of the conflicting stored row, or to undefined if the conflicting row is part of the same
 * write.
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
    const values =
      draft.id === undefined
        ? withDefaults(entity, draft.input, context)
        : { ...draft.currentValues, ...draft.input };
    const newParent =
      draft.parent && draft.parent.draft.id === undefined ? draft.parent : undefined;
    const key = fields.map(({ name }) =>
      name === newParent?.referenceFieldName ? newParentKey(newParent.draft) : values[name],
    );
    // Rows without a value in one of the unique fields are never duplicates. Other checks report missing required values.
    if (key.some((value) => value == null)) continue;
    const keyJson = JSON.stringify(key);
    if (draftByKey.has(keyJson)) conflictingIdByDraft.set(draft, undefined);
    else draftByKey.set(keyJson, draft);
    // A row whose unique key includes a parent row that is yet to be created cannot conflict with stored rows, so these are not searched.
    if (!newParent || !fields.some(({ name }) => name === newParent.referenceFieldName))
      rows.push({ draft, key });
  }
  if (rows.length === 0) return conflictingIdByDraft;
  const { bind, values } = createParameterBinder();
  const arrayParameters = fields.map(
    (field, index) => `${bind(rows.map(({ key }) => key[index]))}::${sqlType(field)}[]`,
  );
  const columns = fields.map(({ column }) => `"${column}"`);
  const equalKeysSql = columns.map((column) => `t.${column} = k.${column}`).join(' AND ');
  // The current keys of the rows to be written are ignored, because they are about to change.
  const isOtherRowSql = (alias: string) =>
    `${alias}."id" <> ALL(${bind(rows.flatMap(({ draft }) => draft.id ?? []))}::int[])`;
  const conflictingRows = await context.session.query(
    `SELECT k."place", t."id" ${fromClause(entity)} JOIN unnest(${arrayParameters.join(', ')}) WITH ORDINALITY AS k(${columns.join(', ')}, "place") ON ${equalKeysSql}${whereClause([...ownerConditions(entity, context), isOtherRowSql], 't', bind)}`,
    values,
  );
  for (const { place, id } of conflictingRows)
    conflictingIdByDraft.set(rows[place - 1]!.draft, id as number);
  return conflictingIdByDraft;
}
