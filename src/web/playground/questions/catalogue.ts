/** Example questions about foods and exercises. They can be run without signing in. */
import type { ExampleQuestion } from './question';

export const CATALOGUE_QUESTIONS: readonly ExampleQuestion[] = [
  {
    slug: 'protein-against-energy',
    title: 'Foods high in protein and low in energy',
    keywords: 'lean cut diet calories kcal macros foods shopping',
    explanation:
      'Protein against energy per 100 g, for foods with at least `protein` grams of protein. The best are at the top left.',
    query: `query ProteinAgainstEnergy($protein: Decimal!) {
  ingredients(
    where: { protein: { gte: $protein }, language: { shortName: { eq: "en" } } }
    orderBy: [{ protein: DESC }]
    first: 200
  ) {
    totalCount
    nodes {
      name
      energy
      protein
      fat
    }
  }
}`,
    variables: { protein: '15' },
    chart: { kind: 'scatter', x: 'energy', y: ['protein'] },
  },
  {
    slug: 'rich-in-fibre',
    title: 'Foods richest in fibre',
    keywords: 'fiber vegetables wholegrain diet calories kcal',
    explanation: 'Fibre per 100 g, highest first, for foods with at most `energy` kcal.',
    query: `query RichInFibre($energy: Int!) {
  ingredients(
    where: { fibres: { gt: 0 }, energy: { lte: $energy }, language: { shortName: { eq: "en" } } }
    orderBy: [{ fibres: DESC }]
    first: 25
  ) {
    nodes {
      name
      fibres
      energy
      sugar
    }
  }
}`,
    variables: { energy: 400 },
    chart: { kind: 'bar', x: 'name', y: ['fibres'] },
  },
  {
    slug: 'foods-by-energy',
    title: 'How much energy do foods have?',
    keywords: 'calories kcal histogram catalogue distribution',
    explanation: 'Number of foods in steps of 50 kcal per 100 g, with their mean protein and fat.',
    query: `query FoodsByEnergy {
  ingredientsGrouped(groupBy: [{ energy: { width: 50, empty: true } }], orderBy: [{ key: { number: 1 } }]) {
    keys { energyBin { from to } }
    foods: count
    avg { protein fat }
  }
}`,
    chart: { kind: 'bar', x: 'keys.energyBin.from', y: ['foods'] },
  },
  {
    slug: 'find-a-food',
    title: 'Find a food by its name',
    keywords: 'search ingredient oats chicken calories macros lookup typo',
    explanation: 'Tolerates misspellings; the closest matches come first. Change `name`.',
    query: `query FindAFood($name: String!) {
  ingredients(where: { name: { search: $name } }, first: 20) {
    nodes {
      name
      energy
      protein
      carbohydrates
      fat
      units { amount grams householdUnit { name } }
    }
  }
}`,
    variables: { name: 'chiken brest' },
    chart: { kind: 'bar', x: 'name', y: ['protein', 'carbohydrates', 'fat'] },
  },
  {
    slug: 'exercises-per-muscle',
    title: 'Exercises per muscle',
    keywords: 'anatomy chest back legs biceps abs glutes catalogue',
    explanation: 'Number of exercises per muscle. Main muscles count once, secondary muscles half.',
    query: `query ExercisesPerMuscle {
  exercisesGrouped(
    groupBy: [{ muscle: { muscles: 1, musclesSecondary: 0.5 } }]
    orderBy: [{ statistic: { name: WEIGHTED_COUNT, direction: DESC } }]
  ) {
    keys { muscle { name } }
    count
    weightedCount
  }
}`,
    chart: { kind: 'bar', x: 'keys.muscle.name', y: ['weightedCount'] },
  },
  {
    slug: 'exercises-by-category',
    title: 'Exercises by category and equipment',
    keywords: 'barbell dumbbell machine equipment home gym bodyweight cardio catalogue',
    explanation: 'Number of exercises in each category for each kind of equipment.',
    query: `query ExercisesByCategory {
  exercisesGrouped(
    groupBy: [{ field: CATEGORY }, { field: EQUIPMENT }]
    orderBy: [{ statistic: { name: COUNT, direction: DESC } }]
  ) {
    keys { category { name } equipment { name } }
    exercises: count
  }
}`,
    chart: {
      kind: 'heatmap',
      x: 'keys.equipment.name',
      y: ['keys.category.name'],
      by: 'exercises',
    },
  },
  {
    slug: 'exercises-for-a-muscle',
    title: 'Which exercises train a muscle?',
    keywords: 'chest back legs biceps abs glutes bench squat dumbbell home workout alternatives',
    explanation: 'Exercises with their equipment and all muscles that they train. Change `muscle`.',
    query: `query ExercisesForAMuscle($muscle: String!) {
  exercises(
    where: { muscles: { some: { name: { eq: $muscle } } } }
    orderBy: [{ name: ASC }]
    first: 50
  ) {
    totalCount
    nodes {
      name
      category { name }
      muscles { name }
      musclesSecondary { name }
      equipment { name }
    }
  }
}`,
    variables: { muscle: 'Gluteus maximus' },
    chart: { kind: 'heatmap', x: 'equipment.name', y: ['category.name'] },
  },
  {
    slug: 'languages-of-the-catalogue',
    title: 'Which languages have exercises?',
    keywords: 'translation english german',
    explanation: 'Number of exercises per language in the catalogue.',
    query: `query LanguagesOfTheCatalogue {
  exerciseTranslationsGrouped(
    groupBy: [{ field: LANGUAGE }]
    orderBy: [{ statistic: { name: COUNT, direction: DESC } }]
  ) {
    keys { language { fullName } }
    exercises: countDistinct(of: EXERCISE)
  }
}`,
    chart: { kind: 'bar', x: 'keys.language.fullName', y: ['exercises'] },
  },
];
