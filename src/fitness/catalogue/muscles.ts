/**
 * Groups the muscles that exercises train: primary or secondary, on the front or on the back of the
 * body.
 */

export interface ExerciseMuscles {
  muscleIds: readonly number[];
  musclesSecondaryIds: readonly number[];
}

export interface MuscleGroups<M> {
  front: M[];
  back: M[];
  frontSecondary: M[];
  backSecondary: M[];
}

/**
 * Groups muscles in order of first occurrence. A muscle that any of the exercises trains as a
 * primary one is not listed as secondary.
 */
export function groupMuscles<M extends { isFront: boolean }>(
  exercises: readonly ExerciseMuscles[],
  findMuscle: (id: number) => M | null,
): MuscleGroups<M> {
  const primaryMuscleIds = new Set(exercises.flatMap(({ muscleIds }) => muscleIds));
  const secondaryMuscleIds = new Set(
    exercises
      .flatMap(({ musclesSecondaryIds }) => musclesSecondaryIds)
      .filter((id) => !primaryMuscleIds.has(id)),
  );
  const musclesOnSide = (ids: Iterable<number>, isFront: boolean) =>
    [...ids].map(findMuscle).filter((row): row is M => row !== null && row.isFront === isFront);

  return {
    front: musclesOnSide(primaryMuscleIds, true),
    back: musclesOnSide(primaryMuscleIds, false),
    frontSecondary: musclesOnSide(secondaryMuscleIds, true),
    backSecondary: musclesOnSide(secondaryMuscleIds, false),
  };
}
