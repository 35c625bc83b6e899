/** Index of ingredients by barcode. */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

export const up: OnlineMigration = (change) =>
  change.createIndex('ingredient_code', '"ingredient" ("code") WHERE "code" IS NOT NULL');

export const down: OnlineMigration = (change) => change.dropIndex('ingredient_code');
