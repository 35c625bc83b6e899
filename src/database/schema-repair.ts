/**
 * Schema repair for restores: recreates a schema that differs from its migrations, within the
 * restore's transaction.
 */
import type { ClientBase } from 'pg';
import { applyMigrations, CREATE_MIGRATION_TABLE_SQL } from './migrate';

/** FROM and WHERE clauses of a query for the schema's objects that belong to no extension. */
const schemaObjectsSql = (catalogue: string, namespaceColumn: string) => `FROM ${catalogue} o
  WHERE o.${namespaceColumn} = quote_ident(current_schema())::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass
  AND d.objid = o.oid AND d.deptype = 'e')`;

/** Queries that generate the DROP statements for all objects, in the order of their execution. */
const DROP_STATEMENT_QUERIES = [
  `SELECT format('DROP VIEW %s', oid::regclass) AS "sql" ${schemaObjectsSql('pg_class', 'relnamespace')} AND relkind = 'v'`,
  `SELECT format('DROP TABLE %s', oid::regclass) AS "sql" ${schemaObjectsSql('pg_class', 'relnamespace')} AND relkind IN ('r', 'p')`,
  `SELECT format('DROP ROUTINE %s', oid::regprocedure) AS "sql" ${schemaObjectsSql('pg_proc', 'pronamespace')}`,
  `SELECT format('DROP COLLATION %I', collname) AS "sql" ${schemaObjectsSql('pg_collation', 'collnamespace')}`,
];

/** Drops everything in the schema, including all rows, and applies the migrations. */
export async function rebuildSchema(
  client: ClientBase,
  migrations: readonly string[],
): Promise<void> {
  for (const query of DROP_STATEMENT_QUERIES) {
    for (const { sql } of (await client.query(query)).rows as { sql: string }[]) {
      await client.query(`${sql.replace(/^DROP (\w+)/, 'DROP $1 IF EXISTS')} CASCADE`);
    }
  }

  await client.query(CREATE_MIGRATION_TABLE_SQL);
  await applyMigrations(client, migrations);
}
