/** Undoes a change in the history of the catalogue. */
import { errorCodeOf } from '../../database/errors';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidInput, IssueCode, validationIssue } from '../declare/errors';
import { fieldsOf, type Entity } from '../declare/fields';
import { allEntities, resourceOf } from '../declare/registry';
import { parseRowIds, requireRowsExist } from './row-references';
import { rejectReferencedRows } from './references';
import type { WriteContext } from './statements';

/** Reasons of conflicts by their error code of PostgreSQL. */
const CONFLICT_MESSAGES: Readonly<Record<string, string>> = {
  23503: 'A row to which it refers does not exist any more.',
  23505: 'Another row has this value now.',
};

/** SQL: foreign keys of table `$1` that would otherwise be checked at COMMIT. */
const DEFERRABLE_FOREIGN_KEYS_SQL = `SELECT "conname" AS "name" FROM "pg_constraint"
  WHERE "conrelid" = to_regclass(quote_ident($1)) AND "contype" = 'f' AND "condeferrable"`;

const ID_PATH = ['id'];
const conflictError = (message: string) =>
  new InvalidInput([{ path: ID_PATH, ...validationIssue(IssueCode.CONFLICT, message) }]);

/**
 * Undoes a change with the given id and returns the id of the change that undoes it. Throws
 * InvalidInput if the row has changed since.
 */
export async function undoChange(
  historyEntity: Entity,
  changeId: string,
  context: Context,
): Promise<number> {
  const reference = { id: changeId, idPath: ID_PATH };
  const ids = parseRowIds(historyEntity, [reference]);

  const undoingChangeId = await context.session.transaction(async (transaction) => {
    const [change] = await transaction.query(
      'SELECT * FROM "catalogue_change" WHERE "id" = $1',
      ids,
    );

    requireRowsExist(historyEntity, [reference], ids, change ? ids : []);
    await undoIn(change!, { context, transaction });
    const [row] = await transaction.query(
      `SELECT max("id") AS "id" FROM "catalogue_change" WHERE "row_id" = $1 AND "table" = $2`,
      [change!.row_id, change!.table],
    );

    return row!.id as number;
  });

  context.loaders.clear();
  return undoingChangeId;
}

/** Why a row cannot become the former one again. `after` is null if it was deleted. */
function obstacleTo(before: Row, after: Row | null): string | undefined {
  if (before.image !== after?.image) return 'The file of the image is deleted.';
  if (after && before.merged_into_id !== after.merged_into_id) return 'A merge cannot be undone.';
  const hasLostContributor = !after || after.status === '2';

  // Images are visible whatever their status.
  if (before.is_retired !== undefined && before.status !== '2' && hasLostContributor) {
    return 'A contribution that has been accepted or deleted cannot await review again.';
  }

  return undefined;
}

async function undoIn(
  { id, table, row_id: rowId, before, after }: Row,
  writeContext: WriteContext,
): Promise<void> {
  const { transaction } = writeContext;
  const obstacle = before && obstacleTo(before, after);

  if (obstacle) throw conflictError(obstacle);
  const entity = allEntities().find(
    (candidate) => !resourceOf(candidate)!.isOwned && resourceOf(candidate)!.table === table,
  );
  const link = allEntities()
    .flatMap((candidate) => fieldsOf(candidate))
    .find((field) => field.link?.table === table)?.link;
  // The change of a link belongs to the row whose list of ids it changes.
  const isRowSql = `c."id" = $1 AND t."${link?.ownColumn ?? 'id'}" = c."row_id"`;
  const isUnchangedSql = `${isRowSql} AND to_jsonb(t) @> (c."after" - '{edited_at,last_imported}'::text[])`;

  if (after) {
    const [unchangedRow] = await transaction.query(
      `SELECT FROM "${table}" t, "catalogue_change" c WHERE ${isUnchangedSql} FOR UPDATE OF t`,
      [id],
    );

    if (!unchangedRow) throw conflictError('The row has changed since.');
  }

  if (!before) {
    if (entity) await rejectReferencedRows(entity, [rowId], () => ID_PATH, writeContext);
    await transaction.query(
      `DELETE FROM "${table}" t USING "catalogue_change" c WHERE ${isUnchangedSql}`,
      [id],
    );

    return;
  }

  const columns = Object.keys(before);
  const [names, values] = ['', 'f.'].map((alias) =>
    columns.map((column) => `${alias}"${column}"`).join(),
  );
  const formerRowSql = `"catalogue_change" c, jsonb_populate_record(NULL::"${table}", c."before") f`;
  const text = after
    ? `UPDATE "${table}" t SET (${names}) = ROW(${values}) FROM ${formerRowSql} WHERE ${isRowSql}`
    : `INSERT INTO "${table}" (${names}) SELECT ${values} FROM ${formerRowSql} WHERE c."id" = $1`;

  try {
    await transaction.query(text, [id]);
    const foreignKeys = await transaction.query(DEFERRABLE_FOREIGN_KEYS_SQL, [table]);

    for (const { name } of foreignKeys) {
      await transaction.query(`SET CONSTRAINTS "${name as string}" IMMEDIATE`);
    }
  } catch (error) {
    const message = CONFLICT_MESSAGES[errorCodeOf(error)];

    throw message === undefined ? error : conflictError(message);
  }
}
