/** Worked questions with training formulas: records, one-repetition maximum, volume, load, and the trend of the body weight. */
import type { Question } from './question';

const BUCKET_START = 'bucket.start';

export const FORMULAS: readonly Question[] = [
  {
    slug: 'my-records',
    group: 'Training',
    title: 'All my records',
    sentence: 'What has not been beaten: weight, estimated maximum, repetitions and volume of each exercise.',
    query: `query MyRecords($kinds: [RecordKind!]) {
  personalRecords(standing: true, kinds: $kinds) {
    exercise { name }
    kind
    date
    value
    previous
    weight
    reps
  }
}`,
    variables: { kinds: ['WEIGHT', 'ONE_REP_MAX'] },
    chart: { kind: 'bar', x: 'exercise.name', y: ['value'], by: 'kind' },
  },
  {
    slug: 'one-rep-max-by-week',
    group: 'Training',
    title: 'How does my estimated maximum develop?',
    sentence:
      'The best estimated one-rep maximum of each week for some exercises. Other formulas are BRZYCKI, LOMBARDI, MAYHEW and WATHAN.',
    query: `query OneRepMaxByWeek($exercises: [String!], $formula: OneRepMaxFormula!) {
  bestOneRepMaxes(last: 1000, where: { exercise: { name: { in: $exercises } } }, by: WEEK, formula: $formula) {
    bucket { start }
    exercise { name }
    oneRepMax
    log { reps weightKg }
  }
}`,
    variables: { exercises: ['Back Squat', 'Bench Press', 'Deadlift', 'Overhead Press'], formula: 'EPLEY' },
    chart: { kind: 'line', x: BUCKET_START, y: ['oneRepMax'], by: 'exercise.name' },
  },
  {
    slug: 'hard-sets-per-muscle',
    group: 'Training',
    title: 'Hard sets per muscle by week',
    sentence: 'Sets of 5 to 30 repetitions close to failure; one counts half for a muscle that only helps.',
    query: `query HardSetsPerMuscle($since: Date!) {
  muscleVolume(from: $since, by: WEEK) {
    bucket { start }
    muscle { name }
    hardSets
    tonnage
  }
}`,
    days: 84,
    chart: { kind: 'heatmap', x: BUCKET_START, y: ['muscle.name'], by: 'hardSets' },
  },
  {
    slug: 'tonnage-by-week',
    group: 'Training',
    title: 'Tonnage and hard sets by week',
    sentence: 'Weight times repetitions of all sets, and how many of them were hard.',
    query: `query TonnageByWeek($since: Date!) {
  trainingVolume(from: $since, by: WEEK) {
    bucket { start }
    days
    sets
    hardSets
    tonnage
  }
}`,
    days: 182,
    chart: { kind: 'bar', x: BUCKET_START, y: ['tonnage'] },
  },
  {
    slug: 'training-load',
    group: 'Training',
    title: 'How much does my training ask of me?',
    sentence: 'Exponential means of 7 and of 42 days, and how they stand to each other. Change `measure` to TONNAGE.',
    query: `query TrainingLoad($measure: LoadMeasure!) {
  trainingLoad(last: 366, measure: $measure) {
    date
    load
    acute
    chronic
    ratio
  }
}`,
    variables: { measure: 'HARD_SETS' },
    chart: { kind: 'line', x: 'date', y: ['acute', 'chronic'] },
  },
  {
    slug: 'streak-of-weeks',
    group: 'Training',
    title: 'How many weeks in a row?',
    sentence: 'Sessions of each week, and how many weeks in a row had as many as the goal.',
    query: `query StreakOfWeeks($goal: Int!) {
  trainingWeeks(last: 104, goal: $goal) {
    bucket { start }
    sessions
    streak
  }
}`,
    variables: { goal: 3 },
    chart: { kind: 'line', x: BUCKET_START, y: ['sessions', 'streak'] },
  },
  {
    slug: 'planned-against-done',
    group: 'Training',
    title: 'Do I keep to my plan?',
    sentence: 'Sets that the active schedule asked for in each week, against those that were done.',
    query: `query PlannedAgainstDone {
  scheduleAdherence {
    start
    workout { name }
    plannedDays
    doneDays
    plannedSets
    doneSets
    adherence
  }
}`,
    chart: { kind: 'bar', x: 'start', y: ['plannedSets', 'doneSets'] },
  },
  {
    slug: 'planned-but-neglected',
    group: 'Training',
    title: 'What is planned, and what of it do I neglect?',
    sentence: 'Sets planned and done of each exercise of the active schedule over the last weeks.',
    query: `query PlannedButNeglected($weeks: Int!) {
  plannedExercises(weeks: $weeks) {
    exercise { name }
    plannedSets
    doneSets
    share
    lastDoneOn
  }
}`,
    variables: { weeks: 4 },
    chart: { kind: 'bar', x: 'exercise.name', y: ['plannedSets', 'doneSets'] },
  },
  {
    slug: 'strength-for-my-weight',
    group: 'Body',
    title: 'How strong am I for my weight?',
    sentence: 'The best of three exercises, added, and the DOTS points of that.',
    query: `query StrengthForMyWeight($gender: Gender!, $exercises: [String!]) {
  strength(where: { exercise: { name: { in: $exercises } } }, gender: $gender, estimated: true) {
    total
    date
    bodyWeight
    dots
  }
}`,
    variables: { gender: 'MALE', exercises: ['Back Squat', 'Bench Press', 'Deadlift'] },
    chart: { kind: 'bar', x: 'strength.date', y: ['strength.total', 'strength.bodyWeight', 'strength.dots'] },
  },
  {
    slug: 'weight-trend',
    group: 'Body',
    title: 'Which way does my weight go?',
    sentence: 'The smoothed trend beside the scale, and the rate of a week by the last 28 days.',
    query: `query WeightTrend($since: Date!) {
  bodyWeightTrend(from: $since) {
    date
    weight
    trend
    ratePerWeek
  }
}`,
    days: 182,
    chart: { kind: 'line', x: 'date', y: ['weight', 'trend'] },
  },
];
