/** Renames a column, so servers of the previous version cannot continue to work. */
import type { Migration } from '../../../../src/database/migrate';

export const oldestVersion = '99.0.0';
export const maintenance = 'it renames a column of "workout"';

export const up: Migration = async (query) => {
  await query('ALTER TABLE "workout" RENAME COLUMN "label" TO "title"');
};

export const down: Migration = async (query) => {
  await query('ALTER TABLE "workout" RENAME COLUMN "title" TO "label"');
};
