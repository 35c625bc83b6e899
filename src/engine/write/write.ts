/**
 * Creates, updates and deletes rows, alone, as trees or in bulk. Each write runs in one transaction
 * with a number of statements that does not depend on the number of rows.
 */
import { requireWriter, writableRowConditions } from '../access/access';
import { columnIsOneOf, createParameterBinder, whereClause } from '../access/conditions';
import type { Context } from '../context';
import { CommitOutcomeUnknown } from '../../database/errors';
import { withRetries } from './retry';
import {
  createUpdateDraft,
  createDrafts,
  groupDraftsByStatement,
  rejectTooManyRows,
  countInputRows,
  withDefaults,
  type RowDraft,
} from './drafts';
import {
  throwIfInvalid,
  invalidValueIssue,
  IssueCode,
  validationIssue,
  type InputIssue,
  type InputPath,
} from '../declare/errors';
import type { Row } from '../../database/rows';
import { childRowsFieldsOf, fieldOf, type Entity } from '../declare/fields';
import { hooksOf, resourceOf, type FieldValues, type RowWithValues } from '../declare/registry';
import { resolveRowId } from '../declare/node';
import {
  deleteRows,
  idsOf,
  readRows,
  toStoredRow,
  insertRows,
  updateRows,
  writeLinkTableRows,
  changesColumns,
  changesLinkTables,
  type StoredRow,
  type WriteContext,
} from './statements';
import {
  refreshChangedDrafts,
  affectedRuleFieldNames,
  addAllInputIssues,
  validateDrafts,
  retirableReferenceNames,
  revalidateRules,
} from './validation';
import {
  requireRowsExist,
  lockAndCheckRows,
  hasExpectedVersion,
  referenceNotFoundIssue,
  parseRowIds,
  requireRowsWritable,
  type RowReference,
} from './row-references';
import { lockRootsOfDeletedRows, lockRootsOfWrittenRows } from './root-locks';
import { rejectReferencedRows } from './references';
import { uniqueFields } from './uniqueness';

interface InputRow {
  input: FieldValues;
  path: InputPath;
}

/**
 * Creates rows together with their child rows. The result contains only ids, except that a single
 * row without child rows may be returned completely.
 */
export async function createRows(
  entity: Entity,
  inputs: readonly InputRow[],
  argumentName: string,
  context: Context,
): Promise<StoredRow[]> {
  requireWriter(entity, context);
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
  const trustConstraints = drafts.length === 1 && !hasPreWriteHooks(entity);

  await withRetries(context, async (isFirstAttempt) => {
    await validateDrafts(drafts, context, isFirstAttempt && trustConstraints);
    await runInTransaction(entity, context, async (writeContext) => {
      for (const draftGroup of await startWrite(drafts, writeContext)) {
        await writeDraftGroup(draftGroup, writeContext);
      }
    });
  });

  context.loaders.clear();
  const rows = drafts.filter(({ parent }) => !parent).map(({ storedRow }) => storedRow!);

  // Child rows may have changed the parent row, so only its id is returned.
  return drafts.length === 1 ? rows : rows.map(toStoredRow);
}

/** A transaction that writes rows with their hooks. */
export interface RowWriteContext extends WriteContext {
  /** Rows whose hooks may have side effects outside the database. A failure undoes them. */
  rowsPassedToHooks: { entity: Entity; values: FieldValues }[];
}

/**
 * Runs a write of rows of `entity` in a transaction.
 * A rollback undoes side effects of hooks outside the database. If
 * the outcome is unknown, they are kept: an unused file is harmless, a committed row without its
 * file is not.
 */
export async function runInTransaction<T>(
  entity: Entity,
  context: Context,
  write: (writeContext: RowWriteContext) => Promise<T>,
): Promise<T> {
  const rowsPassedToHooks: RowWriteContext['rowsPassedToHooks'] = [];

  const undo = async () => {
    for (const { entity, values } of rowsPassedToHooks) {
      await hooksOf(entity).undoSideEffects?.(values, context);
    }
  };

  try {
    const result = await context.session.transaction(
      (transaction) => write({ context, transaction, rowsPassedToHooks }),
      !resourceOf(entity)!.isOwned,
    );

    context.session.onRollback(undo);
    return result;
  } catch (error) {
    if (!(error instanceof CommitOutcomeUnknown)) await undo();
    throw error;
  }
}

/**
 * Begins a write: locks the roots of the rows and runs the hooks of the transaction. Returns the
 * drafts by statement, parents first.
 */
export async function startWrite(
  drafts: readonly RowDraft[],
  writeContext: WriteContext,
): Promise<RowDraft[][]> {
  const { context, transaction } = writeContext;
  const rootDrafts = drafts.filter(({ parent }) => !parent);
  const draftGroups = groupDraftsByStatement(drafts);

  await lockRootsOfWrittenRows(
    drafts[0]!.entity,
    rootDrafts.flatMap(({ id }) => id ?? []),
    rootDrafts.map(({ input }) => input),
    writeContext,
  );

  for (const draftGroup of draftGroups) {
    await hooksOf(draftGroup[0]!.entity).onTransactionStart?.(draftGroup, context, transaction);
  }

  return draftGroups;
}

/**
 * Writes the rows of one entity at one level of a tree, whose parents are written. Existing rows
 * may have moved to another parent row in the tree.
 */
export async function writeDraftGroup(
  draftGroup: readonly RowDraft[],
  writeContext: RowWriteContext,
): Promise<void> {
  const { entity } = draftGroup[0]!;
  const rows = draftGroup.map((draft) => {
    const { id, input, parent } = draft;
    const values =
      id === undefined ? withDefaults(entity, input, writeContext.context) : { ...input };

    if (parent) values[parent.referenceFieldName] = parent.draft.storedRow!.id;
    if (id !== undefined) draft.storedRow = { id };

    return { draft, id, values };
  });
  const newRows = rows.filter(({ id }) => id === undefined);
  const existingRows = rows.filter(({ id }) => id !== undefined);

  if (newRows.length) {
    const storedRows = await writeRowsOfEntity(entity, newRows, writeContext);

    newRows.forEach(({ draft }, index) => (draft.storedRow = storedRows[index]));
  }

  if (existingRows.length) await writeRowsOfEntity(entity, existingRows, writeContext, true);
}

/**
 * Inserts rows without ids, or updates existing rows, of one entity with hooks and links. Returns
 * the written rows. With `skipsUnchangedRows`, rows that already have all values are neither
 * written nor returned.
 */
async function writeRowsOfEntity(
  entity: Entity,
  rows: readonly { id?: number; values: FieldValues }[],
  writeContext: RowWriteContext,
  skipsUnchangedRows = false,
): Promise<StoredRow[]> {
  const { context, transaction, rowsPassedToHooks } = writeContext;
  const hooks = hooksOf(entity);

  for (const { id, values } of rows) {
    hooks.addDerivedValues?.(values, context, id);
    rowsPassedToHooks.push({ entity, values });
    await hooks.beforeRowWrite?.(values, context, transaction, id);
  }

  const storedRows = await (rows[0]!.id === undefined
    ? insertRows(
        entity,
        rows.map(({ values }) => values),
        writeContext,
      )
    : updateRows(entity, rows as readonly RowWithValues[], writeContext, skipsUnchangedRows));
  const writtenRows = rows.map(({ id, values }, index) => ({
    id: id ?? storedRows[index]!.id,
    values,
  }));

  await writeLinkTableRows(entity, writtenRows, writeContext);
  await hooks.afterRowsWritten?.(writtenRows, context, transaction);
  return storedRows;
}

export interface RowChange extends InputRow, RowReference {}

/** Updates rows and returns their ids in input order. A single row may be returned completely. */
export async function executeUpdates(
  entity: Entity,
  changes: readonly RowChange[],
  argumentName: string,
  context: Context,
): Promise<StoredRow[]> {
  requireWriter(entity, context);
  rejectTooManyRows(changes.length, argumentName);
  if (changes.length === 0) return [];
  const drafts = changes.map(({ input, path }) => createUpdateDraft(entity, input, path));

  try {
    return await writeUpdateDrafts(entity, changes, drafts, context);
  } catch (error) {
    throw await addAllInputIssues(error, drafts, context, () =>
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
  const ruleFieldNames = affectedRuleFieldNames(entity, drafts, context);
  const comparedFieldNames = [
    ...uniqueFieldNamesToCompare(entity, drafts),
    ...ruleFieldNames,
    ...retirableReferenceNames(entity, context).filter((name) =>
      drafts.some(({ input }) => name in input),
    ),
  ];

  await requireRowsWritable(entity, changes, ids, context);
  // An update that only writes columns and compares no values need not read the rows first, because
  // the UPDATE statement reports missing rows.
  const needsCurrentRows = comparedFieldNames.length > 0 || !updatesOnlyColumns(entity, drafts);
  // A single row needs a lock only if links are replaced, which takes several statements, or if
  // rules or expected versions apply to its current values.
  const needsRowLocks =
    ids.length > 1 ||
    ruleFieldNames.length > 0 ||
    changesLinkTables(entity, drafts) ||
    hasExpectedVersion(changes);
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

    return runInTransaction(entity, context, async (writeContext) => {
      await startWrite(drafts, writeContext);

      if (needsRowLocks) {
        const rows = await lockAndCheckRows(
          entity,
          changes,
          ids,
          'NO KEY UPDATE',
          writeContext,
          ruleFieldNames,
        );

        await revalidateRules(refreshChangedDrafts(drafts, rows, ruleFieldNames), context);
      }

      const rows = drafts.map(({ id, input }) => ({ id, values: { ...input } }));
      const updatedRows = await writeRowsOfEntity(entity, rows, writeContext);

      requireRowsExist(entity, changes, ids, idsOf(updatedRows));
      return updatedRows;
    });
  });

  context.loaders.clear();
  return ids.length === 1 ? storedRows : ids.map((id) => ({ id }));
}

/** Unique fields whose current values are needed, because a change sets only some of them. */
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

/** Reports changes whose row does not exist or may not be written by the viewer. */
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
    ids[index] === undefined || existingRows.has(ids[index])
      ? []
      : [referenceNotFoundIssue(entity, change)],
  );
}

/** Reads the given fields of writable rows, by id. */
async function readWritableRows(
  entity: Entity,
  ids: readonly number[],
  fieldNames: readonly string[],
  context: Context,
) {
  const conditions = writableRowConditions(entity, context);
  const rows = await readRows(entity, ids, fieldNames, conditions, context);

  return new Map(rows.map((row) => [row.id as number, row]));
}

interface Deletion {
  ids: readonly number[];

  /** Number of rows of their history, such as the logs of a workout, that were deleted, too. */
  historyCount: number;
}

/** Deletes rows. With `deletesHistory`, they may have a history. */
export async function executeDeletions(
  entity: Entity,
  references: readonly RowReference[],
  argumentName: string,
  context: Context,
  deletesHistory = false,
): Promise<Deletion> {
  requireWriter(entity, context);
  rejectTooManyRows(references.length, argumentName);
  const ids = parseRowIds(entity, references);

  if (ids.length === 0) return { ids, historyCount: 0 };
  await requireRowsWritable(entity, references, ids, context);
  const hasHistory =
    context.policies.protectsHistory && resourceOf(entity)!.historyFieldNames !== undefined;
  const isPublic = !resourceOf(entity)!.isOwned;
  const historyCount = await withRetries(context, () =>
    context.session.transaction(async (transaction) => {
      const writeContext: WriteContext = { context, transaction };
      const rows = ids.map((id) => ({ id }));

      await lockRootsOfDeletedRows(entity, ids, writeContext);
      await hooksOf(entity).onTransactionStart?.(rows, context, transaction);

      if (ids.length > 1 || hasHistory || isPublic || hasExpectedVersion(references)) {
        await lockAndCheckRows(entity, references, ids, 'UPDATE', writeContext);
      }

      if (isPublic) {
        const pathOf = (id: number) => references[ids.indexOf(id)]!.idPath;

        await rejectReferencedRows(entity, ids, pathOf, writeContext);
      }

      const deletedHistoryCount = hasHistory
        ? await countHistory(entity, references, ids, deletesHistory, writeContext)
        : 0;

      // Locked rows certainly exist. A single row without an expected version was not locked, so it
      // may be missing.
      if ((await deleteRows(entity, ids, writeContext)) < ids.length) {
        requireRowsExist(entity, references, ids, []);
      }

      return deletedHistoryCount;
    }, isPublic),
  );

  context.loaders.clear();
  return { ids, historyCount };
}

/**
 * Counts the history of rows that are locked, so that it cannot grow. Throws `InvalidInput` if a
 * row has one that the client does not want to delete.
 */
async function countHistory(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  deletesHistory: boolean,
  { context, transaction }: WriteContext,
): Promise<number> {
  const { historyFieldNames } = resourceOf(entity)!;
  const children = childRowsFieldsOf(entity).filter(({ name }) =>
    historyFieldNames!.includes(name),
  );
  const { bind, values } = createParameterBinder();
  const countsSql = children.map((child) => {
    const target = child.target();
    const { column } = fieldOf(target, child.referenceFieldName);
    const isOfRowSql = (alias: string) => `${alias}."${column}" = t."id"`;
    const where = whereClause([isOfRowSql, ...writableRowConditions(target, context)], 'h', bind);

    return `(SELECT count(*)::int FROM "${resourceOf(target)!.table}" AS h${where}) AS "${child.name}"`;
  });
  const rows = await transaction.query(
    `SELECT t."id", ${countsSql.join(', ')} FROM "${resourceOf(entity)!.table}" AS t${whereClause([columnIsOneOf('id', ids), ...writableRowConditions(entity, context)], 't', bind)}`,
    values,
  );
  const countOf = (row: Row) => children.reduce((sum, { name }) => sum + Number(row[name]), 0);

  if (!deletesHistory) {
    throwIfInvalid(
      rows.filter(countOf).map((row) => {
        const counts = children.map(({ name }) => `${name}: ${row[name]}`).join(', ');

        return {
          path: references[ids.indexOf(row.id as number)]!.idPath,
          ...validationIssue(
            IssueCode.HAS_HISTORY,
            `Its history would be deleted, too (${counts}). Set \`deleteHistory\` to confirm.`,
          ),
        };
      }),
    );
  }

  return rows.reduce((sum, row) => sum + countOf(row), 0);
}
