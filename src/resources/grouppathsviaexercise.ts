/** Keys by which rows that refer to an exercise can be grouped for statistics, with the relation path of each. */
export const GROUP_PATHS_VIA_EXERCISE = {
  exerciseBase: 'exercise.exerciseBase',
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;
