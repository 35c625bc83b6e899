/** Adds a column with a value in every row. */
import type { OnlineMigration } from '../../../../src/database/migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

export const up: OnlineMigration = async (change) => {
  // The default is for rows that servers of the previous version insert.
  await change.addColumn('workout', 'label', `text DEFAULT ''`);
  await change.updateRows(
    'workout',
    `"label" = upper("comment")`,
    `"label" = '' AND "comment" <> ''`,
  );
  await change.setNotNull('workout', 'label');
};

export const down: OnlineMigration = async (change) => {
  await change.alterTable('workout', 'DROP COLUMN IF EXISTS "label"');
};
