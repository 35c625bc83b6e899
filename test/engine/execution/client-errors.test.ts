/** A field that fails is null, and the other fields are still returned. */
import {
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { buildGraphQLSchema, printSortedSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile({ environment: { STATEMENT_TIMEOUT: '500ms' } });

const schema = buildGraphQLSchema();
const errorSummary = ({
  errors,
}: {
  errors: { path?: (string | number)[]; extensions: Record<string, any> }[] | undefined;
}) => errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code]);

describe('the schema', () => {
  const root = Object.values(schema.getQueryType()!.getFields());
  const fallible = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .filter((type) => type !== schema.getSubscriptionType())
    .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()))
    .filter(
      ({ args, extensions }) =>
        (args.length > 0 && !extensions.acceptsAnyArguments) || extensions.cost,
    );

  test('declares fields of the query type, with arguments or with a cost as nullable', () => {
    expect(root.length).toBeGreaterThan(30);
    expect(fallible.length).toBeGreaterThan(60);
    const nonNull = [...root, ...fallible].filter(({ type }) => isNonNullType(type));

    expect(nonNull.map(({ name }) => name)).toEqual([]);
  });

  test('marks fields that are null only after an error with @semanticNonNull', () => {
    const text = printSortedSchema(schema);

    expect(text).toMatch(
      /^directive @semanticNonNull\([^)]*levels: \[Int!\]! = \[0\]\s*\) on FIELD_DEFINITION$/m,
    );
    expect(text).toMatch(/\): WorkoutLogConnection @semanticNonNull$/m);
    // A single row may also be null because it does not exist.
    expect(text).toMatch(/\): WorkoutLog$/m);
    const lists = root.filter(({ type }) => isListType(type) && !isLeafType(getNamedType(type)));

    for (const { name } of lists) {
      expect(text).toMatch(
        new RegExp(`^  ${name}(\\([^@]*?\\))?: \\[.*\\] @semanticNonNull(?: @|$)`, 'ms'),
      );
    }
  });
});

test('returns public lists, and null for owned lists, to an anonymous client', async () => {
  const answer = await fitgraph.anonymous.query(
    '{ muscles { id } workoutLogs { totalCount } muscleVolume { sets } }',
  );

  expect(answer.data).toEqual({
    muscles: expect.arrayContaining([{ id: '1' }]),
    workoutLogs: null,
    muscleVolume: null,
  });
  expect(errorSummary(answer)).toEqual([
    ['workoutLogs', 'UNAUTHENTICATED'],
    ['muscleVolume', 'UNAUTHENTICATED'],
  ]);
});

test('returns fields within the scopes of a token, and null for other fields', async () => {
  const ann = await fitgraph.user('ann');
  const { made } = await ann.ask(
    'mutation { made: createAccessToken(name: "log", scopes: [READ_TRAINING]) { token } }',
  );
  const app = new Person(fitgraph.url, { id: ann.id, token: made.token });
  const answer = await app.query(
    '{ workoutLogs { totalCount } weightEntries { totalCount } bodyWeightTrend { date } }',
  );

  expect(answer.data).toEqual({
    workoutLogs: { totalCount: 0 },
    weightEntries: null,
    bodyWeightTrend: null,
  });
  expect(errorSummary(answer)).toEqual([
    ['weightEntries', 'FORBIDDEN'],
    ['bodyWeightTrend', 'FORBIDDEN'],
  ]);
});

test('returns null for a field with an invalid argument, at the root or below a row', async () => {
  const ann = await fitgraph.user('ann');
  const answer = await ann.query(`{
    exercises(first: -1) { totalCount }
    languages { id }
    exerciseCategories { exercises(first: -1) { totalCount } }
  }`);

  expect(answer.data).toEqual({
    exercises: null,
    languages: expect.arrayContaining([{ id: '1' }]),
    exerciseCategories: expect.arrayContaining([{ exercises: null }]),
  });
  const failures = errorSummary(answer)!.map(([path]) => path);

  expect(failures).toEqual(expect.arrayContaining(['exercises', 'exerciseCategories.0.exercises']));
  expect(errorSummary(answer)!.every(([, code]) => code === 'BAD_USER_INPUT')).toBe(true);
});

test('returns null for a computed field that fails below a row', async () => {
  const ann = await fitgraph.user('ann');
  const answer = await ann.query(`{
    ingredients(first: 1) { nodes { name valuesOf(amount: "1", unitId: 2000000000) { energy } } }
    workoutLogsGrouped { count percentile(p: "1.5") { reps } median { reps } countDistinct(of: EQUIPMENT) }
  }`);

  expect(answer.data).toEqual({
    ingredients: { nodes: [{ name: expect.any(String), valuesOf: null }] },
    workoutLogsGrouped: [
      { count: 0, percentile: null, median: { reps: null }, countDistinct: null },
    ],
  });
  expect(errorSummary(answer)!.map(([path]) => path)).toEqual(
    expect.arrayContaining([
      'ingredients.nodes.0.valuesOf',
      'workoutLogsGrouped.0.percentile',
      'workoutLogsGrouped.0.countDistinct',
    ]),
  );
  const { made } = await ann.ask(
    'mutation { made: createAccessToken(name: "account", scopes: [READ_ACCOUNT]) { token } }',
  );
  const app = new Person(fitgraph.url, { id: ann.id, token: made.token });
  const account = await app.query('{ viewer { username accessTokens { id } } }');

  expect(account.data).toEqual({ viewer: { username: 'ann', accessTokens: null } });
  expect(errorSummary(account)).toEqual([['viewer.accessTokens', 'FORBIDDEN']]);
});

test('returns null for a field whose statement times out', async () => {
  const ann = await fitgraph.user('ann');
  const blocker = await fitgraph.database.pool.connect();

  try {
    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "weight_entry" IN ACCESS EXCLUSIVE MODE');
    const answer = await ann.query(
      '{ bodyWeightTrend { date } workoutLogs { totalCount } weightEntries { totalCount } }',
    );

    expect(answer.data).toEqual({
      bodyWeightTrend: null,
      workoutLogs: { totalCount: 0 },
      weightEntries: null,
    });
    expect(errorSummary(answer)!.sort()).toEqual([
      ['bodyWeightTrend', 'TIMEOUT'],
      ['weightEntries', 'TIMEOUT'],
    ]);
    await blocker.query('ROLLBACK');
  } finally {
    blocker.release(true);
  }
});
