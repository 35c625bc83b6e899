/** Names in their order with all that a search compares, so that a search for a letter or two reads an index alone and stops when it has enough. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
DROP INDEX "ingredient_name_id_idx";
CREATE INDEX "ingredient_name_id_idx" ON "ingredient" ("name", "id") INCLUDE ("name_folded", "language_id", "status");
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP INDEX "ingredient_name_id_idx";
CREATE INDEX "ingredient_name_id_idx" ON "ingredient" ("name", "id");
`);
};
