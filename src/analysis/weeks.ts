/** Training frequency by week, and the streak of weeks that reached a goal. */
import { Args, ArgsType, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../core/model/fieldextensions';
import type { Row } from '../database/rows';
import { visibleRowConditions } from '../core/access/access';
import { whereClause, type ParameterBinder } from '../core/access/conditions';
import type { Context } from '../core/context';
import { bucketSql, DayBucket, DayUnit, WEEKDAY_ENUM } from '../core/grouping/timebuckets';
import { invalidArgumentError } from '../core/model/errors';
import { WorkoutLog } from '../resources/workoutlog';
import { WorkoutSession } from '../resources/workoutsession';
import { FIRST_DAY_ARGUMENT_OPTIONS, createDayBucketAssigner, MAX_SERIES_DAYS } from './daybuckets';
import {
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeConditionSql,
} from './queries';

const DAYS_PER_WEEK = 7;

@ArgsType()
class WeekArgs extends SeriesArgs {
  @Field(() => WEEKDAY_ENUM.type, FIRST_DAY_ARGUMENT_OPTIONS) declare firstDay: number;
  @Field(() => Int, {
    defaultValue: 1,
    description: 'Training days per week required to continue the streak, from 1 to 7.',
  })
  declare goal: number;
}

@ObjectType({ description: 'A week and its number of training days.', simpleResolvers: true })
export class TrainingWeek {
  @Field(() => DayBucket, { description: 'The period of seven days.' }) declare bucket: DayBucket;
  @Field(() => Int, { description: 'Number of days with a session or a log.' })
  declare sessions: number;
  @Field(() => Int, {
    description:
      'Number of consecutive weeks up to this one that reached the goal; 0 if this one did not.',
  })
  declare streak: number;
}

function weeksSql(
  { firstDay, goal }: WeekArgs,
  context: Context,
  bind: ParameterBinder,
  inDateRangeSql: DateRangeConditionSql,
): string {
  const trainingDatesSql = (entity: typeof WorkoutLog | typeof WorkoutSession, table: string) =>
    `SELECT t."date" FROM "${table}" t${whereClause(visibleRowConditions(entity, context), 't', bind)}`;
  const reachedGoalSql = `w."sessions" >= ${bind(goal)}::int`;
  return `WITH c AS (SELECT ${bucketSql(DayUnit.WEEK, firstDay, 'd."date"', '')} AS "start", count(*) AS "sessions"
      FROM (${trainingDatesSql(WorkoutSession, 'workout_session')} UNION ${trainingDatesSql(WorkoutLog, 'workout_log')}) d GROUP BY 1),
    b AS (SELECT greatest(min("start"), max("start") - ${MAX_SERIES_DAYS}) AS "low", max("start") AS "high" FROM c),
    w AS (SELECT v."start", coalesce(c."sessions", 0)::int AS "sessions"
      FROM (SELECT "high" - ${DAYS_PER_WEEK} * generate_series(0, ("high" - "low") / ${DAYS_PER_WEEK}) AS "start" FROM b) v LEFT JOIN c USING ("start")),
    n AS (SELECT w.*, ${reachedGoalSql} AS "reached", count(*) FILTER (WHERE NOT ${reachedGoalSql}) OVER (ORDER BY w."start") AS "missed" FROM w),
    s AS (SELECT n."start", n."sessions", CASE WHEN n."reached" THEN (count(*) FILTER (WHERE n."reached") OVER (PARTITION BY n."missed" ORDER BY n."start"))::int ELSE 0 END AS "streak" FROM n)
    SELECT * FROM s WHERE ${inDateRangeSql('s."start"', `s."start" + ${DAYS_PER_WEEK - 1}`)}`;
}

@Resolver()
export class TrainingWeekResolver {
  @Query(() => [TrainingWeek], {
    description: `Training frequency of the viewer by week, oldest first: the weeks that overlap \`from\` to \`until\`, from the first to the last one with a session or a log, including weeks without any. Covers the ${MAX_SERIES_DAYS} days before the last week.`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async trainingWeeks(
    @Args(() => WeekArgs) args: WeekArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    if (args.goal < 1 || args.goal > DAYS_PER_WEEK)
      throw invalidArgumentError('goal', `Must be from 1 to ${DAYS_PER_WEEK}.`);
    const buildStatement = (bind: ParameterBinder, inDateRangeSql: DateRangeConditionSql) => ({
      select: weeksSql(args, context, bind, inDateRangeSql),
      orderTerms: ['"start"'],
    });
    return (await querySeries(buildStatement, { ...args, by: DayUnit.WEEK }, context)).map(
      createDayBucketAssigner(DayUnit.WEEK),
    );
  }
}
