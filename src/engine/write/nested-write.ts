/**
 * Nested writes: save a row with its parts, such as a plan with its meals, in one transaction.
 * Parts with an id are updated, others created, and stored parts missing from the input list
 * deleted. The number of statements does not depend on the number of rows.
 */
import type { Row } from '../../database/rows';
import { requireWriter } from '../access/access';
import type { Context } from '../context';
import { InvalidInput, throwIfInvalid, type InputIssue } from '../declare/errors';
import { partFields, type ChildRowsField, type Entity } from '../declare/fields';
import { resourceOf, type FieldValues } from '../declare/registry';
import {
  addAllInputIssues,
  validateDrafts,
  affectedRuleFieldNames,
  retirableReferenceNames,
} from './validation';
import { withRetries } from './retry';
import { createDrafts, rejectTooManyRows, countInputRows, type RowDraft } from './drafts';
import { deleteRows, lockRows, type StoredRow, type WriteContext } from './statements';
import { rejectReferencedRows } from './references';
import {
  requireRowsExist,
  requireRowsWritable,
  lockAndCheckRows,
  parseRowIds,
} from './row-references';
import {
  runInTransaction,
  startWrite,
  writeDraftGroup,
  type RowChange,
  type RowWriteContext,
} from './write';
import { addToList } from '../../shared/multimap';

/**
 * Whether the input contains a list of parts (child rows that are saved together with their parent
 * row).
 */
export const inputHasParts = (entity: Entity, input: FieldValues): boolean =>
  partFields(entity).some(({ name }) => input[name] != null);

interface StoredPart {
  readonly entity: Entity;
  readonly childField: ChildRowsField;
  readonly row: Row;
  readonly parentKey: string;
}

const rowKeyOf = ({ name }: Entity, id: unknown): string => `${name} ${String(id)}`;

/** Saves a row with its parts. The result contains only the id of the row. */
export async function saveRowWithParts(
  entity: Entity,
  change: RowChange,
  context: Context,
): Promise<StoredRow> {
  requireWriter(entity, context);

  rejectTooManyRows(countInputRows(entity, change.input), 'input');
  const [id] = parseRowIds(entity, [change]) as [number];

  await requireRowsWritable(entity, [change], [id], context);

  await withRetries(context, () =>
    runInTransaction(entity, context, (writeContext) =>
      saveParts(entity, id, change, writeContext),
    ),
  );
  context.loaders.clear();
  return { id };
}

async function saveParts(
  entity: Entity,
  id: number,
  change: RowChange,
  writeContext: RowWriteContext,
): Promise<void> {
  const { context } = writeContext;
  const drafts = createDrafts(entity, change.input, change.path);
  const rootDraft = drafts[0]!;

  rootDraft.id = id;
  const draftGroups = await startWrite(drafts, writeContext);
  const comparedFieldNames = [
    ...affectedRuleFieldNames(entity, [rootDraft], context),
    ...retirableReferenceNames(entity, context),
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
    parts = await lockParts(entity, [id], drafts, writeContext);
    matchStoredParts(drafts, parts);
  } catch (error) {
    throw await addAllInputIssues(error, drafts, context);
  }

  await validateDrafts(drafts, context);
  for (const draftGroup of draftGroups) await writeDraftGroup(draftGroup, writeContext);

  for (const [target, ids] of removedPartIds(drafts, parts)) {
    if (!resourceOf(target)!.isOwned) {
      await rejectReferencedRows(target, ids, () => change.path, writeContext);
    }

    await deleteRows(target, ids, writeContext);
  }
}

/**
 * Locks all parts of rows that are already locked, level by level. Until the transaction ends, no
 * other write can change, delete or add parts.
 */
async function lockParts(
  entity: Entity,
  ids: readonly number[],
  drafts: readonly RowDraft[],
  writeContext: WriteContext,
): Promise<StoredPart[]> {
  let parts: StoredPart[] = [];

  for (const child of ids.length ? partFields(entity) : []) {
    const target = child.target();
    const ruleFieldNames = affectedRuleFieldNames(
      target,
      drafts.filter((draft) => draft.entity === target),
      writeContext.context,
    );
    const fieldNames = [
      child.referenceFieldName,
      ...retirableReferenceNames(target, writeContext.context),
      ...ruleFieldNames,
    ];
    const rows = await lockRows(
      target,
      ids,
      'UPDATE',
      writeContext,
      fieldNames,
      child.referenceFieldName,
    );
    const nestedParts = await lockParts(
      target,
      rows.map((row) => row.id as number),
      drafts,
      writeContext,
    );
    const toStoredPart = (row: Row): StoredPart => ({
      entity: target,
      childField: child,
      row,
      parentKey: rowKeyOf(entity, row[child.referenceFieldName]),
    });

    parts = parts.concat(rows.map(toStoredPart), nestedParts);
  }

  return parts;
}

/**
 * Matches drafts with the stored parts to which they refer by id. Rejects ids of rows outside the
 * tree that is being saved.
 */
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

  for (const entity of new Set(drafts.map((draft) => draft.entity))) {
    try {
      matchPartsOf(entity);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      issues.push(...error.issues);
    }
  }

  throwIfInvalid(issues);
}

/**
 * Ids of stored parts that are missing from their list in the input, by entity. When a part is
 * deleted, foreign keys delete its own parts.
 */
function removedPartIds(
  drafts: readonly RowDraft[],
  parts: readonly StoredPart[],
): Map<Entity, number[]> {
  const draftsByKey = new Map(drafts.map((draft) => [rowKeyOf(draft.entity, draft.id), draft]));
  const removedPartIdsByEntity = new Map<Entity, number[]>();

  for (const { entity, childField, row, parentKey } of parts) {
    const inputParts = draftsByKey.get(parentKey)?.inputWithChildRows?.[childField.name];

    if (inputParts == null || draftsByKey.has(rowKeyOf(entity, row.id))) continue;
    addToList(removedPartIdsByEntity, entity, row.id as number);
  }

  return removedPartIdsByEntity;
}
