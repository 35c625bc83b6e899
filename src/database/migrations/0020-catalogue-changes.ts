/**
 * The rows of public tables in the log of changes, with no owner, so that clients can keep the catalogue. What a row shows of other rows – the
 * muscles of its base, the exercises that vary it – is part of it.
 */
import type { Migration } from '../migrate';

const TABLES = [
  ...['language', 'day_of_week', 'license', 'repetition_unit', 'weight_unit', 'equipment', 'exercise_category', 'muscle', 'variation'],
  ...['exercise_base', 'exercise', 'exercise_image', 'exercise_comment', 'household_unit', 'ingredient', 'ingredient_unit'],
];

const LINKS = ['exercise_base_muscle', 'exercise_base_equipment'];

const TRANSITIONS = {
  INSERT: 'NEW TABLE AS changed',
  UPDATE: 'OLD TABLE AS former NEW TABLE AS changed',
  DELETE: 'OLD TABLE AS changed',
};

const triggers = (table: string, called: string, call: string, operations = Object.entries(TRANSITIONS)) =>
  operations
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_${called}" AFTER ${operation} ON "${table}"
  REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION ${call}();`,
    )
    .join('');

export const up: Migration = async (query) => {
  await query(`
ALTER TABLE "change" ALTER COLUMN "user_id" DROP NOT NULL;
CREATE INDEX ON "change" ("id") WHERE "user_id" IS NULL;
-- Cursors from before know nothing of the catalogue.
UPDATE "change_log" SET "id" = gen_random_uuid();

CREATE FUNCTION "fitgraph_public_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "change" ("table", "row_id", "operation") SELECT TG_TABLE_NAME, "id", TG_OP FROM changed ORDER BY "id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

-- Exercises show what is their base's, and which exercises vary it. The rows in between are locked, so that of two transactions that
-- do not see each other's rows the later one waits, and tells what both have made.
CREATE FUNCTION "fitgraph_exercises_touched"("bases" integer[], "groups" integer[], "told" integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
  PERFORM FROM "variation" WHERE "id" = ANY("groups") ORDER BY "id" FOR NO KEY UPDATE;
  INSERT INTO "change" ("table", "row_id", "operation")
    SELECT 'exercise', e."id", 'UPDATE' FROM "exercise_base" b JOIN "exercise" e ON e."exercise_base_id" = b."id"
      WHERE (b."id" = ANY("bases") OR b."variation_id" = ANY("groups")) AND e."id" <> ALL("told") ORDER BY e."id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', 'exercise');
  END IF;
END $$;

-- The links of a base that goes itself are not worth a word.
CREATE FUNCTION "fitgraph_base_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := ARRAY(SELECT DISTINCT "exercise_base_id" FROM changed);
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := "bases" || ARRAY(SELECT DISTINCT "exercise_base_id" FROM former);
  END IF;
  INSERT INTO "change" ("table", "row_id", "operation")
    SELECT 'exercise_base', b."id", 'UPDATE' FROM "exercise_base" b WHERE b."id" = ANY("bases") ORDER BY b."id";
  IF FOUND THEN
    PERFORM pg_notify('fitgraph_change', 'exercise_base');
    PERFORM "fitgraph_exercises_touched"("bases", '{}', '{}');
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_bases_shown"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[] := '{}';
  "groups" integer[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := ARRAY(SELECT c."id" FROM changed c);
    "groups" := ARRAY(SELECT unnest(ARRAY[f."variation_id", c."variation_id"]) FROM former f JOIN changed c USING ("id")
      WHERE f."variation_id" IS DISTINCT FROM c."variation_id");
  ELSE
    "groups" := ARRAY(SELECT DISTINCT c."variation_id" FROM changed c);
  END IF;
  PERFORM "fitgraph_exercises_touched"("bases", array_remove("groups", NULL), '{}');
  RETURN NULL;
END $$;

CREATE FUNCTION "fitgraph_exercises_shown"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[];
  "groups" integer[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := ARRAY(SELECT unnest(ARRAY[f."exercise_base_id", c."exercise_base_id"]) FROM former f JOIN changed c USING ("id")
      WHERE (f."exercise_base_id", f."language_id", f."status") IS DISTINCT FROM (c."exercise_base_id", c."language_id", c."status"));
    INSERT INTO "change" ("table", "row_id", "operation")
      SELECT 'exercise_comment', m."id", 'UPDATE' FROM former f JOIN changed c USING ("id") JOIN "exercise_comment" m ON m."exercise_id" = c."id"
        WHERE f."language_id" <> c."language_id" ORDER BY m."id";
    IF FOUND THEN
      PERFORM pg_notify('fitgraph_change', 'exercise_comment');
    END IF;
  ELSE
    "bases" := ARRAY(SELECT DISTINCT c."exercise_base_id" FROM changed c);
  END IF;
  IF "bases" <> '{}' THEN
    PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
    "groups" := ARRAY(SELECT DISTINCT b."variation_id" FROM "exercise_base" b WHERE b."id" = ANY("bases") AND b."variation_id" IS NOT NULL);
    PERFORM "fitgraph_exercises_touched"('{}', "groups", ARRAY(SELECT c."id" FROM changed c));
  END IF;
  RETURN NULL;
END $$;
${TABLES.map((table) => triggers(table, 'row_logged', '"fitgraph_public_rows_changed"')).join('')}
${LINKS.map((table) => triggers(table, 'link_logged', '"fitgraph_base_links_changed"')).join('')}
${triggers('exercise_base', 'shown_logged', '"fitgraph_bases_shown"')}
${triggers('exercise', 'shown_logged', '"fitgraph_exercises_shown"')}
${[...TABLES, ...LINKS]
  .map(
    (table) =>
      `CREATE TRIGGER "${table}_truncate_logged" AFTER TRUNCATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_log_broken"();`,
  )
  .join('\n')}
`);
};

export const down: Migration = async (query) => {
  await query(`
${[...TABLES, ...LINKS].map((table) => `DROP TRIGGER "${table}_truncate_logged" ON "${table}";`).join('\n')}
DROP FUNCTION "fitgraph_public_rows_changed"() CASCADE;
DROP FUNCTION "fitgraph_base_links_changed"() CASCADE;
DROP FUNCTION "fitgraph_bases_shown"() CASCADE;
DROP FUNCTION "fitgraph_exercises_shown"() CASCADE;
DROP FUNCTION "fitgraph_exercises_touched"(integer[], integer[], integer[]);
DELETE FROM "change" WHERE "user_id" IS NULL;
DROP INDEX "change_id_idx";
ALTER TABLE "change" ALTER COLUMN "user_id" SET NOT NULL;
`);
};
