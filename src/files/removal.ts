/**
 * Deletes the files of deleted rows. Triggers record their paths and notify the servers.
 * Notifications that a server missed are handled when it reconnects or starts.
 */
import type { ClientBase } from 'pg';
import type { Logger } from 'pino';
import type { Entity } from '../engine/declare/fields';
import type { NotificationListener } from '../engine/changes/listener';
import type { Database } from '../database/connection';
import { ADVISORY_LOCK_CLASSES, ADVISORY_LOCK_KEYS } from '../database/advisory-locks';
import { inTransaction, type Transaction } from '../database/transaction';
import { imageColumns } from './image-columns';
import type { Media } from './media';

const NOTIFICATION_CHANNEL = 'fitgraph_removed_file';
const BATCH_SIZE = 1000;

/**
 * SQL conditions, one per image column, under which a row refers to the recorded path `r."path"`.
 * The file is kept if one of them is true.
 */
const rowUsesPathSql = (): string[] =>
  imageColumns().map(
    ({ table, column }) => `EXISTS (SELECT FROM "${table}" WHERE "${column}" = r."path")`,
  );

const PATH_IS_TAKEN_SQL = `SELECT 1
  WHERE NOT pg_try_advisory_xact_lock(${ADVISORY_LOCK_CLASSES.fileName}, hashtext($1))
  OR EXISTS (SELECT FROM "removed_file" WHERE "path" = $1)`;

/**
 * Checks whether a path is taken: a deleted row had a file there, or another transaction is about
 * to use it. Locks a free path until the transaction ends.
 */
export const createPathTakenCheck =
  (transaction: Transaction) =>
  async (path: string): Promise<boolean> =>
    (await transaction.query(PATH_IS_TAKEN_SQL, [path])).length > 0;

/**
 * Schedules the removal of the files of tables that are about to be truncated. Files to which new
 * rows refer are kept.
 */
export async function scheduleFileRemoval(
  client: ClientBase,
  entities: readonly Entity[],
): Promise<void> {
  for (const { table, column } of imageColumns(entities)) {
    await client.query(
      `INSERT INTO "removed_file" ("path") SELECT DISTINCT "${column}" FROM "${table}"
        WHERE "${column}" <> '' ON CONFLICT ("path") DO UPDATE SET "settled" = false`,
    );
  }

  await client.query(`SELECT pg_notify('${NOTIFICATION_CHANNEL}', '')`);
}

export class FileRemoval {
  private pendingRun: Promise<void> = Promise.resolve();
  private readonly markBatchSql: string;

  constructor(
    private readonly database: Database,
    private readonly media: Media,
    listener: NotificationListener,
    private readonly log: Logger,
  ) {
    this.markBatchSql = `
      UPDATE "removed_file" r SET "settled" = true
      WHERE pg_try_advisory_xact_lock_shared(${ADVISORY_LOCK_KEYS.files})
        AND r."path" IN (SELECT "path" FROM "removed_file" WHERE NOT "settled" LIMIT ${BATCH_SIZE}
          FOR UPDATE SKIP LOCKED)
      RETURNING r."path", (${rowUsesPathSql().join(' OR ')}) AS "used"`;
    listener.registerHandler(NOTIFICATION_CHANNEL, {
      onNotification: () => void this.removeFiles(),
      onMissedNotifications: () => this.removeFiles(),
    });
  }

  /**
   * Deletes the files of all recorded paths. Runs are sequential. A failed run is repeated at the
   * next notification, reconnection or start.
   */
  removeFiles(): Promise<void> {
    return (this.pendingRun = this.pendingRun
      .then(() => this.removeAll())
      .catch((error) =>
        this.log.error({ err: error }, 'deleting the files of deleted rows failed'),
      ));
  }

  whenIdle(): Promise<void> {
    return this.pendingRun;
  }

  private async removeAll(): Promise<void> {
    while ((await this.removeBatch()) === BATCH_SIZE);
  }

  /**
   * Deletes a batch of files, except files that rows use again. The transaction that marks the
   * paths as done is rolled back if a deletion fails, so that it is repeated.
   */
  private removeBatch(): Promise<number> {
    return this.database.withoutTimeouts((client) =>
      inTransaction(client, async () => {
        const { rows } = await client.query(this.markBatchSql);

        await this.media.remove(rows.filter(({ used }) => !used).map(({ path }) => path as string));
        return rows.length;
      }),
    );
  }
}
