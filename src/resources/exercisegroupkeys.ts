/** Group keys for statistics of rows that refer to an exercise, each with the path of its relation. */
export const EXERCISE_GROUP_KEYS = {
  exerciseBase: 'exercise.exerciseBase',
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;
