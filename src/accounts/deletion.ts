/** Deletion of an account with its rows, its change log and its contributions to the catalogue. */
import { contributorTableOf } from '../engine/access/access';
import { labelFor } from '../engine/declare/inflection';
import { allEntities, OWNER_FIELD, resourceOf } from '../engine/declare/registry';
import type { SessionDatabase } from '../database/session';
import { inTransaction } from '../database/transaction';
import type { CredentialReader } from './accounts';

interface DeletionResult {
  ownedRowCount: number;

  /**
   * Number of deleted images, and of foods and exercises pending review, that the user had contributed. Rows of other
   * users may have referred to them.
   */
  contributionCount: number;
}

export interface RowCount {
  /** Name of the resource in the plural, such as `Workouts`. */
  label: string;
  isContribution: boolean;
  count: number;
}

/** SQL: numbers of the rows of user `$1` by resource, which are deleted with the account. */
const rowCountsSql = () =>
  allEntities()
    .flatMap((entity) => {
      const { table, isOwned, ownerColumn, pluralName } = resourceOf(entity)!;
      const contributorTable = contributorTableOf(entity);
      const countedTable = isOwned ? table : contributorTable;

      if (countedTable === undefined) return [];
      const column = isOwned ? ownerColumn : OWNER_FIELD.column;

      return `SELECT '${labelFor(pluralName)}' AS "label", ${!isOwned} AS "isContribution",
        count(*)::int AS "count" FROM "${countedTable}" WHERE "${column}" = $1`;
    })
    .join(' UNION ALL ');

/** Counts the rows that are deleted with an account, except for resources without any. */
export const countRowsOfUser = async (
  userId: number,
  query: (text: string, values: unknown[]) => Promise<unknown[]>,
): Promise<RowCount[]> =>
  ((await query(rowCountsSql(), [userId])) as RowCount[]).filter(({ count }) => count > 0);

/**
 * Deletes an account and all its data in one transaction, in which `prepare` runs first. Triggers
 * schedule the files of the deleted rows for removal.
 */
export const deleteUser = (
  userId: number,
  database: SessionDatabase,
  prepare: (session: CredentialReader) => Promise<void>,
): Promise<DeletionResult> =>
  database.withoutTimeouts((client) =>
    inTransaction(client, async () => {
      const query: CredentialReader['query'] = async (text, values) =>
        (await client.query(text, values)).rows;

      await prepare({ query, queryForAuthentication: query });

      // Prevents others from adding rows to the account during its deletion.
      await client.query('SELECT FROM "user_account" WHERE "id" = $1 FOR UPDATE', [userId]);
      const rowCounts = await countRowsOfUser(userId, query);
      const sumOf = (isContribution: boolean) =>
        rowCounts
          .filter((rows) => rows.isContribution === isContribution)
          .reduce((sum, { count }) => sum + count, 0);

      for (const entity of allEntities()) {
        const contributorTable = contributorTableOf(entity);

        if (!contributorTable) continue;
        await client.query(
          `DELETE FROM "${resourceOf(entity)!.table}" WHERE "id" IN (SELECT "row_id"
            FROM "${contributorTable}" WHERE "user_id" = $1)`,
          [userId],
        );
      }

      await client.query('UPDATE "catalogue_change" SET "user_id" = NULL WHERE "user_id" = $1', [
        userId,
      ]);
      await client.query('DELETE FROM "user_account" WHERE "id" = $1', [userId]);
      // The change log also has entries for the rows just deleted, but nobody can sign in to the
      // account to read them.
      await client.query('DELETE FROM "change" WHERE "user_id" = $1', [userId]);
      return { ownedRowCount: sumOf(false), contributionCount: sumOf(true) };
    }),
  );
