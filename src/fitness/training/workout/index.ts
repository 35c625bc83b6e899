import { Arg, Ctx, FieldResolver, ID, Resolver, Root, Field, Int, ObjectType } from 'type-graphql';
import { FieldExtensions } from '../../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../../../engine/context';
import { createCrudResolver } from '../../../engine/schema/crud';
import { notFoundError } from '../../../engine/declare/errors';
import {
  DateField,
  defaultValues,
  Id,
  TextField,
  type RowFields,
  type RowOf,
} from '../../../engine/declare/fields';
import { Children, Owner, Resource } from '../../../engine/declare/resource';
import { loadRowEvenIfHidden, loadChildFields } from '../../../engine/read/loaders';
import { RequiresFields } from '../../../engine/read/query-plan';
import { CANONICAL_WORKOUT_SELECTION, CanonicalWorkout } from './canonical';
import { ExerciseTranslation } from '../../catalogue/exercise-translation';
import { parseIdArgument } from '../../id-argument';
import { ScheduleStep } from '../schedule-step';
import { TrainingDay } from '../training-day';
import { User } from '../../../accounts/user';
import { WorkoutLog } from '../workout-log';
import { WorkoutSession } from '../workout-session';
import { DateScalar, DecimalScalar } from '../../../engine/declare/scalars';
import { MASS_UNIT_IDS } from '../kilograms';
import { groupByDay, progressChartLines } from '../progress';
import { allFieldNames } from './loaders';
import { REPETITIONS_UNIT_ID } from '../summary';

@ObjectType({
  description: 'The heaviest weight of a day for one number of repetitions.',
  simpleResolvers: true,
})
class ChartPoint {
  @Field(() => DateScalar, { description: 'The date of the training.' }) declare date: string;
  @Field(() => DecimalScalar, { description: 'The weight, in the unit in which it was logged.' })
  declare weight: string;
  @Field(() => Int, { description: 'The number of repetitions.' }) declare reps: number;
}

@ObjectType({ description: 'The logs of one day.', simpleResolvers: true })
class LogDay {
  @Field(() => DateScalar, { description: 'The date of the training.' }) declare date: string;
  @Field(() => [WorkoutLog], { description: 'The logs of that day, ordered by repetitions.' })
  declare logs: RowOf<WorkoutLog>[];
}

@ObjectType({ description: 'The logs of one exercise of a workout.', simpleResolvers: true })
class ExerciseLogData {
  @Field(() => [[ChartPoint]], { description: 'One series for each number of repetitions.' })
  declare chart: ChartPoint[][];
  @Field(() => [LogDay], { description: 'The same data as a list, oldest first.' })
  declare days: LogDay[];
}

/**
 * Loads the logs of an exercise in plain repetitions and in kg or lb. Logs in other units cannot be
 * compared.
 */
async function loadLogData(
  workoutId: number,
  translationId: number,
  context: Context,
): Promise<ExerciseLogData> {
  const logs = await loadChildFields(
    WorkoutLog,
    'workoutId',
    allFieldNames(WorkoutLog),
    workoutId,
    context,
    {
      name: `translation ${translationId}`,
      condition: (alias, bind) =>
        `${alias}."exercise_id" = ${bind(translationId)} AND ${alias}."repetition_unit_id" = ${bind(REPETITIONS_UNIT_ID)}` +
        ` AND ${alias}."weight_unit_id" = ANY(${bind(Object.values(MASS_UNIT_IDS))})`,
    },
  );

  return { chart: progressChartLines(logs), days: groupByDay(logs) };
}

const MISSING_EXERCISE_MESSAGE = "Please provide an exercise ID in the 'id' GET parameter";

const LOG_DATA_SELECTION =
  'chart_data: chart { date weight reps } logs: days { key: date value: logs { ...workoutlog } }';

@Resource({
  restName: 'workout',
  inReference: { apiRootPosition: 1 },
  dumpModelName: 'manager.workout',
  description: 'A training plan, made of training days.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['-createdOn'],
  historyFieldNames: ['logs', 'sessions'],
  filters: ['name', 'createdOn'],
})
export class Workout extends Model<Workout> {
  @Id() declare id: number;
  @DateField({
    label: 'Creation date',
    columnAndRestKey: 'creation_date',
    description: 'The day on which it was created.',
    readOnly: true,
    default: defaultValues.today,
  })
  declare createdOn: string;
  @TextField({
    label: 'Description',
    columnAndRestKey: 'comment',
    helpText: 'A short description or goal of the workout, e.g. "Focus on back".',
    max: 100,
    allowBlank: true,
  })
  declare name: string;
  @Owner(() => User, { hiddenInRest: true }) declare userId: number;
  @Children(() => TrainingDay, 'workoutId', {
    isSavedWithParent: true,
    assumedSize: 4,
    description: 'The days of the plan.',
  })
  declare days: TrainingDay[];
  @Children(() => WorkoutSession, 'workoutId', {
    isConnection: true,
    description: 'The sessions in which the workout was trained.',
  })
  declare sessions: WorkoutSession[];
  @Children(() => WorkoutLog, 'workoutId', {
    isConnection: true,
    description: 'Sets performed in its sessions.',
  })
  declare logs: WorkoutLog[];
  @Children(() => ScheduleStep, 'workoutId', {
    assumedSize: 2,
    description: 'The schedule steps that use the workout.',
  })
  declare scheduleSteps: ScheduleStep[];
}

@Resolver(() => Workout)
export default class WorkoutResolver extends createCrudResolver(Workout) {
  @FieldResolver(() => CanonicalWorkout, {
    description:
      'The whole plan in training order: days, set groups and exercises with their planned sets, summarized and set by set.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 50 },
    action: {
      name: 'canonical_representation',
      graphqlSelection: CANONICAL_WORKOUT_SELECTION,
      hiddenOnPages: true,
    },
  })
  @RequiresFields(() => Workout)
  canonicalRepresentation(
    @Root() workout: RowOf<Workout>,
    @Ctx() context: Context,
  ): Promise<CanonicalWorkout> {
    return context.services.derivedValues.getOrCompute(
      `canonical ${workout.id}`,
      workout.userId,
      context,
      () => new CanonicalWorkout(workout),
    );
  }

  @FieldResolver(() => ExerciseLogData, {
    description:
      'The logs of one exercise of the workout, in repetitions and kg or lb, as a list and as data of a chart.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    cost: { weight: 50 },
    action: {
      name: 'log_data',
      graphqlSelection: LOG_DATA_SELECTION,
      keyValueListKeys: ['logs'],
      bodyWhenArgumentMissing: MISSING_EXERCISE_MESSAGE,
    },
  })
  async logData(
    @Arg('id', () => ID, { description: 'Id of the exercise.' }) id: string,
    @Root() workout: RowFields<Workout, 'id'>,
    @Ctx() context: Context,
  ): Promise<ExerciseLogData> {
    const translationId = parseIdArgument('id', ExerciseTranslation.name, id, context);

    if (
      translationId === undefined ||
      !(await loadRowEvenIfHidden(ExerciseTranslation, ['id'], translationId, context))
    ) {
      throw notFoundError();
    }

    return loadLogData(workout.id, translationId, context);
  }
}
