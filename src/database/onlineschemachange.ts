/**
 * Online schema change: the steps of a migration that runs outside of a transaction while the server handles requests. No step holds a lock that blocks
 * requests for more than a moment. Each step can be repeated, because an interrupted migration starts again from the beginning. A restore runs the same
 * steps in its transaction, in which all tables are locked; there they need neither short locks nor batches.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase, QueryResult } from 'pg';
import {
  retryLockConflicts,
  MAX_TABLE_LOCK_ATTEMPTS,
  TABLE_LOCK_RETRY_PAUSE_MS,
  TABLE_LOCK_TIMEOUT_MS,
} from './lockconflicts';
import type { Row } from './rows';

/** Lock timeout that exceeds PostgreSQL's deadlock_timeout, after which PostgreSQL cancels an autovacuum that blocks the lock. */
const AUTOVACUUM_LOCK_TIMEOUT_MS = 2_000;

/** Target duration of a batch of updates. A request that writes to one of its rows waits until the batch ends. */
const TARGET_BATCH_MS = 100;
const FIRST_BATCH_ROWS = 1_000;
const MAX_BATCH_ROWS = 20_000;
const PAUSE_TO_BATCH_DURATION_RATIO = 0.5;

/**
 * SQL: switches the setting `fitgraph.backfill` on or off. While it is on, the triggers that set row versions and write the change log ignore updates
 * (migrations 0070 and 0081).
 */
const backfillSettingSql = (state: 'on' | 'off') => `SET LOCAL fitgraph.backfill = '${state}'`;

export class OnlineSchemaChange {
  /** `onLockConflict` is called for each lock conflict. Without it, all steps run in the caller's transaction, which must have locked all tables. */
  constructor(
    private readonly client: ClientBase,
    private readonly onLockConflict?: () => void,
  ) {}

  /** Runs statements in one short transaction and returns the rows of the last statement. Repeats the transaction if it does not get its locks in time. */
  async run(sql: string): Promise<Row[]> {
    const text = this.onLockConflict
      ? `SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; ${sql}`
      : sql;
    const results = await this.retry(
      () => this.client.query(text) as Promise<QueryResult | QueryResult[]>,
    );
    return [results].flat().at(-1)!.rows as Row[];
  }

  /**
   * Runs ALTER TABLE with `action`. First acquires a weaker lock, which blocks no request: while the weaker lock is waiting, PostgreSQL cancels a running
   * autovacuum of the table.
   */
  async alterTable(table: string, action: string): Promise<void> {
    const statement = `ALTER TABLE "${table}" ${action}`;
    if (!this.onLockConflict) return void (await this.run(statement));
    const lockSql = `SET LOCAL lock_timeout = ${AUTOVACUUM_LOCK_TIMEOUT_MS}; LOCK TABLE "${table}" IN SHARE UPDATE EXCLUSIVE MODE`;
    await this.retry(() =>
      this.client.query(
        `${lockSql}; SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}; ${statement}`,
      ),
    );
  }

  /** Adds a column. Its default must be constant, because PostgreSQL would otherwise rewrite the table. A NOT NULL column needs a default. */
  async addColumn(table: string, column: string, definition: string): Promise<void> {
    await this.alterTable(table, `ADD COLUMN IF NOT EXISTS "${column}" ${definition}`);
  }

  /** Creates an index on `tableAndColumns`, such as `"workout" ("user_id", "name")`. PostgreSQL waits until all older transactions have ended. */
  async createIndex(name: string, tableAndColumns: string, { unique = false } = {}): Promise<void> {
    const kind = unique ? 'UNIQUE INDEX' : 'INDEX';
    if (!this.onLockConflict)
      return void (await this.client.query(
        `CREATE ${kind} IF NOT EXISTS "${name}" ON ${tableAndColumns}`,
      ));
    await this.retry(async () => {
      // Drops the invalid index that an interrupted attempt to create the index has left behind.
      await this.dropInvalidIndex(name);
      try {
        await this.client.query(
          `CREATE ${kind} CONCURRENTLY IF NOT EXISTS "${name}" ON ${tableAndColumns}`,
        );
      } catch (error) {
        // If creating an index fails, drops the invalid index that remains: an invalid unique index would still reject writes.
        await this.dropInvalidIndex(name);
        throw error;
      }
    });
  }

  async dropIndex(name: string): Promise<void> {
    await this.retry(() =>
      this.client.query(
        `DROP INDEX ${this.onLockConflict ? 'CONCURRENTLY ' : ''}IF EXISTS "${name}"`,
      ),
    );
  }

  /** Adds a CHECK constraint or a foreign key for new rows first and then validates it for all, which blocks neither reads nor writes. */
  async addConstraint(table: string, name: string, definition: string): Promise<void> {
    if (!(await this.hasConstraint(table, name)))
      await this.alterTable(table, `ADD CONSTRAINT "${name}" ${definition} NOT VALID`);
    await this.retry(() =>
      this.client.query(`ALTER TABLE "${table}" VALIDATE CONSTRAINT "${name}"`),
    );
  }

  /** Adds a unique constraint. `columns`: with parentheses, such as `("user_id", "name")`. */
  async addUniqueConstraint(table: string, name: string, columns: string): Promise<void> {
    if (await this.hasConstraint(table, name)) return;
    await this.createIndex(name, `"${table}" ${columns}`, { unique: true });
    await this.alterTable(table, `ADD CONSTRAINT "${name}" UNIQUE USING INDEX "${name}"`);
  }

  /** Sets NOT NULL. PostgreSQL does not scan the table, because a validated CHECK constraint proves that no value is missing. */
  async setNotNull(table: string, column: string): Promise<void> {
    const constraintName = `${column}_is_set`;
    await this.addConstraint(table, constraintName, `CHECK ("${column}" IS NOT NULL)`);
    await this.alterTable(table, `ALTER COLUMN "${column}" SET NOT NULL`);
    await this.alterTable(table, `DROP CONSTRAINT IF EXISTS "${constraintName}"`);
  }

  /**
   * Updates the rows that meet `condition`, in batches of ascending ids. The assignments must make the condition false. Rows inserted in the meantime are not
   * updated, so the column needs a default before this step. Row versions and the change log do not change.
   */
  async updateRows(table: string, assignments: string, condition: string): Promise<void> {
    const updateSql = (rowCondition: string) =>
      `UPDATE "${table}" SET ${assignments} WHERE ${rowCondition}`;
    if (!this.onLockConflict)
      return void (await this.run(
        `${backfillSettingSql('on')}; ${updateSql(condition)}; ${backfillSettingSql('off')}`,
      ));
    const [{ last: lastId }] = (await this.run(
      `SELECT max("id")::float8 AS "last" FROM "${table}"`,
    )) as [{ last: number | null }];
    for (let passCount = 0; lastId !== null; passCount += 1) {
      const [{ first: firstId }] = (await this.run(
        `SELECT min("id")::float8 AS "first" FROM "${table}" WHERE "id" <= ${lastId} AND (${condition})`,
      )) as [Row];
      if (firstId === null) return;
      if (passCount === MAX_TABLE_LOCK_ATTEMPTS)
        throw new Error(`rows of ${table} could not be filled: ${condition}`);
      // Before another pass over the table, waits for other transactions to unlock the rows that the previous pass skipped.
      if (passCount > 0) await sleep(TABLE_LOCK_RETRY_PAUSE_MS);
      await this.updateIdRange(table, firstId, lastId, (idRangeSql) =>
        // Leaves rows locked by other transactions to the next pass: waiting for them could deadlock with a transaction that locks several rows.
        updateSql(
          `"id" IN (SELECT "id" FROM "${table}" WHERE ${idRangeSql} AND (${condition}) FOR NO KEY UPDATE SKIP LOCKED)`,
        ),
      );
    }
  }

  private async updateIdRange(
    table: string,
    firstId: number,
    lastId: number,
    updateSql: (idRangeSql: string) => string,
  ): Promise<void> {
    for (let [startId, batchSize] = [firstId, FIRST_BATCH_ROWS]; startId <= lastId;) {
      const [{ end: endId }] = (await this.run(
        `SELECT max("id")::float8 AS "end" FROM (SELECT "id" FROM "${table}" WHERE "id" BETWEEN ${startId} AND ${lastId} ORDER BY "id" LIMIT ${batchSize}) AS "batch"`,
      )) as [Row];
      if (endId === null) return;
      const startedAt = performance.now();
      await this.run(
        `${backfillSettingSql('on')}; ${updateSql(`"id" BETWEEN ${startId} AND ${endId}`)}`,
      );
      const durationMs = performance.now() - startedAt;
      await sleep(durationMs * PAUSE_TO_BATCH_DURATION_RATIO);
      // The batch size at most doubles: in a batch in which few rows needed the update, the duration does not show how long the next batch will take.
      batchSize = Math.round(
        Math.min(
          MAX_BATCH_ROWS,
          batchSize * Math.min(2, Math.max(0.1, TARGET_BATCH_MS / durationMs)),
        ),
      );
      startId = (endId as number) + 1;
    }
  }

  private async hasConstraint(table: string, name: string): Promise<boolean> {
    return (
      (
        await this.run(
          `SELECT FROM pg_constraint WHERE conrelid = '"${table}"'::regclass AND conname = '${name}'`,
        )
      ).length > 0
    );
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
