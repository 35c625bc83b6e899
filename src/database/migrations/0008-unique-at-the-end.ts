/** One row a day is checked when a statement ends instead of row by row, so that many rows can trade their days in one statement. */
import type { Migration } from '../migrate';

const TABLES = ['weight_entry', 'workout_session'];

const again = (table: string, deferrable: string) => `
ALTER TABLE "${table}" DROP CONSTRAINT "${table}_user_id_date_key",
  ADD CONSTRAINT "${table}_user_id_date_key" UNIQUE ("user_id", "date")${deferrable};`;

export const up: Migration = async (query) => {
  for (const table of TABLES) await query(again(table, ' DEFERRABLE INITIALLY IMMEDIATE'));
};

export const down: Migration = async (query) => {
  for (const table of TABLES) await query(again(table, ''));
};
