/**
 * Nested writes: save a row together with its parts, such as a plan with its meals. In each list of parts, rows with an id are updated, rows without
 * one are created, and stored rows missing from the list are deleted. Unchanged rows are not written. Everything runs in one transaction, and the
 * number of statements does not depend on the number of rows.
 */
import type { Row } from '../../database/rows';
import { ownerFieldValues } from '../access/access';
import type { Context } from '../context';
import { InvalidInput, throwIfInvalid } from '../model/errors';
import {
  fieldsOf,
  childFieldsSavedWithParent,
  type ChildRowsField,
  type Entity,
} from '../model/fields';
import { hooksOf, type FieldValues } from '../model/hooks';
import type { InputIssue } from '../model/validationissues';
import { errorWithAllInputIssues } from './allinputissues';
import { withRetries } from './retry';
import {
  createDrafts,
  groupDraftsByDepthAndEntity,
  rejectTooManyRows,
  countInputRows,
  type RowDraft,
} from './drafts';
import { fieldNamesOfAffectedRules } from './rules';
import { deleteRows, lockRows, type StoredRow, type WriteContext } from './statements';
import { validateDrafts } from './validation';
import { requireRowsExist, lockAndCheckRows, parseRowIds } from './rowreferences';
import {
  insertRowsOfEntity,
  runInTransaction,
  updateRowsOfEntity,
  type RowChange,
  type RowPassedToHooks,
} from './write';

/** Whether the input contains a list of parts, which are child rows that are saved together with their parent row. */
export const inputHasParts = (entity: Entity, input: FieldValues): boolean =>
  childFieldsSavedWithParent(entity).some(({ name }) => input[name] != null);

interface StoredPart {
  readonly entity: Entity;
  readonly childField: ChildRowsField;
  readonly row: Row;
  readonly parent: { readonly entity: Entity; readonly id: number };
}

/** Returns the names of the writable fields that contain the ids of linked rows (many-to-many), stored in link tables. */
const linkTableFieldNames = (entity: Entity): string[] =>
  fieldsOf(entity).flatMap(({ name, link, readOnly }) => (link && !readOnly ? [name] : []));

const rowKeyOf = ({ name }: Entity, id: unknown): string => `${name} ${String(id)}`;

/** Saves a row with its parts. The result contains only the id of the row. */
export async function saveRowWithParts(
  entity: Entity,
  change: RowChange,
  argumentName: string,
  context: Context,
): Promise<StoredRow> {
  ownerFieldValues(entity, context);
  rejectTooManyRows(countInputRows(entity, change.input), argumentName);
  const [id] = parseRowIds(entity, [change]) as [number];
  await withRetries(context, () => {
    const rowsPassedToHooks: RowPassedToHooks[] = [];
    return runInTransaction(rowsPassedToHooks, context, (writeContext) =>
      saveParts(entity, id, change, rowsPassedToHooks, writeContext),
    );
  });
  context.loaders.clear();
  return { id };
}

async function saveParts(
  entity: Entity,
  id: number,
  change: RowChange,
  rowsPassedToHooks: RowPassedToHooks[],
  writeContext: WriteContext,
): Promise<void> {
  const { context, transaction } = writeContext;
  const drafts = createDrafts(entity, change.input, change.path);
  const rootDraft = drafts[0]!;
  rootDraft.id = id;
  const draftGroups = groupDraftsByDepthAndEntity(drafts);
  for (const draftGroup of draftGroups)
    await hooksOf(draftGroup[0]!.entity).onTransactionStart?.(draftGroup, context, transaction);
  const comparedFieldNames = [
    ...fieldNamesOfAffectedRules(entity, [rootDraft], context),
    ...linkTableFieldNames(entity),
  ];
  let parts: readonly StoredPart[];
  try {
    [rootDraft.currentValues] = await lockAndCheckRows(
      entity,
      [change],
      [id],
      'UPDATE',
      writeContext,
      comparedFieldNames,
    );
    parts = await lockPartsRecursively(entity, [id], drafts, writeContext);
    matchStoredParts(drafts, parts);
  } catch (error) {
    throw await errorWithAllInputIssues(error, drafts, context);
  }
  await validateDrafts(drafts, context);
  const storedRowByDraft = new Map<RowDraft, StoredRow>();
  for (const draftGroup of draftGroups)
    await writeDraftGroup(draftGroup, storedRowByDraft, rowsPassedToHooks, writeContext);
  for (const [target, ids] of removedPartIds(drafts, parts))
    await deleteRows(target, ids, writeContext);
}

/**
 * Locks all parts of the locked rows, level by level from the root, and returns them. Until the transaction ends, no other write can change, delete
 * or add parts.
 */
async function lockPartsRecursively(
  entity: Entity,
  ids: readonly number[],
  drafts: readonly RowDraft[],
  writeContext: WriteContext,
): Promise<StoredPart[]> {
  let parts: StoredPart[] = [];
  for (const child of ids.length ? childFieldsSavedWithParent(entity) : []) {
    const target = child.target();
    const ruleFieldNames = fieldNamesOfAffectedRules(
      target,
      drafts.filter((draft) => draft.entity === target),
      writeContext.context,
    );
    const fieldNames = [
      child.referenceFieldName,
      ...ruleFieldNames,
      ...linkTableFieldNames(target),
    ];
    const rows = await lockRows(
      target,
      ids,
      'UPDATE',
      writeContext,
      fieldNames,
      child.referenceFieldName,
    );
    const nestedParts = await lockPartsRecursively(
      target,
      rows.map((row) => row.id as number),
      drafts,
      writeContext,
    );
    const toStoredPart = (row: Row): StoredPart => ({
      entity: target,
      childField: child,
      row,
      parent: { entity, id: row[child.referenceFieldName] as number },
    });
    parts = parts.concat(rows.map(toStoredPart), nestedParts);
  }
  return parts;
}

/** Matches drafts with the stored rows to which they refer by id. Throws if an id belongs to a row outside of the tree that is being saved. */
function matchStoredParts(drafts: readonly RowDraft[], parts: readonly StoredPart[]): void {
  const rows = new Map(parts.map(({ entity, row }) => [rowKeyOf(entity, row.id), row]));
  const matchPartsOf = (entity: Entity) => {
    const draftsWithId = drafts.filter(
      (draft) => draft.entity === entity && draft.parent && draft.inputWithChildRows!.id != null,
    );
    const references = draftsWithId.map(({ path, inputWithChildRows }) => ({
      id: inputWithChildRows!.id as string,
      idPath: [...path, 'id'],
    }));
    const ids = parseRowIds(entity, references);
    const storedIds = parts
      .filter((part) => part.entity === entity)
      .map(({ row }) => row.id as number);
    requireRowsExist(entity, references, ids, storedIds);
    draftsWithId.forEach((draft, index) => {
      draft.id = ids[index]!;
      draft.currentValues = rows.get(rowKeyOf(entity, draft.id));
    });
  };
  const issues: InputIssue[] = [];
  for (const entity of new Set(drafts.map((draft) => draft.entity)))
    try {
      matchPartsOf(entity);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      issues.push(...error.issues);
    }
  throwIfInvalid(issues);
}

function omitUnchangedLinkedIds(
  entity: Entity,
  input: FieldValues,
  currentValues: Row | undefined,
): FieldValues {
  const areLinksUnchanged = (name: string) => {
    const ids = (list: unknown) => (list as unknown[]).map(Number).sort((a, b) => a - b);
    return ids(input[name]).join() === ids(currentValues?.[name] ?? []).join();
  };
  const unchangedLinkFieldNames = linkTableFieldNames(entity).filter(
    (name) => input[name] !== undefined && areLinksUnchanged(name),
  );
  return Object.fromEntries(
    Object.entries(input).filter(([name]) => !unchangedLinkFieldNames.includes(name)),
  );
}

/** Writes the rows of one level of a tree. Existing rows may have moved to another parent row within the tree. */
async function writeDraftGroup(
  draftGroup: readonly RowDraft[],
  storedRowByDraft: Map<RowDraft, StoredRow>,
  rowsPassedToHooks: RowPassedToHooks[],
  writeContext: WriteContext,
): Promise<void> {
  const newDrafts = draftGroup.filter(({ id }) => id === undefined);
  if (newDrafts.length)
    await insertRowsOfEntity(newDrafts, storedRowByDraft, rowsPassedToHooks, writeContext);
  const changedRows = draftGroup.flatMap((draft) => {
    const { id, input, currentValues, parent } = draft;
    if (id === undefined) return [];
    storedRowByDraft.set(draft, { id });
    const values = omitUnchangedLinkedIds(draft.entity, input, currentValues);
    return [
      {
        id,
        values: {
          ...values,
          ...(parent && { [parent.referenceFieldName]: storedRowByDraft.get(parent.draft)!.id }),
        },
      },
    ];
  });
  if (changedRows.length)
    await updateRowsOfEntity(
      draftGroup[0]!.entity,
      changedRows,
      rowsPassedToHooks,
      writeContext,
      true,
    );
}

/** Returns the ids of the stored parts that are missing from a list in the input, by entity. Foreign keys delete the parts of these parts. */
function removedPartIds(
  drafts: readonly RowDraft[],
  parts: readonly StoredPart[],
): Map<Entity, number[]> {
  const draftsByKey = new Map(drafts.map((draft) => [rowKeyOf(draft.entity, draft.id), draft]));
  const removedPartIdsByEntity = new Map<Entity, number[]>();
  for (const { entity, childField, row, parent } of parts) {
    const inputParts = draftsByKey.get(rowKeyOf(parent.entity, parent.id))?.inputWithChildRows?.[
      childField.name
    ];
    if (inputParts == null || draftsByKey.has(rowKeyOf(entity, row.id))) continue;
    const ids = removedPartIdsByEntity.get(entity);
    if (ids) ids.push(row.id as number);
    else removedPartIdsByEntity.set(entity, [row.id as number]);
  }
  return removedPartIdsByEntity;
}
