/**
 * Locks of the roots of trees, such as the nutrition plan of a meal item, before a write of a part.
 * The deletion of a root locks the root, then its parts. Without these locks, a write of a part
 * would lock them in the opposite order, because triggers then change the versions of its wholes.
 */
import { writableRowConditions } from '../access/access';
import { createParameterBinder, whereClause } from '../access/conditions';
import { fieldOf, fieldsOf, type Entity } from '../declare/fields';
import { resolveRowId } from '../declare/node';
import { resourceOf, type FieldValues } from '../declare/registry';
import { wholeByPart, wholeOf } from '../declare/wholes';
import type { WriteContext } from './statements';

const tableOf = (entity: Entity): string => `"${resourceOf(entity)!.table}"`;

/** The root of the trees of an entity, and SQL that selects the ids of the roots of rows. */
function findRoots(entity: Entity, idsSql: string): { root: Entity; rootIdsSql: string } {
  const whole = wholeOf(entity);

  if (!whole) return { root: entity, rootIdsSql: idsSql };
  const { column } = fieldOf(entity, whole.referenceFieldName);

  return findRoots(
    whole.entity,
    `SELECT "${column}" FROM ${tableOf(entity)} WHERE "id" IN (${idsSql})`,
  );
}

/** Rows whose roots are locked. */
interface Rows {
  entity: Entity;
  ids: readonly number[];

  /** SQL that selects the rows for SQL that selects the ids; by default the rows with these ids. */
  toRowIdsSql?: (idsSql: string) => string;
}

/** Locks the roots of rows of the same trees, in the order of their ids. */
async function lockRootsOf(
  rowSets: readonly Rows[],
  { context, transaction }: WriteContext,
  conditionsOf: typeof writableRowConditions = writableRowConditions,
): Promise<void> {
  const { bind, values } = createParameterBinder();
  const roots = rowSets
    .filter(({ ids }) => ids.length)
    .map(({ entity, ids, toRowIdsSql = (idsSql: string) => idsSql }) =>
      findRoots(entity, toRowIdsSql(`SELECT unnest(${bind(ids)}::int[])`)),
    );

  if (!roots.length) return;
  const { root } = roots[0]!;
  const rootIdsSql = roots.map((one) => one.rootIdsSql).join(' UNION ');
  const conditions = [
    (alias: string) => `${alias}."id" IN (${rootIdsSql})`,
    ...conditionsOf(root, context),
  ];

  await transaction.query(
    `SELECT FROM ${tableOf(root)} AS t${whereClause(conditions, 't', bind)}
      ORDER BY t."id" FOR NO KEY UPDATE`,
    values,
  );
}

/**
 * Locks the roots of parts before they are written: of the rows with the given ids, and of the
 * wholes to which the inputs refer.
 */
export async function lockRootsOfWrittenRows(
  entity: Entity,
  ids: readonly number[],
  inputs: readonly FieldValues[],
  writeContext: WriteContext,
): Promise<void> {
  const whole = wholeOf(entity);

  if (!whole) return;
  const wholeIds = inputs.flatMap(
    (input) => resolveRowId(whole.entity.name, input[whole.referenceFieldName]) ?? [],
  );

  await lockRootsOf(
    [
      { entity, ids },
      { entity: whole.entity, ids: wholeIds },
    ],
    writeContext,
  );
}

/**
 * Locks the roots of parts before they are deleted, and of parts that are deleted with a row, such
 * as the schedule steps of a workout.
 */
export async function lockRootsOfDeletedRows(
  entity: Entity,
  ids: readonly number[],
  writeContext: WriteContext,
): Promise<void> {
  await lockRootsOfReferringParts(entity, ids, writeContext);
  if (wholeOf(entity)) await lockRootsOf([{ entity, ids }], writeContext);
}

/** Locks the roots of parts that refer to rows, of all users if `conditionsOf` has none. */
export async function lockRootsOfReferringParts(
  entity: Entity,
  ids: readonly number[],
  writeContext: WriteContext,
  conditionsOf?: typeof writableRowConditions,
): Promise<void> {
  for (const [part, { referenceFieldName }] of wholeByPart()) {
    for (const { name, column, isColumn, target } of fieldsOf(part)) {
      if (!isColumn || target?.() !== entity || name === referenceFieldName) continue;
      const toRowIdsSql = (idsSql: string) =>
        `SELECT "id" FROM ${tableOf(part)} WHERE "${column}" IN (${idsSql})`;

      await lockRootsOf([{ entity: part, ids, toRowIdsSql }], writeContext, conditionsOf);
    }
  }
}
