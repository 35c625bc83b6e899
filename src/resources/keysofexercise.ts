/** By what of its exercise a row is grouped. */
export const KEYS_OF_EXERCISE = {
  exerciseBase: 'exercise.exerciseBase',
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;
