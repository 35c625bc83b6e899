/**
 * Creates, updates and deletes rows, alone, as trees or in bulk. Each write runs in one transaction, and its number of statements does not depend on
 * the number of rows.
 */
import { ownerFieldValues, writableRowConditions } from '../access/access';
import { columnIsOneOf } from '../access/conditions';
import type { Context } from '../context';
import { CommitOutcomeUnknown } from '../../database/errors';
import { withRetries } from './retry';
import {
  createUpdateDraft,
  createDrafts,
  groupDraftsByDepthAndEntity,
  rejectTooManyRows,
  countInputRows,
  withDefaults,
  type RowDraft,
} from './drafts';
import { throwIfInvalid } from '../model/errors';
import type { Entity } from '../model/fields';
import { hooksOf, type FieldValues, type RowWithValues } from '../model/hooks';
import { invalidValueIssue, type InputIssue, type InputPath } from '../model/validationissues';
import { resolveRowId } from '../model/node';
import { columnSet, buildSelectRowsStatement } from '../sql/select';
import {
  deleteRows,
  toStoredRow,
  insertRows,
  updateRows,
  writeLinkTableRows,
  changesColumns,
  changesLinkTables,
  type StoredRow,
  type WriteContext,
} from './statements';
import { refreshDraftsOfChangedRows, fieldNamesOfAffectedRules } from './rules';
import {
  requireRowsExist,
  lockAndCheckRows,
  idsOf,
  specifiesExpectedVersion,
  notFoundIssue,
  parseRowIds,
  requireRowsWritable,
  type RowReference,
} from './rowreferences';
import { uniqueFields } from './uniqueness';
import { errorWithAllInputIssues } from './allinputissues';
import { validateDrafts, revalidateRules } from './validation';

export interface InputRow {
  input: FieldValues;
  path: InputPath;
}

/** Creates rows together with their child rows. The result contains only ids; for a single row without child rows, it may contain the whole row. */
export async function createRows(
  entity: Entity,
  inputs: readonly InputRow[],
  argumentName: string,
  context: Context,
): Promise<StoredRow[]> {
  ownerFieldValues(entity, context);
  if (inputs.length === 0) return [];
  rejectTooManyRows(
    inputs.reduce((count, { input }) => count + countInputRows(entity, input), 0),
    argumentName,
  );
  const drafts = inputs.flatMap(({ input, path }) => createDrafts(entity, input, path));
  const draftsWithId = drafts.filter(
    ({ parent, inputWithChildRows }) => parent && inputWithChildRows!.id != null,
  );
  throwIfInvalid(
    draftsWithId.map(({ path }) => ({
      path: [...path, 'id'],
      ...invalidValueIssue('A new row has no id yet.'),
    })),
  );
  const shouldTrustConstraints = drafts.length === 1 && !hasPreWriteHooks(entity);
  const storedRowByDraft = await withRetries(context, async (isFirstAttempt) => {
    await validateDrafts(drafts, context, isFirstAttempt && shouldTrustConstraints);
    return insertDrafts(drafts, context);
  });
  context.loaders.clear();
  const rows = drafts.filter(({ parent }) => !parent).map((draft) => storedRowByDraft.get(draft)!);
  // Creating child rows may have changed the parent row, so only its id is returned.
  return drafts.length === 1 ? rows : rows.map(toStoredRow);
}

/** A row that was passed to hooks, whose side effects outside of the database have to be undone if the transaction fails. */
export interface RowPassedToHooks {
  entity: Entity;
  values: FieldValues;
}

/**
 * Runs `write` in a transaction. If it is rolled back, side effects of hooks outside of the database are undone. If its outcome is unknown, they are
 * kept, because the rows may have been committed: an unused file is harmless, a row without its file is not.
 */
export async function runInTransaction<T>(
  rowsPassedToHooks: readonly RowPassedToHooks[],
  context: Context,
  write: (writeContext: WriteContext) => Promise<T>,
): Promise<T> {
  const undo = async () => {
    for (const { entity, values } of rowsPassedToHooks)
      await hooksOf(entity).undoSideEffects?.(values, context);
  };
  try {
    const result = await context.session.transaction((transaction) =>
      write({ context, transaction }),
    );
    context.session.onRollback(undo);
    return result;
  } catch (error) {
    if (!(error instanceof CommitOutcomeUnknown)) await undo();
    throw error;
  }
}

async function insertDrafts(
  drafts: readonly RowDraft[],
  context: Context,
): Promise<Map<RowDraft, StoredRow>> {
  const storedRowByDraft = new Map<RowDraft, StoredRow>();
  const rowsPassedToHooks: RowPassedToHooks[] = [];
  await runInTransaction(rowsPassedToHooks, context, async (writeContext) => {
    const draftGroups = groupDraftsByDepthAndEntity(drafts);
    for (const draftGroup of draftGroups)
      await hooksOf(draftGroup[0]!.entity).onTransactionStart?.(
        draftGroup,
        context,
        writeContext.transaction,
      );
    for (const draftGroup of draftGroups)
      await insertRowsOfEntity(draftGroup, storedRowByDraft, rowsPassedToHooks, writeContext);
  });
  return storedRowByDraft;
}

/** Inserts new rows of one entity and adds them to `storedRowByDraft`, which already contains their parent rows. */
export async function insertRowsOfEntity(
  drafts: readonly RowDraft[],
  storedRowByDraft: Map<RowDraft, StoredRow>,
  rowsPassedToHooks: RowPassedToHooks[],
  writeContext: WriteContext,
): Promise<void> {
  const { entity } = drafts[0]!;
  const { context, transaction } = writeContext;
  const hooks = hooksOf(entity);
  const rows: FieldValues[] = [];
  for (const { input, parent } of drafts) {
    const values = withDefaults(entity, input, context);
    if (parent) values[parent.referenceFieldName] = storedRowByDraft.get(parent.draft)!.id;
    hooks.addDerivedValues?.(values, context);
    rowsPassedToHooks.push({ entity, values });
    await hooks.beforeRowWrite?.(values, context, transaction);
    rows.push(values);
  }
  const insertedRows = await insertRows(entity, rows, writeContext);
  drafts.forEach((draft, index) => storedRowByDraft.set(draft, insertedRows[index]!));
  const writtenRows = rows.map((values, index): RowWithValues => ({
    id: insertedRows[index]!.id,
    values,
  }));
  await writeLinkTableRows(entity, writtenRows, false, writeContext);
  await hooks.afterRowsWritten?.(writtenRows, context, transaction);
}

/**
 * Updates existing rows of one entity, with hooks and links, and returns the written rows. With `skipsUnchangedRows`, rows that already have all values
 * are neither written nor returned.
 */
export async function updateRowsOfEntity(
  entity: Entity,
  rows: readonly RowWithValues[],
  rowsPassedToHooks: RowPassedToHooks[],
  writeContext: WriteContext,
  skipsUnchangedRows = false,
): Promise<StoredRow[]> {
  const { context, transaction } = writeContext;
  const hooks = hooksOf(entity);
  for (const { id, values } of rows) {
    hooks.addDerivedValues?.(values, context, id);
    rowsPassedToHooks.push({ entity, values });
    await hooks.beforeRowWrite?.(values, context, transaction, id);
  }
  const updatedRows = await updateRows(entity, rows, writeContext, skipsUnchangedRows);
  await writeLinkTableRows(entity, rows, true, writeContext);
  await hooks.afterRowsWritten?.(rows, context, transaction);
  return updatedRows;
}

export interface RowChange extends InputRow, RowReference {}

/** Updates rows and returns them in the order of the changes. If there are several, the result contains only ids. */
export async function executeUpdates(
  entity: Entity,
  changes: readonly RowChange[],
  argumentName: string,
  context: Context,
): Promise<StoredRow[]> {
  ownerFieldValues(entity, context);
  rejectTooManyRows(changes.length, argumentName);
  if (changes.length === 0) return [];
  const drafts = changes.map(({ input, path }) => createUpdateDraft(entity, input, path));
  try {
    return await writeUpdateDrafts(entity, changes, drafts, context);
  } catch (error) {
    throw await errorWithAllInputIssues(error, drafts, context, () =>
      missingRowIssues(entity, changes, context),
    );
  }
}

async function writeUpdateDrafts(
  entity: Entity,
  changes: readonly RowChange[],
  drafts: readonly RowDraft[],
  context: Context,
): Promise<StoredRow[]> {
  const ids = parseRowIds(entity, changes);
  drafts.forEach((draft, index) => (draft.id = ids[index]!));
  const ruleFieldNames = fieldNamesOfAffectedRules(entity, drafts, context);
  const comparedFieldNames = [...uniqueFieldNamesToCompare(entity, drafts), ...ruleFieldNames];
  await requireRowsWritable(entity, changes, ids, context);
  // An update that only writes columns and compares no values need not read the rows first, because the UPDATE statement reports missing rows.
  const needsCurrentRows = comparedFieldNames.length > 0 || !updatesOnlyColumns(entity, drafts);
  // A single row needs a lock only if links are replaced, which takes several statements, or if rules or expected versions apply to its current
  // values.
  const needsRowLocks =
    ids.length > 1 ||
    ruleFieldNames.length > 0 ||
    changesLinkTables(entity, drafts) ||
    specifiesExpectedVersion(changes);
  const storedRows = await withRetries(context, async (isFirstAttempt) => {
    const readCurrentRows = async () => {
      const currentRows = await readWritableRows(entity, ids, comparedFieldNames, context);
      requireRowsExist(entity, changes, ids, currentRows.keys());
      for (const draft of drafts) draft.currentValues = currentRows.get(draft.id!);
    };
    if (needsCurrentRows) await readCurrentRows();
    await validateDrafts(
      drafts,
      context,
      isFirstAttempt && !needsCurrentRows && !needsRowLocks,
    ).catch(async (error) => {
      if (!needsCurrentRows) await readCurrentRows();
      throw error;
    });
    const rowsPassedToHooks: RowPassedToHooks[] = [];
    return runInTransaction(rowsPassedToHooks, context, async (writeContext) => {
      await hooksOf(entity).onTransactionStart?.(drafts, context, writeContext.transaction);
      if (needsRowLocks) {
        const rows = await lockAndCheckRows(
          entity,
          changes,
          ids,
          'NO KEY UPDATE',
          writeContext,
          ruleFieldNames,
        );
        await revalidateRules(refreshDraftsOfChangedRows(drafts, rows, ruleFieldNames), context);
      }
      const rows = drafts.map(({ id, input }): RowWithValues => ({
        id: id!,
        values: { ...input },
      }));
      const updatedRows = await updateRowsOfEntity(entity, rows, rowsPassedToHooks, writeContext);
      requireRowsExist(entity, changes, ids, idsOf(updatedRows));
      return updatedRows;
    });
  });
  context.loaders.clear();
  return ids.length === 1 ? storedRows : ids.map((id) => ({ id }));
}

/** Returns the unique fields whose current values are needed, because a change sets only some of them. */
function uniqueFieldNamesToCompare(entity: Entity, drafts: readonly RowDraft[]): string[] {
  const names = uniqueFields(entity).map(({ name }) => name);
  const setsOnlySomeFields = ({ input }: RowDraft) =>
    names.some((name) => name in input) && !names.every((name) => name in input);
  return drafts.some(setsOnlySomeFields) ? names : [];
}

const hasPreWriteHooks = (entity: Entity): boolean => {
  const { onTransactionStart, beforeRowWrite } = hooksOf(entity);
  return Boolean(onTransactionStart ?? beforeRowWrite);
};

const updatesOnlyColumns = (entity: Entity, drafts: readonly RowDraft[]): boolean =>
  !hasPreWriteHooks(entity) &&
  !changesLinkTables(entity, drafts) &&
  drafts.every(({ input }) => changesColumns(entity, input));

/** Returns an issue for each change whose row does not exist or may not be written by the viewer. */
async function missingRowIssues(
  entity: Entity,
  changes: readonly RowChange[],
  context: Context,
): Promise<InputIssue[]> {
  const ids = changes.map(({ id }) => resolveRowId(entity.name, id));
  const existingRows = await readWritableRows(
    entity,
    [...new Set(ids.filter((id) => id !== undefined))],
    [],
    context,
  );
  return changes.flatMap((change, index) =>
    ids[index] === undefined || existingRows.has(ids[index]) ? [] : [notFoundIssue(entity, change)],
  );
}

/** Reads the given fields of the rows that the viewer may write. Returns the rows by id. */
async function readWritableRows(
  entity: Entity,
  ids: readonly number[],
  fieldNames: readonly string[],
  context: Context,
) {
  const columns = columnSet(entity, fieldNames, context.policies.textOrder);
  const rows = await context.session.query(
    ...buildSelectRowsStatement(columns, [
      columnIsOneOf('id', ids),
      ...writableRowConditions(entity, context),
    ]),
  );
  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Deletes rows and returns their ids. */
export async function executeDeletions(
  entity: Entity,
  references: readonly RowReference[],
  argumentName: string,
  context: Context,
): Promise<number[]> {
  ownerFieldValues(entity, context);
  rejectTooManyRows(references.length, argumentName);
  const ids = parseRowIds(entity, references);
  if (ids.length === 0) return [];
  await requireRowsWritable(entity, references, ids, context);
  await withRetries(context, () =>
    context.session.transaction(async (transaction) => {
      const writeContext: WriteContext = { context, transaction };
      const rows = ids.map((id) => ({ id }));
      await hooksOf(entity).onTransactionStart?.(rows, context, transaction);
      if (ids.length > 1 || specifiesExpectedVersion(references))
        await lockAndCheckRows(entity, references, ids, 'UPDATE', writeContext);
      // Rows that were locked above certainly exist. A single row without an expected version was not locked, so it may be missing.
      if ((await deleteRows(entity, ids, writeContext)) < ids.length)
        requireRowsExist(entity, references, ids, []);
    }),
  );
  context.loaders.clear();
  return ids;
}
