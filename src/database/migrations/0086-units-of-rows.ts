/**
 * An update that names no unit keeps the unit of a body weight, also if the weight changes. Planned
 * and logged sets store the unit of their mass. In the weight unit Body Weight, it is the unit of the
 * number that is added to the body weight, and existing sets get the unit that their owner prefers.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const TABLES_OF_SETS = ['setting', 'workout_log'];

/** Ids in the table `weight_unit`. */
const WEIGHT_UNIT_IDS = { kg: 1, lb: 2, bodyWeight: 3 };

const PREFERRED_UNIT_SQL = `coalesce((SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = NEW."user_id"), 'kg')`;

const weightUnitFunctionSql = (isUnitKept: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${isUnitKept} THEN
    NEW."unit" := OLD."unit";
  ELSE
    NEW."unit" := ${PREFERRED_UNIT_SQL};
  END IF;
  RETURN NEW;
END $$;
`;

const preferredWeightUnitFunctionSql = (preferredUnit: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_preferred_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."weight_unit_id" := CASE ${preferredUnit} WHEN 'lb' THEN 2 ELSE 1 END;
  RETURN NEW;
END $$;
`;

/** The index from which formulas read the masses of logs, without the table. */
const massIndexSql = (columns: string) =>
  `"workout_log" ("user_id", "date") INCLUDE ("exercise_id", "reps", "weight", "rir", "repetition_unit_id", ${columns})`;

export const up: OnlineMigration = async (change) => {
  await change.run(weightUnitFunctionSql(`TG_OP = 'UPDATE'`));

  for (const table of TABLES_OF_SETS) {
    await change.addColumn(table, 'mass_unit', 'varchar(2)');
  }

  await change.run(`
${preferredWeightUnitFunctionSql(`coalesce(NEW."mass_unit", ${PREFERRED_UNIT_SQL})`)}
CREATE OR REPLACE FUNCTION "fitgraph_mass_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."mass_unit" := CASE NEW."weight_unit_id"
    WHEN ${WEIGHT_UNIT_IDS.kg} THEN 'kg'
    WHEN ${WEIGHT_UNIT_IDS.lb} THEN 'lb'
    WHEN ${WEIGHT_UNIT_IDS.bodyWeight} THEN
      coalesce(NEW."mass_unit", CASE TG_OP WHEN 'UPDATE' THEN OLD."mass_unit" END, ${PREFERRED_UNIT_SQL})
    END;
  RETURN NEW;
END $$;
`);

  for (const table of TABLES_OF_SETS) {
    // Runs after the trigger that sets an absent weight unit, because its name comes later.
    await change.run(`
CREATE OR REPLACE TRIGGER "${table}_unit_of_mass" BEFORE INSERT OR UPDATE ON "${table}" FOR EACH ROW
  EXECUTE FUNCTION "fitgraph_mass_unit"();
`);
    await change.updateRows(
      table,
      `"mass_unit" = NULL`,
      `"weight_unit_id" IN (${Object.values(WEIGHT_UNIT_IDS).join()}) AND "mass_unit" IS NULL`,
    );
  }

  await change.createIndex('workout_log_masses', massIndexSql('"weight_unit_id", "mass_unit"'));
  await change.dropIndex('workout_log_volume');
};

export const down: OnlineMigration = async (change) => {
  await change.createIndex('workout_log_volume', massIndexSql('"weight_unit_id"'));
  await change.dropIndex('workout_log_masses');

  for (const table of TABLES_OF_SETS) {
    await change.run(`DROP TRIGGER IF EXISTS "${table}_unit_of_mass" ON "${table}"`);
    await change.alterTable(table, 'DROP COLUMN IF EXISTS "mass_unit"');
  }

  await change.run('DROP FUNCTION IF EXISTS "fitgraph_mass_unit"()');
  await change.run(preferredWeightUnitFunctionSql(PREFERRED_UNIT_SQL));
  await change.run(weightUnitFunctionSql(`TG_OP = 'UPDATE' AND NEW."weight" = OLD."weight"`));
};
