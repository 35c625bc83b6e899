/** Example questions about the diary and nutrition plans. */
import type { ExampleQuestion } from './question';

export const NUTRITION_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'energy-by-day',
    title: 'Energy by day',
    keywords: 'calories kcal intake deficit surplus cut bulk diet',
    explanation: 'Kilocalories per day in the last 90 days of the diary.',
    query: `query EnergyByDay {
  nutritionIntake(perPlan: false) {
    bucket { start }
    total { energy protein carbohydrates fat fibres }
  }
}`,
    chart: { kind: 'line', x: 'bucket.start', y: ['total.energy'] },
  },
  {
    slug: 'macros-by-day',
    title: 'Protein, carbohydrates and fat by day',
    keywords: 'macronutrients carbs fats intake diet grams nutrition',
    explanation: 'Macronutrients per day in the last 90 days of the diary, as stacked bars.',
    query: `query MacrosByDay {
  nutritionIntake(perPlan: false) {
    bucket { start }
    total { protein carbohydrates fat }
  }
}`,
    chart: {
      kind: 'stacked',
      x: 'bucket.start',
      y: ['total.protein', 'total.carbohydrates', 'total.fat'],
    },
  },
  {
    slug: 'what-my-plan-holds',
    title: 'What is in my plans?',
    keywords: 'calories kcal macros carbs diet goal percent',
    explanation:
      'Energy and macronutrients of each plan: in total, per kg of body weight and as shares of energy.',
    query: `query WhatMyPlanHolds {
  nutritionPlans(first: 10) {
    nodes {
      name
      nutritionalValues {
        total { energy protein carbohydrates fat fibres }
        perKg { protein carbohydrates fat }
        percent { protein carbohydrates fat }
      }
    }
  }
}`,
    chart: {
      kind: 'bar',
      x: 'name',
      y: [
        'nutritionalValues.total.protein',
        'nutritionalValues.total.carbohydrates',
        'nutritionalValues.total.fat',
      ],
    },
  },
  {
    slug: 'planned-meals',
    title: 'My planned meals',
    keywords: 'breakfast lunch dinner recipe menu calories macros diet',
    explanation: 'The meals of all plans with their times, nutritional values and ingredients.',
    query: `query PlannedMeals {
  meals(first: 50, orderBy: [{ time: ASC }]) {
    nodes {
      time
      nutritionalValues { energy protein carbohydrates fat }
      items { amount ingredient { name } }
    }
  }
}`,
    chart: { kind: 'bar', x: 'time', y: ['nutritionalValues.energy'] },
  },
  {
    slug: 'foods-most-often',
    title: 'Foods I eat most often',
    keywords: 'favourites favorites ingredients habits diet count',
    explanation: 'How often each food appears in the diary, and when it last did.',
    query: `query FoodsMostOften {
  diaryEntriesGrouped(groupBy: [{ field: INGREDIENT }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }], first: 30) {
    keys { ingredient { name } }
    times: count
    last: max { eatenAt }
  }
}`,
    chart: { kind: 'bar', x: 'keys.ingredient.name', y: ['times'] },
  },
  {
    slug: 'foods-by-weight',
    title: 'Foods I eat most of',
    keywords: 'amount grams ingredients consumption diet',
    explanation: 'Total grams of each food. Entries in pieces or slices are left out.',
    query: `query FoodsByWeight {
  diaryEntriesGrouped(
    where: { ingredientUnitId: { isNull: true } }
    groupBy: [{ field: INGREDIENT }]
    orderBy: [{ statistic: { name: SUM, of: AMOUNT, direction: DESC } }]
    first: 30
  ) {
    keys { ingredient { name } }
    grams: sum { amount }
    median { amount }
  }
}`,
    chart: { kind: 'bar', x: 'keys.ingredient.name', y: ['grams.amount'] },
  },
  {
    slug: 'when-i-eat',
    title: 'At what hours do I eat?',
    keywords: 'time of day breakfast dinner fasting schedule meals hours clock',
    explanation:
      'Diary entries by hour and weekday (1 is Monday). Change `zone` to your time zone.',
    query: `query WhenIEat($zone: String!) {
  diaryEntriesGrouped(
    groupBy: [{ eatenAt: { by: HOUR_OF_DAY, timeZone: $zone } }, { eatenAt: { by: WEEKDAY, timeZone: $zone } }]
    orderBy: [{ key: { number: 1 } }, { key: { number: 2 } }]
    first: 200
  ) {
    keys {
      hour: eatenAtBucket(by: HOUR_OF_DAY) { number }
      weekday: eatenAtBucket(by: WEEKDAY) { number }
    }
    entries: count
  }
}`,
    variables: { zone: 'Europe/Berlin' },
    chart: { kind: 'heatmap', x: 'keys.hour.number', y: ['keys.weekday.number'], by: 'entries' },
  },
  {
    slug: 'entries-per-week',
    title: 'How regularly do I keep my diary?',
    keywords: 'tracking consistency logging habit streak diet',
    explanation: 'Entries and distinct foods per week. Change `zone` to your time zone.',
    query: `query EntriesPerWeek($zone: String!) {
  diaryEntriesGrouped(
    groupBy: [{ eatenAt: { by: WEEK, timeZone: $zone, empty: true } }]
    orderBy: [{ key: { number: 1 } }]
  ) {
    keys { eatenAtBucket { start } }
    entries: count
    foods: countDistinct(of: INGREDIENT)
  }
}`,
    variables: { zone: 'Europe/Berlin' },
    chart: { kind: 'line', x: 'keys.eatenAtBucket.start', y: ['entries', 'foods'] },
  },
  {
    slug: 'latest-entries',
    title: 'Energy and protein of the latest entries',
    keywords: 'recent meals calories kcal macros history diet',
    explanation: 'The latest diary entries with their nutritional values.',
    query: `query LatestEntries($entries: Int!) {
  diaryEntries(first: $entries, orderBy: [{ eatenAt: DESC }]) {
    nodes {
      eatenAt
      amount
      ingredient { name }
      nutritionalValues { energy protein }
    }
  }
}`,
    variables: { entries: 50 },
    chart: { kind: 'scatter', x: 'nutritionalValues.energy', y: ['nutritionalValues.protein'] },
  },
];
