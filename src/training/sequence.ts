/** Training order of planned sets, and of the days of a workout. */

interface ExerciseSet {
  exerciseId: number;
}

/** Groups planned sets by exercise, in order of first occurrence. */
export function groupByExercise<T extends ExerciseSet>(plannedSets: readonly T[]): T[][] {
  const setsByExercise = new Map<number, T[]>();
  for (const set of plannedSets) {
    const group = setsByExercise.get(set.exerciseId);
    if (group) group.push(set);
    else setsByExercise.set(set.exerciseId, [set]);
  }
  return [...setsByExercise.values()];
}

/**
 * Arranges planned sets in rounds, each with one set of every exercise. If an exercise has a single planned set, it is repeated in up to `setCount` rounds;
 * if it has several, each round uses the next one. The rounds end when one of the exercises has no further set.
 */
export function arrangeInRounds<T extends ExerciseSet>(
  setCount: number,
  plannedSets: readonly T[],
): T[] {
  const sequences = groupByExercise(plannedSets).map((group) =>
    group.length === 1 ? Array.from({ length: setCount }, () => group[0]!) : group,
  );
  if (sequences.length === 0) return [];
  const count = Math.min(...sequences.map(({ length }) => length));
  return Array.from({ length: count }, (_, round) =>
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
