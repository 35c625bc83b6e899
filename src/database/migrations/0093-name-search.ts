/**
 * Search by name at millions of rows. Words of names are found by a GIN index of tsvectors, each
 * word of a term as the beginning of a word. A word with which no word of the catalogue begins is
 * replaced by similar ones of the small table "catalogue_word". Names that begin with the term are
 * found by a B-tree, other parts of names by the trigram index of migration 0055.
 *
 * Replaces the index of "name_words", and the triggers that fill "search_word". Servers of 0.4.0 may
 * still read both, so a later version drops them.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

/** Columns besides the name whose words a search finds, as in `searchedWith` of the resources. */
const SEARCHED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  exercise: ['aliases'],
  exercise_base: ['names'],
  ingredient: ['common_name', 'brand'],
};
const SEARCHED_TABLES = Object.keys(SEARCHED_COLUMNS);

/** Tables with a column "name_words". */
const TABLES_WITH_WORDS = ['exercise', 'ingredient'];

/** Thai, Lao, Burmese, Khmer, kana and Han: scripts without spaces between words. */
const UNSPACED_CHARACTERS = String.raw`[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]`;

/** Words of a term that are looked up by similarity; the others must occur in a name as they are. */
const MAX_SIMILAR_WORDS = 5;

/** SQL: the folded text in whose words a search finds a word. */
const textSql = (table: string, alias = '') =>
  `${alias}"name_folded"${SEARCHED_COLUMNS[table]!.map((column) => ` || coalesce(' ' || "search_fold"(${alias}"${column}"), '')`).join('')}`;

/**
 * The functions contain no subquery where they can, so that PostgreSQL inlines them: a call of an
 * SQL function for each row costs more than its work.
 */
const VECTOR_FUNCTIONS_SQL = `
-- The words of a folded text in scripts without spaces as pairs of characters.
CREATE OR REPLACE FUNCTION "search_pairs"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
  SELECT CASE WHEN w."pairs" = 0 THEN w."word" ELSE substr(w."word", p."place", 2) END
    FROM (SELECT s."word", CASE WHEN s."word" ~ '${UNSPACED_CHARACTERS}{2}' THEN char_length(s."word") - 1 ELSE 0 END AS "pairs"
      FROM unnest("search_words"($1)) AS s("word")) w, generate_series(least(w."pairs", 1), w."pairs") AS p("place"));

CREATE OR REPLACE FUNCTION "search_lexemes"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length($1) > char_length($1) AND $1 ~ '${UNSPACED_CHARACTERS}{2}' THEN "search_pairs"($1) ELSE "search_words"($1) END;

CREATE OR REPLACE FUNCTION "search_vector"(text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN array_to_tsvector("search_lexemes"($1));
`;

/**
 * Words of names, for typing errors. Words with digits, and those of one to three letters, are
 * similar to too many others. A word may occur twice, because concurrent transactions do not wait
 * for each other.
 */
const WORD_TABLE_SQL = `
CREATE TABLE IF NOT EXISTS "catalogue_word" ("word" text COLLATE "C" NOT NULL);
CREATE INDEX IF NOT EXISTS "catalogue_word_word" ON "catalogue_word" ("word");
`;

const insertWordsSql = (table: string, rows: string) => `
  INSERT INTO "catalogue_word" SELECT DISTINCT n."word"
    FROM ${rows} c, unnest("search_lexemes"(${textSql(table, 'c.')})) AS n("word")
    WHERE char_length(n."word") BETWEEN 4 AND 40 AND n."word" !~ '[0-9]' AND NOT EXISTS (SELECT FROM "catalogue_word" w WHERE w."word" = n."word");
`;

const wordTriggersSql = (table: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_${table}_words"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  ${insertWordsSql(table, 'changed')}
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER "${table}_insert_words" AFTER INSERT ON "${table}"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_${table}_words"();
CREATE OR REPLACE TRIGGER "${table}_update_words" AFTER UPDATE ON "${table}"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_${table}_words"();
DROP TRIGGER IF EXISTS "${table}_insert_words_noted" ON "${table}";
DROP TRIGGER IF EXISTS "${table}_update_words_noted" ON "${table}";
`;

/** SQL: length of the term in proportion to that of the name. */
const LENGTH_RATIO_SQL =
  'least(char_length($1), char_length($2))::float8 / greatest(char_length($1), char_length($2), 1)';

/** SQL: a folded text whose words are separated by spaces only. */
const spacedSql = (text: string) => `(translate(${text}, ',;:.()/', '       ') || ' ')`;

/**
 * SQL: the functions that compare names and terms. `trigrams` is the quoted schema of the extension
 * pg_trgm; without it, searches tolerate fewer typing errors.
 */
const matchingFunctionsSql = (trigrams: string | undefined) => `
-- Words of names that a mistyped word may mean: two neighbouring letters swapped, a letter too many, a letter missing or replaced after the first one and,
-- in long words, several errors.
CREATE OR REPLACE FUNCTION "search_similar_words"(text) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN $1 ~ '^[^0-9]{4,40}$' THEN ARRAY(
  SELECT w."word" FROM "catalogue_word" w WHERE w."word" = ANY (ARRAY(
    SELECT overlay($1 PLACING substr($1, i + 1, 1) || substr($1, i, 1) FROM i FOR 2) FROM generate_series(1, char_length($1) - 1) AS i
    UNION ALL SELECT overlay($1 PLACING '' FROM i FOR 1) FROM generate_series(1, char_length($1)) AS i))
  UNION SELECT w."word" FROM generate_series(1, CASE WHEN char_length($1) <= 7 THEN char_length($1) ELSE 0 END) AS i,
    -- OFFSET makes the planner look up each beginning in the index, and not read the whole table.
    LATERAL (SELECT w."word" FROM "catalogue_word" w
      WHERE w."word" >= left($1, i) AND w."word" < left($1, i) || chr(1114111) AND char_length(w."word") - char_length($1) IN (0, 1)
        AND substr(w."word", i + 2) = substr($1, i + 2 - (char_length(w."word") - char_length($1))) OFFSET 0) w
  ${
    trigrams === undefined
      ? ''
      : `UNION (SELECT w."word" FROM "catalogue_word" w WHERE char_length($1) >= 6 AND w."word" OPERATOR(${trigrams}.%) $1
    AND ${trigrams}.similarity(w."word", $1) >= CASE WHEN char_length($1) >= 8 THEN 0.4 ELSE 0.45 END
    ORDER BY ${trigrams}.similarity(w."word", $1) DESC LIMIT ${MAX_SIMILAR_WORDS})`
  }) ELSE '{}' END;

CREATE OR REPLACE FUNCTION "search_likeness"(text, text) RETURNS real LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ${trigrams === undefined ? '($1 = $2)::integer' : `${trigrams}.similarity($1, $2)`};

-- Class of a name for a term (equal; begins with its words, or its letters; contains its words, the beginning of one, or its letters; others), then the
-- share of the term in the name. Only the last class is compared by trigrams. A million between two classes is left for the language.
CREATE OR REPLACE FUNCTION "search_score"(text, text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 2000000 * CASE
  WHEN $1 = $2 THEN 6
  WHEN starts_with(${spacedSql('$1')}, $2 || ' ') THEN 5
  WHEN starts_with($1, $2) THEN 4
  WHEN strpos($1, $2) = 0 THEN 0
  WHEN strpos(' ' || ${spacedSql('$1')}, ' ' || $2 || ' ') > 0 THEN 3
  WHEN strpos(' ' || $1, ' ' || $2) > 0 THEN 2
  ELSE 1 END
  + (999999 * CASE WHEN strpos($1, $2) > 0 THEN ${LENGTH_RATIO_SQL}
    ELSE (0.8 * ${trigrams === undefined ? '0' : `${trigrams}.strict_word_similarity($2, $1)`} + 0.2 * ${LENGTH_RATIO_SQL}) END)::integer;

-- The words of a folded term: each one as the beginning of a word or, if no word begins with it, the similar words.
CREATE OR REPLACE FUNCTION "search_query"(text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
  SELECT coalesce(string_agg('(''' || coalesce(nullif(array_to_string(CASE
      WHEN t."number" <= ${MAX_SIMILAR_WORDS} AND NOT EXISTS (SELECT FROM "catalogue_word" w
        WHERE w."word" >= t."word" AND w."word" < t."word" || chr(1114111))
      THEN "search_similar_words"(t."word") END, ''' | '''), '') || ''')', t."word" || ''':*)'), ' & '), '')::tsquery
    FROM unnest("search_lexemes"(replace($1, '-', ' '))) WITH ORDINALITY AS t("word", "number"));
`;

/** SQL: the quoted schema of the extension pg_trgm, which migration 0055 creates if it can. */
const SELECT_TRIGRAM_SCHEMA_SQL = `SELECT quote_ident(n."nspname") AS "schema" FROM "pg_catalog"."pg_extension" e
  JOIN "pg_catalog"."pg_namespace" n ON n."oid" = e."extnamespace" WHERE e."extname" = 'pg_trgm'`;

export const up: OnlineMigration = async (change) => {
  await change.run(VECTOR_FUNCTIONS_SQL);
  await change.run(WORD_TABLE_SQL);

  for (const table of SEARCHED_TABLES) {
    await change.run(wordTriggersSql(table));
    await change.run(insertWordsSql(table, `"${table}"`));
    await change.createIndex(
      `${table}_name_vector`,
      `"${table}" USING gin ("search_vector"(${textSql(table)}))`,
    );
    // With the id, so that the index alone answers which names begin with a term.
    await change.createIndex(`${table}_name_prefix`, `"${table}" ("name_folded", "id")`);
  }

  const [extension] = await change.run(SELECT_TRIGRAM_SCHEMA_SQL);
  const trigrams = extension?.schema as string | undefined;

  if (trigrams !== undefined) {
    for (const [name, column] of [
      ['exercise_base_name_search', '"exercise_base" USING gin ("name_folded"'],
      ['catalogue_word_trigrams', '"catalogue_word" USING gin ("word"'],
    ] as const) {
      await change.createIndex(name, `${column} ${trigrams}.gin_trgm_ops) WITH (fastupdate = off)`);
    }
  }

  await change.run(matchingFunctionsSql(trigrams));

  for (const table of TABLES_WITH_WORDS) {
    await change.dropIndex(`${table}_name_words`);
    await change.alterTable(table, 'ALTER COLUMN "name_words" DROP EXPRESSION IF EXISTS');
  }
};

export const down: OnlineMigration = async (change) => {
  for (const table of TABLES_WITH_WORDS) {
    await change.run(`
ALTER TABLE "${table}" DROP COLUMN IF EXISTS "name_words";
ALTER TABLE "${table}" ADD COLUMN "name_words" text[] COLLATE "C" GENERATED ALWAYS AS ("search_words"("search_fold"("name"))) STORED;
CREATE OR REPLACE TRIGGER "${table}_insert_words_noted" AFTER INSERT ON "${table}"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
CREATE OR REPLACE TRIGGER "${table}_update_words_noted" AFTER UPDATE ON "${table}"
  REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_words_noted"();
SELECT "search_note"(ARRAY(SELECT DISTINCT unnest("name_words") FROM "${table}"));
`);
    await change.createIndex(`${table}_name_words`, `"${table}" USING gin ("name_words")`);
  }

  for (const table of SEARCHED_TABLES) {
    await change.run(`DROP FUNCTION IF EXISTS "fitgraph_${table}_words"() CASCADE`);
    await change.dropIndex(`${table}_name_prefix`);
    await change.dropIndex(`${table}_name_vector`);
  }

  await change.run(`
DROP FUNCTION IF EXISTS "search_query"(text);
DROP FUNCTION IF EXISTS "search_score"(text, text);
DROP FUNCTION IF EXISTS "search_likeness"(text, text);
DROP FUNCTION IF EXISTS "search_similar_words"(text);
DROP TABLE IF EXISTS "catalogue_word";
DROP FUNCTION IF EXISTS "search_vector"(text);
DROP FUNCTION IF EXISTS "search_lexemes"(text);
DROP FUNCTION IF EXISTS "search_pairs"(text);
`);
};
