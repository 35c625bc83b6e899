/** Account deletion: the account, its rows, its contributions to the catalogue and its change log. */
import { contributorTableOf } from '../core/access/access';
import { allEntities, resourceOf } from '../core/model/registry';
import type { Database } from '../database/connection';
import { inTransaction } from '../database/transaction';

export interface DeletionResult {
  ownedRowCount: number;
  /** Number of deleted catalogue rows, such as images, that the user had contributed. Rows of other users may have referred to them. */
  contributionCount: number;
}

/** Deletes an account and everything that belongs to it in one transaction. Triggers schedule the files of the deleted rows for removal. */
export const deleteUser = (userId: number, database: Database): Promise<DeletionResult> =>
  database.withoutTimeouts((client) =>
    inTransaction(client, async () => {
      const countRows = async (text: string) =>
        Number((await client.query(text, [userId])).rows[0].count);
      // Locks the account, so that no rows are added to it during its deletion.
      await client.query('SELECT FROM "user_account" WHERE "id" = $1 FOR UPDATE', [userId]);
      const result: DeletionResult = { ownedRowCount: 0, contributionCount: 0 };
      for (const entity of allEntities()) {
        const { table, isOwned, ownerColumn } = resourceOf(entity)!;
        if (isOwned)
          result.ownedRowCount += await countRows(
            `SELECT count(*) FROM "${table}" WHERE "${ownerColumn}" = $1`,
          );
        const contributorTable = contributorTableOf(entity);
        if (!contributorTable) continue;
        const { rowCount } = await client.query(
          `DELETE FROM "${table}" WHERE "id" IN (SELECT "row_id" FROM "${contributorTable}" WHERE "user_id" = $1)`,
          [userId],
        );
        result.contributionCount += rowCount ?? 0;
      }
      await client.query('DELETE FROM "user_account" WHERE "id" = $1', [userId]);
      // Deletes the user's change log, including the entries for the rows just deleted: nobody can sign in to the deleted account to read it.
      await client.query('DELETE FROM "change" WHERE "user_id" = $1', [userId]);
      return result;
    }),
  );
