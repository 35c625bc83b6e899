/** Takes away the files of rows that are gone. The database notes their paths and tells of them; what nobody heard of is found at the next start. */
import type { Logger } from 'pino';
import type { QueryOptions, Sequelize } from 'sequelize';
import { fieldsOf } from '../core/model/fields';
import type { Listener } from '../core/changes/listener';
import { entities, resourceOf } from '../core/model/registry';
import type { Database } from '../database/connection';
import { LOCK_CLASSES, LOCKS } from '../database/locks';
import type { Media } from './media';

const CHANNEL = 'fitgraph_removed_file';
const BATCH = 1000;

/** A path that a row names, another one or one since, stays. */
const inUse = (): string[] =>
  entities().flatMap((entity) =>
    fieldsOf(entity)
      .filter(({ kind }) => kind === 'image')
      .map(({ column }) => `EXISTS (SELECT FROM "${resourceOf(entity)!.table}" WHERE "${column}" = r."path")`),
  );

const WAS_TAKEN = `SELECT 1 WHERE NOT pg_try_advisory_xact_lock(${LOCK_CLASSES.fileName}, hashtext($1)) OR EXISTS (SELECT FROM "removed_file" WHERE "path" = $1)`;

/** Whether a row that is gone had a file at this path, or somebody else is about to take it. Until the transaction ends nobody else takes it. */
export const hadFile =
  (sequelize: Sequelize, options: QueryOptions) =>
  async (path: string): Promise<boolean> => {
    const [found] = await sequelize.query(WAS_TAKEN, { ...options, bind: [path] });
    return found.length > 0;
  };

export class FileRemoval {
  private working: Promise<void> = Promise.resolve();
  private readonly take: string;

  constructor(
    private readonly database: Database,
    private readonly media: Media,
    listener: Listener,
    private readonly log: Logger,
  ) {
    this.take = `
      UPDATE "removed_file" r SET "settled" = true
      WHERE pg_try_advisory_xact_lock_shared(${LOCKS.files})
        AND r."path" IN (SELECT "path" FROM "removed_file" WHERE NOT "settled" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING r."path", (${inUse().join(' OR ')}) AS "used"`;
    listener.on(CHANNEL, { notified: () => void this.run(), missed: () => this.run() });
  }

  /** One after the other; a failure is tried again when the database tells of the next removal, or at the next start. */
  run(): Promise<void> {
    return (this.working = this.working
      .then(() => this.remove())
      .catch((error) => this.log.error({ err: error }, 'the files of removed rows could not be removed')));
  }

  /** Nothing that was begun is going on any more. */
  settled(): Promise<void> {
    return this.working;
  }

  private async remove(): Promise<void> {
    while ((await this.removeSome()) === BATCH);
  }

  /** Settled only once the files are gone. */
  private removeSome(): Promise<number> {
    return this.database.unlimited(async (client) => {
      await client.query('BEGIN');
      try {
        const { rows } = await client.query(this.take);
        await this.media.remove(rows.filter(({ used }) => !used).map(({ path }) => path as string));
        await client.query('COMMIT');
        return rows.length;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
    });
  }
}
