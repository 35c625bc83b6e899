/**
 * Creates, updates and deletes rows, alone, as trees or in bulk. Each write runs in one transaction, and its number of statements does not depend on
 * the number of rows.
 */
import { ownerFieldValues, writableRowConditions } from '../access/access';
import { columnIsOneOf } from '../access/conditions';
import type { Context } from '../context';
import { CommitOutcomeUnknown } from '../../database/errors';
import { withRetries } from './retry';
import { createUpdateDraft, createDrafts, groupDraftsByLevel, rejectTooManyRows, countRows, withDefaults, type RowDraft } from './drafts';
import { throwIfInvalid } from '../model/errors';
import type { Entity } from '../model/fields';
import { hooksOf, type FieldValues, type RowWithValues } from '../model/hooks';
import { invalidValueIssue, type InputIssue, type InputPath } from '../model/validationissues';
import { resolveRowId } from '../model/node';
import { columnSet, selectRowsStatement } from '../sql/select';
import {
  deleteRows,
  toStoredRow,
  insertRows,
  updateRows,
  writeLinks,
  changesColumns,
  changesLinks,
  type StoredRow,
  type WriteContext,
} from './statements';
import { resourceOf } from '../model/registry';
import { refreshDraftsOfChangedRows, fieldsOfAffectedRules } from './rules';
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
export async function createRows(entity: Entity, inputs: readonly InputRow[], argument: string, context: Context): Promise<StoredRow[]> {
  ownerFieldValues(entity, context);
  if (inputs.length === 0) return [];
  rejectTooManyRows(
    inputs.reduce((count, { input }) => count + countRows(entity, input), 0),
    argument,
  );
  const drafts = inputs.flatMap(({ input, path }) => createDrafts(entity, input, path));
  const draftsWithId = drafts.filter(({ parent, inputWithChildRows }) => parent && inputWithChildRows!.id != null);
  throwIfInvalid(draftsWithId.map(({ path }) => ({ path: [...path, 'id'], ...invalidValueIssue('A new row has no id yet.') })));
  const shouldTrustConstraints = drafts.length === 1 && !hasPreWriteHooks(entity);
  const storedByDraft = await withRetries(context, async (isFirstAttempt) => {
    await validateDrafts(drafts, context, isFirstAttempt && shouldTrustConstraints);
    return insertDrafts(drafts, context);
  });
  context.loaders.clear();
  const rows = drafts.filter(({ parent }) => !parent).map((draft) => storedByDraft.get(draft)!);
  // Creating child rows may have changed the parent row, so only its id is returned.
  return drafts.length === 1 ? rows : rows.map(toStoredRow);
}

/** A row that was passed to hooks, whose side effects outside of the database have to be undone if the transaction fails. */
export interface PreparedRow {
  entity: Entity;
  values: FieldValues;
}

/**
 * Runs `write` in a transaction. If it is rolled back, side effects of hooks outside of the database are undone. If its outcome is unknown, they are
 * kept, because the rows may have been committed: an unused file is harmless, a row without its file is not.
 */
export async function runInTransaction<T>(
  entity: Entity,
  preparedRows: readonly PreparedRow[],
  context: Context,
  write: (writeContext: WriteContext) => Promise<T>,
): Promise<T> {
  const undo = async () => {
    for (const { entity, values } of preparedRows) await hooksOf(entity).undoSideEffects?.(values, context);
  };
  try {
    const result = await context.session.transaction((transaction) => write({ context, transaction }), resourceOf(entity)!.table);
    context.session.onRollback(undo);
    return result;
  } catch (error) {
    if (!(error instanceof CommitOutcomeUnknown)) await undo();
    throw error;
  }
}

async function insertDrafts(drafts: readonly RowDraft[], context: Context): Promise<Map<RowDraft, StoredRow>> {
  const storedByDraft = new Map<RowDraft, StoredRow>();
  const preparedRows: PreparedRow[] = [];
  await runInTransaction(drafts[0]!.entity, preparedRows, context, async (writeContext) => {
    const levels = groupDraftsByLevel(drafts);
    for (const level of levels) await hooksOf(level[0]!.entity).onTransactionStart?.(level, context, writeContext.transaction);
    for (const level of levels) await insertRowsOfEntity(level, storedByDraft, preparedRows, writeContext);
  });
  return storedByDraft;
}

/** Inserts new rows of one entity and adds them to `storedByDraft`, which already contains their parent rows. */
export async function insertRowsOfEntity(
  level: readonly RowDraft[],
  storedByDraft: Map<RowDraft, StoredRow>,
  preparedRows: PreparedRow[],
  writeContext: WriteContext,
): Promise<void> {
  const { entity } = level[0]!;
  const { context, transaction } = writeContext;
  const hooks = hooksOf(entity);
  const rows: FieldValues[] = [];
  for (const { input, parent } of level) {
    const values = withDefaults(entity, input, context);
    if (parent) values[parent.referenceField] = storedByDraft.get(parent.draft)!.id;
    hooks.addDerivedValues?.(values, context);
    preparedRows.push({ entity, values });
    await hooks.beforeRowWrite?.(values, context, transaction);
    rows.push(values);
  }
  const insertedRows = await insertRows(entity, rows, writeContext);
  level.forEach((draft, index) => storedByDraft.set(draft, insertedRows[index]!));
  const writtenRows = rows.map((values, index): RowWithValues => ({ id: insertedRows[index]!.id, values }));
  await writeLinks(entity, writtenRows, false, writeContext);
  await hooks.afterRowsWritten?.(writtenRows, context, transaction);
}

/**
 * Updates existing rows of one entity, with hooks and links, and returns the written rows. With `skipsUnchangedRows`, rows that already have all values
 * are neither written nor returned.
 */
export async function updateRowsOfEntity(
  entity: Entity,
  rows: readonly RowWithValues[],
  preparedRows: PreparedRow[],
  writeContext: WriteContext,
  skipsUnchangedRows = false,
): Promise<StoredRow[]> {
  const { context, transaction } = writeContext;
  const hooks = hooksOf(entity);
  for (const { id, values } of rows) {
    hooks.addDerivedValues?.(values, context, id);
    preparedRows.push({ entity, values });
    await hooks.beforeRowWrite?.(values, context, transaction, id);
  }
  const updatedRows = await updateRows(entity, rows, writeContext, skipsUnchangedRows);
  await writeLinks(entity, rows, true, writeContext);
  await hooks.afterRowsWritten?.(rows, context, transaction);
  return updatedRows;
}

export interface RowChange extends InputRow, RowReference {}

/** Updates rows and returns them in the order of the changes. If there are several, the result contains only ids. */
export async function executeUpdates(
  entity: Entity,
  changes: readonly RowChange[],
  argument: string,
  context: Context,
): Promise<StoredRow[]> {
  ownerFieldValues(entity, context);
  rejectTooManyRows(changes.length, argument);
  if (changes.length === 0) return [];
  const drafts = changes.map(({ input, path }) => createUpdateDraft(entity, input, path));
  try {
    return await updateDrafts(entity, changes, drafts, context);
  } catch (error) {
    throw await errorWithAllInputIssues(error, drafts, context, () => missingRowIssues(entity, changes, context));
  }
}

async function updateDrafts(
  entity: Entity,
  changes: readonly RowChange[],
  drafts: readonly RowDraft[],
  context: Context,
): Promise<StoredRow[]> {
  const ids = parseRowIds(entity, changes);
  drafts.forEach((draft, index) => (draft.id = ids[index]!));
  const fieldsOfRules = fieldsOfAffectedRules(entity, drafts, context);
  const comparedFieldNames = [...comparedFields(entity, drafts), ...fieldsOfRules];
  await requireRowsWritable(entity, changes, ids, context);
  // An update that only writes columns and compares no values need not read the rows first, because the UPDATE statement reports missing rows.
  const needsCurrentRows = comparedFieldNames.length > 0 || !updatesOnlyColumns(entity, drafts);
  // A single row needs a lock only if links are replaced, which takes several statements, or if rules or expected versions apply to its current
  // values.
  const needsRowLocks = ids.length > 1 || fieldsOfRules.length > 0 || changesLinks(entity, drafts) || specifiesExpectedVersion(changes);
  const storedRows = await withRetries(context, async (isFirstAttempt) => {
    const readCurrentRows = async () => {
      const currentRows = await readWritableRows(entity, ids, comparedFieldNames, context);
      requireRowsExist(entity, changes, ids, currentRows.keys());
      for (const draft of drafts) draft.currentValues = currentRows.get(draft.id!);
    };
    if (needsCurrentRows) await readCurrentRows();
    await validateDrafts(drafts, context, isFirstAttempt && !needsCurrentRows && !needsRowLocks).catch(async (error) => {
      if (!needsCurrentRows) await readCurrentRows();
      throw error;
    });
    const preparedRows: PreparedRow[] = [];
    return runInTransaction(entity, preparedRows, context, async (writeContext) => {
      await hooksOf(entity).onTransactionStart?.(drafts, context, writeContext.transaction);
      if (needsRowLocks) {
        const rows = await lockAndCheckRows(entity, changes, ids, 'NO KEY UPDATE', writeContext, fieldsOfRules);
        await revalidateRules(refreshDraftsOfChangedRows(drafts, rows, fieldsOfRules), context);
      }
      const rows = drafts.map(({ id, input }): RowWithValues => ({ id: id!, values: { ...input } }));
      const updatedRows = await updateRowsOfEntity(entity, rows, preparedRows, writeContext);
      requireRowsExist(entity, changes, ids, idsOf(updatedRows));
      return updatedRows;
    });
  });
  context.loaders.clear();
  return ids.length === 1 ? storedRows : ids.map((id) => ({ id }));
}

/** Returns the unique fields whose current values are needed, because a change sets only some of them. */
function comparedFields(entity: Entity, drafts: readonly RowDraft[]): string[] {
  const names = uniqueFields(entity).map(({ name }) => name);
  const isPartial = ({ input }: RowDraft) => names.some((name) => name in input) && !names.every((name) => name in input);
  return drafts.some(isPartial) ? names : [];
}

/** Whether hooks of the resource run before rows are written. */
const hasPreWriteHooks = (entity: Entity): boolean => {
  const { onTransactionStart, beforeRowWrite } = hooksOf(entity);
  return Boolean(onTransactionStart ?? beforeRowWrite);
};

/** Whether the write only updates columns of the rows themselves. */
const updatesOnlyColumns = (entity: Entity, drafts: readonly RowDraft[]): boolean =>
  !hasPreWriteHooks(entity) && !changesLinks(entity, drafts) && drafts.every(({ input }) => changesColumns(entity, input));

/** Returns an issue for each change whose row does not exist or may not be written by the viewer. */
async function missingRowIssues(entity: Entity, changes: readonly RowChange[], context: Context): Promise<InputIssue[]> {
  const ids = changes.map(({ id }) => resolveRowId(entity.name, id));
  const existingRows = await readWritableRows(entity, [...new Set(ids.filter((id) => id !== undefined))], [], context);
  return changes.flatMap((change, index) =>
    ids[index] === undefined || existingRows.has(ids[index]) ? [] : [notFoundIssue(entity, change)],
  );
}

/** Reads the given fields of the rows that the viewer may write. Returns the rows by id. */
async function readWritableRows(entity: Entity, ids: readonly number[], fields: readonly string[], context: Context) {
  const columns = columnSet(entity, fields, context.policies.textOrder);
  const rows = await context.session.query(
    ...selectRowsStatement(columns, [columnIsOneOf('id', ids), ...writableRowConditions(entity, context)]),
  );
  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Deletes rows and returns their ids. */
export async function executeDeletions(
  entity: Entity,
  references: readonly RowReference[],
  argument: string,
  context: Context,
): Promise<number[]> {
  ownerFieldValues(entity, context);
  rejectTooManyRows(references.length, argument);
  const ids = parseRowIds(entity, references);
  if (ids.length === 0) return [];
  await requireRowsWritable(entity, references, ids, context);
  await withRetries(context, () =>
    context.session.transaction(async (transaction) => {
      const writeContext: WriteContext = { context, transaction };
      const rows = ids.map((id) => ({ id }));
      await hooksOf(entity).onTransactionStart?.(rows, context, transaction);
      if (ids.length > 1 || specifiesExpectedVersion(references)) await lockAndCheckRows(entity, references, ids, 'UPDATE', writeContext);
      // Rows that were locked above certainly exist. A single row without an expected version was not locked, so it may be missing.
      if ((await deleteRows(entity, ids, writeContext)) < ids.length) requireRowsExist(entity, references, ids, []);
    }, resourceOf(entity)!.table),
  );
  context.loaders.clear();
  return ids;
}
