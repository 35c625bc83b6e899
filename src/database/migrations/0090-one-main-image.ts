/**
 * An exercise has at most one main image: the one that was marked last. A pending image does not
 * replace an accepted one. Of several existing main images, the newest accepted one remains, or
 * the newest one if none is accepted.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

/** Name of the index and of the former constraint, which applied to accepted images only. */
const NAME = 'exercise_image_one_is_main';

export const up: OnlineMigration = async (change) => {
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_one_main_image"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Concurrent writes wait here, so that each of them sees the main image that the previous one has set.
  PERFORM FROM "exercise_base" WHERE "id" = NEW."exercise_base_id" FOR NO KEY UPDATE;
  IF NEW."status" <> '2' AND EXISTS (SELECT FROM "exercise_image"
      WHERE "exercise_base_id" = NEW."exercise_base_id" AND "id" <> NEW."id" AND "is_main" AND "status" = '2') THEN
    NEW."is_main" := false;
  ELSE
    UPDATE "exercise_image" SET "is_main" = false
      WHERE "exercise_base_id" = NEW."exercise_base_id" AND "id" <> NEW."id" AND "is_main";
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "exercise_image_is_main" BEFORE INSERT ON "exercise_image" FOR EACH ROW WHEN (NEW."is_main")
  EXECUTE FUNCTION "fitgraph_one_main_image"();
CREATE OR REPLACE TRIGGER "exercise_image_gets_main" BEFORE UPDATE OF "is_main", "exercise_base_id" ON "exercise_image" FOR EACH ROW
  WHEN (NEW."is_main" AND (NOT OLD."is_main" OR NEW."exercise_base_id" <> OLD."exercise_base_id"))
  EXECUTE FUNCTION "fitgraph_one_main_image"();
`);
  const rank = (alias: string) => `(${alias}."status" = '2', ${alias}."id")`;
  const preferredImages = `SELECT FROM "exercise_image" o WHERE o."exercise_base_id" = "exercise_image"."exercise_base_id"
    AND o."is_main" AND ${rank('o')} > ${rank('"exercise_image"')}`;

  await change.updateRows(
    'exercise_image',
    '"is_main" = false',
    `"is_main" AND EXISTS (${preferredImages})`,
  );
  await change.run(`ALTER TABLE "exercise_image" DROP CONSTRAINT IF EXISTS "${NAME}"`);
  await change.createIndex(NAME, '"exercise_image" ("exercise_base_id") WHERE "is_main"', {
    unique: true,
  });
};

export const down: OnlineMigration = async (change) => {
  await change.run(`
DROP TRIGGER IF EXISTS "exercise_image_is_main" ON "exercise_image";
DROP TRIGGER IF EXISTS "exercise_image_gets_main" ON "exercise_image";
DROP FUNCTION IF EXISTS "fitgraph_one_main_image"();
DROP INDEX IF EXISTS "${NAME}";
ALTER TABLE "exercise_image" ADD CONSTRAINT "${NAME}"
  EXCLUDE ("exercise_base_id" WITH =) WHERE ("is_main" AND "status" = '2') DEFERRABLE INITIALLY DEFERRED;
`);
};
