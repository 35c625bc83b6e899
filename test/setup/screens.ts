/**
 * Requests of regular clients: each screen contains what a page of a web or phone client requests
 * at once, for the account of `rich-account.ts`. Limits against attacks must admit all of them.
 */
import { CURRENT, OATS, SQUAT, type RichAccount } from './rich-account';
import { catalogue } from './screens/catalogue';
import { home } from './screens/home';
import { nutrition } from './screens/nutrition';
import { progress } from './screens/progress';
import { asApolloSends, CURSOR, type Screen } from './screens/screen';
import { sync } from './screens/sync';
import { ten } from './screens/common';
import { training } from './screens/training';

export type { Screen };

/** Queries of the ten screens. Only `graphql/common-screens.test.ts` sends their mutations. */
const read = ten.flatMap(({ requests }) =>
  requests.filter(({ query }) => query.startsWith('query')),
);

export const screens: readonly Screen[] = [
  ...home,
  ...training,
  ...progress,
  ...catalogue,
  ...nutrition,
  ...sync,
  ...read.map(asApolloSends),
];

export const variablesOf = (
  { variables = {} }: Screen,
  { cursor }: RichAccount,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value === CURSOR ? cursor : value]),
  );

/** Requests of phone apps for the REST API; paths are relative to `/api/v2`. */
export const restScreens: readonly { name: string; path: string }[] = [
  { name: 'exercises in full', path: '/exerciseinfo/?limit=100&language=2' },
  { name: 'exercise images', path: '/exerciseimage/?limit=100&is_main=True' },
  { name: 'exercise search', path: '/exercise/search/?term=bench&language=en' },
  { name: 'ingredients in full', path: '/ingredientinfo/?limit=100' },
  {
    name: 'values of a portion of an ingredient',
    path: `/ingredient/${OATS}/get_values/?amount=80`,
  },
  { name: 'workouts', path: '/workout/?limit=100&ordering=-creation_date' },
  { name: 'workout in full', path: `/workout/${CURRENT.workout}/canonical_representation/` },
  {
    name: 'log of an exercise in a workout',
    path: `/workout/${CURRENT.workout}/log_data/?id=${SQUAT}`,
  },
  { name: 'settings', path: '/setting/?limit=1000' },
  { name: 'latest logs', path: `/workoutlog/?limit=100&ordering=-date&exercise=${SQUAT}` },
  { name: 'sessions', path: '/workoutsession/?limit=100&ordering=-date' },
  { name: 'body weights', path: '/weightentry/?limit=400&ordering=-date' },
  { name: 'nutrition plans in full', path: '/nutritionplaninfo/?limit=100' },
  {
    name: 'values of a nutrition plan',
    path: `/nutritionplan/${CURRENT.plan}/nutritional_values/`,
  },
  { name: 'diary', path: '/nutritiondiary/?limit=100&ordering=-datetime' },
];
