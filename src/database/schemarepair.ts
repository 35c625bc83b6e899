/** Schema repair for restores: recreates a schema that differs from its migrations, within the restore's transaction. */
import type { ClientBase } from 'pg';
import { applyMigrationsWithinTransaction, CREATE_MIGRATION_TABLE_SQL } from './migrate';

/** Returns the FROM and WHERE clauses of a query for the objects of the schema that belong to no extension. */
const schemaObjectsFromClause = (catalogue: string, namespaceColumn: string) => `FROM ${catalogue} o
  WHERE o.${namespaceColumn} = quote_ident(current_schema())::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass AND d.objid = o.oid AND d.deptype = 'e')`;

/** Queries whose rows are DROP statements for all objects. They are executed in this order, with CASCADE. */
const DROP_STATEMENT_QUERIES = [
  `SELECT format('DROP VIEW %s', oid::regclass) AS "sql" ${schemaObjectsFromClause('pg_class', 'relnamespace')} AND relkind = 'v'`,
  `SELECT format('DROP TABLE %s', oid::regclass) AS "sql" ${schemaObjectsFromClause('pg_class', 'relnamespace')} AND relkind IN ('r', 'p')`,
  `SELECT format('DROP ROUTINE %s', oid::regprocedure) AS "sql" ${schemaObjectsFromClause('pg_proc', 'pronamespace')}`,
  `SELECT format('DROP COLLATION %I', collname) AS "sql" ${schemaObjectsFromClause('pg_collation', 'collnamespace')}`,
];

/** Drops everything in the schema including its rows, and applies the migrations. */
export async function rebuildSchemaInTransaction(
  client: ClientBase,
  migrations: readonly string[],
): Promise<void> {
  for (const query of DROP_STATEMENT_QUERIES)
    for (const { sql } of (await client.query(query)).rows as { sql: string }[])
      await client.query(`${sql.replace(/^DROP (\w+)/, 'DROP $1 IF EXISTS')} CASCADE`);
  await client.query(CREATE_MIGRATION_TABLE_SQL);
  await applyMigrationsWithinTransaction(client, migrations);
}
