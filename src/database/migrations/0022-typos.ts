/**
 * Search that forgives slips: each word of a term is to be like some word of a name. Words are alike if they differ by accents, by doubled
 * letters, or by one letter that is missing, too many, wrong, or swapped with its neighbour. All words of names are noted once, with keys – how
 * a slip may leave them – in an index; what is like a word of a term is found there, and the names with those words by another index.
 */
import type { Migration } from '../migrate';

/** Nothing of a word, in texts without capitals: blanks, signs and punctuation. */
const BETWEEN = String.raw`[\x01-\x2f\x3a-\x60\x7b-\xbf\u2000-\u206f\u3000-\u303f]+`;

/** What has digits is a number or a code, and very short words are like too many others. */
const isSpelled = (word: string) => `${word} ~ '^[^0-9]{4,40}$'`;

const NAMED = ['exercise', 'ingredient'];

export const up: Migration = async (query) => {
  await query(`
DO $migration$
DECLARE
  plain text := '$1';
BEGIN
  -- Accents are marks of their own once a letter is taken apart, which PostgreSQL knows of Unicode's encodings only.
  IF current_setting('server_encoding') = 'UTF8' THEN
    plain := 'CASE WHEN octet_length($1) = char_length($1) THEN $1 ELSE regexp_replace(normalize($1, NFKD), ''[\\u0300-\\u036f]'', '''', ''g'') END';
  END IF;
  -- People write "pullup" too.
  EXECUTE format($function$
    CREATE FUNCTION "search_words"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_remove(regexp_split_to_array(%1$s || CASE WHEN strpos($1, '-') > 0 THEN ' ' || replace(%1$s, '-', '') ELSE '' END, '${BETWEEN}'), '')
  $function$, plain);
END $migration$;

-- What a name's word is found by: the word without doubled letters (=), that without one letter (-), and of a short one also which letter that
-- is and where it stands (^).
CREATE FUNCTION "search_keys"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT '=' || word
    UNION ALL SELECT '-' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 5
    UNION ALL SELECT '^' || i || substr(word, i, 1) || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i
      WHERE char_length($1) BETWEEN 4 AND 5
  ) FROM regexp_replace($1, '(.)\\1+', '\\1', 'g') AS word WHERE ${isSpelled('$1')};
END;

-- The keys of words that are like a word of a term. The shorter it is the less may be wrong about it.
CREATE FUNCTION "search_wanted"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT '=' || word
    UNION ALL SELECT '-' || word
    UNION ALL SELECT '=' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 5
    UNION ALL SELECT '-' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 6
    UNION ALL SELECT '^' || i + step || substr(word, i, 1) || overlay(word PLACING '' FROM i FOR 1)
      FROM generate_series(1, char_length(word)) AS i, (VALUES (-1), (1)) AS v(step) WHERE char_length($1) BETWEEN 4 AND 5
  ) FROM regexp_replace($1, '(.)\\1+', '\\1', 'g') AS word WHERE ${isSpelled('$1')};
END;

-- Those of all names, now or ever: what no name has any more finds none. Some stand here twice, because nobody waits for what others note.
CREATE TABLE "search_word" (
  "word" text COLLATE "C" NOT NULL,
  "keys" text[] COLLATE "C" NOT NULL
);
CREATE INDEX ON "search_word" ("word");

CREATE FUNCTION "search_note"(text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
  INSERT INTO "search_word" SELECT n.word, "search_keys"(n.word) FROM unnest($1) AS n(word)
    WHERE ${isSpelled('n.word')} AND NOT EXISTS (SELECT FROM "search_word" w WHERE w."word" = n.word);
END;

CREATE FUNCTION "fitgraph_words_noted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    PERFORM "search_note"(ARRAY(SELECT DISTINCT unnest(c."name_words")
      FROM former f JOIN changed c ON c."id" = f."id" AND c."name_words" <> f."name_words"));
  ELSE
    PERFORM "search_note"(ARRAY(SELECT DISTINCT unnest(c."name_words") FROM changed c));
  END IF;
  RETURN NULL;
END $$;
${NAMED.map(
  (table) => `
ALTER TABLE "${table}" ADD COLUMN "name_words" text[] COLLATE "C" GENERATED ALWAYS AS ("search_words"("search_fold"("name"))) STORED;
CREATE INDEX "${table}_name_words" ON "${table}" USING gin ("name_words");
CREATE TRIGGER "${table}_insert_words_noted" AFTER INSERT ON "${table}"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
CREATE TRIGGER "${table}_update_words_noted" AFTER UPDATE ON "${table}"
  REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
SELECT "search_note"(ARRAY(SELECT DISTINCT unnest("name_words") FROM "${table}"));`,
).join('\n')}

-- There are few new words, and none of them is to make searches slower until it is in its place.
CREATE INDEX ON "search_word" USING gin ("keys") WITH (fastupdate = off);

DO $migration$
DECLARE
  trigram_schema text;
  likeness text := '1000000 * least(char_length($1), char_length($2)) / greatest(char_length($1), char_length($2), 1)';
  resembling text := '';
BEGIN
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    EXECUTE format('CREATE INDEX ON "search_word" USING gin ("word" %s.gin_trgm_ops) WITH (fastupdate = off)', trigram_schema);
    likeness := replace('500000 * (trigrams.word_similarity($2, $1) + trigrams.similarity($2, $1))', 'trigrams', trigram_schema);
    -- A long word may have several slips.
    resembling := replace('UNION SELECT w."word" FROM "search_word" w WHERE char_length($1) >= 8
      AND w."word" OPERATOR(trigrams.%) $1 AND trigrams.similarity(w."word", $1) >= 0.5', 'trigrams', trigram_schema);
  END IF;

  -- The words of names that are like a folded word, itself among them. PostgreSQL expects more words to have a key than there ever are.
  EXECUTE replace($function$
    CREATE FUNCTION "search_alike"(text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE SET enable_seqscan = off
    BEGIN ATOMIC
      SELECT "search_words"($1) || ARRAY(
        SELECT w."word" FROM "search_word" w WHERE w."keys" && "search_wanted"(("search_words"($1))[1]) resembling);
    END
  $function$, 'resembling', resembling);

  DROP FUNCTION "search_rank"(text, text);
  -- Whole names first, then those that begin with the term, those with a word that does, those that contain it; then by likeness.
  EXECUTE replace($function$
    CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN $1 = $2 THEN 4000000 WHEN starts_with($1, $2) THEN 3000000 WHEN strpos(' ' || $1, ' ' || $2) > 0 THEN 2000000
      WHEN strpos($1, $2) > 0 THEN 1000000 ELSE 0 END + least(999999, likeness)::integer
  $function$, 'likeness', likeness);
END $migration$;

-- Whether a folded text has a word that is like a folded one, where its words are not noted.
CREATE FUNCTION "search_resembles"(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 2000
RETURN EXISTS (
  SELECT FROM unnest("search_words"($1)) AS w(word), (SELECT ("search_words"($2))[1] AS word) t
    WHERE w.word = t.word OR (char_length(w.word) BETWEEN char_length(t.word) - 3 AND char_length(t.word) + 6
      AND "search_keys"(w.word) && "search_wanted"(t.word)));
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "search_resembles"(text, text);
DROP FUNCTION "search_alike"(text);
DROP FUNCTION "fitgraph_words_noted"() CASCADE;
DROP FUNCTION "search_note"(text[]);
${NAMED.map((table) => `ALTER TABLE "${table}" DROP COLUMN "name_words";`).join('\n')}
DROP TABLE "search_word";
DROP FUNCTION "search_wanted"(text);
DROP FUNCTION "search_keys"(text);
DROP FUNCTION "search_words"(text);

DO $migration$
DECLARE
  trigram_schema text;
BEGIN
  DROP FUNCTION "search_rank"(text, text);
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    EXECUTE replace($function$
      CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT round(500000 * (trigrams.word_similarity($2, $1) + trigrams.similarity($2, $1)))::integer $body$
    $function$, 'trigrams', trigram_schema);
  ELSE
    CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT CASE WHEN strpos($1, $2) > 0 THEN 1000000 * char_length($2)::bigint / greatest(char_length($1), 1) ELSE 0 END::integer $body$;
  END IF;
END $migration$;
`);
};
