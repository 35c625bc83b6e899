/**
 * Executes operations as the GraphQL specification says, on the first run and with cached plans.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { GraphQLAnswer, Person } from '../../setup/person';
import { growth, LINEAR } from '../../setup/waits';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

/** More than one, because plans and parsed documents are cached after the first run. */
const RUNS = 3;

/** Runs the document several times, expects identical responses and returns one of them. */
async function queryRepeatedly(
  document: string,
  variables?: Record<string, unknown>,
): Promise<GraphQLAnswer> {
  const first = await ann.query(document, variables);

  for (let run = 1; run < RUNS; run += 1) {
    expect((await ann.query(document, variables)).text).toBe(first.text);
  }

  return first;
}

const post = (body: object, headers: Record<string, string> = {}) =>
  ann.withHeaders(headers).send('POST', '/graphql', body);

describe('an omitted variable', () => {
  test('leaves its input field out, so that an update keeps the value', async () => {
    const made = await ann.ask('mutation { createWorkout(input: {}) { workout { id } } }');
    const session = await ann.ask(
      'mutation ($id: ID!) { made: createWorkoutSession(input: { workoutId: $id, date: "2021-01-01", notes: "kept" }) { row: workoutSession { id } } }',
      { id: made.createWorkout.workout.id },
    );
    const document = `mutation ($id: ID!, $time: Time, $n: String) {
      updateWorkoutSession(id: $id, input: { startTime: $time, notes: $n }) { workoutSession { startTime notes } }
    }`;
    const update = async (variables: object) =>
      (await ann.ask(document, { id: session.made.row.id, ...variables })).updateWorkoutSession
        .workoutSession;

    expect(await update({ time: '08:00' })).toEqual({ startTime: '08:00:00', notes: 'kept' });
    expect(await update({ time: null, n: 'new' })).toEqual({ startTime: null, notes: 'new' });
  });

  test('leaves its condition out of a filter', async () => {
    const document = 'query ($n: String) { exercises(where: { name: { eq: $n } }) { totalCount } }';

    expect((await queryRepeatedly(document, {})).data.exercises.totalCount).toBe(3);
    expect((await queryRepeatedly(document, { n: 'Squat' })).data.exercises.totalCount).toBe(1);
    expect((await queryRepeatedly(document, { n: null })).data.exercises.totalCount).toBe(0);
  });

  test('gives an optional field of a created row its default', async () => {
    const document = `mutation ($name: String!, $start: Date, $loop: Boolean) {
      createSchedule(input: { name: $name, startsOn: $start, isLoop: $loop }) { schedule { isLoop } errors { path message } }
    }`;

    expect((await ann.ask(document, { name: 'one' })).createSchedule).toEqual({
      schedule: { isLoop: false },
      errors: [],
    });
  });

  test('takes the default that the operation declares, even for a non-null type', async () => {
    const document = `query ($id: ID! = "2", $yes: Boolean! = true, $first: Int = 1) {
      exercise(id: $id) { name uuid @skip(if: $yes) }
      exercises(first: $first) { nodes { id } }
    }`;
    const { data } = await queryRepeatedly(document, {});

    expect(data).toEqual({
      exercise: { name: 'Bench press' },
      exercises: { nodes: [{ id: '1' }] },
    });
  });
});

describe('@skip and @include', () => {
  test('on a fragment spread do not affect spreads on other objects', async () => {
    const document = `query ($s: Boolean!) { a: exercise(id: 1) { ...B @skip(if: $s) } b: exercise(id: 2) { ...B } } fragment B on Exercise { name }`;

    expect((await queryRepeatedly(document, { s: true })).data).toEqual({
      a: {},
      b: { name: 'Bench press' },
    });
    expect((await queryRepeatedly(document, { s: false })).data).toEqual({
      a: { name: 'Squat' },
      b: { name: 'Bench press' },
    });
  });

  test('on one of two spreads of a fragment do not affect the other', async () => {
    const document =
      'query ($s: Boolean!) { exercise(id: 1) { ...F @skip(if: $s) ...F } } fragment F on Exercise { name }';

    expect((await queryRepeatedly(document, { s: true })).data).toEqual({
      exercise: { name: 'Squat' },
    });
  });

  test('on a field keep only the subfields of its other selection', async () => {
    const document =
      'query ($s: Boolean!) { exercise(id: 1) { category { id } category @skip(if: $s) { name } } }';

    expect((await queryRepeatedly(document, { s: true })).data).toEqual({
      exercise: { category: { id: '2' } },
    });
  });
});

describe('a document with several operations', () => {
  const document = `query A($s: Boolean!) { exercise(id: 1) { ...F @include(if: $s) } } query B { exercise(id: 2) { ...F } } fragment F on Exercise { name }`;

  test('applies the directives of the executed operation only', async () => {
    for (let run = 0; run < RUNS; run += 1) {
      expect(
        (await post({ query: document, operationName: 'A', variables: { s: false } })).body.data,
      ).toEqual({ exercise: {} });
      expect((await post({ query: document, operationName: 'B' })).body.data).toEqual({
        exercise: { name: 'Bench press' },
      });
    }
  });

  test('is rejected when the operation name is missing or unknown', async () => {
    for (const operationName of [undefined, null, '', 'C']) {
      const { status, body } = await post({ query: document, operationName });

      expect([status, body.data, body.errors]).toEqual([
        expect.any(Number),
        undefined,
        [expect.objectContaining({ message: expect.any(String) })],
      ]);
      expect(body.errors[0].extensions.code).not.toBe('INTERNAL_SERVER_ERROR');
    }
  });
});

describe('an empty operation name', () => {
  const create = (comment: string) => ({
    query: `mutation { createWorkout(input: { name: "${comment}" }) { workout { id } } }`,
    operationName: '',
  });
  const createWorkout = async (comment: string) =>
    (await ann.ask(`{ workouts(where: { name: { eq: "${comment}" } }) { totalCount } }`)).workouts
      .totalCount;

  test('is treated as omitted in a POST, so that the mutation runs', async () => {
    const { status, body } = await post(create('empty name'));

    expect([status, body.errors]).toEqual([200, undefined]);
    expect(await createWorkout('empty name')).toBe(1);
  });

  test('does not disable the Idempotency-Key, so that a repeated mutation runs once', async () => {
    const headers = { 'Idempotency-Key': 'empty-name' };
    const [one, two] = [await post(create('once'), headers), await post(create('once'), headers)];

    expect([one.status, two.text]).toEqual([200, one.text]);
    expect(await createWorkout('once')).toBe(1);
  });

  test('is treated as omitted in a GET', async () => {
    const search = new URLSearchParams({
      query: '{ exercise(id: 1) { name } }',
      operationName: '',
    });
    const { body } = await ann
      .withHeaders({ 'Apollo-Require-Preflight': 'yes' })
      .send('GET', `/graphql?${search}`);

    expect(body).toEqual({ data: { exercise: { name: 'Squat' } } });
  });
});

describe('the location of an error', () => {
  test.each([
    [
      'a resolver error',
      '{\n  wrong: workoutLogsGrouped(first: -1) { count }\n}',
      undefined,
      [{ line: 2, column: 3 }],
    ],
    [
      'an argument out of range',
      '{ exercises(first: -1) { totalCount } }',
      undefined,
      [{ line: 1, column: 3 }],
    ],
    [
      'an invalid date literal',
      '{ weightEntries(where: { date: { eq: "2021-02-30" } }) { totalCount } }',
      undefined,
      [{ line: 1, column: 38 }],
    ],
    [
      'an invalid decimal literal',
      '{ weightEntries(where: { weight: { eq: "x" } }) { totalCount } }',
      undefined,
      [{ line: 1, column: 40 }],
    ],
    [
      'an invalid variable',
      'query ($first: Int) { exercises(first: $first) { totalCount } }',
      { first: 'x' },
      [{ line: 1, column: 8 }],
    ],
    ['a syntax error', '{ exercises(', undefined, [{ line: 1, column: 13 }]],
    ['an unknown field', '{ nothing }', undefined, [{ line: 1, column: 3 }]],
  ])('points at the source of %s', async (_what, document, variables, locations) => {
    const { errors } = await queryRepeatedly(document, variables);

    expect(errors).toHaveLength(1);
    expect(errors![0]).toMatchObject({ locations });
  });

  test('is reported once when a field fails for every row of a list', async () => {
    await fitgraph.sql('ALTER TABLE "exercise_comment" RENAME TO "lost"');

    try {
      const document = '{ exerciseTranslations { nodes { name comments { comment } } } }';

      for (let run = 0; run < RUNS; run += 1) {
        const { errors } = await ann.query(document);

        expect(errors).toHaveLength(1);
        expect(errors![0]).toMatchObject({
          path: ['exerciseTranslations', 'nodes', expect.any(Number), 'comments'],
          locations: [{ line: 1, column: 39 }],
        });
      }
    } finally {
      await fitgraph.sql('ALTER TABLE "lost" RENAME TO "exercise_comment"');
    }
  });
});

test('reports BAD_USER_INPUT when a variable passes null to a required argument', async () => {
  const { errors, code } = await queryRepeatedly(
    'query ($id: ID = "1") { exercise(id: $id) { name } }',
    { id: null },
  );

  expect([errors!.length, code, errors![0]!.path]).toEqual([1, 'BAD_USER_INPUT', ['exercise']]);
});

test('returns keys in the order of selection', async () => {
  const document = `{ exercise(id: 1) { category { name id } ...A id images { id } ... on Exercise { uuid category { nodeId } } name } }
    fragment A on Exercise { licenseId muscles { id } }`;
  const { data } = await queryRepeatedly(document);

  expect(Object.keys(data.exercise)).toEqual([
    'category',
    'licenseId',
    'muscles',
    'id',
    'images',
    'uuid',
    'name',
  ]);
  expect(Object.keys(data.exercise.category)).toEqual(['name', 'id', 'nodeId']);
});

test('returns the fields selected for the type of the row below `node`', async () => {
  const document = `query ($nodeId: ID!) { node(nodeId: $nodeId) { ... on Exercise { name } ... on Muscle { name isFront } ... on Ingredient { name energy } } }`;
  const { exercise, muscle, ingredient } = await ann.ask(
    '{ exercise(id: 1) { nodeId } muscle(id: 1) { nodeId } ingredient(id: 1) { nodeId } }',
  );

  for (let run = 0; run < RUNS; run += 1) {
    expect((await ann.ask(document, { nodeId: exercise.nodeId })).node).toEqual({ name: 'Squat' });
    expect((await ann.ask(document, { nodeId: muscle.nodeId })).node).toEqual({
      name: 'Biceps brachii',
      isFront: true,
    });
    expect((await ann.ask(document, { nodeId: ingredient.nodeId })).node).toEqual({
      name: 'Oats',
      energy: 372,
    });
  }
});

test('bounds the number and size of variable errors and finds them in linear time', async () => {
  const inputOf = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `wrong_${index}_${'x'.repeat(300)}`.slice(0, 280),
        index,
      ]),
    );
  const create =
    'mutation ($input: WorkoutInput!) { createWorkout(input: $input) { workout { id } } }';

  expect(
    await growth((share) => ann.query(create, { input: inputOf(3_000 * share) })),
  ).toBeLessThan(LINEAR);
  const { errors, text } = await ann.query(create, { input: inputOf(3_000) });

  expect(Object.keys(messagesByPath(errors![0]!))).toHaveLength(20);
  expect(text.length).toBeLessThan(20_000);
});

test('executes a failing operation with the same number of statements on every run', async () => {
  const document = '{ exercise(id: 999) { name } workouts { totalCount } }';
  const statements = async () => (await ann.query(document)).statements;
  const first = await statements();

  for (let run = 0; run < 2 * RUNS; run += 1) expect(await statements()).toBe(first);
});
