/**
 * Ranks that cost little for each name: of those that contain the term the shorter comes first, and only the others are compared by trigrams,
 * once.
 */
import type { Migration } from '../migrate';

const ranked = (otherwise: string, contained: string) => `
DO $migration$
DECLARE
  trigram_schema text;
  likeness text := '0';
BEGIN
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    likeness := trigram_schema || '.word_similarity($2, $1)';
  END IF;
  EXECUTE replace($function$
    CREATE OR REPLACE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN $1 = $2 THEN 4000000 WHEN starts_with($1, $2) THEN 3000000 WHEN strpos(' ' || $1, ' ' || $2) > 0 THEN 2000000
      WHEN strpos($1, $2) > 0 THEN 1000000 ELSE 0 END
      + (999999 * CASE WHEN strpos($1, $2) > 0 THEN ${contained} ELSE ${otherwise} END)::integer
  $function$, 'likeness', likeness);
END $migration$;
`;

/** The share of the longer text that the shorter one could be. */
const SHARE = 'least(char_length($1), char_length($2))::float8 / greatest(char_length($1), char_length($2), 1)';

export const up: Migration = async (query) => {
  await query(ranked(`(0.8 * likeness + 0.2 * ${SHARE})`, SHARE));
};

export const down: Migration = async (query) => {
  await query(ranked('likeness', 'likeness'));
};
