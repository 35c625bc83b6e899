/**
 * Online schema change: the steps of a migration that runs outside of a transaction while servers
 * handle requests. No step blocks requests for more than a moment. Each step is idempotent, because
 * an interrupted migration starts again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, QueryResult } from 'pg';
import {
  retryLockConflicts,
  MAX_TABLE_LOCK_ATTEMPTS,
  TABLE_LOCK_RETRY_PAUSE_MS,
  TABLE_LOCK_TIMEOUT_MS,
} from './lock-conflicts';
import type { Row } from './rows';

/**
 * Longer than PostgreSQL's deadlock_timeout (default: 1 s): PostgreSQL cancels an autovacuum that
 * has blocked a lock for that time.
 */
const AUTOVACUUM_LOCK_TIMEOUT_MS = 2_000;

/**
 * Target duration of a batch of updates. Requests that write to the same rows wait until the batch
 * has ended.
 */
const TARGET_BATCH_MS = 100;
const FIRST_BATCH_ROWS = 1_000;
const MAX_BATCH_ROWS = 20_000;
const PAUSE_TO_BATCH_DURATION_RATIO = 0.5;

/**
 * SQL: switches the setting `fitgraph.backfill` on or off. While it is on, the triggers for row
 * versions and the change log ignore updates (migrations 0070 and 0081).
 */
const backfillSettingSql = (state: 'on' | 'off') => `SET LOCAL fitgraph.backfill = '${state}'`;

export class OnlineSchemaChange {
  /**
   * A restore passes no `onLockConflict`. All steps then run in the transaction of the restore,
   * which must have locked all tables.
   */
  constructor(
    private readonly client: ClientBase,
    private readonly onLockConflict?: () => void,
  ) {}

  private get isOnline(): boolean {
    return this.onLockConflict !== undefined;
  }

  /**
   * Runs statements and returns the rows of the last one. They need no BEGIN, because PostgreSQL
   * runs a text of several statements as one transaction. Repeats the transaction after lock
   * conflicts.
   */
  async run(sql: string): Promise<Row[]> {
    const text = this.isOnline ? `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; ${sql}` : sql;
    const results = await this.retry(
      () => this.client.query(text) as Promise<QueryResult | QueryResult[]>,
    );

    return [results].flat().at(-1)!.rows as Row[];
  }

  /**
   * Runs ALTER TABLE. First acquires a weaker lock, which blocks no request: while this lock
   * request waits, PostgreSQL cancels a running autovacuum of the table.
   */
  async alterTable(table: string, action: string): Promise<void> {
    const statement = `ALTER TABLE "${table}" ${action}`;

    if (!this.isOnline) return void (await this.run(statement));
    const lockTableSql = `SET LOCAL lock_timeout = ${AUTOVACUUM_LOCK_TIMEOUT_MS}; LOCK TABLE "${table}" IN SHARE UPDATE EXCLUSIVE MODE`;

    await this.retry(() =>
      this.client.query(
        `${lockTableSql}; SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; ${statement}`,
      ),
    );
  }

  /**
   * Adds a column. Its default must be constant, because PostgreSQL would otherwise rewrite the
   * table.
   */
  async addColumn(table: string, column: string, definition: string): Promise<void> {
    await this.alterTable(table, `ADD COLUMN IF NOT EXISTS "${column}" ${definition}`);
  }

  /**
   * Creates an index on `tableAndColumns`, such as `"workout" ("user_id", "name")`. This can take
   * long: CREATE INDEX CONCURRENTLY waits for all older transactions.
   */
  async createIndex(name: string, tableAndColumns: string, { unique = false } = {}): Promise<void> {
    const kind = unique ? 'UNIQUE INDEX' : 'INDEX';

    if (!this.isOnline) {
      return void (await this.client.query(
        `CREATE ${kind} IF NOT EXISTS "${name}" ON ${tableAndColumns}`,
      ));
    }

    await this.retry(async () => {
      // Drops the invalid index that an interrupted CREATE INDEX has left behind.
      await this.dropInvalidIndex(name);

      try {
        await this.client.query(
          `CREATE ${kind} CONCURRENTLY IF NOT EXISTS "${name}" ON ${tableAndColumns}`,
        );
      } catch (error) {
        // Drops the invalid index that a failed CREATE INDEX leaves behind: an invalid unique index
        // would still reject writes.
        await this.dropInvalidIndex(name);
        throw error;
      }
    });
  }

  async dropIndex(name: string): Promise<void> {
    const concurrently = this.isOnline ? 'CONCURRENTLY ' : '';

    await this.retry(() => this.client.query(`DROP INDEX ${concurrently}IF EXISTS "${name}"`));
  }

  /**
   * Adds a CHECK constraint or a foreign key in two steps, so that the check of existing rows
   * blocks neither reads nor writes: at first it applies to new rows only, then the existing rows
   * are checked.
   */
  async addConstraint(table: string, name: string, definition: string): Promise<void> {
    if (!(await this.hasConstraint(table, name))) {
      await this.alterTable(table, `ADD CONSTRAINT "${name}" ${definition} NOT VALID`);
    }

    await this.retry(() =>
      this.client.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${name}"`),
    );
  }

  /**
   * Sets NOT NULL without scanning the table under an exclusive lock: a CHECK constraint, validated
   * under a weaker lock, proves that no value is NULL.
   */
  async setNotNull(table: string, column: string): Promise<void> {
    const constraintName = `${column}_is_set`;

    await this.addConstraint(table, constraintName, `CHECK ("${column}" IS NOT NULL)`);
    await this.alterTable(table, `ALTER COLUMN "${column}" SET NOT NULL`);
    await this.alterTable(table, `DROP CONSTRAINT IF EXISTS "${constraintName}"`);
  }

  /**
   * Updates the rows that meet `condition`, in batches of ascending ids. The assignments must make
   * the condition false. Row versions and the change log do not change. Rows inserted meanwhile are
   * not updated, so give the column a default first.
   */
  async updateRows(table: string, assignments: string, condition: string): Promise<void> {
    const updateSql = (rowCondition: string) =>
      `UPDATE "${table}" SET ${assignments} WHERE ${rowCondition}`;

    if (!this.isOnline) {
      return void (await this.run(
        `${backfillSettingSql('on')}; ${updateSql(condition)}; ${backfillSettingSql('off')}`,
      ));
    }

    const [{ last: lastId }] = (await this.run(
      `SELECT max("id")::float8 AS "last" FROM "${table}"`,
    )) as [{ last: number | null }];

    for (let pass = 0; lastId !== null; pass += 1) {
      const [{ first: firstId }] = (await this.run(
        `SELECT min("id")::float8 AS "first" FROM "${table}" WHERE "id" <= ${lastId}
          AND (${condition})`,
      )) as [Row];

      if (firstId === null) return;

      if (pass === MAX_TABLE_LOCK_ATTEMPTS) {
        throw new Error(`rows of ${table} could not be filled: ${condition}`);
      }

      // Gives other transactions time to unlock the rows that the previous pass skipped.
      if (pass > 0) await sleep(TABLE_LOCK_RETRY_PAUSE_MS);

      // Leaves rows locked by other transactions to the next pass, because waiting for them could
      // deadlock.
      const updateUnlockedSql = (idRangeSql: string) =>
        updateSql(
          `"id" IN (SELECT "id" FROM "${table}" WHERE ${idRangeSql} AND (${condition}) FOR NO KEY
            UPDATE SKIP LOCKED)`,
        );

      await this.updateIdRange(table, firstId, lastId, updateUnlockedSql);
    }
  }

  private async updateIdRange(
    table: string,
    firstId: number,
    lastId: number,
    batchUpdateSql: (idRangeSql: string) => string,
  ): Promise<void> {
    let startId = firstId;
    let batchSize = FIRST_BATCH_ROWS;

    while (startId <= lastId) {
      const [{ end: endId }] = (await this.run(
        `SELECT max("id")::float8 AS "end"
          FROM (SELECT "id" FROM "${table}" WHERE "id" BETWEEN ${startId} AND ${lastId}
          ORDER BY "id" LIMIT ${batchSize}) AS "batch"`,
      )) as [Row];

      if (endId === null) return;
      const startedAt = performance.now();

      await this.run(
        `${backfillSettingSql('on')}; ${batchUpdateSql(`"id" BETWEEN ${startId} AND ${endId}`)}`,
      );
      const durationMs = performance.now() - startedAt;

      await sleep(durationMs * PAUSE_TO_BATCH_DURATION_RATIO);
      // The batch size at most doubles: a batch in which few rows needed the update does not show
      // how long the next one will take.
      const growthFactor = Math.min(2, Math.max(0.1, TARGET_BATCH_MS / durationMs));

      batchSize = Math.round(Math.min(MAX_BATCH_ROWS, batchSize * growthFactor));
      startId = (endId as number) + 1;
    }
  }

  private async hasConstraint(table: string, name: string): Promise<boolean> {
    const rows = await this.run(
      `SELECT FROM pg_constraint WHERE conrelid = '"${table}"'::regclass
            AND conname = '${name}'`,
    );

    return rows.length > 0;
  }

  private async dropInvalidIndex(name: string): Promise<void> {
    const { rowCount } = await this.client.query(
      'SELECT FROM pg_index WHERE indexrelid = to_regclass(quote_ident($1)) AND NOT indisvalid',
      [name],
    );

    if (rowCount) await this.client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
  }

  private retry<T>(callback: () => Promise<T>): Promise<T> {
    return this.onLockConflict ? retryLockConflicts(callback, this.onLockConflict) : callback();
  }
}
