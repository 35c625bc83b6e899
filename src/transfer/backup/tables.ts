/** What of the database a backup holds: all tables but those that tell of the database itself. */
import { Client } from 'pg';
import type { Database } from '../../database/connection';
import type { SequenceState, TableShape } from './description';

/** Of changes, whose numbers are this database's; of what was restored; and of what is lost with every crash anyhow. */
export const LOGS = ['change', 'table_change', 'change_log', 'former_change_log', 'restored', 'budget'];
const OF_THIS_DATABASE = ['migration', ...LOGS];

/** A connection of one's own, on which work takes as long as it takes. */
export async function ownConnection(database: Database): Promise<Client> {
  const client = new Client({
    ...database.direct,
    application_name: 'fitgraph backup',
    keepAlive: true,
    options: '-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0 -c DateStyle=ISO,YMD -c TimeZone=UTC',
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** By name. Generated columns are left out: the database works them out. */
export async function tablesOf(client: Client): Promise<TableShape[]> {
  const { rows } = await client.query(
    `SELECT c.relname AS "name", array_agg(a.attname::text ORDER BY a.attnum) AS "columns"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       AND c.relname <> ALL($1)
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     GROUP BY c.relname ORDER BY c.relname`,
    [OF_THIS_DATABASE],
  );
  return rows as TableShape[];
}

/** Those of columns. They count on while others write, so that what they say is never behind the rows that were read before. */
export async function sequencesOf(client: Client, tables: readonly TableShape[]): Promise<SequenceState[]> {
  const { rows } = await client.query(
    `SELECT c.relname AS "table", a.attname AS "column", pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS "sequence"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relname = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped
       AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL
     ORDER BY 1, 2`,
    [tables.map(({ name }) => name)],
  );
  const states: SequenceState[] = [];
  for (const { table, column, sequence } of rows) {
    const [state] = (await client.query(`SELECT "last_value"::text AS "last", "is_called" AS "called" FROM ${sequence}`)).rows;
    states.push({ table, column, ...state });
  }
  return states;
}
