/** Loads the parts of a workout, with one statement per table and request. */
import type { Context } from '../../../engine/context';
import { fieldsOf, type Entity, type RowOf } from '../../../engine/declare/fields';
import { loadChildFields, loadRowEvenIfHidden } from '../../../engine/read/loaders';
import { ExerciseTranslation } from '../../catalogue/exercise-translation';
import { RepetitionUnit } from '../repetition-unit';
import { PlannedSet } from '../planned-set';
import { TrainingDay } from '../training-day';
import { WeightUnit } from '../weight-unit';
import { SetGroup } from '../set-group';
import type { ExerciseMuscles } from '../../catalogue/muscles';
import { groupByExercise, sortByWeekday } from '../sequence';
import { formatSetSummary } from '../summary';

interface RowWithId {
  id: number;
}

export const allFieldNames = <M>(entity: Entity<M>) =>
  fieldsOf(entity).map(({ name }) => name) as (keyof RowOf<M> & string)[];

const loadChildRows = <M>(
  entity: Entity<M>,
  parentField: keyof RowOf<M> & string,
  id: number,
  context: Context,
): Promise<RowOf<M>[]> =>
  loadChildFields(entity, parentField, allFieldNames(entity), id, context) as Promise<RowOf<M>[]>;

const flatMapAsync = async <S, T>(
  items: readonly S[],
  load: (item: S) => Promise<T[]>,
): Promise<T[]> => (await Promise.all(items.map(load))).flat();

export const loadDays = async (
  workout: RowWithId,
  context: Context,
): Promise<RowOf<TrainingDay>[]> =>
  sortByWeekday(await loadChildRows(TrainingDay, 'workoutId', workout.id, context));
export const loadSetGroups = (day: RowWithId, context: Context): Promise<RowOf<SetGroup>[]> =>
  loadChildRows(SetGroup, 'trainingDayId', day.id, context);
export const loadPlannedSets = (
  setGroup: RowWithId,
  context: Context,
): Promise<RowOf<PlannedSet>[]> => loadChildRows(PlannedSet, 'setGroupId', setGroup.id, context);

export const loadTranslation = (id: number, context: Context) =>
  loadRowEvenIfHidden(
    ExerciseTranslation,
    ['exerciseId', 'muscleIds', 'musclesSecondaryIds'],
    id,
    context,
  );

export const loadPlannedSetsByExercise = async (
  setGroup: RowWithId,
  context: Context,
): Promise<RowOf<PlannedSet>[][]> =>
  groupByExercise(await loadPlannedSets(setGroup, context), 'translationId');

export const loadExercisesOfSetGroup = (
  setGroup: RowWithId,
  context: Context,
): Promise<ExerciseMuscles[]> =>
  loadPlannedSetsByExercise(setGroup, context).then((plannedSetsByExercise) =>
    flatMapAsync(plannedSetsByExercise, async ([first]) => {
      const translation = await loadTranslation(first!.translationId, context);

      return translation ? [translation] : [];
    }),
  );
export const loadExercisesOfDay = (day: RowWithId, context: Context): Promise<ExerciseMuscles[]> =>
  loadSetGroups(day, context).then((setGroups) =>
    flatMapAsync(setGroups, (setGroup) => loadExercisesOfSetGroup(setGroup, context)),
  );
export const loadExercisesOfWorkout = (
  workout: RowWithId,
  context: Context,
): Promise<ExerciseMuscles[]> =>
  loadDays(workout, context).then((days) =>
    flatMapAsync(days, (day) => loadExercisesOfDay(day, context)),
  );

/**
 * Looks up the name of a unit in the catalogue cache. A unit is missing there for a moment after
 * its creation.
 */
const unitName = (
  entity: Entity<RepetitionUnit | WeightUnit>,
  id: number,
  { services: { catalogue } }: Context,
): string => catalogue.get(entity, id)?.name ?? '';

export const summarizePlannedSets = (
  setGroup: Pick<SetGroup, 'sets'>,
  plannedSets: readonly RowOf<PlannedSet>[],
  context: Context,
): string =>
  formatSetSummary(
    setGroup.sets,
    plannedSets.map(({ reps, repetitionUnitId, targetWeight: weight, weightUnitId, rir }) => ({
      reps,
      repetitionUnitId,
      repetitionUnit: unitName(RepetitionUnit, repetitionUnitId, context),
      weight,
      weightUnit: unitName(WeightUnit, weightUnitId, context),
      rir,
    })),
  );
