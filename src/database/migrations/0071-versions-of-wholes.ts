/**
 * Changes the version of a whole, such as a nutrition plan, whenever one of its parts, such as a
 * meal, changes.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const CHILD_TABLES = [
  ['training_day', 'workout_id', 'workout'],
  ['workout_set', 'training_day_id', 'training_day'],
  ['setting', 'set_id', 'workout_set'],
  ['meal', 'plan_id', 'nutrition_plan'],
  ['meal_item', 'meal_id', 'meal'],
  ['schedule_step', 'schedule_id', 'schedule'],
] as const;

const TRANSITION_TABLES = {
  INSERT: 'NEW TABLE AS changed',
  UPDATE: 'OLD TABLE AS former NEW TABLE AS changed',
  DELETE: 'OLD TABLE AS changed',
};

const wholeVersionTriggersSql = (table: string, column: string, whole: string) =>
  Object.entries(TRANSITION_TABLES)
    .map(
      ([operation, rows]) => `
CREATE OR REPLACE TRIGGER "${table}_${operation.toLowerCase()}_of_whole" AFTER ${operation} ON "${table}" REFERENCING ${rows}
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_part_changed"('${column}', '${whole}');`,
    )
    .join('');

export const up: OnlineMigration = async (change) => {
  await change.run(`
-- Updates the row of the whole, whose own triggers set a new version, log the change and update the whole of which it is a part itself. If the whole is being
-- deleted with its parts, no row matches.
CREATE OR REPLACE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`);

  for (const [table, column, whole] of CHILD_TABLES) {
    await change.run(wholeVersionTriggersSql(table, column, whole));
  }
};

export const down: OnlineMigration = async (change) => {
  for (const [table] of CHILD_TABLES) {
    for (const operation of Object.keys(TRANSITION_TABLES)) {
      await change.run(
        `DROP TRIGGER IF EXISTS "${table}_${operation.toLowerCase()}_of_whole" ON "${table}"`,
      );
    }
  }

  await change.run('DROP FUNCTION IF EXISTS "fitgraph_part_changed"()');
};
