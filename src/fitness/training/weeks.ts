/** Training frequency by week, and the streak of weeks that reached a goal. */
import { Args, ArgsType, Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../../engine/access/access';
import { whereClause, type ParameterBinder } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { bucketSql, DayBucket, DayUnit, WEEKDAY_ENUM } from '../../engine/grouping/time-buckets';
import { todayIn } from '../../engine/declare/clock';
import { invalidArgumentError } from '../../engine/declare/errors';
import { WorkoutLog } from './workout-log';
import { WorkoutSession } from './workout-session';
import {
  FIRST_DAY_ARGUMENT_OPTIONS,
  createDayBucketMapper,
  lastDayOf,
  MAX_SERIES_DAYS,
  SERIES_FIELD_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeSql,
} from '../queries';

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
      'Number of consecutive weeks up to this one that reached the goal; 0 if this one did not. The current week continues the streak until it is over.',
  })
  declare streak: number;
}

/**
 * SQL: one row per week. In its CTEs, `c` counts the training days of each week with training, `b`
 * has the first and the last week, and `w` adds the weeks without training. In `n`, `missed` is the
 * number of weeks up to this one that missed the goal, which is the same for all weeks of a streak.
 * In `o`, `open` marks the current week if it has not reached the goal yet.
 */
function weeksSql(
  args: WeekArgs,
  context: Context,
  bind: ParameterBinder,
  dateRange: DateRangeSql,
): string {
  const lastDaySql = `${bind(lastDayOf(args, context))}::date`;
  const todaySql = `${bind(todayIn(context.timeZone))}::date`;
  const { firstDay, goal } = args;
  const trainingDatesSql = (entity: typeof WorkoutLog | typeof WorkoutSession, table: string) =>
    `SELECT t."date"
      FROM "${table}" t${whereClause(visibleRowConditions(entity, context), 't', bind)}`;
  const reachedGoalSql = `w."sessions" >= ${bind(goal)}::int`;

  return `WITH c AS (SELECT ${bucketSql(DayUnit.WEEK, firstDay, 'd."date"', '')} AS "start",
    count(*) AS "sessions"
      FROM (${trainingDatesSql(WorkoutSession, 'workout_session')}
        UNION ${trainingDatesSql(WorkoutLog, 'workout_log')}) d GROUP BY 1),
    h AS (SELECT ${bucketSql(DayUnit.WEEK, firstDay, lastDaySql, '')} AS "high"),
    b AS (SELECT "high", greatest(min("start"), "high" - ${MAX_SERIES_DAYS}) AS "low"
      FROM c, h GROUP BY "high"),
    w AS (SELECT v."start", coalesce(c."sessions", 0)::int AS "sessions"
      FROM (SELECT "high" - ${DAYS_PER_WEEK} * generate_series(0,
        ("high" - "low") / ${DAYS_PER_WEEK}) AS "start" FROM b) v LEFT JOIN c USING ("start")),
    n AS (SELECT w.*, ${reachedGoalSql} AS "reached",
    count(*) FILTER (WHERE NOT ${reachedGoalSql}) OVER (ORDER BY w."start") AS "missed" FROM w),
    s AS (SELECT n."start", n."sessions", CASE WHEN n."reached"
      THEN (count(*) FILTER (WHERE n."reached") OVER (PARTITION BY n."missed"
      ORDER BY n."start"))::int ELSE 0 END AS "streak", n."reached" FROM n),
    o AS (SELECT s.*, NOT s."reached" AND s."start" + ${DAYS_PER_WEEK - 1} >= ${todaySql} AS "open",
      lag(s."streak", 1, 0) OVER (ORDER BY s."start") AS "previous" FROM s)
    SELECT s."start", s."sessions", CASE WHEN s."open" THEN s."previous" ELSE s."streak" END AS
      "streak" FROM o s WHERE ${dateRange.contains('s."start"', `s."start" + ${DAYS_PER_WEEK - 1}`)}`;
}

@Resolver()
export class TrainingWeekResolver {
  @Query(() => [TrainingWeek], {
    description: `Training frequency of the viewer by week, oldest first: the weeks that overlap \`from\` to \`until\`, since the first one with a session or a log, including weeks without any. Covers the ${MAX_SERIES_DAYS} days before \`until\`.`,
  })
  @FieldExtensions(SERIES_FIELD_EXTENSIONS)
  async trainingWeeks(
    @Args(() => WeekArgs) args: WeekArgs,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    if (args.goal < 1 || args.goal > DAYS_PER_WEEK) {
      throw invalidArgumentError('goal', `Must be from 1 to ${DAYS_PER_WEEK}.`);
    }

    const buildStatement = (bind: ParameterBinder, dateRange: DateRangeSql) => ({
      select: weeksSql(args, context, bind, dateRange),
      orderTerms: ['"start"'],
    });

    return (await querySeries(buildStatement, { ...args, by: DayUnit.WEEK }, context)).map(
      createDayBucketMapper(DayUnit.WEEK),
    );
  }
}
