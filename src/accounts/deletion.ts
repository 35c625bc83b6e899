/** Deletion of an account with its rows, its change log and its contributions to the catalogue. */
import { contributorTableOf } from '../engine/access/access';
import { allEntities, resourceOf } from '../engine/declare/registry';
import type { DatabaseSession, SessionDatabase } from '../database/session';
import { inTransaction } from '../database/transaction';
import { accountUsageSql } from './usage';

export interface DeletionResult {
  ownedRowCount: number;

  /**
   * Number of deleted images, and of foods and exercises pending review, that the user had contributed. Rows of other
   * users may have referred to them.
   */
  contributionCount: number;
}

/**
 * Deletes an account and all its data in one transaction, in which `prepare` runs first. Triggers
 * schedule the files of the deleted rows for removal.
 */
export const deleteUser = (
  userId: number,
  database: SessionDatabase,
  prepare: (session: Pick<DatabaseSession, 'query'>) => Promise<void>,
): Promise<DeletionResult> =>
  database.withoutTimeouts((client) =>
    inTransaction(client, async () => {
      await prepare({ query: async (text, values) => (await client.query(text, values)).rows });

      // Prevents others from adding rows to the account during its deletion.
      await client.query('SELECT FROM "user_account" WHERE "id" = $1 FOR UPDATE', [userId]);
      const [usage] = (await client.query(accountUsageSql(), [[userId]])).rows;
      const result: DeletionResult = { ownedRowCount: usage.rowCount, contributionCount: 0 };

      for (const entity of allEntities()) {
        const { table } = resourceOf(entity)!;
        const contributorTable = contributorTableOf(entity);

        if (!contributorTable) continue;
        const { rowCount } = await client.query(
          `DELETE FROM "${table}" WHERE "id" IN (SELECT "row_id" FROM "${contributorTable}"
            WHERE "user_id" = $1)`,
          [userId],
        );

        result.contributionCount += rowCount ?? 0;
      }

      await client.query('UPDATE "catalogue_change" SET "user_id" = NULL WHERE "user_id" = $1', [
        userId,
      ]);
      await client.query('DELETE FROM "user_account" WHERE "id" = $1', [userId]);
      // The change log also has entries for the rows just deleted, but nobody can sign in to the
      // account to read them.
      await client.query('DELETE FROM "change" WHERE "user_id" = $1', [userId]);
      return result;
    }),
  );
