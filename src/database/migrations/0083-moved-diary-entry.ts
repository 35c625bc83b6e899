/**
 * A diary entry that moves to another plan leaves its meal, unless the same statement names another
 * meal. REST clients cannot do so themselves.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.3.0';

export const up: Migration = async (query) => {
  await query(`
CREATE FUNCTION "fitgraph_entry_leaves_meal"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."meal_id" = NEW."meal_id" THEN
    NEW."meal_id" := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "diary_entry_is_moved" BEFORE UPDATE OF "plan_id" ON "diary_entry" FOR EACH ROW
  WHEN (OLD."plan_id" <> NEW."plan_id") EXECUTE FUNCTION "fitgraph_entry_leaves_meal"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TRIGGER "diary_entry_is_moved" ON "diary_entry";
DROP FUNCTION "fitgraph_entry_leaves_meal"();
`);
};
