/**
 * Describes the schema of a database as sorted lines, one per object, so that two schemas can be
 * compared: definitions, storage options, privileges and comments. Members of extensions and owners
 * are left out.
 */

const PUBLIC = `'public'::regnamespace`;
const isOwn = (catalogue: string, oid: string) =>
  `NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass AND d.objid = ${oid} AND d.deptype = 'e')`;

const RELATIONS = `
  SELECT concat_ws(' ', 'relation', c.oid::regclass, c.relkind, c.relpersistence, c.relreplident, c.reloptions, m.amname,
    CASE WHEN c.relrowsecurity THEN 'row security' END, CASE WHEN c.relforcerowsecurity THEN 'forced' END,
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END)
  FROM pg_class c LEFT JOIN pg_am m ON m.oid = c.relam WHERE c.relnamespace = ${PUBLIC} AND ${isOwn('pg_class', 'c.oid')}`;

/** Column positions do not count dropped columns. */
const COLUMNS = `
  SELECT concat_ws(' ', 'column', format('%s.%s', c.oid::regclass, a.attname),
    row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), format_type(a.atttypid, a.atttypmod), l.collname,
    CASE WHEN a.attnotnull THEN 'NOT NULL' END, 'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
    'default ' || pg_get_expr(e.adbin, e.adrelid), a.attstorage, nullif(a.attcompression::text, ''), a.attstattarget, a.attoptions, a.attacl)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
  WHERE c.relnamespace = ${PUBLIC} AND c.relkind IN ('r', 'p', 'v', 'm', 'c') AND a.attnum > 0 AND NOT a.attisdropped`;

const CONSTRAINTS = `
  SELECT format('constraint %s.%s %s %s', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE connamespace = ${PUBLIC}`;

const INDEXES = `
  SELECT concat_ws(' ', indexrelid::regclass, pg_get_indexdef(indexrelid), CASE WHEN NOT indisvalid THEN 'invalid' END,
    CASE WHEN indisclustered THEN 'clustered' END, CASE WHEN indisreplident THEN 'replica identity' END)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = ${PUBLIC}`;

const SEQUENCES = `
  SELECT concat_ws(' ', 'sequence', s.seqrelid::regclass, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle,
    'of ' || (SELECT pg_describe_object(o.refclassid, o.refobjid, o.refobjsubid) FROM pg_depend o
      WHERE o.classid = 'pg_class'::regclass AND o.objid = s.seqrelid AND o.deptype IN ('a', 'i')))
  FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace = ${PUBLIC}`;

const ROUTINES = `
  SELECT CASE WHEN p.prokind = 'a'
    THEN format('aggregate %s %s', p.oid::regprocedure, (SELECT to_jsonb(g) - 'aggfnoid' FROM pg_aggregate g WHERE g.aggfnoid = p.oid))
    ELSE pg_get_functiondef(p.oid) END
  FROM pg_proc p WHERE p.pronamespace = ${PUBLIC} AND ${isOwn('pg_proc', 'p.oid')}`;

const TRIGGERS = `SELECT format('%s %s', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal`;

const POLICIES = `
  SELECT concat_ws(' ', 'policy', tablename, policyname, permissive, roles, cmd, 'USING ' || qual, 'CHECK ' || with_check)
  FROM pg_policies WHERE schemaname = 'public'`;

const COLLATIONS = `
  SELECT format('collation %s', to_jsonb(c) - ARRAY['oid', 'collnamespace', 'collowner']) FROM pg_collation c WHERE c.collnamespace = ${PUBLIC}`;

const EXTENSIONS = `SELECT format('extension %s in %s', extname, extnamespace::regnamespace) FROM pg_extension`;

const PRIVILEGES = `
  SELECT format('%s on %s to %s', g.privilege_type, o.name, g.grantee::regrole)
  FROM (SELECT oid::regclass::text AS name, relowner AS owner, relacl AS acl FROM pg_class WHERE relnamespace = ${PUBLIC}
    UNION ALL SELECT oid::regprocedure::text, proowner, proacl FROM pg_proc WHERE pronamespace = ${PUBLIC}) o, aclexplode(o.acl) g
  WHERE g.grantee <> o.owner`;

const COMMENTS = `
  SELECT format('comment on %s: %s', pg_describe_object(c.classoid, c.objoid, c.objsubid), c.description) FROM pg_description c
  WHERE c.objoid >= 16384 AND c.classoid <> 'pg_extension'::regclass
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.classoid AND d.objid = c.objoid AND d.deptype = 'e')`;

const OBJECTS = [
  RELATIONS,
  COLUMNS,
  CONSTRAINTS,
  INDEXES,
  SEQUENCES,
  ROUTINES,
  TRIGGERS,
  POLICIES,
  COLLATIONS,
  EXTENSIONS,
  PRIVILEGES,
  COMMENTS,
];
const SHAPE = OBJECTS.map((query) => `SELECT * FROM (${query}) AS t("thing")`).join('\nUNION ALL ');

export async function shapeOf(client: {
  query(text: string): Promise<{ rows: { thing: string }[] }>;
}): Promise<string[]> {
  return (await client.query(`${SHAPE}\nORDER BY 1`)).rows.map(({ thing }) => thing);
}
