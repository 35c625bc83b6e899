/**
 * The deletion of a plan does not first clear the meals of its diary entries, which are deleted as
 * well. Clearing them failed for entries that the same transaction had written, and logged a change
 * of each entry before its deletion.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.3.0';

const mealLeavesFunctionSql = (exception: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_meal_leaves"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${exception}
  UPDATE "diary_entry" SET "meal_id" = NULL WHERE "user_id" = OLD."user_id" AND "meal_id" = OLD."id";
  RETURN coalesce(NEW, OLD);
END $$;
`;

export const up: Migration = async (query) => {
  await query(
    mealLeavesFunctionSql(`
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM "nutrition_plan" WHERE "id" = OLD."plan_id") THEN
    RETURN OLD;
  END IF;`),
  );
};

export const down: Migration = async (query) => {
  await query(mealLeavesFunctionSql(''));
};
