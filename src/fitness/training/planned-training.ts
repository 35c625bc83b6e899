/** Training calendar: planned training of the active schedule and actual sessions, day by day. */
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  Info,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../../engine/access/access';
import {
  createParameterBinder,
  whereClause,
  type ParameterBinder,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { invalidArgumentError } from '../../engine/declare/errors';
import { DateScalar } from '../../engine/declare/scalars';
import { loadRowsById } from '../../engine/read/loaders';
import { RowField } from '../../engine/read/row-field';
import { ScheduleStep } from './schedule-step';
import { TrainingDay } from './training-day';
import { WorkoutSession } from './workout-session';
import { DAYS_PER_WEEK, viewerRowsSql, scheduleCtes, stepCoversWeekSql } from './scheduled-sets';
import { checkDateOrder, countDaysInclusive } from '../queries';

const MAX_CALENDAR_DAYS = 366;

const estimateDayCount = ({ from, until }: { from: string; until: string }) =>
  Math.min(Math.max(countDaysInclusive(from, until), 0), MAX_CALENDAR_DAYS);

@ObjectType({
  description: 'A day: planned training of the active schedule, and actual sessions.',
  simpleResolvers: true,
})
export class PlannedTraining {
  @Field(() => DateScalar, { description: 'The day.' }) declare date: string;
}

/**
 * SQL: selects one row per day with its schedule step, planned training days and sessions, as ids.
 */
function calendarSql(from: string, until: string, context: Context, bind: ParameterBinder): string {
  const sessionsWhereSql = whereClause(
    [...visibleRowConditions(WorkoutSession, context), () => 't."date" = n."date"'],
    't',
    bind,
  );
  const firstDaySql = `${bind(from)}::date`;

  return `WITH ${scheduleCtes(context, bind)},
    n AS (SELECT ${firstDaySql} + generate_series(0, ${bind(until)}::date - ${firstDaySql}) AS
    "date"),
    w AS (SELECT n."date", s."is_loop", (n."date" - s."start_date") / ${DAYS_PER_WEEK} AS "number"
      FROM n JOIN s ON s."start_date" <= n."date")
    SELECT n."date", e."id" AS "step",
      ARRAY(SELECT d."id" FROM ${viewerRowsSql(TrainingDay, context, bind)} d
        JOIN "training_day_weekday" k ON k."training_day_id" = d."id"
        WHERE d."workout_id" = e."workout_id" AND k."day_of_week_id" = extract(isodow FROM n."date")
        ORDER BY d."id") AS "trainingDays",
      ARRAY(SELECT t."id" FROM "workout_session" t${sessionsWhereSql} ORDER BY t."id") AS "sessions"
    FROM n LEFT JOIN (w JOIN e ON ${stepCoversWeekSql('w."number"', 'w."is_loop"')})
      ON w."date" = n."date" ORDER BY n."date"`;
}

@Resolver(() => PlannedTraining)
@RowField('step', 'step', () => ScheduleStep, {
  nullable: true,
  description: 'The step of the schedule; null before the schedule, after it or without one.',
})
export class PlannedTrainingResolver {
  @Query(() => [PlannedTraining], {
    description: `Each day from \`from\` to \`until\`, at most ${MAX_CALENDAR_DAYS} days: the step of the active schedule, the training days planned for it, and its sessions.`,
  })
  @FieldExtensions({
    exclusiveTo: 'graphql',
    cost: { weight: 20 },
    listSize: { assumedSize: estimateDayCount },
  })
  plannedTraining(
    @Arg('from', () => DateScalar, { description: 'The first day.' }) from: string,
    @Arg('until', () => DateScalar, { description: 'The last day.' }) until: string,
    @Ctx() context: Context,
  ): Promise<Row[]> {
    checkDateOrder(from, until);

    if (countDaysInclusive(from, until) > MAX_CALENDAR_DAYS) {
      throw invalidArgumentError(
        'until',
        `Ensure that there are no more than ${MAX_CALENDAR_DAYS} days.`,
      );
    }

    const { bind, values } = createParameterBinder();

    return context.session.query(calendarSql(from, until, context, bind), values);
  }

  @FieldResolver(() => [TrainingDay], {
    description: 'The planned training days; empty on a rest day.',
  })
  @FieldExtensions({ listSize: { assumedSize: 1 }, idsField: 'trainingDays' })
  trainingDays(@Root() day: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return loadRowsById(TrainingDay, day.trainingDays, context, info);
  }

  @FieldResolver(() => [WorkoutSession], {
    description: 'The sessions of the day, of any workout.',
  })
  @FieldExtensions({ listSize: { assumedSize: 1 }, idsField: 'sessions' })
  sessions(@Root() day: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return loadRowsById(WorkoutSession, day.sessions, context, info);
  }
}
