/** Comments are shown with their exercise, so its review is a change of theirs too. */
import type { Migration } from '../migrate';

const told = (shown: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_exercises_shown"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "bases" integer[];
  "groups" integer[];
BEGIN
  IF TG_OP = 'UPDATE' THEN
    "bases" := ARRAY(SELECT unnest(ARRAY[f."exercise_base_id", c."exercise_base_id"]) FROM former f JOIN changed c USING ("id")
      WHERE (f."exercise_base_id", f."language_id", f."status") IS DISTINCT FROM (c."exercise_base_id", c."language_id", c."status"));
    INSERT INTO "change" ("table", "row_id", "operation")
      SELECT 'exercise_comment', m."id", 'UPDATE' FROM former f JOIN changed c USING ("id") JOIN "exercise_comment" m ON m."exercise_id" = c."id"
        WHERE ${shown} ORDER BY m."id";
    IF FOUND THEN
      PERFORM pg_notify('fitgraph_change', 'exercise_comment');
    END IF;
  ELSE
    "bases" := ARRAY(SELECT DISTINCT c."exercise_base_id" FROM changed c);
  END IF;
  IF "bases" <> '{}' THEN
    PERFORM FROM "exercise_base" WHERE "id" = ANY("bases") ORDER BY "id" FOR NO KEY UPDATE;
    "groups" := ARRAY(SELECT DISTINCT b."variation_id" FROM "exercise_base" b WHERE b."id" = ANY("bases") AND b."variation_id" IS NOT NULL);
    PERFORM "fitgraph_exercises_touched"('{}', "groups", ARRAY(SELECT c."id" FROM changed c));
  END IF;
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => {
  await query(told(`f."language_id" <> c."language_id" OR f."status" <> c."status"`));
};

export const down: Migration = async (query) => {
  await query(told(`f."language_id" <> c."language_id"`));
};
