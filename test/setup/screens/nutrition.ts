/** Nutrition plans, the diary and ingredients. */
import { CURRENT, daysAgo, OATS, TODAY } from '../rich-account';
import { ENTRY, NUTRIENTS, PAGE_INFO } from './fragments';
import { asApolloSends, type Screen } from './screen';

const NUTRITION: Screen[] = [
  {
    name: "today's nutrition plan",
    query: `query TodaysPlan($plan: ID!, $from: DateTime!, $to: DateTime!) {
      nutritionPlan(id: $plan) {
        id name hasGoalCalories
        nutritionalValues { total { ...Nutrients energyKilojoule } percent { protein carbohydrates fat } perKg { protein carbohydrates fat } }
        meals {
          id position time
          nutritionalValues { ...Nutrients }
          items { id position amount ingredient { id name energy } ingredientUnit { id grams householdUnit { id name } } nutritionalValues { ...Nutrients } }
        }
      }
      nutritionIntake(where: { planId: { eq: $plan }, eatenAt: { gte: $from, lte: $to } }) { total { ...Nutrients } }
    }
    ${NUTRIENTS}`,
    variables: { plan: CURRENT.plan, from: `${TODAY}T00:00:00Z`, to: `${TODAY}T23:59:59Z` },
  },
  {
    name: 'nutrition plans',
    query: `query NutritionPlans($first: Int!) {
      nutritionPlans(first: $first) {
        totalCount
        nodes {
          id createdOn name hasGoalCalories language { id shortName }
          nutritionalValues { total { ...Nutrients } percent { protein carbohydrates fat } }
          meals { id time }
          diaryEntries { totalCount }
        }
        pageInfo { ...PageInfoFields }
      }
    }
    ${NUTRIENTS} ${PAGE_INFO}`,
    variables: { first: 20 },
  },
  {
    name: 'diary of a week',
    query: `query DiaryWeek($plan: ID!, $since: DateTime!, $from: DateTime!) {
      diaryEntries(first: 200, where: { planId: { eq: $plan }, eatenAt: { gte: $since } }, orderBy: [{ eatenAt: DESC }]) {
        totalCount
        nodes { ...Entry }
        pageInfo { ...PageInfoFields }
      }
      nutritionIntake(last: 7, where: { planId: { eq: $plan }, eatenAt: { gte: $since } }, by: DAY) {
        bucket { start }
        total { ...Nutrients }
        goal { ...Nutrients }
      }
      recent: topFoods(first: 20, where: { eatenAt: { gte: $from } }) { count grams ingredient { id name units { id grams householdUnit { id name } } } }
    }
    ${ENTRY} ${NUTRIENTS} ${PAGE_INFO}`,
    variables: {
      plan: CURRENT.plan,
      since: `${daysAgo(6)}T00:00:00Z`,
      from: `${daysAgo(30)}T00:00:00Z`,
    },
  },
  {
    name: 'all days of the diary',
    query: `query DiaryDays($plan: ID!) {
      nutritionPlan(id: $plan) { id name }
      nutritionIntake(last: 1000, where: { planId: { eq: $plan } }) { bucket { start } total { ...Nutrients } }
    }
    ${NUTRIENTS}`,
    variables: { plan: CURRENT.plan },
  },
  {
    name: 'intake of two months against goals and body weight',
    query: `query Intake($since: DateTime!) {
      days: nutritionIntake(last: 100, where: { eatenAt: { gte: $since } }, by: DAY) {
        bucket { start end }
        total { ...Nutrients }
        goalEnergy bodyWeight proteinPerKg carbohydratesPerKg fatPerKg
      }
      weeks: nutritionIntake(last: 20, where: { eatenAt: { gte: $since } }, by: WEEK) {
        bucket { start end }
        days daysOver daysUnder
        mean { ...Nutrients }
        goal { ...Nutrients }
        plan { id name }
      }
      meals: nutritionIntake(last: 50, where: { eatenAt: { gte: $since } }, by: MONTH, perMeal: true) {
        bucket { start }
        meal { id time position }
        mean { energy protein }
      }
    }
    ${NUTRIENTS}`,
    variables: { since: `${daysAgo(59)}T00:00:00Z` },
  },
  {
    name: 'charts of the diary',
    query: `query DiaryCharts($since: DateTime!, $zone: String!) {
      hours: diaryEntriesGrouped(where: { eatenAt: { gte: $since } }, groupBy: [{ eatenAt: { by: HOUR_OF_DAY, timeZone: $zone } }]) {
        keys { eatenAtBucket { number } } count sum { amount }
      }
      weeks: diaryEntriesGrouped(where: { eatenAt: { gte: $since } }, groupBy: [{ eatenAt: { by: WEEK, timeZone: $zone } }]) {
        keys { eatenAtBucket { start end } } count countDistinct(of: INGREDIENT)
      }
      foods: diaryEntriesGrouped(first: 20, groupBy: [{ field: INGREDIENT }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) {
        keys { ingredient { id name energy } } count avg { amount } max { eatenAt }
      }
      energy: topFoods(first: 10) { energyShare ingredient { id name } }
      protein: topFoods(first: 10, by: PROTEIN) { count grams total { ...Nutrients } ingredient { id name } }
    }
    ${NUTRIENTS}`,
    variables: { since: `${daysAgo(59)}T00:00:00Z`, zone: 'Europe/Berlin' },
  },
  {
    name: 'ingredients with much protein and little fat',
    query: `query LeanProtein($where: IngredientWhere!, $first: Int!) {
      ingredients(first: $first, where: $where, orderBy: [{ protein: DESC }]) {
        totalCount
        nodes { id name brand energy protein carbohydrates fat fibres sodium units { id grams householdUnit { id name } } }
        pageInfo { ...PageInfoFields }
      }
      bins: ingredientsGrouped(where: $where, groupBy: [{ energy: { width: 100 } }]) {
      keys { energyBin { from to } } count avg { protein } }
    }
    ${PAGE_INFO}`,
    variables: { first: 50, where: { protein: { gte: '10' }, fat: { lte: '10' } } },
  },
  {
    name: 'one ingredient',
    query: `query Ingredient($id: ID!, $amount: Decimal!) {
      ingredient(id: $id) {
        id name commonName brand code foodCategory createdOn updatedOn sourceName sourceUrl licenseAuthor
        energy protein carbohydrates sugar fat saturatedFat fibres sodium
        license { id shortName fullName url }
        language { id shortName }
        units { id amount grams householdUnit { id name } }
        portion: valuesOf(amount: $amount) { ...Nutrients energyKilojoule }
        diaryEntries(first: 10, orderBy: [{ eatenAt: DESC }]) { totalCount nodes { id eatenAt amount plan { id name } } }
      }
    }
    ${NUTRIENTS}`,
    variables: { id: OATS, amount: '80' },
  },
];

export const nutrition = NUTRITION.map(asApolloSends);
