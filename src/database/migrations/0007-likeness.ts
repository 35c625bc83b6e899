/** Search by likeness: whether a folded text has words like a folded term, and how like it is. */
import type { Migration } from '../migrate';

/** Without trigrams only what contains the term is found, the shorter the text the higher. */
export const up: Migration = async (query) => {
  await query(`
DO $migration$
DECLARE
  trigram_schema text;
BEGIN
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    -- No more volatile and no stricter than its operator, so that it is unfolded in the statement and an index can answer.
    EXECUTE replace($function$
      CREATE FUNCTION "search_similar"(text, text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
      AS $body$ SELECT $1 OPERATOR(trigrams.%>>) $2 $body$
    $function$, 'trigrams', trigram_schema);
    EXECUTE replace($function$
      CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT round(500000 * (trigrams.word_similarity($2, $1) + trigrams.similarity($2, $1)))::integer $body$
    $function$, 'trigrams', trigram_schema);
  ELSE
    CREATE FUNCTION "search_similar"(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT false $body$;
    CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT CASE WHEN strpos($1, $2) > 0 THEN 1000000 * char_length($2)::bigint / greatest(char_length($1), 1) ELSE 0 END::integer $body$;
  END IF;
END $migration$;
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "search_rank"(text, text);
DROP FUNCTION "search_similar"(text, text);
`);
};
