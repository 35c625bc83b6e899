/** Example questions about body weight, its trend, and strength relative to it. */
import type { ExampleQuestion } from './question';

export const BODY_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'strength-for-my-weight',
    title: 'How strong am I for my weight?',
    keywords:
      '1rm powerlifting wilks dots total bench squat deadlift relative bodyweight score level',
    explanation: 'The sum of the best lifts in three exercises, and its DOTS score.',
    query: `query StrengthForMyWeight($gender: Gender!, $exercises: [String!]) {
  strength(where: { exercise: { name: { in: $exercises } } }, gender: $gender, estimated: true) {
    total
    date
    bodyWeight
    dots
  }
}`,
    variables: { gender: 'MALE', exercises: ['Back Squat', 'Bench Press', 'Deadlift'] },
    chart: {
      kind: 'bar',
      x: 'strength.date',
      y: ['strength.total', 'strength.bodyWeight', 'strength.dots'],
    },
  },
  {
    slug: 'weight-trend',
    title: 'Is my weight going up or down?',
    keywords: 'cut bulk lose gain fat loss diet progress scale rate smoothed kg lb',
    explanation:
      'Measured weight with its smoothed trend, and the weekly rate of change over the last 28 days.',
    query: `query WeightTrend($since: Date!) {
  bodyWeightTrend(from: $since) {
    date
    weight
    trend
    ratePerWeek
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'line', x: 'date', y: ['weight', 'trend'] },
  },
  {
    slug: 'my-measurements',
    title: 'How do my measurements change?',
    keywords: 'waist hips chest arm body fat blood pressure tape progress recomposition',
    explanation: 'All values of one kind of measurement, in its unit.',
    query: `query MyMeasurements($name: String!) {
  measurements(
    where: { category: { name: { eq: $name } } }
    orderBy: [{ measuredAt: ASC }]
    first: 1000
  ) {
    nodes {
      measuredAt
      value
      category {
        valueUnit
      }
    }
  }
}`,
    variables: { name: 'Waist' },
    chart: { kind: 'line', x: 'measuredAt', y: ['value'] },
  },
  {
    slug: 'weight-by-day',
    title: 'My weight by day',
    keywords: 'scale body weight history progress cut bulk kg lb',
    explanation: 'Every entry since a date, in kg regardless of the unit it was logged in.',
    query: `query WeightByDay($since: Date!) {
  weightEntries(where: { date: { gte: $since } }, orderBy: [{ date: ASC }], first: 1000) {
    nodes {
      date
      weightKg
    }
  }
}`,
    sinceDaysAgo: 365,
    chart: { kind: 'line', x: 'date', y: ['weightKg'] },
  },
  {
    slug: 'mean-weight-by-week',
    title: 'Mean weight by week',
    keywords: 'average scale body weight cut bulk progress kg lb',
    explanation: 'Weekly means say more than single days, because water weight fluctuates.',
    query: `query MeanWeightByWeek($since: Date!) {
  weightEntriesGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ date: { by: WEEK } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { start } }
    days: count
    avg { weightKg }
  }
}`,
    sinceDaysAgo: 182,
    chart: { kind: 'line', x: 'keys.dateBucket.start', y: ['avg.weightKg'] },
  },
  {
    slug: 'range-by-month',
    title: 'Lowest, mean and highest weight by month',
    keywords: 'minimum maximum fluctuation scale body weight',
    explanation: 'The range of body weight in each month.',
    query: `query RangeByMonth {
  weightEntriesGrouped(groupBy: [{ date: { by: MONTH } }], orderBy: [{ key: { number: 1 } }]) {
    keys { dateBucket { start } }
    min { weightKg }
    avg { weightKg }
    max { weightKg }
  }
}`,
    chart: {
      kind: 'line',
      x: 'keys.dateBucket.start',
      y: ['min.weightKg', 'avg.weightKg', 'max.weightKg'],
    },
  },
  {
    slug: 'weight-by-weekday',
    title: 'Am I heavier after the weekend?',
    keywords: 'monday sunday fluctuation water scale body weight',
    explanation: 'Mean and spread by weekday: 1 is Monday, 7 is Sunday.',
    query: `query WeightByWeekday($since: Date!) {
  weightEntriesGrouped(
    where: { date: { gte: $since } }
    groupBy: [{ date: { by: WEEKDAY } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { dateBucket { weekday: number } }
    count
    avg { weightKg }
    stddev { weightKg }
  }
}`,
    sinceDaysAgo: 91,
    chart: { kind: 'line', x: 'keys.dateBucket.weekday', y: ['avg.weightKg'] },
  },
  {
    slug: 'weight-distribution',
    title: 'How is my weight distributed?',
    keywords: 'histogram range scale body weight',
    explanation: 'Number of entries in steps of 1 kg.',
    query: `query WeightDistribution {
  weightEntriesGrouped(groupBy: [{ weightKg: { width: 1, empty: true } }], orderBy: [{ key: { number: 1 } }]) {
    keys { weightKgBin { from to } }
    days: count
  }
}`,
    chart: { kind: 'bar', x: 'keys.weightKgBin.from', y: ['days'] },
  },
  {
    slug: 'days-weighed-by-month',
    title: 'How often do I step on the scale?',
    keywords: 'consistency habit weigh-in scale body weight streak',
    explanation: 'Number of days with an entry per month, and the first and last of them.',
    query: `query DaysWeighedByMonth {
  weightEntriesGrouped(groupBy: [{ date: { by: MONTH, empty: true } }], orderBy: [{ key: { number: 1 } }]) {
    keys { dateBucket { start } }
    days: countDistinct(of: DATE)
    first: min { date }
    last: max { date }
  }
}`,
    chart: { kind: 'bar', x: 'keys.dateBucket.start', y: ['days'] },
  },
];
