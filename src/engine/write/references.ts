/** Rows of all users that refer to rows of the catalogue: found from the resource declarations. */
import type { Transaction } from '../../database/transaction';
import { isCurator } from '../access/access';
import type { Context } from '../context';
import { InvalidInput, IssueCode, validationIssue, type InputPath } from '../declare/errors';
import { fieldsOf, type Entity } from '../declare/fields';
import { allEntities, resourceOf } from '../declare/registry';
import { wholeOf } from '../declare/wholes';

interface ReferringColumn {
  table: string;
  column: string;
}

/** Columns of tables and link tables that refer to rows of the entity, except of its parts. */
export const referringColumns = (entity: Entity): ReferringColumn[] =>
  allEntities().flatMap((referring) => {
    const whole = wholeOf(referring);

    return fieldsOf(referring).flatMap(({ name, target, column, link }): ReferringColumn[] => {
      const isOfPart = whole?.entity === entity && whole.referenceFieldName === name;

      if (target?.() !== entity || isOfPart) return [];
      if (column !== undefined) return [{ table: resourceOf(referring)!.table, column }];

      return link && !link.keyColumn ? [{ table: link.table, column: link.otherColumn }] : [];
    });
  });

/**
 * Whether contributions are hidden until a curator accepts them, and rows can be retired and merged.
 * Images, which have an upload quota, are visible at once.
 */
export const isMergeable = (entity: Entity): boolean => {
  const { pendingColumnValues, publishedColumnValues } = resourceOf(entity)!;

  return pendingColumnValues !== undefined && publishedColumnValues !== undefined;
};

/**
 * Rejects the deletion of rows of the catalogue to which other rows refer. The rows must be locked
 * for update, so that no references are added until the transaction ends.
 */
export async function rejectReferencedRows(
  entity: Entity,
  ids: readonly number[],
  pathOf: (id: number) => InputPath,
  { context, transaction }: { context: Context; transaction: Transaction },
): Promise<void> {
  const isReferencedSql = referringColumns(entity).map(
    ({ table, column }) => `EXISTS (SELECT FROM "${table}" r WHERE r."${column}" = k."id")`,
  );

  if (!ids.length || !isReferencedSql.length) return;

  const rows = await transaction.asServer(() =>
    transaction.query(
      `SELECT k."id" FROM unnest($1::int[]) k("id") WHERE ${isReferencedSql.join(' OR ')}`,
      [ids],
    ),
  );

  if (!rows.length) return;
  const advice =
    isMergeable(entity) && isCurator(context, 'write')
      ? 'Retire it (`isRetired`) or merge it into another row.'
      : 'Change the rows that refer to it first.';

  throw new InvalidInput(
    rows.map((row) => ({
      path: pathOf(row.id as number),
      ...validationIssue(IssueCode.IN_USE, `It is in use. ${advice}`),
    })),
  );
}
