/** The files of rows that are gone, whoever took the rows away: noted in the same transaction, and kept until some server has removed them. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "removed_file" ("path" text COLLATE "C" PRIMARY KEY);

CREATE FUNCTION "note_removed_image"() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO "removed_file" VALUES (OLD."image") ON CONFLICT DO NOTHING;
  PERFORM pg_notify('fitgraph_removed_file', '');
  RETURN NULL;
END $body$;

CREATE TRIGGER "exercise_image_file_removed" AFTER DELETE OR UPDATE OF "image" ON "exercise_image"
  FOR EACH ROW EXECUTE FUNCTION "note_removed_image"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TRIGGER "exercise_image_file_removed" ON "exercise_image";
DROP FUNCTION "note_removed_image"();
DROP TABLE "removed_file";
`);
};
