/**
 * The default limits admit all screens of regular clients, one after the other, within the budget
 * of one user.
 */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer } from '../setup/person';
import { COUNTS, richAccount, type RichAccount } from '../setup/rich-account';
import { restScreens, screens, variablesOf } from '../setup/screens';

// How long requests wait in queues depends on the machine. All other limits have their defaults.
const fitgraph = fitgraphForThisFile({ content: 'tables', environment: { MAX_WAIT: '60s' } });
let account: RichAccount;

beforeAll(async () => {
  account = await richAccount(fitgraph);
});

type Json = null | string | number | boolean | Json[] | { [key: string]: Json };

const isObject = (value: Json): value is { [key: string]: Json } =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * Returns the length of the longest list at each path of keys. Paths have no indexes, so the same
 * list of several rows counts as one.
 */
function lengthsOf(
  value: Json,
  path = '',
  lengths = new Map<string, number>(),
): Map<string, number> {
  if (Array.isArray(value)) {
    lengths.set(path, Math.max(lengths.get(path) ?? 0, value.length));
    for (const item of value) lengthsOf(item, path, lengths);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      lengthsOf(inner, path === '' ? key : `${path}.${key}`, lengths);
    }
  }

  return lengths;
}

function hasContent(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasContent);

  if (isObject(value)) {
    return Object.entries(value).some(([key, inner]) => key !== '__typename' && hasContent(inner));
  }

  return value !== null && value !== '';
}

/** Which muscles a workout trains depends on the seed of the random account. */
const MAY_BE_EMPTY = /\bmuscles\.(?:front|back)(?:_?secondary)?$/i;

/**
 * Checks that a response has content, and that each of its lists has elements for at least one row.
 */
function expectContent({ status, body }: Answer): void {
  expect(status).toBe(200);
  expect(hasContent(body)).toBe(true);
  const emptyLists = [...lengthsOf(body)].flatMap(([path, length]) =>
    length === 0 && !MAY_BE_EMPTY.test(path) ? path : [],
  );

  expect(emptyLists).toEqual([]);
}

/** Requests the screen with this name. */
async function request(name: string) {
  const screen = screens.find((candidate) => candidate.name === name)!;

  return account.person.query(screen.query, variablesOf(screen, account));
}

test.each(screens.map(({ name }) => name))(
  'GraphQL returns content for the screen: %s',
  async (name) => {
    const answer = await request(name);

    expect(answer.errors).toBeUndefined();
    expectContent(answer);
  },
);

test.each(restScreens.map(({ name, path }) => [name, path] as const))(
  'REST returns content for the screen: %s',
  async (_name, path) => {
    expectContent(await account.person.get(path));
  },
);

/** Screens that show only public rows. */
const PUBLIC = [
  'exercise catalogue with its filter panel',
  'exercise catalogue filtered by muscle, equipment and category',
  'exercise search as the user types',
  'results of an exercise search',
  'muscle map with exercises of each muscle',
  'exercises by category and by equipment',
  'exercises that lack a German translation',
  'licences and attribution',
  'ingredients with much protein and little fat',
  'offline copy of the exercises',
  'offline copy of the ingredients',
  'offline copy of the reference tables',
  'introspection by a code generator',
];

test('no screen exceeds a limit for anonymous clients, and they see the public ones', async () => {
  const rejected: string[] = [];

  for (const screen of screens) {
    const { errors = [] } = await fitgraph.anonymous.query(
      screen.query,
      variablesOf(screen, account),
    );
    const codes = new Set(errors.map(({ extensions }) => String(extensions.code)));

    if (!PUBLIC.includes(screen.name)) codes.delete('UNAUTHENTICATED');
    for (const code of codes) rejected.push(`${screen.name}: ${code}`);
  }

  expect(rejected).toEqual([]);
});

test('no public screen is rejected when an address requests twenty of them in parallel', async () => {
  const names = Array.from({ length: 20 }, (_, index) => PUBLIC[index % PUBLIC.length]!);
  const answers = await Promise.all(
    names.map((name) => {
      const screen = screens.find((candidate) => candidate.name === name)!;

      return fitgraph.anonymous.query(screen.query, variablesOf(screen, account));
    }),
  );

  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
});

test.each([
  '{ schedules { nodes { steps { workout { days { setGroups { plannedSets { reps exercise { name images { image } } } } } } } } } }',
  '{ workouts(first: 29) { nodes { days { setGroups { plannedSets { reps exercise { name images { image } } } } } } } }',
  '{ workouts { nodes { days { setGroups { sequence { reps } plannedSets { reps exercise { muscles { name } images { image } } } } } } } }',
  '{ nutritionPlans { nodes { meals { items { amount ingredient { name units { grams } } } } } } }',
])('default pages of whole trees cost a tenth of the maximum at most: %s', async (query) => {
  const { body } = await account.person.send('POST', '/graphql', {
    query,
    extensions: { dryRun: true },
  });

  expect(body).toMatchObject({
    data: null,
    extensions: { cost: expect.any(Number), limit: 500_000 },
  });
  expect(body.extensions.cost).toBeLessThan(50_000);
  expectContent(await account.person.query(query));
});

test('the offline copy contains all rows of the account', async () => {
  const copy = lengthsOf((await request('offline copy of own rows')).data);
  const days = lengthsOf((await request('all days of the diary')).data);

  expect({
    workouts: copy.get('workouts.nodes'),
    schedules: copy.get('schedules.nodes'),
    sessions: copy.get('workoutSessions.nodes'),
    logs: copy.get('workoutLogs.nodes'),
    weights: copy.get('weightEntries.nodes'),
    plans: copy.get('nutritionPlans.nodes'),
    meals: copy.get('meals.nodes'),
    diaryDays: days.get('nutritionIntake'),
  }).toEqual(COUNTS);
});
