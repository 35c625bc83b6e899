/** An operation means what the specification says, however often it was run before. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { GraphQLAnswer, Person } from '../setup/person';
import { growth, LINEAR } from '../setup/waits';

const fitgraph = fitgraphForThisFile();
let ann: Person;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

/** Plans and parsed documents are kept from the first run on. */
const RUNS = 3;

/** The answers of several runs, which must be one. */
async function always(document: string, variables?: Record<string, unknown>): Promise<GraphQLAnswer> {
  const first = await ann.query(document, variables);
  for (let run = 1; run < RUNS; run += 1) expect((await ann.query(document, variables)).text).toBe(first.text);
  return first;
}

const post = (body: object, headers: Record<string, string> = {}) => ann.sending(headers).send('POST', '/graphql', body);

describe('a variable that is left out', () => {
  test('leaves the field of an input out too', async () => {
    const made = await ann.ask('mutation { createWorkout(input: {}) { workout { id } } }');
    const session = await ann.ask(
      'mutation ($id: ID!) { made: createWorkoutSession(input: { workoutId: $id, date: "2021-01-01", notes: "kept" }) { row: workoutSession { id } } }',
      { id: made.createWorkout.workout.id },
    );
    const document = `mutation ($id: ID!, $time: Time, $n: String) {
      updateWorkoutSession(id: $id, input: { startTime: $time, notes: $n }) { workoutSession { startTime notes } }
    }`;
    const update = async (variables: object) =>
      (await ann.ask(document, { id: session.made.row.id, ...variables })).updateWorkoutSession.workoutSession;
    expect(await update({ time: '08:00' })).toEqual({ startTime: '08:00:00', notes: 'kept' });
    expect(await update({ time: null, n: 'new' })).toEqual({ startTime: null, notes: 'new' });
  });

  test('is no condition', async () => {
    const document = 'query ($n: String) { exercises(where: { name: { eq: $n } }) { totalCount } }';
    expect((await always(document, {})).data.exercises.totalCount).toBe(3);
    expect((await always(document, { n: 'Squat' })).data.exercises.totalCount).toBe(1);
    expect((await always(document, { n: null })).data.exercises.totalCount).toBe(0);
  });

  test('leaves an optional field of a creation to its default', async () => {
    const document = `mutation ($name: String!, $start: Date, $loop: Boolean) {
      createSchedule(input: { name: $name, startsOn: $start, isLoop: $loop }) { schedule { isLoop } errors { path message } }
    }`;
    expect((await ann.ask(document, { name: 'one' })).createSchedule).toEqual({ schedule: { isLoop: false }, errors: [] });
  });

  test('takes the default of the operation, of a required type too', async () => {
    const document = `query ($id: ID! = "2", $yes: Boolean! = true, $first: Int = 1) {
      exercise(id: $id) { name uuid @skip(if: $yes) }
      exercises(first: $first) { nodes { id } }
    }`;
    const { data } = await always(document, {});
    expect(data).toEqual({ exercise: { name: 'Bench press' }, exercises: { nodes: [{ id: '2' }] } });
  });
});

describe('@skip and @include', () => {
  test('on a fragment touch no other object', async () => {
    const document = `query ($s: Boolean!) { a: exercise(id: 1) { ...B @skip(if: $s) } b: exercise(id: 2) { ...B } } fragment B on Exercise { name }`;
    expect((await always(document, { s: true })).data).toEqual({ a: {}, b: { name: 'Bench press' } });
    expect((await always(document, { s: false })).data).toEqual({ a: { name: 'Squat' }, b: { name: 'Bench press' } });
  });

  test('on one of two spreads leave the other', async () => {
    const document = 'query ($s: Boolean!) { exercise(id: 1) { ...F @skip(if: $s) ...F } } fragment F on Exercise { name }';
    expect((await always(document, { s: true })).data).toEqual({ exercise: { name: 'Squat' } });
  });

  test('on a field leave what another selection of it asks for, and no more', async () => {
    const document = 'query ($s: Boolean!) { exercise(id: 1) { category { id } category @skip(if: $s) { name } } }';
    expect((await always(document, { s: true })).data).toEqual({ exercise: { category: { id: '2' } } });
  });
});

describe('several operations in a document', () => {
  const document = `query A($s: Boolean!) { exercise(id: 1) { ...F @include(if: $s) } } query B { exercise(id: 2) { ...F } } fragment F on Exercise { name }`;

  test('do not change each other', async () => {
    for (let run = 0; run < RUNS; run += 1) {
      expect((await post({ query: document, operationName: 'A', variables: { s: false } })).body.data).toEqual({ exercise: {} });
      expect((await post({ query: document, operationName: 'B' })).body.data).toEqual({ exercise: { name: 'Bench press' } });
    }
  });

  test('need a name, and one that is there', async () => {
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
  const made = async (comment: string) =>
    (await ann.ask(`{ workouts(where: { name: { eq: "${comment}" } }) { totalCount } }`)).workouts.totalCount;

  test('is none: the mutation runs and is answered', async () => {
    const { status, body } = await post(create('empty name'));
    expect([status, body.errors]).toEqual([200, undefined]);
    expect(await made('empty name')).toBe(1);
  });

  test('and its Idempotency-Key counts', async () => {
    const headers = { 'Idempotency-Key': 'empty-name' };
    const [one, two] = [await post(create('once'), headers), await post(create('once'), headers)];
    expect([one.status, two.text]).toEqual([200, one.text]);
    expect(await made('once')).toBe(1);
  });

  test('is none in a GET too', async () => {
    const search = new URLSearchParams({ query: '{ exercise(id: 1) { name } }', operationName: '' });
    const { body } = await ann.sending({ 'Apollo-Require-Preflight': 'yes' }).send('GET', `/graphql?${search}`);
    expect(body).toEqual({ data: { exercise: { name: 'Squat' } } });
  });
});

describe('an error tells where it is', () => {
  test.each([
    ['of a resolver', '{\n  gone: exercise(id: 999) { name }\n}', undefined, [{ line: 2, column: 3 }]],
    ['of an argument', '{ exercises(first: -1) { totalCount } }', undefined, [{ line: 1, column: 3 }]],
    ['of a literal', '{ weightEntries(where: { date: { eq: "2021-02-30" } }) { totalCount } }', undefined, [{ line: 1, column: 38 }]],
    ['of a decimal literal', '{ weightEntries(where: { weight: { eq: "x" } }) { totalCount } }', undefined, [{ line: 1, column: 40 }]],
    ['of a variable', 'query ($first: Int) { exercises(first: $first) { totalCount } }', { first: 'x' }, [{ line: 1, column: 8 }]],
    ['of the syntax', '{ exercises(', undefined, [{ line: 1, column: 13 }]],
    ['of a field', '{ nothing }', undefined, [{ line: 1, column: 3 }]],
  ])('%s', async (_what, document, variables, locations) => {
    const { errors } = await always(document, variables);
    expect(errors).toHaveLength(1);
    expect(errors![0]).toMatchObject({ locations });
  });

  test('and one that fails a whole list is told once', async () => {
    await fitgraph.sql('ALTER TABLE "exercise_comment" RENAME TO "lost"');
    try {
      const document = '{ exercises { nodes { name comments { comment } } } }';
      for (let run = 0; run < RUNS; run += 1) {
        const { errors } = await ann.query(document);
        expect(errors).toHaveLength(1);
        expect(errors![0]).toMatchObject({
          path: ['exercises', 'nodes', expect.any(Number), 'comments'],
          locations: [{ line: 1, column: 28 }],
        });
      }
    } finally {
      await fitgraph.sql('ALTER TABLE "lost" RENAME TO "exercise_comment"');
    }
  });
});

test('a null for a required argument is the mistake of its sender', async () => {
  const { errors, code } = await always('query ($id: ID = "1") { exercise(id: $id) { name } }', { id: null });
  expect([errors!.length, code, errors![0]!.path]).toEqual([1, 'BAD_USER_INPUT', ['exercise']]);
});

test('keys come in the order in which they are selected', async () => {
  const document = `{ exercise(id: 1) { category { name id } ...A id images { id } ... on Exercise { uuid category { nodeId } } name } }
    fragment A on Exercise { languageId muscles { id } }`;
  const { data } = await always(document);
  expect(Object.keys(data.exercise)).toEqual(['category', 'languageId', 'muscles', 'id', 'images', 'uuid', 'name']);
  expect(Object.keys(data.exercise.category)).toEqual(['name', 'id', 'nodeId']);
});

test('a selection below `node` is read for each type that it shows', async () => {
  const document = `query ($nodeId: ID!) { node(nodeId: $nodeId) { ... on Exercise { name } ... on Muscle { name isFront } ... on Ingredient { name energy } } }`;
  const { exercise, muscle, ingredient } = await ann.ask(
    '{ exercise(id: 1) { nodeId } muscle(id: 1) { nodeId } ingredient(id: 1) { nodeId } }',
  );
  for (let run = 0; run < RUNS; run += 1) {
    expect((await ann.ask(document, { nodeId: exercise.nodeId })).node).toEqual({ name: 'Squat' });
    expect((await ann.ask(document, { nodeId: muscle.nodeId })).node).toEqual({ name: 'Biceps brachii', isFront: true });
    expect((await ann.ask(document, { nodeId: ingredient.nodeId })).node).toEqual({ name: 'Oats', energy: 372 });
  }
});

test('wrong variables are told in bounded number and size', async () => {
  const inputOf = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`wrong_${index}_${'x'.repeat(300)}`.slice(0, 280), index]));
  const create = 'mutation ($input: WorkoutInput!) { createWorkout(input: $input) { workout { id } } }';
  expect(await growth((share) => ann.query(create, { input: inputOf(3_000 * share) }))).toBeLessThan(LINEAR);
  const { errors, text } = await ann.query(create, { input: inputOf(3_000) });
  expect(Object.keys(errors![0]!.extensions.fields)).toHaveLength(20);
  expect(text.length).toBeLessThan(20_000);
});

test('an operation that ends with an error runs once', async () => {
  const document = '{ exercise(id: 999) { name } workouts { totalCount } }';
  const statements = async () => (await ann.query(document)).statements;
  const first = await statements();
  for (let run = 0; run < 2 * RUNS; run += 1) expect(await statements()).toBe(first);
});
