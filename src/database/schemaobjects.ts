/**
 * Schema comparison: the objects of a database and how they differ from those that the migrations create. The expected objects are in `schemaobjects.json`,
 * which `npm run describe:database` generates from a migrated database and a test keeps up to date. Definitions contain only what PostgreSQL 14 and all later
 * versions print in the same form. They omit the names of roles and of the schema, which differ between installations.
 */
import type { ClientBase } from 'pg';
import expected from './schemaobjects.json';
import { viewerRoleOf } from './viewerrole';

/** Definitions of objects by their kind and name, such as `index workout_log.workout_log_pkey`. */
export type SchemaObjectDefinitions = Record<string, string>;

export interface SchemaDifferences {
  /** One line for each schema object that is missing, unusable or different from the one that the migrations create. */
  defects: string[];
  /** Whether a table or column is missing, so that statements fail. */
  isSchemaIncomplete: boolean;
  /** Schema objects that no migration creates. Extensions and policies of other roles are omitted, because administrators may need them. */
  unknownObjects: string[];
}

interface ObjectRow {
  name: string;
  definition: string;
  /** Defect of an existing object, such as "disabled"; null if it has none. */
  defect: string | null;
}

const VIEWER_ROLE_PLACEHOLDER = '(viewer role)';

const isInCurrentSchemaSql = (column: string) => `${column} = quote_ident(current_schema())::regnamespace`;
const isNotOfExtensionSql = (catalogue: string, oidSql: string) =>
  `NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass AND d.objid = ${oidSql} AND d.deptype = 'e')`;

const TABLES_SQL = `
  SELECT 'table ' || c.relname, concat_ws(' ', CASE c.relkind WHEN 'p' THEN 'partitioned' END, CASE c.relpersistence WHEN 'u' THEN 'unlogged' END),
    CASE WHEN c.relowner <> (SELECT relowner FROM pg_class WHERE oid = to_regclass('migration')) THEN 'owned by another role' END
  FROM pg_class c WHERE ${isInCurrentSchemaSql('c.relnamespace')} AND c.relkind IN ('r', 'p') AND ${isNotOfExtensionSql('pg_class', 'c.oid')}`;

const VIEWS_SQL = `
  SELECT 'view ' || c.relname, CASE c.relkind WHEN 'm' THEN 'materialized' ELSE '' END, NULL
  FROM pg_class c WHERE ${isInCurrentSchemaSql('c.relnamespace')} AND c.relkind IN ('v', 'm') AND ${isNotOfExtensionSql('pg_class', 'c.oid')}`;

const ROW_SECURITY_SQL = `
  SELECT 'row security ' || c.relname, CASE WHEN c.relforcerowsecurity THEN 'forced' ELSE '' END, NULL
  FROM pg_class c WHERE ${isInCurrentSchemaSql('c.relnamespace')} AND c.relrowsecurity`;

const COLUMNS_SQL = `
  SELECT format('column %s.%s', c.relname, a.attname), concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    'COLLATE ' || CASE WHEN a.attcollation <> t.typcollation THEN l.collname END, CASE WHEN a.attnotnull THEN 'NOT NULL' END,
    'IDENTITY ' || nullif(a.attidentity::text, ''), 'GENERATED ' || nullif(a.attgenerated::text, ''),
    'DEFAULT ' || pg_get_expr(e.adbin, e.adrelid)), NULL
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_collation l ON l.oid = a.attcollation LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
  WHERE ${isInCurrentSchemaSql('c.relnamespace')} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`;

/**
 * SQL: constraints, except constraint triggers, which are listed as triggers, and NOT NULL, which only PostgreSQL 18 and later list as constraints. A
 * foreign key whose triggers are disabled is reported as disabled.
 */
const CONSTRAINTS_SQL = `
  SELECT format('constraint %s.%s', r.relname, c.conname), replace(pg_get_constraintdef(c.oid, true), ' NOT VALID', ''),
    CASE WHEN NOT c.convalidated THEN 'not validated'
      WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = c.oid AND t.tgenabled IN ('D', 'R')) THEN 'disabled' END
  FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid WHERE ${isInCurrentSchemaSql('c.connamespace')} AND c.contype NOT IN ('n', 't')`;

const INDEXES_SQL = `
  SELECT format('index %s.%s', t.relname, c.relname),
    replace(pg_get_indexdef(i.indexrelid), format(' ON %I.', current_schema()), ' ON '),
    CASE WHEN NOT (i.indisvalid AND i.indisready) THEN 'invalid' END
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid WHERE ${isInCurrentSchemaSql('t.relnamespace')} AND t.relkind <> 't'`;

const TRIGGERS_SQL = `
  SELECT format('trigger %s.%s', c.relname, t.tgname), pg_get_triggerdef(t.oid, true), CASE WHEN t.tgenabled IN ('D', 'R') THEN 'disabled' END
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE ${isInCurrentSchemaSql('c.relnamespace')} AND NOT t.tgisinternal`;

const POLICIES_SQL = `
  SELECT format('policy %s.%s', tablename, policyname), concat_ws(' ', permissive, 'FOR ' || cmd,
    'TO ' || (SELECT string_agg(CASE WHEN r = $1 THEN '${VIEWER_ROLE_PLACEHOLDER}' ELSE r END, ', ' ORDER BY r) FROM unnest(roles::text[]) r),
    'USING ' || qual, 'CHECK ' || with_check), NULL
  FROM pg_policies WHERE schemaname = current_schema()`;

/** Ignores collations in the bodies of functions, because migrations choose one that the server supports. */
const ROUTINES_SQL = `
  SELECT format('function %s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
    concat_ws(' ', l.lanname, p.provolatile, CASE WHEN p.prosecdef THEN 'SECURITY DEFINER' END, 
      'body ' || md5(regexp_replace(p.prosrc, 'COLLATE [^ )]+', 'COLLATE', 'g'))), NULL
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE ${isInCurrentSchemaSql('p.pronamespace')} AND ${isNotOfExtensionSql('pg_proc', 'p.oid')}`;

const EXTENSIONS_SQL = `SELECT 'extension ' || extname, '', NULL FROM pg_extension WHERE extname <> 'plpgsql'`;

const SCHEMA_OBJECT_QUERIES = [
  TABLES_SQL,
  VIEWS_SQL,
  ROW_SECURITY_SQL,
  COLUMNS_SQL,
  CONSTRAINTS_SQL,
  INDEXES_SQL,
  TRIGGERS_SQL,
  POLICIES_SQL,
  ROUTINES_SQL,
  EXTENSIONS_SQL,
];
const OBJECTS_SQL = SCHEMA_OBJECT_QUERIES.map(
  (query) => `SELECT "name", "definition", "defect"::text FROM (${query}) AS t("name", "definition", "defect")`,
).join('\nUNION ALL ');

async function queryObjects(client: Pick<ClientBase, 'query'>): Promise<ObjectRow[]> {
  const { rows } = await client.query(`SELECT pg_get_userbyid("relowner") AS "owner" FROM pg_class WHERE "oid" = to_regclass('migration')`);
  const role = viewerRoleOf((rows as [{ owner: string }])[0].owner);
  const objects = (await client.query(OBJECTS_SQL, [role])).rows as ObjectRow[];
  // Sorts by UTF-16 code units, independently of the database's collation.
  return objects.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function describeSchema(client: Pick<ClientBase, 'query'>): Promise<SchemaObjectDefinitions> {
  return Object.fromEntries((await queryObjects(client)).map(({ name, definition }) => [name, definition]));
}

/** Compares the schema of a fully migrated database with the objects that the migrations create. */
export async function compareSchema(client: Pick<ClientBase, 'query'>): Promise<SchemaDifferences> {
  const objects = new Map((await queryObjects(client)).map((row) => [row.name, row]));
  const expectedDefinitionByName = new Map(Object.entries<string>(expected));
  const missingObjectNames = [...expectedDefinitionByName.keys()].filter((name) => !objects.has(name));
  const missingTableNames = new Set(
    missingObjectNames.filter((name) => name.startsWith('table ')).map((name) => name.slice('table '.length)),
  );
  const defects = missingObjectNames.filter((name) => !missingTableNames.has(tableNameOf(name))).map((name) => `${name} is missing`);
  const unknownObjects: string[] = [];
  for (const [name, { definition, defect }] of objects) {
    const expectedDefinition = expectedDefinitionByName.get(name);
    if (expectedDefinition === undefined) {
      if (isPolicyForRequests(name, definition)) defects.push(`${name} applies to requests although no migration created it`);
      else if (!/^(?:policy|extension) /.test(name)) unknownObjects.push(name);
      continue;
    }
    if (defect !== null) defects.push(`${name} is ${defect}`);
    if (definition !== expectedDefinition)
      defects.push(`${name} is ${quoteDefinition(definition)} instead of ${quoteDefinition(expectedDefinition)}`);
  }
  return {
    defects: defects.sort(),
    isSchemaIncomplete: missingObjectNames.some((name) => /^(?:table|column) /.test(name)),
    unknownObjects,
  };
}

/** Whether an object is a policy that applies to the PostgreSQL role of requests: it could show users the rows of others, or hide their own. */
const isPolicyForRequests = (name: string, definition: string): boolean =>
  name.startsWith('policy ') &&
  / TO (.*?)(?: USING | CHECK |$)/
    .exec(definition)![1]!
    .split(', ')
    .some((role) => role === VIEWER_ROLE_PLACEHOLDER || role === 'public');

const tableNameOf = (name: string): string => /^(?:row security |[a-z]+ (?=\S+\.))([^.]+)/.exec(name)?.[1] ?? '';

const quoteDefinition = (definition: string): string => JSON.stringify(definition);
