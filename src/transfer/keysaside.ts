/**
 * Foreign keys and indexes that are set aside while many rows come, and made again for all of them at once: in a fraction of the time that looking
 * each row up, and putting it into each index, takes, and whatever the order of the tables. Unique indexes stay, so that PostgreSQL still says of
 * which row it is what they refuse.
 */
import type { ClientBase } from 'pg';
import { INSTANCES } from '../core/changes/listener';
import { tryLockMigrations } from '../database/migrate';

/** What there is of them, as statements that take them off and make them again. */
const KEYS = `SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) AS "off",
    format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid)) AS "again"
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
  WHERE c.contype = 'f' AND t.relname = ANY($1) AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;
const INDEXES = `SELECT format('DROP INDEX %I', x.relname) AS "off", pg_get_indexdef(i.indexrelid) AS "again"
  FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE NOT i.indisunique AND NOT i.indisexclusion AND t.relname = ANY($1) AND t.relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1`;

/** The statements that make again what is off now. In the caller's transaction, which has the tables for itself. */
export type Aside = readonly string[];

export async function setAside(client: ClientBase, tables: readonly string[]): Promise<Aside> {
  const pieces: { off: string; again: string }[] = [];
  for (const text of [INDEXES, KEYS]) pieces.push(...(await client.query(text, [tables])).rows);
  for (const { off } of pieces) await client.query(off);
  return pieces.map(({ again }) => again);
}

/** Throws where a row refers to one that is not there. */
export async function putBack(client: ClientBase, aside: Aside): Promise<void> {
  for (const again of aside) await client.query(again);
}

/** Of fewer rows what is saved is less than what it takes to look. */
export const MANY = 5_000;

/** How long others are kept waiting for the locks that this takes. */
const PATIENCE = '100ms';
/** Somebody has a lock, or two have each other's; or the tables are those of another role. */
const NOT_OURS = ['55P03', '40P01', '42501'];

/** No server runs, nor starts before the end of the transaction; and most of what the table will hold is coming. */
async function isAlone(client: ClientBase, table: string, coming: number): Promise<boolean> {
  if (!(await tryLockMigrations(client))) return false;
  const { rows } = await client.query(
    `SELECT NOT EXISTS (SELECT FROM ${INSTANCES}) AND (SELECT count(*) FROM (SELECT FROM "${table}" LIMIT $1::bigint + 1) AS "some") <= $1 AS "alone"`,
    [coming],
  );
  return (rows as [{ alone: boolean }])[0].alone;
}

/** For the rows that come, where nobody waits for the table or those that it refers to meanwhile; nothing is set aside otherwise. */
export async function setAsideAlone(client: ClientBase, table: string, coming: number): Promise<Aside> {
  if (coming < MANY) return [];
  await client.query('SAVEPOINT "aside"');
  try {
    await client.query(`SET LOCAL lock_timeout = '${PATIENCE}'`);
    const aside = (await isAlone(client, table, coming)) ? await setAside(client, [table]) : [];
    if (aside.length) {
      await client.query('SET LOCAL lock_timeout = 0');
      return aside;
    }
  } catch (error) {
    if (!NOT_OURS.includes((error as { code: string }).code)) throw error;
  }
  await client.query('ROLLBACK TO SAVEPOINT "aside"');
  return [];
}
