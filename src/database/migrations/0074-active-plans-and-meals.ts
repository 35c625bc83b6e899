/**
 * Each user has at most one active nutrition plan: the one that was activated last. Of the existing
 * plans, the newest becomes active. A diary entry may belong to a meal of its plan.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

export const up: OnlineMigration = async (change) => {
  await change.addColumn('nutrition_plan', 'is_active', 'boolean NOT NULL DEFAULT false');
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_other_plans_rest"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- One after the other, so that each sees what the one before it has made active.
  PERFORM FROM "user_account" WHERE "id" = NEW."user_id" FOR NO KEY UPDATE;
  UPDATE "nutrition_plan" SET "is_active" = false WHERE "user_id" = NEW."user_id" AND "id" <> NEW."id" AND "is_active";
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "nutrition_plan_is_active" BEFORE INSERT ON "nutrition_plan" FOR EACH ROW WHEN (NEW."is_active")
  EXECUTE FUNCTION "fitgraph_other_plans_rest"();
-- Not for a plan that is already active: the update has locked its row, and would deadlock with a transaction that activates another plan.
CREATE OR REPLACE TRIGGER "nutrition_plan_gets_active" BEFORE UPDATE OF "is_active" ON "nutrition_plan" FOR EACH ROW
  WHEN (NEW."is_active" AND NOT OLD."is_active") EXECUTE FUNCTION "fitgraph_other_plans_rest"();
ALTER TABLE "nutrition_plan" ALTER COLUMN "is_active" SET DEFAULT true;
`);
  const isActiveOrNewer = `o."is_active" OR (o."creation_date", o."id") > ("nutrition_plan"."creation_date", "nutrition_plan"."id")`;
  const others = `SELECT FROM "nutrition_plan" o WHERE o."user_id" = "nutrition_plan"."user_id" AND (${isActiveOrNewer})`;

  await change.updateRows(
    'nutrition_plan',
    '"is_active" = true',
    `NOT "is_active" AND NOT EXISTS (${others})`,
  );
  await change.createIndex(
    'nutrition_plan_one_is_active',
    '"nutrition_plan" ("user_id") WHERE "is_active"',
    { unique: true },
  );

  await change.addColumn('diary_entry', 'meal_id', 'integer');
  const key =
    'FOREIGN KEY ("user_id", "meal_id") REFERENCES "meal" ("user_id", "id") ON DELETE SET NULL';

  await change.addConstraint('diary_entry', 'diary_entry_user_id_meal_id_fkey', key);
  await change.createIndex(
    'diary_entry_user_id_meal_id_idx',
    '"diary_entry" ("user_id", "meal_id")',
  );
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_meal_of_plan"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "meal" WHERE "id" = NEW."meal_id" AND "plan_id" = NEW."plan_id" FOR SHARE;
  IF NOT FOUND THEN
    RAISE foreign_key_violation USING MESSAGE = 'The meal is not one of the plan.';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER "diary_entry_meal" AFTER INSERT OR UPDATE OF "meal_id", "plan_id" ON "diary_entry" FOR EACH ROW WHEN (NEW."meal_id" IS NOT NULL)
  EXECUTE FUNCTION "fitgraph_meal_of_plan"();
`);
  await change.run(`
-- Clears the meal before the foreign key would do so, because ON DELETE SET NULL would also clear the owner: PostgreSQL 14 cannot restrict it to a column.
CREATE OR REPLACE FUNCTION "fitgraph_meal_leaves"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "diary_entry" SET "meal_id" = NULL WHERE "user_id" = OLD."user_id" AND "meal_id" = OLD."id";
  RETURN coalesce(NEW, OLD);
END $$;
CREATE OR REPLACE TRIGGER "meal_is_deleted" BEFORE DELETE ON "meal" FOR EACH ROW EXECUTE FUNCTION "fitgraph_meal_leaves"();
CREATE OR REPLACE TRIGGER "meal_is_moved" BEFORE UPDATE OF "plan_id" ON "meal" FOR EACH ROW WHEN (OLD."plan_id" <> NEW."plan_id")
  EXECUTE FUNCTION "fitgraph_meal_leaves"();
`);
};

export const down: OnlineMigration = async (change) => {
  await change.run(`
DROP TRIGGER IF EXISTS "meal_is_deleted" ON "meal";
DROP TRIGGER IF EXISTS "meal_is_moved" ON "meal";
DROP FUNCTION IF EXISTS "fitgraph_meal_leaves"();
`);
  await change.run(`
DROP TRIGGER IF EXISTS "diary_entry_meal" ON "diary_entry";
DROP FUNCTION IF EXISTS "fitgraph_meal_of_plan"();
ALTER TABLE "diary_entry" DROP COLUMN IF EXISTS "meal_id";
`);
  await change.run(`
DROP TRIGGER IF EXISTS "nutrition_plan_is_active" ON "nutrition_plan";
DROP TRIGGER IF EXISTS "nutrition_plan_gets_active" ON "nutrition_plan";
DROP FUNCTION IF EXISTS "fitgraph_other_plans_rest"();
ALTER TABLE "nutrition_plan" DROP COLUMN IF EXISTS "is_active";
`);
};
