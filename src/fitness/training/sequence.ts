/** Training order of planned sets, and of the days of a workout. */
import { groupBy } from '../../shared/multimap';

interface ExerciseSet {
  exerciseId: number;
  translationId: number;
}

/** Groups planned sets by exercise, or by translation, in order of first occurrence. */
export const groupByExercise = <T extends ExerciseSet>(
  plannedSets: readonly T[],
  idField: keyof ExerciseSet,
): T[][] => [...groupBy(plannedSets, (plannedSet) => plannedSet[idField]).values()];

/**
 * Arranges planned sets in rounds, each with one set of every exercise. A round uses the next
 * planned set of each exercise. If an exercise has only one planned set, this is repeated
 * `setCount` times. The exercise with the fewest sets determines the number of rounds.
 */
export function arrangeInRounds<T extends ExerciseSet>(
  setCount: number,
  plannedSets: readonly T[],
  idField: keyof ExerciseSet,
): T[] {
  const sequences = groupByExercise(plannedSets, idField).map((group) =>
    group.length === 1 ? Array.from({ length: setCount }, () => group[0]!) : group,
  );

  if (sequences.length === 0) return [];
  const roundCount = Math.min(...sequences.map(({ length }) => length));

  return Array.from({ length: roundCount }, (_, round) =>
    sequences.map((sequence) => sequence[round]!),
  ).flat();
}

/** Sorts training days by their first weekday; days without a weekday come last. */
export const sortByWeekday = <T extends { id: number; weekdays: readonly number[] }>(
  days: readonly T[],
): T[] => {
  const firstWeekday = ({ weekdays }: T) =>
    weekdays.length ? Math.min(...weekdays) : Number.MAX_SAFE_INTEGER;

  return [...days].sort((a, b) => firstWeekday(a) - firstWeekday(b) || a.id - b.id);
};
