/** What a database is like: columns, constraints, indexes, triggers, functions and policies, each in words. Those of extensions are left out. */
const SHAPE = `
  SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS "thing"
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT format('%s %s %s %s', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT format('%s %s', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT oid::regprocedure::text FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  UNION ALL SELECT format('%s %s %s', tablename, policyname, qual) FROM pg_policies
  ORDER BY 1`;

export async function shapeOf(client: { query(text: string): Promise<{ rows: { thing: string }[] }> }): Promise<string[]> {
  return (await client.query(SHAPE)).rows.map(({ thing }) => thing);
}
