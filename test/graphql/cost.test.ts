/** The cost of an operation is estimated before its first statement. */
import { getIntrospectionQuery, getOperationAST, graphqlSync, parse } from 'graphql';
import { estimateOperationCost } from '../../src/core/operation/cost';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';

const schema = buildGraphQLSchema();
const cost = (text: string, variables: Record<string, unknown> = {}) => {
  const document = parse(text);
  return estimateOperationCost(schema, document, getOperationAST(document)!, variables);
};

const objectsIn = (value: unknown): number =>
  value === null || typeof value !== 'object'
    ? 0
    : Object.values(value).reduce((total: number, inner) => total + objectsIn(inner), Array.isArray(value) ? 0 : 1);

test.each([
  ['the standard query', getIntrospectionQuery(), 5],
  ['all types and fields', '{ __schema { types { name fields { name args { name } } inputFields { name } enumValues { name } } } }', 1.5],
  ['possible types and interfaces', '{ __schema { types { possibleTypes { name } interfaces { name } } } }', 1.5],
  ['a single type', '{ __type(name: "Query") { fields { name args { name } } } }', 10],
  ['types nested in fields', '{ __schema { queryType { fields { type { fields { name } } } } } }', 50],
])('estimates introspection close to the size of its result: %s', (_how, text, times) => {
  const shown = objectsIn(graphqlSync({ schema, source: text }).data);
  // Each object counts three times, because introspection blocks the event loop, and each leaf field counts a tenth.
  expect(cost(text).total).toBeGreaterThanOrEqual(3 * shown);
  expect(cost(text).total).toBeLessThan(4 * shown * times);
});

describe('the estimated response size', () => {
  test.each([
    // {"data":{"exercise":{"id":…,"name":…}}} without braces, each value of 5 characters.
    ['keys and values', '{ exercise(id: 1) { id name } }', 8 + 4 + (2 + 4 + 5) + (4 + 4 + 5)],
    ['aliases instead of field names', '{ exercise(id: 1) { abcdefgh: id } }', 8 + 4 + (8 + 4 + 5)],
    ['each row of a page', '{ exercises(first: 100) { nodes { id } } }', 9 + 4 + (5 + 4) + 100 * (2 + 4 + 5)],
  ])('counts %s', (_what, text, meant) => {
    const { total, bytes } = cost(text);
    expect(bytes).toBe(meant);
    expect(total).toBeGreaterThan(bytes / 1024);
  });

  test('counts the average width of a column in PostgreSQL', () => {
    const document = parse('{ exercises(first: 10) { nodes { description } } }');
    const widthOf = (type: string, field: string) => (`${type}.${field}` === 'Exercise.description' ? 700 : 1);
    const { bytes } = estimateOperationCost(schema, document, getOperationAST(document)!, {}, widthOf);
    expect(bytes).toBe(9 + 4 + (5 + 4) + 10 * (11 + 4 + 700));
  });
});

describe('the estimated cost', () => {
  test.each([
    ['counts a root object and its fields', '{ exercise(id: 1) { id name } }', 1 + 5 + 1.2],
    ['assumes a page of twenty rows by default', '{ exercises { nodes { id } } }', 1 + 5 + 1 + 20 * 1.1],
    ['counts the rows of `first`', '{ exercises(first: 100) { nodes { id } } }', 1 + 5 + 1 + 100 * 1.1],
    ['counts the days of a period', '{ plannedTraining(from: "2026-01-01", until: "2026-01-07") { date } }', 1 + 5 + 20 + 7 * 1.1],
    ['counts totalCount separately', '{ exercises { totalCount } }', 1 + 5 + 1 + 5],
    ['adds up aliases', '{ a: exercise(id: 1) { id } b: exercise(id: 2) { id } }', 1 + 2 * 6.1],
    [
      'multiplies nested pages',
      '{ householdUnits(first: 5) { nodes { ingredientUnits(first: 7) { nodes { id } } } } }',
      1 + 6 + 5 * (1 + 2 + 1 + 7 * 1.1),
    ],
    [
      'counts a key once even if it is selected repeatedly',
      '{ exercise(id: 1) { id id ...F ...F } } fragment F on Exercise { id }',
      1 + 5 + 1.1,
    ],
  ])('%s', (_what, text, meant) => {
    const { total, bytes } = cost(text);
    expect(total - bytes / 1024).toBeCloseTo(meant, 6);
  });

  test('uses the values of variables and leaves skipped fields out', () => {
    const text = 'query ($n: Int, $s: Boolean!) { exercises(first: $n) @skip(if: $s) { nodes { id } } viewer { id } }';
    expect(cost(text, { n: 1000, s: false }).total).toBeGreaterThan(1000);
    expect(cost(text, { n: 1000, s: true }).total).toBeLessThan(10);
    expect(cost(text, { n: 10, s: false }).total).toBeLessThan(30);
  });
});

describe('the cost limit', () => {
  const fitgraph = fitgraphForThisFile();
  const levels = (count: number): string => (count ? `exercises(first: 10000) { nodes { category { ${levels(count - 1)} } } }` : 'name');
  const some = (count: number): string => (count ? `{ category: { exercises: { some: ${some(count - 1)} } } }` : '{ name: { eq: "x" } }');

  test.each([
    ['nested pages', `{ ${levels(4)} }`, 'ExerciseCategory.exercises'],
    [
      'many aliases',
      `{ ${Array.from({ length: 100 }, (_, i) => `a${i}: exercises(first: 10000) { nodes { id name } }`).join(' ')} }`,
      'Query.exercises',
    ],
    [
      'repeated introspection',
      `{ __schema { ${Array.from({ length: 40 }, (_, i) => `a${i}: types { fields { name type { name ofType { name } } } }`).join(' ')} } }`,
      '__Schema.types',
    ],
    ['nested conditions', `{ exercises(where: { or: [${Array(5).fill(some(3))}] }) { totalCount } }`, 'Query.exercises'],
  ])('rejects an operation before its first statement: %s', async (_what, document, coordinate) => {
    const { code, errors, data, statements, status } = await fitgraph.anyone.query(document);
    expect([code, status, data, statements]).toEqual(['COST_LIMIT', 400, undefined, 0]);
    expect(errors).toEqual([
      expect.objectContaining({ extensions: { code: 'COST_LIMIT', cost: expect.any(Number), limit: 500_000, coordinate } }),
    ]);
    const advice = coordinate.startsWith('__') ? 'select less below it' : 'ask for fewer rows there';
    expect(errors![0]!.message).toContain(`Most of it comes from ${coordinate}: ${advice}.`);
  });

  test('admits a training plan with all its nested lists, which are short and unpaged', async () => {
    const ann = await fitgraph.user('ann');
    const today = `{ schedules(where: { isActive: { eq: true } }) { nodes { startsOn isLoop steps { duration workout { id name days { name weekdays
      setGroups { sets plannedSets { reps targetWeight exercise { name muscles { name } images { image } } } } } } } } } }`;
    expect((await ann.query(today)).errors).toBeUndefined();
  });

  test('rejects introspection that repeats the fields of the largest type', async () => {
    // Two nested levels of fields, which validation allows: the types of the fields of `Query`, and the types of their fields.
    const fields = (inner: string) => `fields { type { ${inner} } args { name type { name } } }`;
    const thrice = ['a', 'b', 'c'].map((alias) => `${alias}: ${fields(fields('name'))}`).join(' ');
    const asked = `{ __schema { queryType { ${thrice} } } }`;
    const { code, errors } = await fitgraph.anyone.query(asked);
    expect([code, errors![0]!.extensions]).toEqual(['COST_LIMIT', expect.objectContaining({ coordinate: '__Type.fields' })]);
  });

  test('admits introspection, a dashboard and a full sync of ingredients', async () => {
    const ann = await fitgraph.user('ann');
    expect((await fitgraph.anyone.query(getIntrospectionQuery())).errors).toBeUndefined();
    const dashboard = `{ viewer { name }
      workouts(first: 20) { nodes { id name days { id name } logs(first: 100) { nodes { date reps weight exercise { name } } } } }
      weightEntries(first: 365) { nodes { date weight } }
      nutritionPlans { nodes { id meals { items { amount ingredient { name energy } } nutritionalValues { energy } } } } }`;
    const sync =
      '{ ingredients(first: 10000) { totalCount nodes { id name energy protein fat carbohydrates units { gram householdUnit { name } } } } }';
    for (const document of [dashboard, sync]) expect((await ann.query(document)).errors).toBeUndefined();
  });

  test('admits REST pages with 10000 rows', async () => {
    const ann = await fitgraph.user('ann');
    for (const endpoint of ['exerciseinfo', 'ingredientinfo', 'nutritionplaninfo', 'workoutlog'])
      expect((await ann.get(`/${endpoint}/?limit=10000`)).status).toBe(200);
  });
});

test('rejects operations that cost more than MAX_COST', async () => {
  const fitgraph = await Fitgraph.start({ environment: { MAX_COST: '1000' } });
  try {
    expect((await fitgraph.anyone.query('{ exercises(first: 2000) { nodes { id } } }')).errors![0]!.extensions).toMatchObject({
      limit: 1000,
    });
    expect((await fitgraph.anyone.query('{ exercises(first: 200) { nodes { id } } }')).errors).toBeUndefined();
  } finally {
    await fitgraph.stop();
  }
});
