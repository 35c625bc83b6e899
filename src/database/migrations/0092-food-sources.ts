/**
 * Foods of public tables: the id of a food at its source, by which an import updates it; when a
 * person has edited it, so that imports leave it unchanged; and the foods that imports have refused.
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
 * A food of a source that a person changes here is no longer updated by imports, which set
 * `fitgraph.catalogue_import`.
 */
const EDITED_TRIGGER_SQL = `
CREATE OR REPLACE FUNCTION "fitgraph_food_edited"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."edited_at" := now();
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "ingredient_edited" BEFORE UPDATE ON "ingredient" FOR EACH ROW
  WHEN (NEW."source_id" IS NOT NULL AND coalesce(current_setting('fitgraph.catalogue_import', true), '') <> 'on'
    AND coalesce(current_setting('fitgraph.backfill', true), '') <> 'on')
  EXECUTE FUNCTION "fitgraph_food_edited"();
`;

export const up: OnlineMigration = async (change) => {
  await change.run(GTIN_FUNCTION_SQL);
  await change.addColumn('ingredient', 'source_id', 'varchar(200) COLLATE "C"');
  await change.addColumn('ingredient', 'edited_at', 'timestamptz(6)');
  await change.run(EDITED_TRIGGER_SQL);
  await change.createIndex(
    'ingredient_source',
    '"ingredient" ("source_name", "source_id") WHERE "source_id" IS NOT NULL',
    { unique: true },
  );
  await change.createIndex(
    'ingredient_imported_gtin',
    '"ingredient" ("gtin"("code")) WHERE "source_id" IS NOT NULL AND "gtin"("code") IS NOT NULL',
    { unique: true },
  );
  await change.createIndex(
    'ingredient_other_gtin',
    '"ingredient" ("gtin"("code")) WHERE "source_id" IS NULL AND "gtin"("code") IS NOT NULL',
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
  await change.dropIndex('ingredient_source');
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_food_edited"() CASCADE');
  await change.alterTable('ingredient', 'DROP COLUMN IF EXISTS "edited_at"');
  await change.alterTable('ingredient', 'DROP COLUMN IF EXISTS "source_id"');
  await change.run('DROP FUNCTION IF EXISTS "gtin"(text)');
};
