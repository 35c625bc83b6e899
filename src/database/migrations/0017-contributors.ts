/**
 * Who added a row to the catalogue, beside the rows and not in them: the catalogue names nobody, and accounts that are emptied, as by an import,
 * take none of it along.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "exercise_image_contributor" (
  "row_id" integer PRIMARY KEY REFERENCES "exercise_image" ("id") ON DELETE CASCADE,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE
);
CREATE INDEX ON "exercise_image_contributor" ("user_id");
`);
};

export const down: Migration = async (query) => {
  await query('DROP TABLE "exercise_image_contributor"');
};
