/** Foods are found by their barcodes. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query('CREATE INDEX "ingredient_code" ON "ingredient" ("code") WHERE "code" IS NOT NULL');
};

export const down: Migration = async (query) => {
  await query('DROP INDEX "ingredient_code"');
};
