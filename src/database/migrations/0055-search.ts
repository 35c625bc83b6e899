/**
 * Search by name. Creates the functions that fold names (lower case), split them into words and
 * rank them; the columns and indexes for folded names and words; and the notification that names of
 * ingredients, which every instance caches, have changed.
 *
 * A search tolerates typing errors: each word of the term must be like some word of a name. Words
 * are alike if they differ by accents, by doubled letters, or by one letter that is missing, added,
 * replaced, or swapped with its neighbour. The table "search_word" contains every word once, with
 * indexed keys that it has in common with similar words. Trigrams (the extension pg_trgm, if
 * available) find parts of words, and words with several errors.
 */
import type { Migration } from '../migrate';

/** Regular expression of word separators in lower-case text: spaces, symbols and punctuation. */
const WORD_SEPARATOR_PATTERN = String.raw`[\x01-\x2f\x3a-\x60\x7b-\xbf\u2000-\u206f\u3000-\u303f]+`;

/**
 * SQL: whether a search tolerates typos in a word. It does not in numbers, codes and very short
 * words, which resemble too many others.
 */
const toleratesTypingErrorsSql = (word: string) => `${word} ~ '^[^0-9]{4,40}$'`;

/** SQL: length of the shorter of two texts, divided by that of the longer one. */
const LENGTH_RATIO_SQL =
  'least(char_length($1), char_length($2))::float8 / greatest(char_length($1), char_length($2), 1)';

const SEARCHED_TABLES = ['exercise', 'ingredient'];

const FOLDING_FUNCTIONS_SQL = `
DO $migration$
DECLARE
  unicode_rules text;
  plain text := '$1';
BEGIN
  -- Text columns have a collation without Unicode rules, so lower() needs another one: that built into PostgreSQL 17, else that of ICU, else the database's.
  SELECT "collname" INTO unicode_rules FROM "pg_catalog"."pg_collation"
    WHERE "collname" IN ('pg_c_utf8', 'und-x-icu') AND "collnamespace" = 'pg_catalog'::regnamespace
    AND "collencoding" IN (-1, (SELECT "encoding" FROM "pg_catalog"."pg_database" WHERE "datname" = current_database()))
    ORDER BY "collname" = 'pg_c_utf8' DESC LIMIT 1;

  -- Letters with two lower-case forms but one capital are the same letter.
  EXECUTE format($function$
    CREATE FUNCTION "search_fold"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $body$ SELECT translate(lower($1 COLLATE %I), 'ςıſ', 'σis') $body$
  $function$, coalesce(unicode_rules, 'default'));

  -- Removes accents by decomposing the letters, which PostgreSQL supports only in Unicode encodings.
  IF current_setting('server_encoding') = 'UTF8' THEN
    plain := 'CASE WHEN octet_length($1) = char_length($1) THEN $1 ELSE regexp_replace(normalize($1, NFKD), ''[\\u0300-\\u036f]'', '''', ''g'') END';
  END IF;
  -- A hyphenated word such as "pull-up" is found by its parts and as one word, "pullup".
  EXECUTE format($function$
    CREATE FUNCTION "search_words"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_remove(regexp_split_to_array(%1$s || CASE WHEN strpos($1, '-') > 0 THEN ' ' || replace(%1$s, '-', '') ELSE '' END, '${WORD_SEPARATOR_PATTERN}'), '')
  $function$, plain);
END $migration$;
`;

const SEARCH_KEY_FUNCTIONS_SQL = `
-- The keys of a word of a name: the word with doubled letters reduced to one (=), the same without each single letter (-), and for short words also the
-- omitted letter and its position (^).
CREATE FUNCTION "search_keys"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT '=' || word
    UNION ALL SELECT '-' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 5
    UNION ALL SELECT '^' || i || substr(word, i, 1) || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i
      WHERE char_length($1) BETWEEN 4 AND 5
  ) FROM regexp_replace($1, '(.)\\1+', '\\1', 'g') AS word WHERE ${toleratesTypingErrorsSql('$1')};
END;

-- The keys that are searched for a word of a search term. The shorter the word, the fewer errors are tolerated.
CREATE FUNCTION "search_wanted"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT '=' || word
    UNION ALL SELECT '-' || word
    UNION ALL SELECT '=' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 5
    UNION ALL SELECT '-' || overlay(word PLACING '' FROM i FOR 1) FROM generate_series(1, char_length(word)) AS i WHERE char_length($1) >= 6
    UNION ALL SELECT '^' || i + step || substr(word, i, 1) || overlay(word PLACING '' FROM i FOR 1)
      FROM generate_series(1, char_length(word)) AS i, (VALUES (-1), (1)) AS v(step) WHERE char_length($1) BETWEEN 4 AND 5
  ) FROM regexp_replace($1, '(.)\\1+', '\\1', 'g') AS word WHERE ${toleratesTypingErrorsSql('$1')};
END;

-- Words of all present and former names. Words of former names do no harm, because they occur in no name. A word may occur twice, because concurrent
-- transactions do not wait for each other.
CREATE TABLE "search_word" (
  "word" text COLLATE "C" NOT NULL,
  "keys" text[] COLLATE "C" NOT NULL
);
CREATE INDEX ON "search_word" ("word");
-- Without a list of pending entries (fastupdate), which would slow down every search. New words are rare.
CREATE INDEX ON "search_word" USING gin ("keys") WITH (fastupdate = off);

CREATE FUNCTION "search_note"(text[]) RETURNS void LANGUAGE sql
BEGIN ATOMIC
  INSERT INTO "search_word" SELECT n.word, "search_keys"(n.word) FROM unnest($1) AS n(word)
    WHERE ${toleratesTypingErrorsSql('n.word')} AND NOT EXISTS (SELECT FROM "search_word" w WHERE w."word" = n.word);
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
`;

/**
 * SQL: adds columns with the folded (lower-case) name and its words, their index and triggers.
 * Computing these values at each search would be too expensive.
 */
const addSearchColumnsSql = (table: string) => `
ALTER TABLE "${table}"
  ADD COLUMN "name_folded" text COLLATE "C" GENERATED ALWAYS AS ("search_fold"("name")) STORED,
  ADD COLUMN "name_words" text[] COLLATE "C" GENERATED ALWAYS AS ("search_words"("search_fold"("name"))) STORED;
CREATE INDEX "${table}_name_words" ON "${table}" USING gin ("name_words");
CREATE TRIGGER "${table}_insert_words_noted" AFTER INSERT ON "${table}"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
CREATE TRIGGER "${table}_update_words_noted" AFTER UPDATE ON "${table}"
  REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
`;

const INGREDIENT_SEARCH_SQL = `
-- For search terms of one or two letters, which contain no trigram: the index contains the names of a language in order, and all compared columns.
CREATE INDEX "ingredient_search_order" ON "ingredient" ("status", "language_id", "name", "id") INCLUDE ("name_folded");

CREATE FUNCTION "fitgraph_names_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('fitgraph_names', TG_TABLE_NAME);
  RETURN NULL;
END $$;
CREATE TRIGGER "ingredient_names_changed" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "ingredient"
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_names_changed"();
`;

const MATCHING_FUNCTIONS_SQL = `
DO $migration$
DECLARE
  trigram_schema text;
  likeness text := '0';
  resembling text := '';
BEGIN
  -- If the extension does not exist or may not be created, searches for parts of words scan the table.
  BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE NOTICE 'pg_trgm is not available, so searches read whole tables: %', SQLERRM;
  END;
  SELECT quote_ident(n."nspname") INTO trigram_schema FROM "pg_catalog"."pg_extension" e
    JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm';
  IF trigram_schema IS NOT NULL THEN
    EXECUTE replace($indexes$
      CREATE INDEX "exercise_name_search" ON "exercise" USING gin ("name_folded" trigrams.gin_trgm_ops);
      CREATE INDEX "ingredient_name_search" ON "ingredient" USING gin ("name_folded" trigrams.gin_trgm_ops);
      CREATE INDEX ON "search_word" USING gin ("word" trigrams.gin_trgm_ops) WITH (fastupdate = off);
    $indexes$, 'trigrams', trigram_schema);
    -- PostgreSQL inlines the function, and so can use an index, only if it is not more volatile and not stricter than its operator.
    EXECUTE replace($function$
      CREATE FUNCTION "search_similar"(text, text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
      AS $body$ SELECT $1 OPERATOR(trigrams.%>>) $2 $body$
    $function$, 'trigrams', trigram_schema);
    likeness := trigram_schema || '.word_similarity($2, $1)';
    -- In long words, several errors are tolerated.
    resembling := replace('UNION SELECT w."word" FROM "search_word" w WHERE char_length($1) >= 8
      AND w."word" OPERATOR(trigrams.%) $1 AND trigrams.similarity(w."word", $1) >= 0.5', 'trigrams', trigram_schema);
  ELSE
    CREATE FUNCTION "search_similar"(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
      AS $body$ SELECT false $body$;
  END IF;

  -- A folded word and the words of names that are similar to it. Without enable_seqscan = off, PostgreSQL would scan the table, because it overestimates how
  -- many words have a key.
  EXECUTE replace($function$
    CREATE FUNCTION "search_alike"(text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE SET enable_seqscan = off
    BEGIN ATOMIC
      SELECT "search_words"($1) || ARRAY(
        SELECT w."word" FROM "search_word" w WHERE w."keys" && "search_wanted"(("search_words"($1))[1]) resembling);
    END
  $function$, 'resembling', resembling);

  -- Rank of a name for a search term: highest for equal names, then for those that begin with the term, those with a word that begins with it, those that
  -- contain it, and others. Within these groups shorter names come first. Only the others are compared by trigrams.
  EXECUTE replace($function$
    CREATE FUNCTION "search_rank"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN $1 = $2 THEN 4000000 WHEN starts_with($1, $2) THEN 3000000 WHEN strpos(' ' || $1, ' ' || $2) > 0 THEN 2000000
      WHEN strpos($1, $2) > 0 THEN 1000000 ELSE 0 END
      + (999999 * CASE WHEN strpos($1, $2) > 0 THEN ${LENGTH_RATIO_SQL} ELSE (0.8 * likeness + 0.2 * ${LENGTH_RATIO_SQL}) END)::integer
  $function$, 'likeness', likeness);
END $migration$;

-- Whether a folded text contains a word similar to a folded word. For texts whose words are not in "search_word".
CREATE FUNCTION "search_resembles"(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 2000
RETURN EXISTS (
  SELECT FROM unnest("search_words"($1)) AS w(word), (SELECT ("search_words"($2))[1] AS word) t
    WHERE w.word = t.word OR (char_length(w.word) BETWEEN char_length(t.word) - 3 AND char_length(t.word) + 6
      AND "search_keys"(w.word) && "search_wanted"(t.word)));
`;

export const up: Migration = async (query) => {
  await query(
    [
      FOLDING_FUNCTIONS_SQL,
      SEARCH_KEY_FUNCTIONS_SQL,
      ...SEARCHED_TABLES.map(addSearchColumnsSql),
      INGREDIENT_SEARCH_SQL,
      MATCHING_FUNCTIONS_SQL,
    ].join(''),
  );
};

/** Keeps the extension pg_trgm, because other applications may use it. */
export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "search_resembles"(text, text);
DROP FUNCTION "search_rank"(text, text);
DROP FUNCTION "search_alike"(text);
DROP FUNCTION "search_similar"(text, text);
DROP FUNCTION "fitgraph_names_changed"() CASCADE;
DROP FUNCTION "fitgraph_words_noted"() CASCADE;
DROP FUNCTION "search_note"(text[]);
${SEARCHED_TABLES.map((table) => `ALTER TABLE "${table}" DROP COLUMN "name_words", DROP COLUMN "name_folded";`).join('\n')}
DROP TABLE "search_word";
DROP FUNCTION "search_wanted"(text);
DROP FUNCTION "search_keys"(text);
DROP FUNCTION "search_words"(text);
DROP FUNCTION "search_fold"(text);
`);
};
