/**
 * Drops foreign keys and indexes during a bulk load
 * (https://www.postgresql.org/docs/current/populate.html): recreating them is much faster than
 * checking and indexing row by row. Unique indexes are kept, so that errors about duplicates still
 * name the row.
 */
import type { ClientBase } from 'pg';
import { LIVE_INSTANCES_SQL } from '../engine/changes/listener';
import { tryLockMigrations } from '../database/migrate';

/**
 * Queries that generate the statements to drop and recreate the foreign keys or indexes of tables.
 */
const FOREIGN_KEY_STATEMENTS_SQL = `SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname,
  c.conname) AS "dropSql",
    format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname,
    pg_get_constraintdef(c.oid)) AS "recreateSql"
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
  WHERE c.contype = 'f' AND t.relname = ANY($1)
    AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;
const INDEX_STATEMENTS_SQL = `SELECT format('DROP INDEX %I', x.relname) AS "dropSql",
  pg_get_indexdef(i.indexrelid) AS "recreateSql"
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE NOT i.indisunique AND NOT i.indisexclusion AND t.relname = ANY($1)
    AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;

/**
 * SQL statements that recreate dropped foreign keys and indexes. They must run in the transaction
 * that dropped them.
 */
export type RecreateStatements = readonly string[];

export async function dropKeysAndIndexes(
  client: ClientBase,
  tables: readonly string[],
): Promise<RecreateStatements> {
  const statements: { dropSql: string; recreateSql: string }[] = [];

  for (const text of [INDEX_STATEMENTS_SQL, FOREIGN_KEY_STATEMENTS_SQL]) {
    statements.push(...(await client.query(text, [tables])).rows);
  }

  for (const { dropSql } of statements) await client.query(dropSql);

  return statements.map(({ recreateSql }) => recreateSql);
}

/** Recreates the dropped foreign keys and indexes. Throws if a row violates a foreign key. */
export async function recreateKeysAndIndexes(
  client: ClientBase,
  statements: RecreateStatements,
): Promise<void> {
  for (const statement of statements) await client.query(statement);
}

/** Minimum number of added rows for which dropping the foreign keys and indexes pays off. */
export const MIN_ROWS_TO_DROP_KEYS = 5_000;

/**
 * Lock timeout. It is short, because other transactions queue behind a requested table lock.
 */
const LOCK_TIMEOUT = '100ms';

/**
 * SQLSTATE codes of errors after which foreign keys and indexes are kept: lock timeout, deadlock,
 * and insufficient privilege (tables of another role).
 */
const EXPECTED_DROP_ERROR_CODES = ['55P03', '40P01', '42501'];

/**
 * Whether a table's foreign keys and indexes may be dropped: no server runs or can start during the
 * transaction, and no more rows exist than will be added.
 */
async function canDropKeys(
  client: ClientBase,
  table: string,
  newRowCount: number,
): Promise<boolean> {
  if (!(await tryLockMigrations(client))) return false;
  const { rows } = await client.query(
    `SELECT NOT EXISTS (SELECT FROM ${LIVE_INSTANCES_SQL})
      AND (SELECT count(*) FROM (SELECT FROM "${table}" LIMIT $1::bigint + 1) AS "some") <= $1 AS
      "hasExclusiveUse"`,
    [newRowCount],
  );

  return (rows as [{ hasExclusiveUse: boolean }])[0].hasExclusiveUse;
}

/**
 * Drops the foreign keys and indexes of a table and returns the statements that recreate them.
 * Drops nothing if a server uses the database, the table cannot be locked or altered, or few rows
 * are added.
 */
export async function dropKeysIfNoServerRuns(
  client: ClientBase,
  table: string,
  newRowCount: number,
): Promise<RecreateStatements> {
  if (newRowCount < MIN_ROWS_TO_DROP_KEYS) return [];
  await client.query('SAVEPOINT "aside"');

  try {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);

    if (await canDropKeys(client, table, newRowCount)) {
      const recreateStatements = await dropKeysAndIndexes(client, [table]);

      if (recreateStatements.length) {
        await client.query('SET LOCAL lock_timeout = 0');
        return recreateStatements;
      }
    }
  } catch (error) {
    if (!EXPECTED_DROP_ERROR_CODES.includes((error as { code: string }).code)) throw error;
  }

  await client.query('ROLLBACK TO SAVEPOINT "aside"');
  return [];
}
