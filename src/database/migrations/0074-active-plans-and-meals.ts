/**
 * One nutrition plan of a user is the one that is followed: the last one that was made active, and of those that are there the newest. A diary entry may
 * belong to a meal of its plan.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
ALTER TABLE "nutrition_plan" ADD COLUMN "is_active" boolean NOT NULL DEFAULT false;
ALTER TABLE "nutrition_plan" DISABLE TRIGGER USER;
UPDATE "nutrition_plan" SET "is_active" = true WHERE "id" IN
  (SELECT DISTINCT ON ("user_id") "id" FROM "nutrition_plan" ORDER BY "user_id", "creation_date" DESC, "id" DESC);
ALTER TABLE "nutrition_plan" ENABLE TRIGGER USER;
ALTER TABLE "nutrition_plan" ALTER COLUMN "is_active" SET DEFAULT true;
CREATE UNIQUE INDEX "nutrition_plan_one_is_active" ON "nutrition_plan" ("user_id") WHERE "is_active";

CREATE FUNCTION "fitgraph_other_plans_rest"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- One after the other, so that each sees what the one before it has made active.
  PERFORM FROM "user_account" WHERE "id" = NEW."user_id" FOR NO KEY UPDATE;
  UPDATE "nutrition_plan" SET "is_active" = false WHERE "user_id" = NEW."user_id" AND "id" <> NEW."id" AND "is_active";
  RETURN NEW;
END $$;
CREATE TRIGGER "nutrition_plan_is_active" BEFORE INSERT ON "nutrition_plan" FOR EACH ROW WHEN (NEW."is_active")
  EXECUTE FUNCTION "fitgraph_other_plans_rest"();
-- Not for a plan that is active already: its row is locked here, and a transaction that makes another plan active would deadlock with this one.
CREATE TRIGGER "nutrition_plan_gets_active" BEFORE UPDATE OF "is_active" ON "nutrition_plan" FOR EACH ROW
  WHEN (NEW."is_active" AND NOT OLD."is_active") EXECUTE FUNCTION "fitgraph_other_plans_rest"();

ALTER TABLE "diary_entry" ADD COLUMN "meal_id" integer;
ALTER TABLE "diary_entry" ADD FOREIGN KEY ("user_id", "meal_id") REFERENCES "meal" ("user_id", "id") ON DELETE SET NULL;
CREATE INDEX ON "diary_entry" ("user_id", "meal_id");

CREATE FUNCTION "fitgraph_meal_of_plan"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "meal" WHERE "id" = NEW."meal_id" AND "plan_id" = NEW."plan_id" FOR SHARE;
  IF NOT FOUND THEN
    RAISE foreign_key_violation USING MESSAGE = 'The meal is not one of the plan.';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "diary_entry_meal" AFTER INSERT OR UPDATE OF "meal_id", "plan_id" ON "diary_entry" FOR EACH ROW WHEN (NEW."meal_id" IS NOT NULL)
  EXECUTE FUNCTION "fitgraph_meal_of_plan"();

-- The key alone would set the owner to null too: before PostgreSQL 15 it cannot leave out a column.
CREATE FUNCTION "fitgraph_meal_leaves"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "diary_entry" SET "meal_id" = NULL WHERE "user_id" = OLD."user_id" AND "meal_id" = OLD."id";
  RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER "meal_is_deleted" BEFORE DELETE ON "meal" FOR EACH ROW EXECUTE FUNCTION "fitgraph_meal_leaves"();
CREATE TRIGGER "meal_is_moved" BEFORE UPDATE OF "plan_id" ON "meal" FOR EACH ROW WHEN (OLD."plan_id" <> NEW."plan_id")
  EXECUTE FUNCTION "fitgraph_meal_leaves"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "fitgraph_meal_leaves"() CASCADE;
DROP FUNCTION "fitgraph_meal_of_plan"() CASCADE;
ALTER TABLE "diary_entry" DROP COLUMN "meal_id";
DROP FUNCTION "fitgraph_other_plans_rest"() CASCADE;
ALTER TABLE "nutrition_plan" DROP COLUMN "is_active";
`);
};
