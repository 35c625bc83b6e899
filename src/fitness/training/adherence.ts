/**
 * Training adherence: compares the active schedule with the logged training, by week and by
 * exercise.
 */
import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { MAX_PAGE_SIZE } from '../../shared/page-size';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../../engine/access/access';
import { whereClause, type ParameterBinder } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { validatePageSize } from '../../engine/declare/page-size';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { Workout } from './workout';
import { WorkoutLog } from './workout-log';
import { WorkoutSession } from './workout-session';
import { ExerciseField } from './exercise-reference';
import { SCHEDULE_DESCRIPTION, DAYS_PER_WEEK, plannedTrainingCtes } from './scheduled-sets';
import { repetitionsSql } from './workout-logs';
import {
  DEFAULT_PERIOD_COUNT,
  queryDateRangeRanking,
  RANKING_FIELD_EXTENSIONS,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeSql,
} from '../queries';

const PERCENT_OF_PLAN_DESCRIPTION =
  'percent of those planned, at most 100; null if none were planned.';

@ObjectType({
  description: 'A week of the active schedule: planned and completed training.',
  simpleResolvers: true,
})
export class AdherenceWeek {
  @Field(() => DateScalar, { description: 'The first day of the week.' }) declare start: string;
  @Field(() => ID, { description: 'Id of the workout planned for the week.' })
  declare workoutId: number;
  @Field(() => Int, { description: 'Number of planned training days.' })
  declare plannedDays: number;
  @Field(() => Int, { description: 'Number of days with a session or a log of the workout.' })
  declare doneDays: number;
  @Field(() => Int, { description: 'Number of planned sets.' }) declare plannedSets: number;
  @Field(() => Int, { description: 'Number of logged sets of the workout.' })
  declare doneSets: number;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: `The days in ${PERCENT_OF_PLAN_DESCRIPTION}`,
  })
  declare adherence: string | null;
}

@ArgsType()
class PlannedExercisesArgs extends SeriesArgs {
  @Field(() => Int, {
    nullable: true,
    description: `Only the last n of these weeks, at most ${MAX_PAGE_SIZE}.`,
  })
  declare last?: number | null;
  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Returns only exercises without any logged set.',
  })
  declare neglected: boolean;
}

@ObjectType({
  description: 'An exercise of the active schedule: planned and completed sets.',
  simpleResolvers: true,
})
export class PlannedExercise {
  @Field(() => ID, { description: 'Id of the exercise.' }) declare exerciseId: number;
  @Field(() => Int, { description: 'Number of planned sets in these weeks.' })
  declare plannedSets: number;
  @Field(() => Int, { description: 'Number of logged sets in these weeks, of any workout.' })
  declare doneSets: number;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Logged sets as a percentage of planned sets; null if none were planned.',
  })
  declare share: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Mean number of planned repetitions per set; null without any.',
  })
  declare plannedReps: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Mean number of logged repetitions per set; null without any.',
  })
  declare doneReps: string | null;
  @Field(() => DateScalar, {
    nullable: true,
    description: 'The day it was last logged, in these weeks or before; null if never.',
  })
  declare lastDoneOn: string | null;
}

const WITHIN_WEEK_SQL = `BETWEEN w."start" AND w."start" + ${DAYS_PER_WEEK - 1}`;

function adherenceSql(context: Context, bind: ParameterBinder, dateRange: DateRangeSql): string {
  const datesInWeekSql = (entity: typeof WorkoutLog | typeof WorkoutSession, table: string) =>
    `SELECT t."date"
      FROM "${table}"
      t${whereClause([...visibleRowConditions(entity, context), () => `t."workout_id" = w."workout_id" AND t."date" ${WITHIN_WEEK_SQL}`], 't', bind)}`;
  const logDatesInWeekSql = datesInWeekSql(WorkoutLog, 'workout_log');

  return `WITH ${plannedTrainingCtes(context, bind)}
    SELECT a.*, round(100.0 * least(a."doneDays", a."plannedDays") / nullif(a."plannedDays", 0),
      1) AS "adherence"
    FROM (SELECT w."start", w."workout_id" AS "workoutId",
      (SELECT count(DISTINCT d."day_of_week_id") FROM d
        WHERE d."workout_id" = w."workout_id")::int AS "plannedDays",
      (SELECT count(*) FROM (${datesInWeekSql(WorkoutSession, 'workout_session')}
        UNION ${logDatesInWeekSql}) x)::int AS "doneDays",
      (SELECT coalesce(sum(p."sets"), 0) FROM p WHERE p."workout_id" = w."workout_id")::int AS
      "plannedSets",
      (SELECT count(*) FROM (${logDatesInWeekSql}) x)::int AS "doneSets" FROM w
      WHERE ${dateRange.contains('w."start"', `w."start" + ${DAYS_PER_WEEK - 1}`)}) a`;
}

/**
 * SQL: one row per planned exercise. In its CTEs, `l` are the weeks of the schedule, `b` their first
 * and last dates, and `q` the planned sets of each exercise.
 */
function plannedExercisesSql(
  { last, neglected }: PlannedExercisesArgs,
  context: Context,
  bind: ParameterBinder,
  dateRange: DateRangeSql,
): string {
  const logsWhereSql = (extraConditionSql: string) =>
    whereClause(
      [
        ...visibleRowConditions(WorkoutLog, context),
        () => `t."exercise_base_id" = q."exerciseId"${extraConditionSql}`,
      ],
      't',
      bind,
    );

  return `WITH ${plannedTrainingCtes(context, bind)},
    l AS (SELECT w.* FROM w
      WHERE ${dateRange.contains('w."start"', `w."start" + ${DAYS_PER_WEEK - 1}`)}
      ORDER BY w."start" DESC LIMIT ${bind(validatePageSize('last', last, MAX_PAGE_SIZE))}),
    b AS (SELECT min(l."start") AS "low", max(l."start") + ${DAYS_PER_WEEK - 1} AS "high" FROM l),
    q AS (SELECT p."exercise_base_id" AS "exerciseId", sum(p."sets")::int AS "plannedSets", round(sum(p."reps") / nullif(sum(p."counted_sets"), 0),
    1) AS "plannedReps"
      FROM l JOIN p ON p."workout_id" = l."workout_id"
      GROUP BY 1)
    SELECT q.*, o."sets" AS "doneSets", o."reps" AS "doneReps",
      round(100.0 * o."sets" / nullif(q."plannedSets", 0), 1) AS "share",
      (SELECT max(t."date") FROM "workout_log" t,
        b${logsWhereSql(' AND t."date" <= b."high"')}) AS "lastDoneOn"
    FROM q CROSS JOIN LATERAL (SELECT count(*)::int AS "sets",
      round(avg(${repetitionsSql('t')}), 1) AS "reps" FROM "workout_log" t,
      b${logsWhereSql(' AND t."date" BETWEEN b."low" AND b."high"')}) o
    ${neglected ? 'WHERE o."sets" = 0' : ''}`;
}

@Resolver(() => AdherenceWeek)
@RowField('workout', 'workoutId', () => Workout, {
  description: 'The workout planned for the week.',
})
export class AdherenceResolver {
  @Query(() => [AdherenceWeek], {
    description: `Planned and completed training of the viewer by week, oldest first, for the weeks that overlap \`from\` to \`until\`. ${SCHEDULE_DESCRIPTION}`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  scheduleAdherence(
    @Args(() => SeriesArgs) args: SeriesArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => ({
      select: adherenceSql(context, bind, dateRange),
      orderTerms: ['"start"', '"workoutId"'],
    });

    return querySeries(buildStatement, { ...args, by: 'WEEK' }, context);
  }
}

@Resolver(() => PlannedExercise)
@ExerciseField()
export class PlannedExerciseResolver {
  @Query(() => [PlannedExercise], {
    description:
      'The exercises planned for the weeks that overlap `from` to `until`, and their logged sets, least completed first. Weeks and planned sets are computed as in `scheduleAdherence`.',
  })
  @FieldExtensions(RANKING_FIELD_EXTENSIONS)
  plannedExercises(
    @Args(() => PlannedExercisesArgs) args: PlannedExercisesArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    // Weeks of a schedule begin on any weekday, so 26 calendar weeks may overlap 27 of them.
    const last = args.last ?? (args.from == null ? DEFAULT_PERIOD_COUNT : null);
    const rangeArgs = { ...args, by: 'WEEK' as const, last };
    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => ({
      select: plannedExercisesSql(rangeArgs, context, bind, dateRange),
      orderTerms: ['"share"', '"exerciseId"'],
    });

    return queryDateRangeRanking(buildStatement, rangeArgs, context);
  }
}
