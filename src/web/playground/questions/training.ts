/** Example questions about logged sets: weights, repetitions and frequency. */
import type { ExampleQuestion } from './question';

const BUCKET_START_COLUMN = 'keys.dateBucket.start';

export const TRAINING_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'heaviest-set-per-exercise',
    title: 'My heaviest set per exercise',
    keywords: 'pr max strongest bench squat deadlift top 1rm',
    explanation:
      'The heaviest weight ever lifted in each exercise, in kg, and the number of logged sets.',
    query: `query HeaviestSetPerExercise {
  workoutLogsGrouped(
    where: { weightKg: { gt: 0 } }
    groupBy: [{ field: EXERCISE }]
    orderBy: [{ statistic: { name: MAX, of: WEIGHT_KG, direction: DESC } }]
  ) {
    keys { exercise { name } }
    count
    max { weightKg date }
  }
}`,
    chart: { kind: 'bar', x: 'keys.exercise.name', y: ['max.weightKg'] },
  },
  {
    slug: 'weight-over-time',
    title: 'Heaviest set of one exercise by day',
    keywords: 'bench press progress squat deadlift strength history plateau top pr',
    explanation: 'Progress of the top set of an exercise. Change `exercise` to another one.',
    query: `query TopSetByDay($exercise: String!) {
  workoutLogsGrouped(
    where: { exercise: { name: { eq: $exercise } } }
    groupBy: [{ date: { by: DAY } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { start } }
    max { weightKg reps }
    sum { reps }
  }
}`,
    variables: { exercise: 'Bench Press' },
    chart: { kind: 'line', x: BUCKET_START_COLUMN, y: ['max.weightKg'] },
  },
  {
    slug: 'sets-per-week',
    title: 'Sets and repetitions per week',
    keywords: 'volume reps frequency workouts deload progress',
    explanation: 'Sets, repetitions and exercises per week, including weeks without training.',
    query: `query SetsPerWeek($since: Date!) {
  workoutLogsGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ date: { by: WEEK, empty: true } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { start } }
    sets: count
    sum { reps }
    exercises: countDistinct(of: EXERCISE)
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: BUCKET_START_COLUMN, y: ['sets'] },
  },
  {
    slug: 'sets-per-muscle-by-week',
    title: 'Sets per muscle by week',
    keywords: 'volume hypertrophy chest back legs biceps balance',
    explanation:
      'Each set counts once for its main muscles and half for secondary muscles. Change the weights in the query.',
    query: `query SetsPerMuscleByWeek($since: Date!) {
  workoutLogsGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ date: { by: WEEK } }, { muscle: { muscles: 1, musclesSecondary: 0.5 } }]
    orderBy: [{ key: { number: 1 } }, { statistic: { name: WEIGHTED_COUNT, direction: DESC } }]
  ) {
    keys { dateBucket { start } muscle { name } }
    weightedCount
  }
}`,
    sinceDaysAgo: 84,
    chart: {
      kind: 'heatmap',
      x: BUCKET_START_COLUMN,
      y: ['keys.muscle.name'],
      by: 'weightedCount',
    },
  },
  {
    slug: 'neglected-muscles',
    title: 'Least trained muscles',
    keywords: 'weak points balance imbalance legs back volume',
    explanation:
      'Weighted sets of each muscle over the last four weeks, fewest first. Change `since` to look further back.',
    query: `query NeglectedMuscles($since: Date!) {
  workoutLogsGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ muscle: { muscles: 1, musclesSecondary: 0.5 } }]
    orderBy: [{ statistic: { name: WEIGHTED_COUNT, direction: ASC } }]
  ) {
    keys { muscle { name isFront } }
    weightedCount
    last: max { date }
  }
}`,
    sinceDaysAgo: 28,
    chart: { kind: 'bar', x: 'keys.muscle.name', y: ['weightedCount'] },
  },
  {
    slug: 'sets-by-category-and-month',
    title: 'Sets by category and month',
    keywords: 'volume split push pull legs balance body part cardio',
    explanation:
      'How the sets of each month are distributed over legs, chest, back and other categories.',
    query: `query SetsByCategoryAndMonth {
  workoutLogsGrouped(
    groupBy: [{ date: { by: MONTH } }, { field: EXERCISE_CATEGORY }]
    orderBy: [{ key: { number: 1 } }, { statistic: { name: COUNT, direction: DESC } }]
  ) {
    keys { dateBucket { start } exerciseCategory { name } }
    count
  }
}`,
    chart: {
      kind: 'stacked',
      x: BUCKET_START_COLUMN,
      y: ['count'],
      by: 'keys.exerciseCategory.name',
    },
  },
  {
    slug: 'exercises-most-done',
    title: 'My most frequent exercises',
    keywords: 'favourites favorites frequency bench squat popular',
    explanation: 'Sets, repetitions and training days of each exercise since a date.',
    query: `query ExercisesMostDone($since: Date!) {
  workoutLogsGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ field: EXERCISE }]
    orderBy: [{ statistic: { name: COUNT, direction: DESC } }]
  ) {
    keys { exercise { name } }
    sets: count
    sum { reps }
    days: countDistinct(of: DATE)
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: 'keys.exercise.name', y: ['sets'] },
  },
  {
    slug: 'last-time-per-exercise',
    title: 'When did I last do each exercise?',
    keywords: 'recent forgotten history since bench squat',
    explanation: 'The date of the last set of each logged exercise, oldest first.',
    query: `query LastTimePerExercise {
  workoutLogsGrouped(groupBy: [{ field: EXERCISE }], orderBy: [{ statistic: { name: MAX, of: DATE, direction: ASC } }]) {
    keys { exercise { name } }
    first: min { date }
    last: max { date }
    sets: count
  }
}`,
    chart: { kind: 'scatter', x: 'last.date', y: ['sets'], by: 'keys.exercise.name' },
  },
  {
    slug: 'planned-sets-per-exercise',
    title: 'Planned sets per exercise',
    keywords: 'routine program template target reps bench squat',
    explanation:
      'Planned sets of all workouts combined: repetitions and target weights of each exercise.',
    query: `query PlannedPerExercise {
  plannedSetsGrouped(groupBy: [{ field: EXERCISE }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) {
    keys { exercise { name } }
    plannedSets: count
    avg { reps }
    max { targetWeightKg }
  }
}`,
    chart: { kind: 'scatter', x: 'avg.reps', y: ['max.targetWeightKg'], by: 'keys.exercise.name' },
  },
];
