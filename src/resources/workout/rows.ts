/** Loaders of the rows below a workout. Each request reads each kind of row with a single statement. */
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

interface RowWithId {
  id: number;
}

/** The names of all fields of an entity. */
export const allOf = <M>(entity: Entity<M>) => fieldsOf(entity).map(({ name }) => name) as (keyof RowOf<M> & string)[];

const childrenOf = <M>(entity: Entity<M>, by: keyof RowOf<M> & string, id: number, context: Context): Promise<RowOf<M>[]> =>
  rowsBelow(entity, by, allOf(entity), id, context) as Promise<RowOf<M>[]>;

const flatMapAsync = async <S, T>(items: readonly S[], load: (item: S) => Promise<T[]>): Promise<T[]> =>
  (await Promise.all(items.map(load))).flat();

export const daysOf = async (workout: RowWithId, context: Context): Promise<RowOf<TrainingDay>[]> =>
  inWeekOrder(await childrenOf(TrainingDay, 'workoutId', workout.id, context));
export const setsOf = (day: RowWithId, context: Context): Promise<RowOf<SetGroup>[]> =>
  childrenOf(SetGroup, 'trainingDayId', day.id, context);
export const plannedSetsOf = (set: RowWithId, context: Context): Promise<RowOf<PlannedSet>[]> =>
  childrenOf(PlannedSet, 'setGroupId', set.id, context);

export const exerciseOf = (id: number, context: Context) =>
  rowToCount(Exercise, ['exerciseBaseId', 'muscleIds', 'muscleSecondaryIds'], id, context);

/** The planned sets of a set group, grouped by exercise. */
export const exercisesOf = async (set: RowWithId, context: Context): Promise<RowOf<PlannedSet>[][]> =>
  byExercise(await plannedSetsOf(set, context));

export const trainedBySet = (set: RowWithId, context: Context): Promise<Trained[]> =>
  exercisesOf(set, context).then((groups) =>
    flatMapAsync(groups, async ([first]) => {
      const exercise = await exerciseOf(first!.exerciseId, context);
      return exercise ? [exercise] : [];
    }),
  );
export const trainedOnDay = (day: RowWithId, context: Context): Promise<Trained[]> =>
  setsOf(day, context).then((sets) => flatMapAsync(sets, (set) => trainedBySet(set, context)));
export const trainedByWorkout = (workout: RowWithId, context: Context): Promise<Trained[]> =>
  daysOf(workout, context).then((days) => flatMapAsync(days, (day) => trainedOnDay(day, context)));

/** The name of a unit from the catalogue cache, which may briefly lag behind the database; empty for an unknown unit. */
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
