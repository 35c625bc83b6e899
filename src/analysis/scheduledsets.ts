/** SQL of the planned training of the active schedule, week by week. */
import { todayIn } from '../core/model/clock';
import { ownerConditions } from '../core/access/access';
import { whereClause, type ParameterBinder } from '../core/access/conditions';
import type { Context } from '../core/context';
import type { Entity } from '../core/model/fields';
import { resourceOf } from '../core/model/registry';
import { Schedule } from '../resources/schedule';
import { ScheduleStep } from '../resources/schedulestep';
import { PlannedSet } from '../resources/plannedset';
import { TrainingDay } from '../resources/trainingday';
import { SetGroup } from '../resources/setgroup';
import { repetitionsSql } from './workoutlogs';

export const MAX_SCHEDULE_WEEKS = 1_000;
export const DAYS_PER_WEEK = 7;

export const SCHEDULE_DESCRIPTION = `The weeks are those of the active schedule: periods of seven days from its start date until today, at most the last ${MAX_SCHEDULE_WEEKS}. Each week has the workout of its step; a loop repeats its steps. Each training day is planned on each of its weekdays, with all rounds of its sets.`;

/** SQL: a subquery that selects the viewer's rows of an owned entity. */
export const viewersRowsSql = (entity: Entity, context: Context, bind: ParameterBinder) =>
  `(SELECT t.* FROM "${resourceOf(entity)!.table}" t${whereClause(ownerConditions(entity, context), 't', bind)})`;

/**
 * Returns CTEs: `s`, the active schedule; `e` (`id`, `workout_id`, `duration`, `before`, `whole`), its steps, with the number of
 * weeks before the step (`before`) and of the whole schedule (`whole`).
 */
export const scheduleCtes = (context: Context, bind: ParameterBinder): string =>
  `s AS (SELECT s.* FROM ${viewersRowsSql(Schedule, context, bind)} s WHERE s."is_active"),
    e AS (SELECT t."id", t."workout_id", t."duration", sum(t."duration") OVER (ORDER BY t."order", t."id") - t."duration" AS "before", sum(t."duration") OVER () AS "whole"
      FROM ${viewersRowsSql(ScheduleStep, context, bind)} t JOIN s ON s."id" = t."schedule_id")`;

/**
 * SQL condition that the schedule step `e` covers the week with the given number. Weeks are counted from the start of the schedule; the first one has
 * the number 0.
 */
export const stepCoversWeekSql = (weekNumberSql: string, isLoopSql: string): string =>
  `CASE WHEN ${isLoopSql} THEN ${weekNumberSql} % e."whole" ELSE ${weekNumberSql} END BETWEEN e."before" AND e."before" + e."duration" - 1`;

/**
 * Returns the CTEs of `scheduleCtes` and three others: `w` (`start`, `workout_id`), the weeks of the schedule; `d` (`workout_id`, `training_day_id`,
 * `day_of_week_id`), the planned training days of each workout plan by weekday; `p` (`workout_id`, `exercise_id`, `sets`, `reps`, `counted_sets`), the
 * planned sets and repetitions per exercise and week. `counted_sets` excludes sets that are planned in units other than repetitions, such as seconds.
 */
export function plannedTrainingCtes(context: Context, bind: ParameterBinder): string {
  const todaySql = `${bind(todayIn(context.services.timeZone))}::date`;
  const ownRowsSql = (entity: Entity) => viewersRowsSql(entity, context, bind);
  return `${scheduleCtes(context, bind)},
    n AS (SELECT s."start_date", s."is_loop", generate_series(greatest(0, (${todaySql} - s."start_date") / ${DAYS_PER_WEEK} - ${MAX_SCHEDULE_WEEKS - 1}), (${todaySql} - s."start_date") / ${DAYS_PER_WEEK}) AS "number"
      FROM s WHERE s."start_date" <= ${todaySql}),
    w AS (SELECT n."start_date" + n."number" * ${DAYS_PER_WEEK} AS "start", e."workout_id" FROM n JOIN e
      ON ${stepCoversWeekSql('n."number"', 'n."is_loop"')}),
    d AS MATERIALIZED (SELECT t."workout_id", t."id" AS "training_day_id", k."day_of_week_id" FROM ${ownRowsSql(TrainingDay)} t JOIN "training_day_weekday" k ON k."training_day_id" = t."id"
      WHERE t."workout_id" IN (SELECT w."workout_id" FROM w)),
    g AS (SELECT x."set_id", x."exercise_id", avg(${repetitionsSql('x')}) AS "reps", min(CASE count(*) WHEN 1 THEN min(y."sets") ELSE count(*) END) OVER (PARTITION BY x."set_id") AS "rounds"
      FROM ${ownRowsSql(PlannedSet)} x JOIN ${ownRowsSql(SetGroup)} y ON y."id" = x."set_id" GROUP BY 1, 2),
    p AS MATERIALIZED (SELECT d."workout_id", g."exercise_id", sum(g."rounds")::int AS "sets", sum(g."rounds" * g."reps") AS "reps", sum(g."rounds") FILTER (WHERE g."reps" IS NOT NULL) AS "counted_sets"
      FROM d JOIN ${ownRowsSql(SetGroup)} y ON y."training_day_id" = d."training_day_id" JOIN g ON g."set_id" = y."id" GROUP BY 1, 2)`;
}
