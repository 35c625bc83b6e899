/** Paths that had a file once are remembered: browsers keep what they got there for a year, so that no other file may ever be there. */
import type { Migration } from '../migrate';

const noted = (conflict: string) => `
CREATE OR REPLACE FUNCTION "note_removed_image"() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO "removed_file" VALUES (OLD."image") ON CONFLICT ${conflict};
  PERFORM pg_notify('fitgraph_removed_file', '');
  RETURN NULL;
END $body$;
`;

export const up: Migration = async (query) => {
  await query(`
ALTER TABLE "removed_file" ADD COLUMN "settled" boolean NOT NULL DEFAULT false;
CREATE INDEX ON "removed_file" ("path") WHERE NOT "settled";
${noted('("path") DO UPDATE SET "settled" = false')}`);
};

export const down: Migration = async (query) => {
  await query(`
${noted('DO NOTHING')}
DELETE FROM "removed_file" WHERE "settled";
ALTER TABLE "removed_file" DROP COLUMN "settled";
`);
};
