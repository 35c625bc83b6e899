/** The rows of a workout. Each kind is one statement for all that a request asks for. */
import type { Context } from '../../core/context';
import { fieldsOf, type Entity } from '../../core/fields';
import { rowById, rowsBelow } from '../../core/loaders';
import type { Row } from '../../database/connection';
import { Exercise } from '../exercise';
import { RepetitionUnit } from '../repetitionunit';
import { Setting } from '../setting';
import { TrainingDay } from '../trainingday';
import { WeightUnit } from '../weightunit';
import { WorkoutSet } from '../workoutset';
import type { Trained } from '../../training/muscles';
import { byExercise, inWeekOrder } from '../../training/sequence';
import { settingText } from '../../training/texts';

/** Every field, for rows that are shown whole. */
export const allOf = (entity: Entity): string[] => fieldsOf(entity).map(({ name }) => name);

const below = (entity: Entity, by: string, id: number, context: Context) => rowsBelow(entity, by, allOf(entity), id, context);

/** What each item of a list leads to, as one list. */
const collected = async <S, T>(items: readonly S[], next: (item: S) => Promise<T[]>): Promise<T[]> =>
  (await Promise.all(items.map(next))).flat();

export const daysOf = async (workout: Row, context: Context): Promise<Row[]> =>
  inWeekOrder((await below(TrainingDay, 'workoutId', workout.id, context)) as any[]);
export const setsOf = (day: Row, context: Context): Promise<Row[]> => below(WorkoutSet, 'trainingDayId', day.id, context);
export const settingsOf = (set: Row, context: Context): Promise<Row[]> => below(Setting, 'setId', set.id, context);

export const exerciseOf = (id: number, context: Context): Promise<Row | null> =>
  rowById(Exercise, ['exerciseBaseId', 'muscleIds', 'muscleSecondaryIds'], id, context);

/** The settings of each exercise of a set. */
export const exercisesOf = async (set: Row, context: Context): Promise<Row[][]> => byExercise((await settingsOf(set, context)) as any[]);

export const trainedBySet = (set: Row, context: Context): Promise<Trained[]> =>
  exercisesOf(set, context).then((groups) =>
    collected(groups, async ([setting]) => {
      const exercise = await exerciseOf(setting!.exerciseId, context);
      return exercise ? [exercise as unknown as Trained] : [];
    }),
  );
export const trainedOnDay = (day: Row, context: Context): Promise<Trained[]> =>
  setsOf(day, context).then((sets) => collected(sets, (set) => trainedBySet(set, context)));
export const trainedByWorkout = (workout: Row, context: Context): Promise<Trained[]> =>
  daysOf(workout, context).then((days) => collected(days, (day) => trainedOnDay(day, context)));

/** Units are read from memory, which may be a moment behind the database. */
const unitName = (entity: Entity, id: number, { reference }: Context): string => reference.get(entity, id)?.name ?? '';

/** The settings of one exercise in words. */
export const textOf = (set: Row, settings: readonly Row[], context: Context): string =>
  settingText(
    set.sets,
    settings.map(({ reps, repetitionUnitId, weight, weightUnitId, rir }) => ({
      reps,
      repetitionUnitId,
      repetitionUnit: unitName(RepetitionUnit, repetitionUnitId, context),
      weight,
      weightUnit: unitName(WeightUnit, weightUnitId, context),
      rir,
    })),
  );
