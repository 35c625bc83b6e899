/** Example questions with training formulas: records, one-repetition maximum, volume and load. */
import type { ExampleQuestion } from './question';

const BUCKET_START_COLUMN = 'bucket.start';

export const FORMULA_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'my-records',
    title: 'All my records',
    keywords: 'pr pb personal best max 1rm milestones achievements',
    explanation:
      'Current records of each exercise: weight, estimated maximum, repetitions and volume.',
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
    title: 'How is my estimated maximum developing?',
    keywords: '1rm e1rm max strength progress bench squat deadlift press epley pr',
    explanation:
      'The best estimated one-rep maximum of each week for some exercises. Other formulas are BRZYCKI, LOMBARDI, MAYHEW and WATHAN.',
    query: `query OneRepMaxByWeek($exercises: [String!], $formula: OneRepMaxFormula!) {
  bestOneRepMaxes(last: 1000, where: { exercise: { name: { in: $exercises } } }, by: WEEK, formula: $formula) {
    bucket { start }
    exercise { name }
    oneRepMax
    log { reps weightKg }
  }
}`,
    variables: {
      exercises: ['Back Squat', 'Bench Press', 'Deadlift', 'Overhead Press'],
      formula: 'EPLEY',
    },
    chart: { kind: 'line', x: BUCKET_START_COLUMN, y: ['oneRepMax'], by: 'exercise.name' },
  },
  {
    slug: 'hard-sets-per-muscle',
    title: 'Hard sets per muscle by week',
    keywords: 'volume effective sets hypertrophy chest back legs recovery',
    explanation:
      'Sets of 5 to 30 repetitions close to failure. A set counts half for secondary muscles.',
    query: `query HardSetsPerMuscle($since: Date!) {
  muscleVolume(from: $since, by: WEEK) {
    bucket { start }
    muscle { name }
    hardSets
    tonnage
  }
}`,
    sinceDaysAgo: 84,
    chart: { kind: 'heatmap', x: BUCKET_START_COLUMN, y: ['muscle.name'], by: 'hardSets' },
  },
  {
    slug: 'tonnage-by-week',
    title: 'Tonnage and hard sets by week',
    keywords: 'volume load total lifted kg lb deload progress',
    explanation: 'Weight times repetitions of all sets, and the number of hard sets.',
    query: `query TonnageByWeek($since: Date!) {
  trainingVolume(from: $since, by: WEEK) {
    bucket { start }
    days
    sets
    hardSets
    tonnage
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: BUCKET_START_COLUMN, y: ['tonnage'] },
  },
  {
    slug: 'training-load',
    title: 'How high is my training load?',
    keywords: 'acute chronic fatigue overtraining deload recovery volume ratio fitness',
    explanation:
      'Exponentially weighted means over 7 and 42 days, and their ratio. Change `measure` to TONNAGE.',
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
    title: 'How long is my training streak?',
    keywords: 'consistency habit workouts row frequency goal',
    explanation: 'Sessions per week, and the number of consecutive weeks that reached the goal.',
    query: `query StreakOfWeeks($goal: Int!) {
  trainingWeeks(last: 104, goal: $goal) {
    bucket { start }
    sessions
    streak
  }
}`,
    variables: { goal: 3 },
    chart: { kind: 'line', x: BUCKET_START_COLUMN, y: ['sessions', 'streak'] },
  },
  {
    slug: 'planned-against-done',
    title: 'Do I stick to my plan?',
    keywords: 'adherence compliance schedule routine program consistency missed',
    explanation: 'Planned sets of the active schedule per week, compared with completed sets.',
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
    title: 'Which planned exercises do I neglect?',
    keywords: 'skipped missed adherence routine program schedule',
    explanation:
      'Planned and completed sets of each exercise in the active schedule over the last weeks.',
    query: `query PlannedButNeglected($weeks: Int!) {
  plannedExercises(last: $weeks) {
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
];
