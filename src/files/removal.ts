/**
 * Deletes the files of deleted rows. Triggers record their paths and notify the servers. Paths whose notification was missed are handled when the
 * notification connection is re-established, or at the next start.
 */
import type { ClientBase } from 'pg';
import type { Logger } from 'pino';
import type { QueryOptions, Sequelize } from 'sequelize';
import type { Entity } from '../core/model/fields';
import type { NotificationListener } from '../core/changes/listener';
import type { Database } from '../database/connection';
import { ADVISORY_LOCK_CLASSES, ADVISORY_LOCK_KEYS } from '../database/advisorylocks';
import { inTransaction } from '../database/transaction';
import { imageColumns } from './imagecolumns';
import type { Media } from './media';

const NOTIFICATION_CHANNEL = 'fitgraph_removed_file';
const BATCH_SIZE = 1000;

/** SQL conditions that are true if a row refers to a recorded path (`r`). If a row has started to use it since the deletion, the file is kept. */
const usageConditionsSql = (): string[] =>
  imageColumns().map(
    ({ table, column }) => `EXISTS (SELECT FROM "${table}" WHERE "${column}" = r."path")`,
  );

const PATH_IS_TAKEN_SQL = `SELECT 1 WHERE NOT pg_try_advisory_xact_lock(${ADVISORY_LOCK_CLASSES.fileName}, hashtext($1)) OR EXISTS (SELECT FROM "removed_file" WHERE "path" = $1)`;

/**
 * Creates a function that checks whether a path is taken: a deleted row had a file there, or another transaction is about to use it. It locks the
 * path until the transaction ends.
 */
export const createPathUsageCheck =
  (sequelize: Sequelize, options: QueryOptions) =>
  async (path: string): Promise<boolean> => {
    const [rows] = await sequelize.query(PATH_IS_TAKEN_SQL, { ...options, bind: [path] });
    return rows.length > 0;
  };

/** Schedules the removal of the files of all rows of these entities, which are about to be truncated. Files to which new rows refer are kept. */
export async function scheduleFileRemoval(
  client: ClientBase,
  entities: readonly Entity[],
): Promise<void> {
  for (const { table, column } of imageColumns(entities))
    await client.query(
      `INSERT INTO "removed_file" ("path") SELECT DISTINCT "${column}" FROM "${table}" WHERE "${column}" <> '' ON CONFLICT ("path") DO UPDATE SET "settled" = false`,
    );
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
        AND r."path" IN (SELECT "path" FROM "removed_file" WHERE NOT "settled" LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED)
      RETURNING r."path", (${usageConditionsSql().join(' OR ')}) AS "used"`;
    listener.registerHandler(NOTIFICATION_CHANNEL, {
      onNotification: () => void this.removeFiles(),
      onMissedNotifications: () => this.removeFiles(),
    });
  }

  /** Deletes the files of all recorded paths. Runs are sequential. A failed run is repeated at the next notification, reconnection or start. */
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
   * Deletes a batch of files, except those that rows use again. The same transaction marks their paths as done, so that a failed deletion, which rolls
   * it back, is repeated.
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
