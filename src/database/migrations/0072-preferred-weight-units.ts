/**
 * Sets the weight unit of a planned or logged set that is inserted without one: kilograms or
 * pounds, as its owner prefers.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const TABLES_OF_SETS = ['setting', 'workout_log'];

export const up: OnlineMigration = async (change) => {
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_preferred_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."weight_unit_id" := CASE (SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = NEW."user_id") WHEN 'lb' THEN 2 ELSE 1 END;
  RETURN NEW;
END $$;
`);

  for (const table of TABLES_OF_SETS) {
    await change.run(`
CREATE OR REPLACE TRIGGER "${table}_preferred_weight_unit" BEFORE INSERT ON "${table}" FOR EACH ROW WHEN (NEW."weight_unit_id" IS NULL)
  EXECUTE FUNCTION "fitgraph_preferred_weight_unit"();
`);
  }
};

export const down: OnlineMigration = async (change) => {
  for (const table of TABLES_OF_SETS) {
    await change.run(`DROP TRIGGER IF EXISTS "${table}_preferred_weight_unit" ON "${table}"`);
  }

  await change.run('DROP FUNCTION IF EXISTS "fitgraph_preferred_weight_unit"()');
};
