/** Groups the muscles that exercises train into primary and secondary ones, on the front and on the back of the body. */

export interface ExerciseMuscles {
  muscleIds: readonly number[];
  muscleSecondaryIds: readonly number[];
}

export interface MuscleGroups<M> {
  front: M[];
  back: M[];
  frontSecondary: M[];
  backSecondary: M[];
}

/** Groups the muscles, in order of first occurrence. A muscle that is primary in one of the exercises is not among the secondary ones. */
export function groupMuscles<M extends { isFront: boolean }>(
  exercises: readonly ExerciseMuscles[],
  findMuscle: (id: number) => M | null,
): MuscleGroups<M> {
  const primaryMuscleIds = new Set(exercises.flatMap(({ muscleIds }) => muscleIds));
  const secondaryMuscleIds = new Set(
    exercises
      .flatMap(({ muscleSecondaryIds }) => muscleSecondaryIds)
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
