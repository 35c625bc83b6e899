/**
 * Drops foreign keys and indexes during a bulk load (https://www.postgresql.org/docs/current/populate.html). Recreating them afterwards takes a fraction of the
 * time of checking and indexing row by row, and allows tables to be loaded in any order. Unique indexes are kept, so that their errors still name the row.
 */
import type { ClientBase } from 'pg';
import { LIVE_INSTANCES_SQL } from '../core/changes/listener';
import { tryLockMigrations } from '../database/migrate';

/** SQL: generates the statements that drop and recreate the foreign keys or indexes of tables. */
const FOREIGN_KEY_STATEMENTS_SQL = `SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) AS "dropSql",
    format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) AS "recreateSql"
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
  WHERE c.contype = 'f' AND t.relname = ANY($1) AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;
const INDEX_STATEMENTS_SQL = `SELECT format('DROP INDEX %I', x.relname) AS "dropSql", pg_get_indexdef(i.indexrelid) AS "recreateSql"
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE NOT i.indisunique AND NOT i.indisexclusion AND t.relname = ANY($1) AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;

/** Statements that recreate the dropped foreign keys and indexes. Must run in the transaction that dropped them. */
export type RecreationStatements = readonly string[];

export async function dropKeysAndIndexes(
  client: ClientBase,
  tables: readonly string[],
): Promise<RecreationStatements> {
  const statements: { dropSql: string; recreateSql: string }[] = [];
  for (const text of [INDEX_STATEMENTS_SQL, FOREIGN_KEY_STATEMENTS_SQL])
    statements.push(...(await client.query(text, [tables])).rows);
  for (const { dropSql } of statements) await client.query(dropSql);
  return statements.map(({ recreateSql }) => recreateSql);
}

/** Recreates the dropped foreign keys and indexes. Throws if a row violates a foreign key. */
export async function recreateKeysAndIndexes(
  client: ClientBase,
  statements: RecreationStatements,
): Promise<void> {
  for (const statement of statements) await client.query(statement);
}

export const MIN_ROWS_TO_DROP_KEYS = 5_000;

/** Maximum wait for a table lock. It is short, because other transactions queue behind the requested lock. */
const LOCK_TIMEOUT = '100ms';
/** SQLSTATE codes of errors after which foreign keys and indexes are kept: lock timeout, deadlock, and insufficient privilege (tables of another role). */
const EXPECTED_DROP_ERROR_CODES = ['55P03', '40P01', '42501'];

/**
 * Whether the foreign keys and indexes of a table may be dropped: no server runs or can start during the transaction, and the table does not have more
 * rows than will be added.
 */
async function canDropKeys(
  client: ClientBase,
  table: string,
  newRowCount: number,
): Promise<boolean> {
  if (!(await tryLockMigrations(client))) return false;
  const { rows } = await client.query(
    `SELECT NOT EXISTS (SELECT FROM ${LIVE_INSTANCES_SQL}) AND (SELECT count(*) FROM (SELECT FROM "${table}" LIMIT $1::bigint + 1) AS "some") <= $1 AS "hasExclusiveUse"`,
    [newRowCount],
  );
  return (rows as [{ hasExclusiveUse: boolean }])[0].hasExclusiveUse;
}

/**
 * Drops the foreign keys and indexes of one table and returns the statements that recreate them. Drops nothing and returns an empty list if a server
 * uses the database, if the table cannot be locked or altered, or if few rows are added: fewer than MIN_ROWS_TO_DROP_KEYS, or fewer than the table
 * already has.
 */
export async function dropKeysIfNoServerRuns(
  client: ClientBase,
  table: string,
  newRowCount: number,
): Promise<RecreationStatements> {
  if (newRowCount < MIN_ROWS_TO_DROP_KEYS) return [];
  await client.query('SAVEPOINT "aside"');
  try {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    const recreationStatements = (await canDropKeys(client, table, newRowCount))
      ? await dropKeysAndIndexes(client, [table])
      : [];
    if (recreationStatements.length) {
      await client.query('SET LOCAL lock_timeout = 0');
      return recreationStatements;
    }
  } catch (error) {
    if (!EXPECTED_DROP_ERROR_CODES.includes((error as { code: string }).code)) throw error;
  }
  await client.query('ROLLBACK TO SAVEPOINT "aside"');
  return [];
}
