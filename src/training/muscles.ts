/** Which muscles exercises train. */

export interface Trained {
  muscleIds: readonly number[];
  muscleSecondaryIds: readonly number[];
}

export interface MuscleGroups<M> {
  front: M[];
  back: M[];
  frontSecondary: M[];
  backSecondary: M[];
}

/** In first-seen order; a muscle that one of the exercises is for is not also a secondary one. */
export function muscleGroups<M extends { isFront: boolean }>(
  trained: readonly Trained[],
  muscle: (id: number) => M | null,
): MuscleGroups<M> {
  const primary = new Set(trained.flatMap(({ muscleIds }) => muscleIds));
  const secondary = new Set(trained.flatMap(({ muscleSecondaryIds }) => muscleSecondaryIds).filter((id) => !primary.has(id)));
  const found = (ids: Iterable<number>, isFront: boolean) =>
    [...ids].map(muscle).filter((row): row is M => row !== null && row.isFront === isFront);
  return {
    front: found(primary, true),
    back: found(primary, false),
    frontSecondary: found(secondary, true),
    backSecondary: found(secondary, false),
  };
}
