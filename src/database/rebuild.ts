/** A schema that is not as its migrations made it – a table was dropped perhaps – is made anew, in the transaction of whoever restores its rows. */
import type { ClientBase } from 'pg';
import { applyWithin, MIGRATION_TABLE } from './migrate';

/** What extensions brought stays. */
const own = (catalogue: string, namespace: string) => `FROM ${catalogue} o
  WHERE o.${namespace} = quote_ident(current_schema())::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass AND d.objid = o.oid AND d.deptype = 'e')`;

/** One after the other: what depends on a thing goes with it. */
const EVERYTHING = [
  `SELECT format('DROP VIEW %s', oid::regclass) AS "sql" ${own('pg_class', 'relnamespace')} AND relkind = 'v'`,
  `SELECT format('DROP TABLE %s', oid::regclass) AS "sql" ${own('pg_class', 'relnamespace')} AND relkind IN ('r', 'p')`,
  `SELECT format('DROP ROUTINE %s', oid::regprocedure) AS "sql" ${own('pg_proc', 'pronamespace')}`,
  `SELECT format('DROP COLLATION %I', collname) AS "sql" ${own('pg_collation', 'collnamespace')}`,
];

/** Drops all that is in the schema, rows and all, and applies these migrations. */
export async function rebuildWithin(client: ClientBase, migrations: readonly string[]): Promise<void> {
  for (const query of EVERYTHING)
    for (const { sql } of (await client.query(query)).rows as { sql: string }[])
      await client.query(`${sql.replace(/^DROP (\w+)/, 'DROP $1 IF EXISTS')} CASCADE`);
  await client.query(MIGRATION_TABLE);
  await applyWithin(client, migrations);
}
