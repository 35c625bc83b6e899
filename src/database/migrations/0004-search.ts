/** Search by a part of a name: how names are compared whatever their case, and trigram indexes where the server has them. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
DO $migration$
DECLARE
  unicode_rules text;
  trigram_schema text;
BEGIN
  -- Text columns compare byte by byte. PostgreSQL 17 brings Unicode's rules along, older servers have them from ICU; where there is
  -- neither, those of the database must do.
  SELECT "collname" INTO unicode_rules FROM "pg_catalog"."pg_collation"
    WHERE "collname" IN ('pg_c_utf8', 'und-x-icu') AND "collnamespace" = 'pg_catalog'::regnamespace
    AND "collencoding" IN (-1, (SELECT "encoding" FROM "pg_catalog"."pg_database" WHERE "datname" = current_database()))
    ORDER BY "collname" = 'pg_c_utf8' DESC LIMIT 1;

  -- Letters with two lower-case forms but one capital are the same letter.
  EXECUTE format($function$
    CREATE FUNCTION "search_fold"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $body$ SELECT translate(lower($1 COLLATE %I), 'ςıſ', 'σis') $body$
  $function$, coalesce(unicode_rules, 'default'));

  -- Kept beside each name: folding anew for each row and search would cost more than the search.
  ALTER TABLE "exercise" ADD COLUMN "name_folded" text COLLATE "C" GENERATED ALWAYS AS ("search_fold"("name")) STORED;
  ALTER TABLE "ingredient" ADD COLUMN "name_folded" text COLLATE "C" GENERATED ALWAYS AS ("search_fold"("name")) STORED;

  -- A server without the extension, or an account that may not create it, searches without an index.
  BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE NOTICE 'pg_trgm is not available, so searches read whole tables: %', SQLERRM;
  END;
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    EXECUTE format('CREATE INDEX "exercise_name_search" ON "exercise" USING gin ("name_folded" %s.gin_trgm_ops)', trigram_schema);
    EXECUTE format('CREATE INDEX "ingredient_name_search" ON "ingredient" USING gin ("name_folded" %s.gin_trgm_ops)', trigram_schema);
  END IF;
END $migration$;
`);
};

/** The extension stays: others may use it by now. */
export const down: Migration = async (query) => {
  await query(`
ALTER TABLE "ingredient" DROP COLUMN "name_folded";
ALTER TABLE "exercise" DROP COLUMN "name_folded";
DROP FUNCTION "search_fold"(text);
`);
};
