/**
 * Rows that a mutation updates or deletes: checks that they exist, are writable and have the
 * expected row versions (optimistic locking).
 */
import type { Row } from '../../database/rows';
import { contributorTableOf, visibleRowConditions, writableRowConditions } from '../access/access';
import type { SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import {
  forbiddenError,
  InvalidInput,
  rowNotFoundIssue,
  throwIfInvalid,
  invalidValueIssue,
  validationIssue,
  IssueCode,
  type InputIssue,
  type InputPath,
} from '../declare/errors';
import type { Entity } from '../declare/fields';
import { resolveRowId, nodeTypeMismatchMessage } from '../declare/node';
import { VERSION_FIELD } from '../declare/audit-fields';
import { idsOf, lockRows, readRows, type LockStrength, type WriteContext } from './statements';

export interface RowReference {
  id: string;
  idPath: InputPath;

  /** Expected version of the row, with its path in the input. Otherwise any version is accepted. */
  expectedVersion?: { value: string; path: InputPath };
}

export const referenceNotFoundIssue = (
  entity: Entity,
  { id, idPath }: RowReference,
): InputIssue => ({
  path: idPath,
  ...rowNotFoundIssue(entity.name, id),
});

/** Parses the ids of row references. Rejects invalid and repeated ids. */
export function parseRowIds(entity: Entity, references: readonly RowReference[]): number[] {
  const seenIds = new Set<number | undefined>();
  const issues: InputIssue[] = [];
  const ids = references.map((reference) => {
    const { id, idPath: path } = reference;
    const rowId = resolveRowId(entity.name, id);

    if (rowId === undefined) {
      const typeMismatchMessage = nodeTypeMismatchMessage(entity.name, id);

      if (typeMismatchMessage) issues.push({ path, ...invalidValueIssue(typeMismatchMessage) });
      else issues.push(referenceNotFoundIssue(entity, reference));
    } else if (seenIds.has(rowId)) {
      issues.push({ path, ...invalidValueIssue(`The id ${rowId} occurs more than once.`) });
    }

    seenIds.add(rowId);
    return rowId!;
  });

  throwIfInvalid(issues);
  return ids;
}

/** Reports rows that do not exist as NOT_FOUND. */
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
      .map((reference) => referenceNotFoundIssue(entity, reference)),
  );
}

/**
 * Rejects changes of public rows that the viewer may not change: NOT_FOUND for invisible rows,
 * otherwise FORBIDDEN, because the viewer already knows that they exist. Applies to resources with
 * contributions.
 */
export async function requireRowsWritable(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  context: Context,
): Promise<void> {
  if (!contributorTableOf(entity)) return;
  const read = (conditions: readonly SqlCondition[]) =>
    readRows(entity, ids, [], conditions, context);
  const visibleRows = await read(visibleRowConditions(entity, context));

  requireRowsExist(entity, references, ids, idsOf(visibleRows));
  const writableRows = await read(writableRowConditions(entity, context));

  if (writableRows.length < ids.length) throw forbiddenError();
}

const STALE_VERSION_ISSUE = validationIssue(IssueCode.CONFLICT, 'The row has another version now.');

/**
 * Rejects rows with unexpected versions. The rows are locked, so the result is valid until the
 * transaction ends.
 */
function requireExpectedVersions(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  rows: readonly Row[],
): void {
  const versionById = new Map(rows.map((row) => [row.id as number, row[VERSION_FIELD] as string]));
  const staleRows = references.flatMap(({ expectedVersion }, index) => {
    const id = ids[index]!;

    if (!expectedVersion || expectedVersion.value === versionById.get(id)) return [];

    return [{ id, path: expectedVersion.path }];
  });

  if (staleRows.length) {
    throw new InvalidInput(
      staleRows.map(({ id, path }) => ({
        path,
        ...STALE_VERSION_ISSUE,
        conflict: { typeName: entity.name, id },
      })),
    );
  }
}

export const hasExpectedVersion = (references: readonly RowReference[]): boolean =>
  references.some(({ expectedVersion }) => expectedVersion);

/** Locks rows and reads the given fields. Rejects missing rows and unexpected versions. */
export async function lockAndCheckRows(
  entity: Entity,
  references: readonly RowReference[],
  ids: readonly number[],
  lockStrength: LockStrength,
  writeContext: WriteContext,
  fieldNames: readonly string[] = [],
): Promise<Row[]> {
  const versionFieldNames = hasExpectedVersion(references) ? [VERSION_FIELD] : [];
  const lockedFieldNames = [...fieldNames, ...versionFieldNames];
  const rows = await lockRows(entity, ids, lockStrength, writeContext, lockedFieldNames);

  requireRowsExist(entity, references, ids, idsOf(rows));
  // Discards the loaded rows of this request, so that the response to a version conflict contains
  // the current rows.
  writeContext.context.loaders.clear();
  requireExpectedVersions(entity, references, ids, rows);
  return rows;
}
