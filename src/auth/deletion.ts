/** An account taken away with everything of it: its rows, what it added to the catalogue, and what is noted of it. */
import { contributors } from '../core/access/access';
import { entities, resourceOf } from '../core/model/registry';
import type { Database } from '../database/connection';

export interface Deleted {
  /** Of the user alone. */
  rows: number;
  /** Of the catalogue, such as images, added by the user; others may have referred to them. */
  contributions: number;
}

/** All or nothing. The files of the rows are noted for removal in the same transaction. */
export async function deleteUser(userId: number, database: Database): Promise<Deleted> {
  return database.unlimited(async (client) => {
    const count = async (text: string) => Number((await client.query(text, [userId])).rows[0].count);
    try {
      await client.query('BEGIN');
      // Nobody adds to it meanwhile.
      await client.query('SELECT FROM "user_account" WHERE "id" = $1 FOR UPDATE', [userId]);
      const deleted: Deleted = { rows: 0, contributions: 0 };
      for (const entity of entities()) {
        const { table, owned, owner } = resourceOf(entity)!;
        if (owned) deleted.rows += await count(`SELECT count(*) FROM "${table}" WHERE "${owner}" = $1`);
        const added = contributors(entity);
        if (!added) continue;
        const { rowCount } = await client.query(
          `DELETE FROM "${table}" WHERE "id" IN (SELECT "row_id" FROM "${added}" WHERE "user_id" = $1)`,
          [userId],
        );
        deleted.contributions += rowCount ?? 0;
      }
      await client.query('DELETE FROM "user_account" WHERE "id" = $1', [userId]);
      // The deletions themselves are noted too, for a client that nobody can sign in with any more.
      await client.query('DELETE FROM "change" WHERE "user_id" = $1', [userId]);
      await client.query('COMMIT');
      return deleted;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  });
}
