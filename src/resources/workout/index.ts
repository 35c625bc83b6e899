import { Arg, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../core/model/fieldextensions';
import { Model } from 'sequelize-typescript';
import { parseIdArgument } from '../../core/operation/idargument';
import type { Context } from '../../core/context';
import { createCrudResolver } from '../../core/schema/crud';
import { notFoundError } from '../../core/model/errors';
import {
  DateField,
  defaultValues,
  Id,
  TextField,
  type RowFields,
  type RowOf,
} from '../../core/model/fields';
import { Children, Owner } from '../../core/model/relationfields';
import { loadRowEvenIfHidden } from '../../core/read/loaders';
import { RequiresFields } from '../../core/read/queryplan';
import { Resource } from '../../core/model/resource';
import { CANONICAL_WORKOUT_SELECTION, CanonicalWorkout } from './canonical';
import {
  ExerciseLogData,
  LOG_DATA_SELECTION,
  loadLogData,
  MISSING_EXERCISE_MESSAGE,
} from './logdata';
import { Exercise } from '../exercise';
import { ScheduleStep } from '../schedulestep';
import { TrainingDay } from '../trainingday';
import { User } from '../user';
import { WorkoutLog } from '../workoutlog';
import { WorkoutSession } from '../workoutsession';

@Resource({
  restName: 'workout',
  apiRootPosition: 1,
  dumpModelName: 'manager.workout',
  description: 'A training plan, made of training days.',
  isOwned: true,
  scopeGroup: 'training',
  ordering: ['-createdOn'],
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
    cost: { weight: 50 },
    action: { name: 'canonical_representation', graphqlSelection: CANONICAL_WORKOUT_SELECTION },
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
    const exerciseId = parseIdArgument('id', Exercise.name, id, context);
    if (
      exerciseId === undefined ||
      !(await loadRowEvenIfHidden(Exercise, ['id'], exerciseId, context))
    )
      throw notFoundError();
    return loadLogData(workout.id, exerciseId, context);
  }
}
