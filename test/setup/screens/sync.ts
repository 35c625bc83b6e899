/** Offline copies of the catalogue and of own rows, and tools. */
import { getIntrospectionQuery } from 'graphql';
import { daysAgo } from '../rich-account';
import { PAGE_INFO } from './fragments';
import { CURSOR, type Screen } from './screen';

export const sync: Screen[] = [
  {
    name: 'offline copy of the reference tables',
    query: `query ReferenceTables {
      muscles { id name isFront imageUrlMain imageUrlSecondary }
      equipmentList { id name }
      exerciseCategories { id name }
      repetitionUnits { id name }
      weightUnits { id name }
      householdUnits(first: 1000) { nodes { id name languageId } }
      languages { id shortName fullName }
      licenses { id shortName fullName url }
    }`,
  },
  {
    name: 'offline copy of the exercises',
    query: `query OfflineExercises($first: Int!, $after: String) {
      exercises(first: $first, after: $after, orderBy: [{ id: ASC }]) {
        totalCount
        nodes {
          id uuid categoryId muscleIds musclesSecondaryIds equipmentIds variationId licenseId licenseAuthor
          images { id uuid image isMain licenseId licenseAuthor }
          translations { id uuid name description languageId licenseId licenseAuthor comments { id comment } }
        }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 200 },
  },
  {
    name: 'offline copy of the ingredients',
    query: `query OfflineIngredients($first: Int!, $after: String) {
      ingredients(first: $first, after: $after, orderBy: [{ id: ASC }]) {
        totalCount
        nodes {
          id name code energy protein carbohydrates sugar fat saturatedFat fibres sodium languageId licenseId
          units { id amount grams householdUnitId }
        }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 1000 },
  },
  {
    name: 'own rows that changed since yesterday',
    query: `query ChangedRows($since: DateTime!, $first: Int!) {
      workouts(first: $first, where: { updatedAt: { gte: $since } }) { nodes { id version name updatedAt } }
      workoutSessions(first: $first, where: { updatedAt: { gte: $since } }) { nodes { id version date notes impression updatedAt } }
      workoutLogs(first: $first, where: { updatedAt: { gte: $since } }, orderBy: [{ updatedAt: ASC }]) {
        totalCount
        nodes { id version date reps weight rir exerciseId workoutId updatedAt }
        pageInfo { ...PageInfoFields }
      }
      diaryEntries(first: $first, where: { updatedAt: { gte: $since } }) { nodes { id version eatenAt amount ingredientId updatedAt } }
      weightEntries(first: $first, where: { updatedAt: { gte: $since } }) { nodes { id version date weight updatedAt } }
    }
    ${PAGE_INFO}`,
    variables: { since: `${daysAgo(1)}T00:00:00Z`, first: 500 },
  },
  {
    name: 'change feed',
    query: `query ChangeFeed($since: String!, $first: Int!) {
      changes(since: $since, first: $first) { cursor hasMore changes { type rowId rowNodeId operation occurredAt } }
    }`,
    variables: { since: CURSOR, first: 500 },
  },
  {
    name: 'introspection by a code generator',
    query: getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true }),
  },
];
