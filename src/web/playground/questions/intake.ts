/** Example questions that compare the diary with the nutrition plan and the body weight. */
import type { ExampleQuestion } from './question';

const BUCKET_START_COLUMN = 'bucket.start';
const TIME_ZONE_VARIABLE = { zone: 'Europe/Berlin' };

export const INTAKE_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'protein-per-kg-by-day',
    title: 'Protein per kg by day',
    keywords: 'macros bodyweight intake diet grams goal',
    explanation: 'Grams of protein per kg of body weight on that day, with the total amount.',
    query: `query ProteinPerKgByDay($zone: String!) {
  nutritionIntake(timeZone: $zone, perPlan: false) {
    bucket { start }
    total { protein }
    bodyWeight
    proteinPerKg
  }
}`,
    variables: TIME_ZONE_VARIABLE,
    chart: { kind: 'line', x: BUCKET_START_COLUMN, y: ['proteinPerKg'] },
  },
  {
    slug: 'energy-by-week-against-plan',
    title: 'Mean energy by week, and days over the goal',
    keywords: 'calories kcal deficit surplus cut bulk budget average diet',
    explanation:
      'Mean kilocalories per day in each week, compared with the plan. `tolerance` is in percent.',
    query: `query EnergyByWeekAgainstPlan($zone: String!, $tolerance: Int!) {
  nutritionIntake(by: WEEK, timeZone: $zone, tolerance: $tolerance) {
    bucket { start }
    plan { name }
    days
    mean { energy }
    goalEnergy
    daysOver
    daysUnder
  }
}`,
    variables: { ...TIME_ZONE_VARIABLE, tolerance: 5 },
    chart: {
      kind: 'line',
      x: BUCKET_START_COLUMN,
      y: ['mean.energy', 'goalEnergy'],
      by: 'plan.name',
    },
  },
  {
    slug: 'energy-by-meal',
    title: 'At which meals do I eat more than planned?',
    keywords: 'calories kcal breakfast lunch dinner snacks over budget',
    explanation: 'Mean energy of each meal by month, compared with the plan.',
    query: `query EnergyByMeal($zone: String!) {
  nutritionIntake(by: MONTH, timeZone: $zone, perMeal: true) {
    bucket { start }
    meal { time }
    mean { energy protein }
    goal { energy protein }
  }
}`,
    variables: TIME_ZONE_VARIABLE,
    chart: { kind: 'stacked', x: BUCKET_START_COLUMN, y: ['mean.energy'], by: 'meal.time' },
  },
  {
    slug: 'top-foods',
    title: 'Which foods does my protein come from?',
    keywords: 'macros sources ingredients diet chicken eggs calories',
    explanation: 'Foods by their total amount of protein. Change `by` to ENERGY.',
    query: `query TopFoods($by: FoodOrder!) {
  topFoods(first: 25, by: $by) {
    ingredient { name }
    grams
    total { energy protein }
    energyShare
  }
}`,
    variables: { by: 'PROTEIN' },
    chart: { kind: 'bar', x: 'ingredient.name', y: ['total.protein'] },
  },
];
