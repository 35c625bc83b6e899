/** What a search for a letter or two reads where they are rare: the characters and pairs of characters of a name, which trigrams don't cover. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE FUNCTION "search_pieces"(text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $body$ SELECT array_agg(DISTINCT substr($1, i, n)) FROM generate_series(1, char_length($1)) AS i, (VALUES (1), (2)) AS v(n) $body$;

CREATE INDEX "ingredient_name_pieces" ON "ingredient" USING gin ("search_pieces"("name_folded"));
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP INDEX "ingredient_name_pieces";
DROP FUNCTION "search_pieces"(text);
`);
};
