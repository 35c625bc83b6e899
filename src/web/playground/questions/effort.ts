/** Example questions about training sessions and the effort of their sets. */
import type { ExampleQuestion } from './question';

export const EFFORT_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'sessions-per-week',
    title: 'Sessions per week',
    keywords: 'workouts frequency consistency cardio gym visits habit attendance',
    explanation: 'Number of sessions per week, including weeks without training.',
    query: `query SessionsPerWeek($since: Date!) {
  workoutSessionsGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ date: { by: WEEK, empty: true } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { start end } }
    sessions: count
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: 'keys.dateBucket.start', y: ['sessions'] },
  },
  {
    slug: 'sessions-per-weekday',
    title: 'On which weekdays do I train?',
    keywords: 'workouts monday sunday rest days frequency gym habit',
    explanation: 'Sessions by weekday: 1 is Monday, 7 is Sunday.',
    query: `query SessionsPerWeekday {
  workoutSessionsGrouped(groupBy: [{ date: { by: WEEKDAY, empty: true } }], orderBy: [{ key: { number: 1 } }]) {
    keys { dateBucket { weekday: number } }
    sessions: count
  }
}`,
    chart: { kind: 'bar', x: 'keys.dateBucket.weekday', y: ['sessions'] },
  },
  {
    slug: 'impression-by-month',
    title: 'How sessions felt, by month',
    keywords: 'mood feeling recovery fatigue sleep energy quality',
    explanation: 'Good, neutral and bad sessions of each month.',
    query: `query ImpressionByMonth {
  workoutSessionsGrouped(
    groupBy: [{ date: { by: MONTH } }, { field: IMPRESSION }]
    orderBy: [{ key: { number: 1 } }, { key: { number: 2 } }]
  ) {
    keys { dateBucket { start } impression }
    count
  }
}`,
    chart: { kind: 'stacked', x: 'keys.dateBucket.start', y: ['count'], by: 'keys.impression' },
  },
  {
    slug: 'sets-of-each-session',
    title: 'What was done in each session',
    keywords: 'workout history reps volume notes diary log',
    explanation:
      'Sets, repetitions and heaviest weight of the latest sessions, as a list nested in each session.',
    query: `query SetsOfEachSession($sessions: Int!) {
  workoutSessions(first: $sessions, orderBy: [{ date: DESC }]) {
    nodes {
      date
      impression
      notes
      logsGrouped {
        sets: count
        sum { reps }
        max { weightKg }
      }
    }
  }
}`,
    variables: { sessions: 30 },
    chart: { kind: 'line', x: 'date', y: ['logsGrouped.sum.reps'] },
  },
  {
    slug: 'repetition-ranges',
    title: 'In which repetition ranges do I train?',
    keywords: 'reps strength hypertrophy endurance histogram',
    explanation: 'Sets by number of repetitions, in steps of five. Change `width` in the query.',
    query: `query RepetitionRanges($since: Date!) {
  workoutLogsGrouped(
    where: { date: { gte: $since }, repetitionUnit: { name: { eq: "Repetitions" } } }
    groupBy: [{ reps: { width: 5, from: 1, empty: true } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { repsBin { from to } }
    sets: count
    max { weightKg }
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: 'keys.repsBin.from', y: ['sets'] },
  },
  {
    slug: 'repetitions-in-reserve',
    title: 'How close to failure are my sets?',
    keywords: 'rir rpe failure effort intensity exertion hard',
    explanation: 'Sets by repetitions in reserve. Sets without a value form their own group.',
    query: `query RepetitionsInReserve($since: Date!) {
  workoutLogsGrouped(where: { date: { gte: $since } }, groupBy: [{ field: RIR }], orderBy: [{ key: { number: 1 } }]) {
    keys { rir }
    sets: count
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'bar', x: 'keys.rir', y: ['sets'] },
  },
  {
    slug: 'sets-to-the-limit',
    title: 'Sets with at most one repetition in reserve, by week',
    keywords: 'rir rpe failure effort intensity fatigue hard',
    explanation: 'Number of sets close to failure. Change `rir` for a stricter limit.',
    query: `query SetsToTheLimit($rir: [RepetitionsInReserve!]!) {
  workoutLogsGrouped(
    where: { rir: { in: $rir } }
    groupBy: [{ date: { by: WEEK, empty: true } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { start } }
    sets: count
  }
}`,
    variables: { rir: ['RIR_0', 'RIR_0_5', 'RIR_1'] },
    chart: { kind: 'line', x: 'keys.dateBucket.start', y: ['sets'] },
  },
  {
    slug: 'spread-of-repetitions',
    title: 'How consistent are my sets?',
    keywords: 'reps median variance consistency percentile',
    explanation:
      'Mean, median and spread of repetitions for each exercise with at least `sets` sets.',
    query: `query SpreadOfRepetitions($sets: Decimal!) {
  workoutLogsGrouped(
    groupBy: [{ field: EXERCISE }]
    having: [{ statistic: COUNT, is: { gte: $sets } }]
    orderBy: [{ statistic: { name: STDDEV, of: REPS, direction: DESC } }]
  ) {
    keys { exercise { name } }
    count
    avg { reps }
    median { reps }
    p90: percentile(p: 0.9) { reps }
    stddev { reps }
  }
}`,
    variables: { sets: 20 },
    chart: { kind: 'bar', x: 'keys.exercise.name', y: ['median.reps', 'p90.reps'] },
  },
];
