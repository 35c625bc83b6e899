/**
 * Lists the tables, columns and sequences that belong to a backup: all except tables that describe
 * this database itself.
 */
import { Client } from 'pg';
import type { Database } from '../../database/connection';
import type { SequenceState, TableDescription } from './manifest';

/**
 * Tables whose rows are not backed up: the change log, whose transaction ids are valid in this
 * database only, the log of restores, and the unlogged table `budget`.
 */
export const EXCLUDED_DATA_TABLES = [
  'change',
  'table_change',
  'change_log',
  'former_change_log',
  'restored',
  'budget',
];
const EXCLUDED_TABLES = ['migration', ...EXCLUDED_DATA_TABLES];

export async function openDedicatedConnection(database: Database): Promise<Client> {
  const client = new Client({
    ...database.directConnectionOptions,
    application_name: 'fitgraph backup',
    keepAlive: true,
    options:
      '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0 -c DateStyle=ISO,YMD -c TimeZone=UTC',
  });

  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Lists the tables and their columns, except generated columns. */
export async function listTables(client: Client): Promise<TableDescription[]> {
  const { rows } = await client.query(
    `SELECT c.relname AS "name", array_agg(a.attname::text ORDER BY a.attnum) AS "columns"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r'
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND c.relname <> ALL($1)
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
       AND d.objid = c.oid AND d.deptype = 'e')
     GROUP BY c.relname ORDER BY c.relname`,
    [EXCLUDED_TABLES],
  );

  return rows as TableDescription[];
}

/**
 * Lists the states of identity sequences. Sequences are not transactional, so call this after
 * reading the rows: then the states cover the ids of all rows that were read.
 */
export async function listSequences(
  client: Client,
  tables: readonly TableDescription[],
): Promise<SequenceState[]> {
  const { rows } = await client.query(
    `SELECT c.relname AS "table", a.attname AS "column",
      pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS "sequence"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relname = ANY($1)
       AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL
     ORDER BY 1, 2`,
    [tables.map(({ name }) => name)],
  );
  const states: SequenceState[] = [];

  for (const { table, column, sequence } of rows) {
    const [state] = (
      await client.query(
        `SELECT "last_value"::text AS "last", "is_called" AS "called" FROM ${sequence}`,
      )
    ).rows;

    states.push({ table, column, ...state });
  }

  return states;
}
