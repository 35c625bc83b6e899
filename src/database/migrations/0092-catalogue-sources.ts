/**
 * Foods and exercises of public tables: the id of a row at its source, by which an import updates
 * it; when a person has edited it, so that imports leave it unchanged; and the foods that imports
 * have refused. Exercises have other names, which a search finds, too.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

/** A barcode of GS1 with 14 digits (GS1 General Specifications, section 3.3.2), else null. */
const GTIN_FUNCTION_SQL = `
CREATE OR REPLACE FUNCTION "gtin"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN $1 ~ '^\\d{8}$|^\\d{12,14}$' THEN lpad($1, 14, '0') END;
`;

/**
 * A change of parts or of an id list updates the whole: its version changes and, unless they are
 * images, which imports never replace, it is marked as edited.
 */
const EDITED_FUNCTIONS_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_catalogue_edited"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."edited_at" := now();
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION "fitgraph_catalogue_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET %3$s WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]);
  RETURN NULL;
END $$;
`;

/** SQL condition: the row is changed by a person, not by an import or a migration. */
const IS_EDIT_SQL = `coalesce(current_setting('fitgraph.catalogue_import', true), '') <> 'on'
  AND coalesce(current_setting('fitgraph.backfill', true), '') <> 'on'`;

const editedTriggerSql = (table: string, isChangedSql: string) => `
CREATE OR REPLACE TRIGGER "${table}_edited" BEFORE UPDATE ON "${table}" FOR EACH ROW
  WHEN (${isChangedSql} AND ${IS_EDIT_SQL}) EXECUTE FUNCTION "fitgraph_catalogue_edited"();
`;

const MARK_AS_EDITED_SQL = '"edited_at" = now()';
const KEEP_SQL = '"id" = "id"';

/** Parts and links: the column that refers to the whole, its table, and what becomes of it. */
const PARTS = [
  ['exercise', 'exercise_base_id', 'exercise_base', MARK_AS_EDITED_SQL],
  ['exercise_base_equipment', 'exercise_base_id', 'exercise_base', MARK_AS_EDITED_SQL],
  ['exercise_base_muscle', 'exercise_base_id', 'exercise_base', MARK_AS_EDITED_SQL],
  ['exercise_comment', 'exercise_id', 'exercise', KEEP_SQL],
  ['exercise_image', 'exercise_base_id', 'exercise_base', KEEP_SQL],
  ['ingredient_unit', 'ingredient_id', 'ingredient', MARK_AS_EDITED_SQL],
] as const;

/** Rows are also inserted with their wholes, by seeds and dumps. */
const PART_EVENTS = [
  ['INSERT', 'NEW TABLE AS changed', `current_setting('fitgraph.viewer', true) <> ''`],
  ['UPDATE', 'OLD TABLE AS former NEW TABLE AS changed', IS_EDIT_SQL],
  ['DELETE', 'OLD TABLE AS changed', IS_EDIT_SQL],
] as const;

const partTriggersSql = ([table, ...args]: (typeof PARTS)[number]) =>
  PART_EVENTS.map(
    ([operation, rows, condition]) => `
CREATE OR REPLACE TRIGGER "${table}_${operation.toLowerCase()}_of_whole" AFTER ${operation} ON "${table}" REFERENCING ${rows}
  FOR EACH STATEMENT WHEN (${condition})
  EXECUTE FUNCTION "fitgraph_catalogue_part_changed"(${args.map((arg) => `'${arg}'`).join()});`,
  ).join('');

const ENGLISH_LANGUAGE_ID = 2;

/** SQL: all names of exercise `o`. */
const NAMES_SQL = `coalesce((SELECT string_agg(e."name" || ' ' || e."aliases", ' ' ORDER BY e."id") FROM "exercise" e
  WHERE e."exercise_base_id" = o."id" AND e."status" = '2'), '')`;

/** Adds the names in all languages and the aliases to the function of migration 0091. */
const namedFunctionSql = (names: boolean) => `
CREATE OR REPLACE FUNCTION "fitgraph_exercises_named"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := ARRAY(SELECT DISTINCT "exercise_base_id" FROM changed);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := "bases" || ARRAY(SELECT DISTINCT "exercise_base_id" FROM former);
  END IF;
  -- Of two transactions that cannot see each other's translations, the later one waits here.
  PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
  UPDATE "exercise_base" b SET "name" = n."name"${names ? ', "name_folded" = "search_fold"(n."name"), "names" = n."names"' : ''}
    FROM (SELECT o."id", coalesce((SELECT e."name" FROM "exercise" e WHERE e."exercise_base_id" = o."id" AND e."status" = '2'
        ORDER BY e."status" <> '2', e."language_id" <> ${ENGLISH_LANGUAGE_ID}, e."id" LIMIT 1), '') AS "name"${names ? `, ${NAMES_SQL} AS "names"` : ''}
      FROM "exercise_base" o WHERE o."id" = ANY("bases")) n
    WHERE b."id" = n."id" AND (b."name" <> n."name"${names ? ' OR b."name_folded" <> "search_fold"(n."name") OR b."names" <> n."names"' : ''});
  RETURN NULL;
END $$;
`;

export const up: OnlineMigration = async (change) => {
  await change.run(GTIN_FUNCTION_SQL);
  await change.addColumn('exercise_base', 'source_name', 'varchar(200) COLLATE "C"');

  for (const table of ['ingredient', 'exercise_base']) {
    await change.addColumn(table, 'source_id', 'varchar(200) COLLATE "C"');
    await change.addColumn(table, 'edited_at', 'timestamptz(6)');
    await change.createIndex(
      `${table}_source`,
      `"${table}" ("source_name", "source_id") WHERE "source_id" IS NOT NULL`,
      { unique: true },
    );
  }

  await change.run(EDITED_FUNCTIONS_SQL);

  await change.run(editedTriggerSql('ingredient', 'TRUE'));
  await change.run(editedTriggerSql('exercise_base', 'OLD.* IS DISTINCT FROM NEW.*'));

  for (const part of PARTS) await change.run(partTriggersSql(part));

  await change.addColumn('exercise', 'aliases', `varchar(1000) COLLATE "C" NOT NULL DEFAULT ''`);

  for (const column of ['names', 'name_folded']) {
    await change.addColumn('exercise_base', column, `text COLLATE "C" NOT NULL DEFAULT ''`);
  }

  await change.run(namedFunctionSql(true));
  await change.updateRows(
    'exercise_base',
    `"name_folded" = "search_fold"("name"), "names" = ${NAMES_SQL.replaceAll('o."id"', '"exercise_base"."id"')}`,
    `"name_folded" <> "search_fold"("name") OR "names" <> ${NAMES_SQL.replaceAll('o."id"', '"exercise_base"."id"')}`,
  );
  await change.createIndex(
    'ingredient_imported_gtin',
    '"ingredient" ("gtin"("code")) WHERE "source_id" IS NOT NULL',
    { unique: true },
  );
  await change.createIndex(
    'ingredient_other_gtin',
    '"ingredient" ("gtin"("code")) WHERE "source_id" IS NULL',
  );
  await change.run(`
CREATE TABLE IF NOT EXISTS "refused_food" (
  "source_name" varchar(200) COLLATE "C" NOT NULL,
  "source_id" varchar(200) COLLATE "C" NOT NULL,
  "gtin" text COLLATE "C",
  "name" varchar(200) COLLATE "C" NOT NULL,
  "reason" text COLLATE "C" NOT NULL,
  "refused_at" timestamptz(6) NOT NULL,
  PRIMARY KEY ("source_name", "source_id")
);
CREATE INDEX IF NOT EXISTS "refused_food_gtin" ON "refused_food" ("gtin") WHERE "gtin" IS NOT NULL;
`);
};

export const down: OnlineMigration = async (change) => {
  await change.run('DROP TABLE IF EXISTS "refused_food"');
  await change.dropIndex('ingredient_other_gtin');
  await change.dropIndex('ingredient_imported_gtin');
  await change.run(namedFunctionSql(false));

  for (const column of ['name_folded', 'names', 'source_name']) {
    await change.alterTable('exercise_base', `DROP COLUMN IF EXISTS "${column}"`);
  }

  await change.alterTable('exercise', 'DROP COLUMN IF EXISTS "aliases"');
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_catalogue_part_changed"() CASCADE');
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_catalogue_edited"() CASCADE');

  for (const table of ['ingredient', 'exercise_base']) {
    await change.dropIndex(`${table}_source`);
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "edited_at"');
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "source_id"');
  }

  await change.run('DROP FUNCTION IF EXISTS "gtin"(text)');
};
