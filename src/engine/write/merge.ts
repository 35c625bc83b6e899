/**
 * Merges rows of the catalogue: all rows that refer to one row refer to another one afterwards. The
 * merged row is retired and keeps its id at its source, so that imports do not add it again.
 */
import { isForeignKeyViolation } from '../../database/errors';
import type { Transaction } from '../../database/transaction';
import { requireCurator } from '../access/access';
import type { Context } from '../context';
import { InvalidInput, invalidValueIssue } from '../declare/errors';
import { fieldOf, partFields, type ChildRowsField, type Entity } from '../declare/fields';
import { resourceOf } from '../declare/registry';
import { referringColumns } from './references';
import { lockRootsOfReferringParts } from './root-locks';
import { withRetries } from './retry';
import { parseRowIds, requireRowsExist, type RowReference } from './row-references';
import { idsOf, lockRows, type StoredRow } from './statements';

/** SQL and parameters of the pairs `p` of rows to merge. */
const PAIRS_SQL = 'unnest($1::int[], $2::int[]) p("from", "into")';

type Pairs = [fromIds: number[], intoIds: number[]];

/** Merges a row into an accepted one, and returns the latter. */
export async function mergeRow(
  entity: Entity,
  from: RowReference,
  into: RowReference,
  context: Context,
): Promise<StoredRow> {
  requireCurator(entity, context);
  const references = [from, into];
  const ids = parseRowIds(entity, references) as [number, number];
  const [fromId, intoId] = ids;

  await withRetries(context, () =>
    context.session.transaction(async (transaction) => {
      const writeContext = { context, transaction };

      // In the order of other writes: they lock a plan, then the food of its items.
      await transaction.asServer(() =>
        lockRootsOfReferringParts(entity, [fromId], writeContext, () => []),
      );
      const rows = await lockRows(entity, ids, 'UPDATE', writeContext, ['status', 'isRetired']);

      requireRowsExist(entity, references, ids, idsOf(rows));
      const { status, isRetired } = rows.find(({ id }) => id === intoId)!;

      if (status !== '2' || isRetired) {
        const issue = invalidValueIssue('The row is not accepted, or it is retired.');

        throw new InvalidInput([{ path: into.idPath, ...issue }]);
      }

      await transaction.asServer(async () => {
        try {
          await moveReferences(entity, [[fromId], [intoId]], transaction);
        } catch (error) {
          if (!isForeignKeyViolation(error)) throw error;
          const issue = invalidValueIssue(
            'A row that refers to the one to merge may not refer to this one.',
          );

          throw new InvalidInput([{ path: into.idPath, ...issue }]);
        }

        await transaction.query(
          `UPDATE "${resourceOf(entity)!.table}" SET "is_retired" = true, "merged_into_id" = $2::int,
            "refusal_reason" = CASE WHEN "status" = '1' THEN 'Merged into the row ' || $2::text || '.' ELSE "refusal_reason" END,
            "status" = CASE WHEN "status" = '1' THEN '3' ELSE "status" END WHERE "id" = $1`,
          ids,
        );
      });
    }),
  );
  context.loaders.clear();
  return { id: intoId };
}

async function moveReferences(
  entity: Entity,
  pairs: Pairs,
  transaction: Transaction,
): Promise<void> {
  for (const child of partFields(entity)) {
    if (!resourceOf(child.target())!.staysWithMergedRow) await moveParts(child, pairs, transaction);
  }

  for (const { table, column } of referringColumns(entity)) {
    await transaction.query(
      `UPDATE "${table}" t SET "${column}" = p."into" FROM ${PAIRS_SQL} WHERE t."${column}" = p."from"`,
      pairs,
    );
  }
}

/** Moves parts, such as the units of a food, unless the other row has an equal one. */
async function moveParts(
  { target, referenceFieldName }: ChildRowsField,
  pairs: Pairs,
  transaction: Transaction,
): Promise<void> {
  const part = target();
  const { table, partKeyFieldNames, publishedColumnValues, uniqueFlag } = resourceOf(part)!;
  const { column } = fieldOf(part, referenceFieldName);
  let equalIds: number[] = [];

  if (partKeyFieldNames) {
    const areEqualSql = partKeyFieldNames
      .map((name) => fieldOf(part, name).column!)
      .map((key) => ` AND i."${key}" = f."${key}"`)
      .join('');
    const equalParts = await transaction.query(
      `SELECT f."id", min(i."id") AS "into" FROM ${PAIRS_SQL}
        JOIN "${table}" f ON f."${column}" = p."from"
        JOIN "${table}" i ON i."${column}" = p."into"${areEqualSql} GROUP BY f."id"`,
      pairs,
    );

    equalIds = idsOf(equalParts);
    const intoIds = equalParts.map(({ into }) => into as number);

    if (equalIds.length) await moveReferences(part, [equalIds, intoIds], transaction);
  }

  const resetFlagSql = uniqueFlag
    ? `, "${fieldOf(part, uniqueFlag.flagFieldName).column}" = false`
    : '';
  // Translations of a contribution are accepted with the merge.
  const acceptSql = publishedColumnValues
    ? `, "status" = CASE t."status" WHEN '1' THEN '2' ELSE t."status" END`
    : '';

  await transaction.query(
    `UPDATE "${table}" t SET "${column}" = p."into"${resetFlagSql}${acceptSql}
      FROM ${PAIRS_SQL} WHERE t."${column}" = p."from" AND t."id" <> ALL($3::int[])`,
    [...pairs, equalIds],
  );
}
