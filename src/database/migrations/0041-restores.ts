/** Backups that were restored here, noted in the same transaction as their rows: files and a key that wait for it know that it was carried out. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "restored" (
  "id" uuid PRIMARY KEY,
  "taken" timestamptz NOT NULL,
  "program" text NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
`);
};

export const down: Migration = async (query) => {
  await query('DROP TABLE "restored"');
};
