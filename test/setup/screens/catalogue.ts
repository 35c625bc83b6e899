/** Exercises, muscles and equipment, their sources and their review. */
import { BENCH } from '../rich-account';
import { EXERCISE_CARD, PAGE_INFO } from './fragments';
import { asApolloSends, type Screen } from './screen';

const ENGLISH = '2';
const GERMAN = '1';

const CATALOGUE: Screen[] = [
  {
    name: 'exercise catalogue with its filter panel',
    query: `query ExerciseCatalogue($first: Int!, $after: String) {
      exercises(first: $first, after: $after, orderBy: [{ name: ASC }]) {
        totalCount
        edges { cursor node { ...ExerciseCard } }
        pageInfo { ...PageInfoFields }
      }
      exerciseCategories { id name }
      muscles { id name isFront imageUrlMain }
      equipmentList { id name }
    }
    ${EXERCISE_CARD} ${PAGE_INFO}`,
    variables: { first: 50 },
  },
  {
    name: 'exercise catalogue filtered by muscle, equipment and category',
    query: `query FilteredCatalogue($where: ExerciseWhere!, $first: Int!) {
      exercises(first: $first, where: $where, orderBy: [{ category: ASC }, { name: ASC }]) {
        totalCount
        nodes { ...ExerciseCard musclesSecondary { id name } }
        pageInfo { ...PageInfoFields }
      }
      facets: exercisesGrouped(where: $where, groupBy: [{ field: CATEGORY }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) {
        keys { category { name } } count
      }
    }
    ${EXERCISE_CARD} ${PAGE_INFO}`,
    variables: {
      first: 100,
      where: {
        muscleIds: { in: ['4', '5', '10'] },
        equipmentIds: { in: ['1', '3', '8'] },
        categoryId: { in: ['8', '9', '11'] },
      },
    },
  },
  {
    name: 'exercise search as the user types',
    query: `query SearchExercises($term: String!, $language: ID!) {
      exerciseTranslations(first: 10, where: { name: { search: $term }, languageId: { eq: $language } }) { nodes { id name exercise { id category { name } images { image isMain } } } }
    }`,
    variables: { term: 'benc', language: ENGLISH },
  },
  {
    name: 'results of an exercise search',
    query: `query ExerciseResults($text: String!) {
      exerciseTranslations(first: 20, where: { name: { search: $text } }) {
        totalCount
        nodes { id name description language { id shortName } exercise { ...ExerciseCard } }
        pageInfo { ...PageInfoFields }
      }
      categories: exercisesGrouped(where: { translations: { some: { name: { search: $text } } } }, groupBy: [{ field: CATEGORY }]) {
        keys { category { name } } count
      }
    }
    ${EXERCISE_CARD} ${PAGE_INFO}`,
    variables: { text: 'bench pres' },
  },
  {
    name: 'one exercise',
    query: `query Exercise($id: ID!) {
      exercise(id: $id) {
        ...ExerciseCard
        licenseAuthor
        license { id shortName fullName url }
        musclesSecondary { id name imageUrlSecondary }
        translations {
          id uuid name nameOriginal description createdOn licenseAuthor
          license { id shortName fullName url }
          language { id shortName fullName }
          comments { id comment }
        }
        images { id image large: thumbnailUrl(size: LARGE) small: thumbnailUrl(size: SMALL, crop: true) licenseAuthor license { id shortName url } }
        variation { id exercises(first: 50) { nodes { id name images { id image isMain } translations { id name language { id shortName } } } } }
      }
    }
    ${EXERCISE_CARD}`,
    variables: { id: BENCH },
  },
  {
    name: 'muscle map with exercises of each muscle',
    query: `query MuscleMap {
      muscles {
        id name isFront imageUrlMain imageUrlSecondary
        exercises(first: 10) {
          totalCount
          nodes { id name images { id image isMain } }
          pageInfo { hasNextPage endCursor }
        }
        exercisesSecondary(first: 5) { totalCount nodes { id name } }
      }
    }`,
  },
  {
    name: 'exercises by category and by equipment',
    query: `query ByCategory {
      exerciseCategories {
        id name
        exercises(first: 20, orderBy: [{ name: ASC }]) {
          totalCount
          edges { cursor node { ...ExerciseCard } }
          pageInfo { ...PageInfoFields }
        }
      }
      equipmentList { id name exercises(first: 3) { totalCount nodes { id name } } }
    }
    ${EXERCISE_CARD} ${PAGE_INFO}`,
  },
  {
    name: 'licences and attribution',
    query: `query Attribution {
      licenses { id shortName fullName url }
      exerciseAuthors: exercisesGrouped(first: 200, groupBy: [{ field: LICENSE_AUTHOR }, { field: LICENSE }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) {
        keys { licenseAuthor license { id shortName } } count
      }
      ingredientSources: ingredientsGrouped(first: 200, groupBy: [{ field: SOURCE_NAME }, { field: LICENSE }]) {
        keys { sourceName license { id shortName } } count
      }
      exerciseImages(first: 100) {
        totalCount
        nodes { id image licenseAuthor license { id shortName url } exercise { id translations { id name } } }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
  },
  {
    name: 'review of the catalogue',
    query: `query Review {
      byStatus: exerciseTranslationsGrouped(groupBy: [{ field: STATUS }, { field: LANGUAGE }]) {
        keys { status language { shortName } } count max { createdOn }
      }
      newest: exerciseTranslations(first: 50, orderBy: [{ createdOn: DESC }, { id: DESC }]) {
        totalCount
        nodes { id uuid name nameOriginal status createdOn licenseAuthor license { id shortName } language { id shortName } exerciseId }
      }
      images: exerciseImages(first: 50, orderBy: [{ id: DESC }]) {
        totalCount
        nodes { id uuid status isMain image thumbnailUrl(size: SMALL, crop: true) exerciseId licenseAuthor }
      }
      comments: exerciseComments(first: 50, orderBy: [{ id: DESC }]) { totalCount nodes { id comment translation { id name } } }
      ingredients(first: 50, orderBy: [{ updatedOn: DESC }]) { totalCount nodes { id name status updatedOn sourceName license { id shortName } } }
    }`,
  },
  {
    name: 'exercises that lack a German translation',
    query: `query Untranslated($language: ID!, $first: Int!) {
      exercises(first: $first, where: { translations: { none: { languageId: { eq: $language } } } }) {
        totalCount
        nodes { id uuid category { id name } translations { id name description language { id shortName } } }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { language: GERMAN, first: 50 },
  },
];

export const catalogue = CATALOGUE.map(asApolloSends);
