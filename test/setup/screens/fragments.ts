/** Fragments that several screens share, as the components of a client declare them. */

export const PAGE_INFO =
  'fragment PageInfoFields on PageInfo { startCursor endCursor hasNextPage hasPreviousPage }';

export const EXERCISE_CARD = `fragment ExerciseCard on Exercise {
  id uuid name germanName: name(language: "de")
  category { id name }
  muscles { id name }
  equipment { id name }
  images { id isMain image thumbnailUrl(crop: true) }
}`;

export const LOG_ROW = `fragment LogRow on WorkoutLog {
  id date reps weight rir
  repetitionUnit { id name }
  weightUnit { id name }
}`;

export const SETTING_ROW = `fragment PlannedSetRow on PlannedSet {
  id version position reps targetWeight rir notes
  repetitionUnit { id name }
  weightUnit { id name }
}`;

export const NUTRIENTS = `fragment Nutrients on NutritionalValues {
  energy protein carbohydrates sugar fat saturatedFat fibres sodium
}`;

export const ENTRY = `fragment Entry on DiaryEntry {
  id version eatenAt mealId amount notes
  ingredient { id name energy }
  ingredientUnit { id grams amount householdUnit { id name } }
  nutritionalValues { ...Nutrients }
}`;
