/** Creates an index. */
import type { OnlineMigration } from '../../../../src/database/migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

export const up: OnlineMigration = (change) =>
  change.createIndex('workout_label', '"workout" ("user_id", "label")');

export const down: OnlineMigration = (change) => change.dropIndex('workout_label');
