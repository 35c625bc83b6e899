/** Describes tables as PostgreSQL's system catalogue lists them, in a form that can be compared. */
import type { Client } from 'pg';

interface Table {
  columns: Record<string, string>;
  constraints: string[];

  /** Indexes over columns only. */
  indexes: string[];
  triggers: string[];
  policies: string[];
}

/** Without generated columns. */
const COLUMNS = `SELECT c.relname AS "table", a.attname AS "name",
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity <> '' THEN 'IDENTITY' END, 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS "definition"
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relname = ANY($1) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''`;

/** Without constraints that only exist as an index. */
const CONSTRAINTS = `SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS "definition" FROM pg_constraint
  WHERE conrelid::regclass::text = ANY($1) AND contype IN ('p', 'f', 'c')`;

/** SQL: whether an index covers ordinary columns only, without a condition or included columns. */
export const PLAIN = `i.indexprs IS NULL AND i.indpred IS NULL AND i.indnatts = i.indnkeyatts AND NOT EXISTS (
  SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey::int2[]) AND a.attgenerated <> '')`;

/** Without those of primary keys. */
export const INDEXES = `SELECT c.relname AS "table", x.relname AS "name",
    concat(CASE WHEN i.indisunique THEN 'UNIQUE ' END, substring(pg_get_indexdef(x.oid) FROM 'USING .*')) AS "definition"
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  WHERE c.relname = ANY($1) AND NOT i.indisprimary`;

const TRIGGERS = `SELECT tgrelid::regclass::text AS "table", pg_get_triggerdef(oid) AS "definition" FROM pg_trigger
  WHERE tgrelid::regclass::text = ANY($1) AND NOT tgisinternal`;

const POLICIES = `SELECT tablename AS "table", concat_ws(' ', policyname, permissive, roles, cmd, qual, with_check) AS "definition" FROM pg_policies
  WHERE tablename = ANY($1)`;

export async function describeTables(
  client: Client,
  tables: readonly string[],
): Promise<Record<string, Table>> {
  const ask = async (text: string) =>
    (await client.query(text, [tables])).rows as Record<'table' | 'name' | 'definition', string>[];
  const columns = await ask(COLUMNS);
  const [constraints, indexes] = [await ask(CONSTRAINTS), await ask(`${INDEXES} AND ${PLAIN}`)];
  const [triggers, policies] = [await ask(TRIGGERS), await ask(POLICIES)];

  const describe = (name: string): Table => {
    const of = <R extends { table: string }>(rows: readonly R[]) =>
      rows.filter(({ table }) => table === name);
    const definitions = (rows: typeof columns) =>
      of(rows)
        .map(({ definition }) => definition)
        .sort();

    return {
      columns: Object.fromEntries(of(columns).map((column) => [column.name, column.definition])),
      constraints: definitions(constraints),
      indexes: definitions(indexes),
      triggers: definitions(triggers),
      policies: definitions(policies),
    };
  };

  return Object.fromEntries(tables.map((name) => [name, describe(name)]));
}
