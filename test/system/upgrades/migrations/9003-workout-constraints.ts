/** Adds a CHECK constraint and a foreign key. */
import type { OnlineMigration } from '../../../../src/database/migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

export const up: OnlineMigration = async (change) => {
  await change.addConstraint(
    'workout',
    'workout_label_length',
    'CHECK (char_length("label") <= 1000)',
  );
  await change.addColumn('workout', 'license_id', 'integer');
  await change.addConstraint(
    'workout',
    'workout_license',
    'FOREIGN KEY ("license_id") REFERENCES "license" ("id") ON DELETE SET NULL',
  );
};

export const down: OnlineMigration = async (change) => {
  await change.alterTable('workout', 'DROP COLUMN IF EXISTS "license_id"');
  await change.alterTable('workout', 'DROP CONSTRAINT IF EXISTS "workout_label_length"');
};
