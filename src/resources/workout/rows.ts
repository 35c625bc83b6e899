/** The rows of a workout. Each kind is one statement for all that a request asks for. */
import type { Context } from '../../core/context';
import { fieldsOf, type Entity, type RowOf } from '../../core/model/fields';
import { rowsBelow, rowToCount } from '../../core/read/loaders';
import { Exercise } from '../exercise';
import { RepetitionUnit } from '../repetitionunit';
import { PlannedSet } from '../plannedset';
import { TrainingDay } from '../trainingday';
import { WeightUnit } from '../weightunit';
import { SetGroup } from '../setgroup';
import type { Trained } from '../../training/muscles';
import { byExercise, inWeekOrder } from '../../training/sequence';
import { setSummary } from '../../training/texts';

interface Identified {
  id: number;
}

/** Every field, for rows that are shown whole. */
export const allOf = <M>(entity: Entity<M>) => fieldsOf(entity).map(({ name }) => name) as (keyof RowOf<M> & string)[];

const below = <M>(entity: Entity<M>, by: keyof RowOf<M> & string, id: number, context: Context): Promise<RowOf<M>[]> =>
  rowsBelow(entity, by, allOf(entity), id, context) as Promise<RowOf<M>[]>;

const collected = async <S, T>(items: readonly S[], next: (item: S) => Promise<T[]>): Promise<T[]> =>
  (await Promise.all(items.map(next))).flat();

export const daysOf = async (workout: Identified, context: Context): Promise<RowOf<TrainingDay>[]> =>
  inWeekOrder(await below(TrainingDay, 'workoutId', workout.id, context));
export const setsOf = (day: Identified, context: Context): Promise<RowOf<SetGroup>[]> => below(SetGroup, 'trainingDayId', day.id, context);
export const plannedSetsOf = (set: Identified, context: Context): Promise<RowOf<PlannedSet>[]> =>
  below(PlannedSet, 'setGroupId', set.id, context);

export const exerciseOf = (id: number, context: Context) =>
  rowToCount(Exercise, ['exerciseBaseId', 'muscleIds', 'muscleSecondaryIds'], id, context);

/** The planned sets of each exercise of a set. */
export const exercisesOf = async (set: Identified, context: Context): Promise<RowOf<PlannedSet>[][]> =>
  byExercise(await plannedSetsOf(set, context));

export const trainedBySet = (set: Identified, context: Context): Promise<Trained[]> =>
  exercisesOf(set, context).then((groups) =>
    collected(groups, async ([first]) => {
      const exercise = await exerciseOf(first!.exerciseId, context);
      return exercise ? [exercise] : [];
    }),
  );
export const trainedOnDay = (day: Identified, context: Context): Promise<Trained[]> =>
  setsOf(day, context).then((sets) => collected(sets, (set) => trainedBySet(set, context)));
export const trainedByWorkout = (workout: Identified, context: Context): Promise<Trained[]> =>
  daysOf(workout, context).then((days) => collected(days, (day) => trainedOnDay(day, context)));

/** Units are read from memory, which may be a moment behind the database. */
const unitName = (entity: Entity<RepetitionUnit | WeightUnit>, id: number, { reference }: Context): string =>
  reference.get(entity, id)?.name ?? '';

export const textOf = (set: Pick<SetGroup, 'sets'>, plannedSets: readonly RowOf<PlannedSet>[], context: Context): string =>
  setSummary(
    set.sets,
    plannedSets.map(({ reps, repetitionUnitId, targetWeight: weight, weightUnitId, rir }) => ({
      reps,
      repetitionUnitId,
      repetitionUnit: unitName(RepetitionUnit, repetitionUnitId, context),
      weight,
      weightUnit: unitName(WeightUnit, weightUnitId, context),
      rir,
    })),
  );
