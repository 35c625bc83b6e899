/** The planned sets of a set, in the order in which they are trained. */

interface Placed {
  exerciseId: number;
}

/** The planned sets of each exercise, exercises in the order in which they first appear. */
export function byExercise<T extends Placed>(plannedSets: readonly T[]): T[][] {
  const groups = new Map<number, T[]>();
  for (const set of plannedSets) {
    const group = groups.get(set.exerciseId);
    if (group) group.push(set);
    else groups.set(set.exerciseId, [set]);
  }
  return [...groups.values()];
}

/**
 * One round after the other, each with one planned set of every exercise. A single one of an exercise is done in every round, several are a
 * round each; the exercise with the fewest rounds decides how many there are.
 */
export function rounds<T extends Placed>(sets: number, plannedSets: readonly T[]): T[] {
  const sequences = byExercise(plannedSets).map((group) => (group.length === 1 ? Array.from({ length: sets }, () => group[0]!) : group));
  if (sequences.length === 0) return [];
  const count = Math.min(...sequences.map(({ length }) => length));
  return Array.from({ length: count }, (_, round) => sequences.map((sequence) => sequence[round]!)).flat();
}

/** Days by their first day of the week, those without one last. */
export const inWeekOrder = <T extends { id: number; weekdays: readonly number[] }>(days: readonly T[]): T[] => {
  const first = ({ weekdays }: T) => (weekdays.length ? Math.min(...weekdays) : Number.MAX_SAFE_INTEGER);
  return [...days].sort((a, b) => first(a) - first(b) || a.id - b.id);
};
