/** The version of a row that is saved with its parts, such as a plan with its meals, changes with each of them. */
import type { OnlineMigration } from '../migrationmodules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const PARTS = [
  ['training_day', 'workout_id', 'workout'],
  ['workout_set', 'training_day_id', 'training_day'],
  ['setting', 'set_id', 'workout_set'],
  ['meal', 'plan_id', 'nutrition_plan'],
  ['meal_item', 'meal_id', 'meal'],
  ['schedule_step', 'schedule_id', 'schedule'],
] as const;

const TRANSITIONS = { INSERT: 'NEW TABLE AS changed', UPDATE: 'OLD TABLE AS former NEW TABLE AS changed', DELETE: 'OLD TABLE AS changed' };

const partOf = (table: string, column: string, whole: string) =>
  Object.entries(TRANSITIONS)
    .map(
      ([operation, rows]) => `
CREATE OR REPLACE TRIGGER "${table}_${operation.toLowerCase()}_of_whole" AFTER ${operation} ON "${table}" REFERENCING ${rows}
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_part_changed"('${column}', '${whole}');`,
    )
    .join('');

export const up: OnlineMigration = async (change) => {
  await change.run(`
-- The whole is written itself, so that its own triggers draw a version, log the change and go on to what it is part of. Of one that is deleted with
-- its parts there is no row any more.
CREATE OR REPLACE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`);
  for (const [table, column, whole] of PARTS) await change.run(partOf(table, column, whole));
};

export const down: OnlineMigration = async (change) => {
  for (const [table] of PARTS)
    for (const operation of Object.keys(TRANSITIONS))
      await change.run(`DROP TRIGGER IF EXISTS "${table}_${operation.toLowerCase()}_of_whole" ON "${table}"`);
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_part_changed"()');
};
