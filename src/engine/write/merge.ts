/**
 * Merges rows of the catalogue: all rows that refer to one row refer to another one afterwards. The
 * merged row is retired and keeps its id at its source, so that imports do not add it again.
 */
import type { Row } from '../../database/rows';
import type { Transaction } from '../../database/transaction';
import { publishedRowConditions, requireCurator } from '../access/access';
import { columnEquals, createParameterBinder, whereClause } from '../access/conditions';
import type { Context } from '../context';
import { invalidValueIssue, throwIfInvalid } from '../declare/errors';
import { fieldOf, partFields, type ChildRowsField, type Entity } from '../declare/fields';
import { resourceOf } from '../declare/registry';
import { referringColumns } from './references';
import { lockRootsOfReferringParts } from './root-locks';
import { withRetries } from './retry';
import { idsOf, parseRowIds, requireRowsExist, type RowReference } from './row-references';
import { lockRows, type StoredRow } from './statements';

interface MergedPair {
  from: number;
  into: number;
}

/** Runs SQL in which `p` are the pairs of rows to merge. */
const queryPairs = (
  pairs: readonly MergedPair[],
  sql: (pairsSql: string) => string,
  transaction: Transaction,
): Promise<Row[]> =>
  transaction.query(sql('unnest($1::int[], $2::int[]) p("from", "into")'), [
    pairs.map(({ from }) => from),
    pairs.map(({ into }) => into),
  ]);

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

  await withRetries(context, () =>
    context.session.transaction(async (transaction) => {
      const writeContext = { context, transaction };

      // In the order of other writes: they lock a plan, then the food of its items.
      await transaction.asServer(() =>
        lockRootsOfReferringParts(entity, [ids[0]], writeContext, () => []),
      );
      const rows = await lockRows(entity, ids, 'UPDATE', writeContext, []);

      requireRowsExist(entity, references, ids, idsOf(rows));
      await requirePublishedRow(entity, into, ids[1], transaction);

      const pair = { from: ids[0], into: ids[1] };

      await transaction.asServer(async () => {
        await moveReferences(entity, [pair], transaction);
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
  return { id: ids[1] };
}

async function requirePublishedRow(
  entity: Entity,
  { idPath }: RowReference,
  id: number,
  transaction: Transaction,
): Promise<void> {
  const { bind, values } = createParameterBinder();
  const where = whereClause([columnEquals('id', id), ...publishedRowConditions(entity)], 't', bind);
  const text = `SELECT FROM "${resourceOf(entity)!.table}" AS t${where}`;

  if ((await transaction.query(text, values)).length) return;

  throwIfInvalid([
    { path: idPath, ...invalidValueIssue('The row is not accepted, or it is retired.') },
  ]);
}

async function moveReferences(
  entity: Entity,
  pairs: readonly MergedPair[],
  transaction: Transaction,
): Promise<void> {
  if (!pairs.length) return;

  for (const child of partFields(entity)) await moveParts(child, pairs, transaction);

  for (const { table, column } of referringColumns(entity)) {
    await queryPairs(
      pairs,
      (pairsSql) =>
        `UPDATE "${table}" t SET "${column}" = p."into" FROM ${pairsSql} WHERE t."${column}" = p."from"`,
      transaction,
    );
  }
}

/** Moves parts, such as the units of a food, unless the other row has an equal one. */
async function moveParts(
  { target, referenceFieldName }: ChildRowsField,
  pairs: readonly MergedPair[],
  transaction: Transaction,
): Promise<void> {
  const part = target();
  const { table, partKeyFieldNames, publishedColumnValues, uniqueFlag } = resourceOf(part)!;
  const { column } = fieldOf(part, referenceFieldName);
  let equalParts: MergedPair[] = [];

  if (partKeyFieldNames) {
    const areEqualSql = partKeyFieldNames
      .map((name) => fieldOf(part, name).column!)
      .map((key) => ` AND i."${key}" = f."${key}"`)
      .join('');

    equalParts = (await queryPairs(
      pairs,
      (pairsSql) =>
        `SELECT f."id" AS "from", min(i."id") AS "into" FROM ${pairsSql}
          JOIN "${table}" f ON f."${column}" = p."from"
          JOIN "${table}" i ON i."${column}" = p."into"${areEqualSql} GROUP BY f."id"`,
      transaction,
    )) as Row[] as unknown as MergedPair[];
  }

  await moveReferences(part, equalParts, transaction);
  const equalIds = equalParts.map(({ from }) => from);
  const resetFlagSql = uniqueFlag
    ? `, "${fieldOf(part, uniqueFlag.flagFieldName).column}" = false`
    : '';

  // Translations of a contribution are accepted with the merge.
  const acceptSql = publishedColumnValues
    ? `, "status" = CASE t."status" WHEN '1' THEN '2' ELSE t."status" END`
    : '';

  await transaction.query(
    `UPDATE "${table}" t SET "${column}" = p."into"${resetFlagSql}${acceptSql}
      FROM unnest($1::int[], $2::int[]) p("from", "into")
      WHERE t."${column}" = p."from" AND t."id" <> ALL($3::int[])`,
    [pairs.map(({ from }) => from), pairs.map(({ into }) => into), equalIds],
  );
}
