/** The version of a row that is saved with its parts, such as a plan with its meals, changes with each of them. */
import type { Migration } from '../migrate';

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
CREATE TRIGGER "${table}_${operation.toLowerCase()}_of_whole" AFTER ${operation} ON "${table}" REFERENCING ${rows}
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_part_changed"('${column}', '${whole}');`,
    )
    .join('');

export const up: Migration = async (query) => {
  await query(`
-- The whole is written itself, so that its own triggers draw a version, log the change and go on to what it is part of. Of one that is deleted with
-- its parts there is no row any more.
CREATE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
${PARTS.map(([table, column, whole]) => partOf(table, column, whole)).join('')}
`);
};

export const down: Migration = async (query) => {
  await query('DROP FUNCTION "fitgraph_part_changed"() CASCADE');
};
