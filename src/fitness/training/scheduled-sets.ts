/** SQL of the training that the active schedule plans for each week. */
import { todayIn } from '../../engine/declare/clock';
import { ownerConditions } from '../../engine/access/access';
import { whereClause, type ParameterBinder } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import type { Entity } from '../../engine/declare/fields';
import { resourceOf } from '../../engine/declare/registry';
import { Schedule } from './schedule';
import { ScheduleStep } from './schedule-step';
import { PlannedSet } from './planned-set';
import { TrainingDay } from './training-day';
import { SetGroup } from './set-group';
import { repetitionsSql } from './workout-logs';

const MAX_SCHEDULE_WEEKS = 1_000;

export const DAYS_PER_WEEK = 7;

export const SCHEDULE_DESCRIPTION = `The weeks are those of the active schedule: periods of seven days from its start date until today, at most the last ${MAX_SCHEDULE_WEEKS}. Each week has the workout of its step; a loop repeats its steps. Each training day is planned on each of its weekdays, with all rounds of its sets.`;

/** SQL: a subquery for the viewer's own rows of a table. */
export const viewerRowsSql = (entity: Entity, context: Context, bind: ParameterBinder) =>
  `(SELECT t.* FROM "${resourceOf(entity)!.table}"
    t${whereClause(ownerConditions(entity, context), 't', bind)})`;

/**
 * SQL: two CTEs. `s` is the active schedule, `e` its steps. In `e`, `before` is the number of weeks
 * before a step, and `whole` the number of weeks of the schedule.
 */
export const scheduleCtes = (context: Context, bind: ParameterBinder): string =>
  `s AS (SELECT s.* FROM ${viewerRowsSql(Schedule, context, bind)} s WHERE s."is_active"),
    e AS (SELECT t."id", t."workout_id", t."duration", sum(t."duration") OVER (ORDER BY t."order",
    t."id") - t."duration" AS "before", sum(t."duration") OVER () AS "whole"
      FROM ${viewerRowsSql(ScheduleStep, context, bind)} t JOIN s ON s."id" = t."schedule_id")`;

/** SQL: whether a week of the schedule belongs to step `e`. Weeks are numbered from 0. */
export const stepCoversWeekSql = (weekNumberSql: string, isLoopSql: string): string =>
  `CASE WHEN ${isLoopSql} THEN ${weekNumberSql} % e."whole" ELSE ${weekNumberSql}
    END BETWEEN e."before" AND e."before" + e."duration" - 1`;

/**
 * SQL: the CTEs of `scheduleCtes`, and the planned training: `w`, the weeks of the schedule; `d`,
 * the training days of their workouts; `p`, the weekly sets and repetitions of each exercise.
 * `p."counted_sets"` excludes sets in units such as seconds.
 */
export function plannedTrainingCtes(context: Context, bind: ParameterBinder): string {
  const todaySql = `${bind(todayIn(context.timeZone))}::date`;
  const ownRowsSql = (entity: Entity) => viewerRowsSql(entity, context, bind);

  return `${scheduleCtes(context, bind)},
    n AS (SELECT s."start_date", s."is_loop",
    generate_series(greatest(0,
    (${todaySql} - s."start_date") / ${DAYS_PER_WEEK} - ${MAX_SCHEDULE_WEEKS - 1}),
    (${todaySql} - s."start_date") / ${DAYS_PER_WEEK}) AS "number"
      FROM s WHERE s."start_date" <= ${todaySql}),
    w AS (SELECT n."start_date" + n."number" * ${DAYS_PER_WEEK} AS "start", e."workout_id" FROM n
      JOIN e
      ON ${stepCoversWeekSql('n."number"', 'n."is_loop"')}),
    d AS MATERIALIZED (SELECT t."workout_id", t."id" AS "training_day_id", k."day_of_week_id"
      FROM ${ownRowsSql(TrainingDay)} t JOIN "training_day_weekday" k
      ON k."training_day_id" = t."id"
      WHERE t."workout_id" IN (SELECT w."workout_id" FROM w)),
    g AS (SELECT x."set_id", x."exercise_base_id", avg(${repetitionsSql('x')}) AS "reps",
    min(CASE count(*) WHEN 1 THEN min(y."sets") ELSE count(*) END) OVER (PARTITION BY x."set_id") AS
    "rounds"
      FROM ${ownRowsSql(PlannedSet)} x JOIN ${ownRowsSql(SetGroup)} y ON y."id" = x."set_id"
      GROUP BY 1, 2),
    p AS MATERIALIZED (SELECT d."workout_id", g."exercise_base_id", sum(g."rounds")::int AS "sets",
    sum(g."rounds" * g."reps") AS "reps",
    sum(g."rounds") FILTER (WHERE g."reps" IS NOT NULL) AS "counted_sets"
      FROM d JOIN ${ownRowsSql(SetGroup)} y ON y."training_day_id" = d."training_day_id"
      JOIN g ON g."set_id" = y."id" GROUP BY 1, 2)`;
}
