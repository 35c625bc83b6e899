/**
 * What a search for a letter or two reads, which has no trigram: the names of a language in their order with all that is compared, in an index
 * alone, up to as many as are wanted.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE INDEX "ingredient_search_order" ON "ingredient" ("status", "language_id", "name", "id") INCLUDE ("name_folded");
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP INDEX "ingredient_search_order";
`);
};
