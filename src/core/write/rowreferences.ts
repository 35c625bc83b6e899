/** Rows that a mutation updates or deletes: checks that they exist, are writable and have the expected row versions (optimistic locking). */
import type { Row } from '../../database/rows';
import { contributorTableOf, visibleRowConditions, writableRowConditions } from '../access/access';
import { columnIsOneOf, type SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import { forbiddenError, InvalidInput, rowNotFoundIssue, throwIfInvalid } from '../model/errors';
import type { Entity } from '../model/fields';
import {
  invalidValueIssue,
  validationIssue,
  IssueCode,
  type InputIssue,
  type InputPath,
} from '../model/validationissues';
import { resolveRowId, nodeTypeMismatchMessage } from '../model/node';
import { VERSION_FIELD } from '../model/auditfields';
import { columnSet, buildSelectRowsStatement } from '../sql/select';
import { lockRows, type LockStrength, type WriteContext } from './statements';

export interface RowReference {
  id: string;
  idPath: InputPath;
  /** Expected version of the row, and the path of this version in the input. If absent, any version is accepted. */
  expectedVersion?: { value: string; path: InputPath };
}

export const notFoundIssue = (entity: Entity, { id, idPath }: RowReference): InputIssue => ({
  path: idPath,
  ...rowNotFoundIssue(entity.name, id),
});

/** Returns the numeric ids of row references. Throws for invalid ids and for rows that occur twice. */
export function parseRowIds(entity: Entity, references: readonly RowReference[]): number[] {
  const seenIds = new Set<number | undefined>();
  const issues: InputIssue[] = [];
  const ids = references.map((reference) => {
    const { id, idPath: path } = reference;
    const rowId = resolveRowId(entity.name, id);
    if (rowId === undefined) {
      const typeMismatchMessage = nodeTypeMismatchMessage(entity.name, id);
      issues.push(
        typeMismatchMessage
          ? { path, ...invalidValueIssue(typeMismatchMessage) }
          : notFoundIssue(entity, reference),
      );
    } else if (seenIds.has(rowId))
      issues.push({ path, ...invalidValueIssue(`The id ${rowId} occurs more than once.`) });
    seenIds.add(rowId);
    return rowId!;
  });
  throwIfInvalid(issues);
  return ids;
}

export const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id as number);

/** Throws issues with the code NOT_FOUND for rows whose ids do not exist. */
export function requireRowsExist(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  existingIds: Iterable<number>,
): void {
  const existingIdSet = new Set(existingIds);
  throwIfInvalid(
    references
      .filter((_, index) => !existingIdSet.has(ids[index]!))
      .map((reference) => notFoundIssue(entity, reference)),
  );
}

/**
 * Throws if the viewer may not change some of these rows of a public resource with contributions: issues with NOT_FOUND if the viewer cannot see all of
 * them, otherwise FORBIDDEN, because the viewer already knows that they exist. Does not check rows of other resources.
 */
export async function requireRowsWritable(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  context: Context,
): Promise<void> {
  if (!contributorTableOf(entity)) return;
  const columns = columnSet(entity, [], context.policies.textOrder);
  const findRowIdsWhere = async (conditions: readonly SqlCondition[]) =>
    idsOf(
      await context.session.query(
        ...buildSelectRowsStatement(columns, [columnIsOneOf('id', ids), ...conditions]),
      ),
    );
  requireRowsExist(
    entity,
    references,
    ids,
    await findRowIdsWhere(visibleRowConditions(entity, context)),
  );
  if ((await findRowIdsWhere(writableRowConditions(entity, context))).length < ids.length)
    throw forbiddenError();
}

const STALE_VERSION_ISSUE = validationIssue(IssueCode.CONFLICT, 'The row has another version now.');

/** Throws for rows that do not have the expected version. The rows are locked, so the result is valid until the transaction ends. */
function requireExpectedVersions(
  references: readonly RowReference[],
  ids: readonly number[],
  rows: readonly Row[],
): void {
  const versionById = new Map(rows.map((row) => [row.id as number, row[VERSION_FIELD] as string]));
  const staleRows = references.flatMap(({ expectedVersion }, index) => {
    const id = ids[index]!;
    return expectedVersion && expectedVersion.value !== versionById.get(id)
      ? [{ id, path: expectedVersion.path }]
      : [];
  });
  if (staleRows.length)
    throw new InvalidInput(
      staleRows.map(({ path }) => ({ path, ...STALE_VERSION_ISSUE })),
      staleRows.map(({ id }) => id),
    );
}

export const specifiesExpectedVersion = (references: readonly RowReference[]): boolean =>
  references.some(({ expectedVersion }) => expectedVersion);

/** Locks the rows and returns them with the given fields. Throws if any is missing or has an unexpected version. */
export async function lockAndCheckRows(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  lockStrength: LockStrength,
  writeContext: WriteContext,
  fieldNames: readonly string[] = [],
): Promise<Row[]> {
  const lockedFieldNames = specifiesExpectedVersion(references)
    ? [...fieldNames, VERSION_FIELD]
    : fieldNames;
  const rows = await lockRows(entity, ids, lockStrength, writeContext, lockedFieldNames);
  requireRowsExist(entity, references, ids, idsOf(rows));
  // Discards the rows that this request has loaded before, so that after a version conflict the response contains the current rows.
  writeContext.context.loaders.clear();
  requireExpectedVersions(references, ids, rows);
  return rows;
}
