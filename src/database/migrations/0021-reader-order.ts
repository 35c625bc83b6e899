/**
 * The order in which a reader expects names, by the rules of Unicode, and indexes that have it. A server without ICU orders them by their bytes
 * in this order too.
 */
import type { Migration } from '../migrate';

const INDEXES: [table: string, column: string][] = [
  ['exercise', 'name'],
  ['exercise', 'license_author'],
  ['exercise_comment', 'comment'],
  ['household_unit', 'name'],
  ['ingredient', 'name'],
  ['ingredient', 'license_author'],
];

const nameOf = (table: string, column: string) => `${table}_${column}_reader`;

export const up: Migration = async (query) => {
  await query(`
DO $migration$
DECLARE
  rules text;
BEGIN
  -- ICU has no rules for the bytes of an unknown encoding.
  SELECT "collname" INTO rules FROM "pg_catalog"."pg_collation"
    WHERE "collname" = 'und-x-icu' AND "collnamespace" = 'pg_catalog'::regnamespace AND current_setting('server_encoding') = 'UTF8';
  IF rules IS NULL THEN
    RAISE NOTICE 'PostgreSQL has no ICU here, so names are ordered by their bytes';
  END IF;
  EXECUTE format('CREATE COLLATION "reader" FROM "pg_catalog".%I', coalesce(rules, 'C'));
END $migration$;
${INDEXES.map(([table, column]) => `CREATE INDEX "${nameOf(table, column)}" ON "${table}" ("${column}" COLLATE "reader", "id");`).join('\n')}
`);
};

export const down: Migration = async (query) => {
  await query(`
${INDEXES.map(([table, column]) => `DROP INDEX "${nameOf(table, column)}";`).join('\n')}
DROP COLLATION "reader";
`);
};
