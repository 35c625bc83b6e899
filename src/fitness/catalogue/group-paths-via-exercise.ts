/** Group keys for statistics of rows that refer to an exercise, with their relation paths. */
export const EXERCISE_GROUP_KEY_PATHS = {
  exerciseBase: 'exercise.exerciseBase',
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;
