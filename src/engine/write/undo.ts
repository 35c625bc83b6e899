/** Undoes a change in the history of the catalogue. */
import { isForeignKeyViolation } from '../../database/errors';
import type { Row } from '../../database/rows';
import type { Transaction } from '../../database/transaction';
import type { Context } from '../context';
import { InvalidInput, IssueCode, validationIssue } from '../declare/errors';
import { fieldsOf, type Entity } from '../declare/fields';
import { allEntities, resourceOf } from '../declare/registry';
import { parseRowIds, requireRowsExist } from './row-references';
import { rejectReferencedRows } from './references';

const ID_PATH = ['id'];
const conflictError = (message: string) =>
  new InvalidInput([{ path: ID_PATH, ...validationIssue(IssueCode.CONFLICT, message) }]);

const quote = (names: readonly string[], alias: string) =>
  names.map((name) => `${alias}"${name}"`).join(', ');

/**
 * Undoes a change with the given id and returns the id of the change that undoes it. Throws
 * InvalidInput if the row has changed since.
 */
export async function undoChange(
  historyEntity: Entity,
  changeId: string,
  { session, loaders }: Context,
): Promise<number> {
  const reference = { id: changeId, idPath: ID_PATH };
  const ids = parseRowIds(historyEntity, [reference]);

  const undoingChangeId = await session.transaction(async (transaction) => {
    const [change] = await transaction.query(
      'SELECT * FROM "catalogue_change" WHERE "id" = $1',
      ids,
    );

    requireRowsExist(historyEntity, [reference], ids, change ? ids : []);
    await undoIn(change!, transaction);
    const [row] = await transaction.query(
      `SELECT max("id") AS "id" FROM "catalogue_change" WHERE "row_id" = $1 AND "table" = $2`,
      [change!.row_id, change!.table],
    );

    return row!.id as number;
  });

  loaders.clear();
  return undoingChangeId;
}

async function undoIn({ id, table, row_id: rowId, before, after }: Row, transaction: Transaction) {
  const entity = allEntities().find(
    (candidate) => !resourceOf(candidate)!.isOwned && resourceOf(candidate)!.table === table,
  )!;
  const columns = fieldsOf(entity)
    .filter(({ name, isColumn, setByDatabase }) => isColumn && !setByDatabase && name !== 'id')
    .map(({ column }) => column!);
  const recordSql = (alias: string) =>
    `(SELECT c."${alias}" FROM "catalogue_change" c WHERE c."id" = $1)`;
  const formerRowSql = `jsonb_populate_record(NULL::"${table}", ${recordSql('before')}) f`;

  if (after) {
    const afterRowSql = `jsonb_populate_record(NULL::"${table}", ${recordSql('after')}) a`;
    const [unchangedRow] = await transaction.query(
      `SELECT FROM "${table}" t, ${afterRowSql} WHERE t."id" = $2
        AND ROW(${quote(columns, 't.')}) IS NOT DISTINCT FROM ROW(${quote(columns, 'a.')})
        FOR UPDATE OF t`,
      [id, rowId],
    );

    if (!unchangedRow) throw conflictError('The row has changed since.');
  }

  if (before && after && before.merged_into_id !== after.merged_into_id) {
    throw conflictError('A merge cannot be undone.');
  }

  if (!before) {
    await rejectReferencedRows(entity, [rowId], () => ID_PATH, transaction);
    await transaction.query(`DELETE FROM "${table}" WHERE "id" = $1`, [rowId]);
    return;
  }

  const names = quote(columns, '');
  const text = after
    ? `UPDATE "${table}" t SET (${names}) = ROW(${quote(columns, 'f.')}) FROM ${formerRowSql}
        WHERE t."id" = f."id"`
    : `INSERT INTO "${table}" ("id", ${names}) SELECT f."id", ${quote(columns, 'f.')}
        FROM ${formerRowSql}`;

  try {
    await transaction.query(text, [id]);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw conflictError('A row to which it refers does not exist any more.');
  }
}
