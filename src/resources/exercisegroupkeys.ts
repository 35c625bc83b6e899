/** Keys by which rows that refer to an exercise can be grouped for statistics, with the relation path of each. */
export const EXERCISE_GROUP_KEYS = {
  exerciseBase: 'exercise.exerciseBase',
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;
