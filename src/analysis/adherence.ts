/** Training adherence: the plan of the active schedule compared with logged training, by week and by exercise. */
import { Args, ArgsType, Ctx, Extensions, Field, FieldResolver, ID, Info, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/rows';
import { visibleRowConditions } from '../core/access/access';
import { whereClause, type BindParameter } from '../core/access/conditions';
import type { Context } from '../core/context';
import { invalidArgumentError } from '../core/model/errors';
import { DateScalar, DecimalScalar } from '../core/model/scalars';
import { loadParent } from '../core/read/loaders';
import { Workout } from '../resources/workout';
import { WorkoutLog } from '../resources/workoutlog';
import { WorkoutSession } from '../resources/workoutsession';
import { withExercise } from './exerciseofrow';
import { SCHEDULE_DESCRIPTION, DAYS_PER_WEEK, MAX_WEEKS, plannedCtes } from './scheduledsets';
import {
  ANALYSIS_EXTENSIONS,
  queryRanking,
  RankingArgs,
  SERIES_EXTENSIONS,
  querySeries,
  SeriesArgs,
  type DateRangeCondition,
} from './question';

const PERCENT_OF_PLAN = 'percent of what was planned, 100 at most; null where nothing was.';

@ObjectType({ description: 'A week of the active schedule: what it asked for, and what was done.', simpleResolvers: true })
export class AdherenceWeek {
  @Field(() => DateScalar, { description: 'The first of its seven days.' }) declare start: string;
  @Field(() => ID, { description: 'Id of the workout of that week.' }) declare workoutId: number;
  @Field(() => Int, { description: 'On how many days it was to be trained.' }) declare plannedDays: number;
  @Field(() => Int, { description: 'On how many days there was a session or a log of it.' }) declare doneDays: number;
  @Field(() => Int, { description: 'How many sets were to be done.' }) declare plannedSets: number;
  @Field(() => Int, { description: 'How many sets of it were logged.' }) declare doneSets: number;
  @Field(() => DecimalScalar, { nullable: true, description: `The days in ${PERCENT_OF_PLAN}` }) declare adherence: string | null;
}

@ArgsType()
class PlannedArgs extends RankingArgs {
  @Field(() => Int, { defaultValue: 4, description: `How many weeks of the schedule count, this one included, from 1 to ${MAX_WEEKS}.` })
  declare weeks: number;
  @Field(() => Boolean, { defaultValue: false, description: 'Whether only exercises count of which nothing was done.' })
  declare neglected: boolean;
}

@ObjectType({ description: 'An exercise that the active schedule asked for, and what was done of it.', simpleResolvers: true })
export class PlannedExercise {
  @Field(() => ID, { description: 'Id of the translation that is shown.' }) declare exerciseId: number;
  @Field(() => ID, { description: 'Id of what its translations share.' }) declare exerciseBaseId: number;
  @Field(() => Int, { description: 'How many sets of it were to be done in these weeks.' }) declare plannedSets: number;
  @Field(() => Int, { description: 'How many sets of it were logged in these weeks, whatever the workout.' }) declare doneSets: number;
  @Field(() => DecimalScalar, { nullable: true, description: 'The sets in percent of those planned; null where none were.' })
  declare share: string | null;
  @Field(() => DecimalScalar, { nullable: true, description: 'How many repetitions a set was to have, on an average; null without any.' })
  declare plannedReps: string | null;
  @Field(() => DecimalScalar, { nullable: true, description: 'How many repetitions a set had, on an average; null without any.' })
  declare doneReps: string | null;
  @Field(() => DateScalar, { nullable: true, description: 'When it was last done, in these weeks or before; null if never.' })
  declare lastDoneOn: string | null;
}

const BETWEEN_WEEK_DAYS = `BETWEEN w."start" AND w."start" + ${DAYS_PER_WEEK - 1}`;

function adherenceSql(context: Context, bind: BindParameter, during: DateRangeCondition): string {
  const datesInWeek = (entity: typeof WorkoutLog | typeof WorkoutSession, table: string) =>
    `SELECT t."date" FROM "${table}" t${whereClause([...visibleRowConditions(entity, context), () => `t."workout_id" = w."workout_id" AND t."date" ${BETWEEN_WEEK_DAYS}`], 't', bind)}`;
  const logDatesInWeek = datesInWeek(WorkoutLog, 'workout_log');
  return `WITH ${plannedCtes(context, bind)}
    SELECT a.*, round(100.0 * least(a."doneDays", a."plannedDays") / nullif(a."plannedDays", 0), 1) AS "adherence"
    FROM (SELECT w."start", w."workout_id" AS "workoutId",
      (SELECT count(DISTINCT d."day_of_week_id") FROM d WHERE d."workout_id" = w."workout_id")::int AS "plannedDays",
      (SELECT count(*) FROM (${datesInWeek(WorkoutSession, 'workout_session')} UNION ${logDatesInWeek}) x)::int AS "doneDays",
      (SELECT coalesce(sum(p."sets"), 0) FROM p WHERE p."workout_id" = w."workout_id")::int AS "plannedSets",
      (SELECT count(*) FROM (${logDatesInWeek}) x)::int AS "doneSets" FROM w
      WHERE ${during('w."start"', `w."start" + ${DAYS_PER_WEEK - 1}`)}) a`;
}

function plannedExercisesSql({ weeks, neglected }: PlannedArgs, context: Context, bind: BindParameter): string {
  const translationIds = 'SELECT e."id" FROM "exercise" e WHERE e."exercise_base_id" = q."exerciseBaseId"';
  const whereLogs = (condition: string) =>
    whereClause([...visibleRowConditions(WorkoutLog, context), () => `t."exercise_id" IN (${translationIds})${condition}`], 't', bind);
  return `WITH ${plannedCtes(context, bind)},
    l AS (SELECT w.* FROM w ORDER BY w."start" DESC LIMIT ${bind(weeks)}),
    b AS (SELECT min(l."start") AS "low", max(l."start") + ${DAYS_PER_WEEK - 1} AS "high" FROM l),
    q AS (SELECT e."exercise_base_id" AS "exerciseBaseId", min(p."exercise_id") AS "exerciseId", sum(p."sets")::int AS "plannedSets", round(sum(p."reps") / nullif(sum(p."sets"), 0), 1) AS "plannedReps"
      FROM l JOIN p ON p."workout_id" = l."workout_id" JOIN "exercise" e ON e."id" = p."exercise_id" GROUP BY 1)
    SELECT q.*, o."sets" AS "doneSets", o."reps" AS "doneReps", round(100.0 * o."sets" / nullif(q."plannedSets", 0), 1) AS "share",
      (SELECT max(t."date") FROM "workout_log" t${whereLogs('')}) AS "lastDoneOn"
    FROM q CROSS JOIN LATERAL (SELECT count(*)::int AS "sets", round(avg(t."reps"), 1) AS "reps" FROM "workout_log" t, b${whereLogs(' AND t."date" BETWEEN b."low" AND b."high"')}) o
    ${neglected ? 'WHERE o."sets" = 0' : ''}`;
}

@Resolver(() => AdherenceWeek)
export class AdherenceResolver {
  @Query(() => [AdherenceWeek], {
    description: `What the viewer did of what was planned, week by week, oldest first: the weeks that have a day from \`from\` to \`until\`. ${SCHEDULE_DESCRIPTION}`,
  })
  @Extensions(SERIES_EXTENSIONS)
  scheduleAdherence(@Args(() => SeriesArgs) args: SeriesArgs, @Ctx() context: Context): Promise<Row[]> {
    const buildStatement = (bind: BindParameter, during: DateRangeCondition) => ({
      select: adherenceSql(context, bind, during),
      order: ['"start"', '"workoutId"'],
    });
    return querySeries(buildStatement, { ...args, by: 'WEEK' }, context);
  }

  @FieldResolver(() => Workout, { description: 'What was to be trained in that week.' })
  workout(@Root() row: Row, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return loadParent(Workout, row.workoutId, context, info);
  }
}

@Resolver(() => PlannedExercise)
export class PlannedExerciseResolver extends withExercise(
  PlannedExercise,
  'What was planned: of several translations the one with the lowest id.',
) {
  @Query(() => [PlannedExercise], {
    description:
      'The exercises that were planned for the last weeks and what the viewer did of them, that of which least was done first. The weeks and what they ask for are those of `scheduleAdherence`.',
  })
  @Extensions(ANALYSIS_EXTENSIONS)
  plannedExercises(@Args(() => PlannedArgs) args: PlannedArgs, @Ctx() context: Context): Promise<Row[]> {
    if (args.weeks < 1 || args.weeks > MAX_WEEKS) throw invalidArgumentError('weeks', `Must be from 1 to ${MAX_WEEKS}.`);
    return queryRanking(
      (bind) => ({ select: plannedExercisesSql(args, context, bind), order: ['"share"', '"exerciseBaseId"'] }),
      args,
      context,
    );
  }
}
