/**
 * A row below another shares its owner with it by a key of both, and so does that one, up to a row whose owner is known to exist. That the owner exists
 * was looked up once more for each of these.
 */
import type { Migration } from '../migrate';

const TABLES = [
  'diary_entry',
  'meal',
  'meal_item',
  'schedule_step',
  'setting',
  'training_day',
  'workout_log',
  'workout_session',
  'workout_set',
];

export const up: Migration = async (query) => {
  for (const table of TABLES) await query(`ALTER TABLE "${table}" DROP CONSTRAINT "${table}_user_id_fkey"`);
};

export const down: Migration = async (query) => {
  for (const table of TABLES)
    await query(`ALTER TABLE "${table}" ADD FOREIGN KEY ("user_id") REFERENCES "user_account" ("id") ON DELETE CASCADE`);
};
