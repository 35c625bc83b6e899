/** Errors have a code, name the invalid fields and reveal no internals. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

const ERRORS = 'errors { path message }';
const create = (input: unknown) =>
  ann.query(
    `mutation ($input: WeightEntryInput!) { made: createWeightEntry(input: $input) { weightEntry { id } ${ERRORS} } }`,
    { input },
  );

test.each([
  ['GRAPHQL_VALIDATION_FAILED', '{ nonsense }'],
  ['GRAPHQL_PARSE_FAILED', '{'],
])('returns %s for %s', async (code, document) => {
  expect((await ann.query(document)).code).toBe(code);
});

test.each([
  'exercise(id: 999) { id }',
  'exercise(id: "x") { id }',
  'exercise(id: 4) { id }',
  'node(nodeId: "x") { nodeId }',
  'weightEntry(id: 999) { id }',
  'ingredientByBarcode(code: "0") { id }',
])('returns null without an error for the missing row of %s', async (field) => {
  expect(await ann.ask(`{ row: ${field} }`)).toEqual({ row: null });
});

test('reports the path of an error by alias', async () => {
  const { errors, data } = await ann.query('{ one: exercise(id: 1) { name } }');

  expect([errors, data]).toEqual([undefined, { one: { name: 'Squat' } }]);
  const failed = await ann.query('{ wrong: exercises(first: -1) { totalCount } }');

  expect(failed.errors).toMatchObject([{ path: ['wrong'] }]);
});

test('returns null for missing rows and the data of all other fields', async () => {
  const { data, errors } = await ann.query(
    '{ viewer { username } gone: exercise(id: 999) { name } one: exercise(id: 1) { name } lost: node(nodeId: "x") { nodeId } }',
  );

  expect(data).toEqual({
    viewer: { username: 'ann' },
    gone: null,
    one: { name: 'Squat' },
    lost: null,
  });
  expect(errors).toBeUndefined();
});

test('executes the other mutations of an operation when one fails', async () => {
  const { data, errors } = await ann.query(`mutation {
    one: createWeightEntry(input: { date: "2020-01-01", weight: "80" }) { weightEntry { date } errors { path } }
    update: updateWeightEntry(id: 999, input: {}) { weightEntry { date } errors { path code message } }
    updates: updateWeightEntries(changes: [{ id: 999, input: {} }, { id: "x", input: {} }]) { weightEntries { date } errors { path code message } }
    gone: deleteWeightEntry(id: 999) { deletedIds errors { path code message } }
    gones: deleteWeightEntries(rows: [{ id: 999 }]) { deletedIds errors { path code message } }
    login(username: "ann", password: "not this one") { token errors { path code message } }
    two: createWeightEntry(input: { date: "2020-01-02", weight: "80" }) { weightEntry { date } errors { path } }
  }`);
  const made = (date: string) => ({ weightEntry: { date }, errors: [] });
  const unknown = (id: string, ...path: string[]) => ({
    path,
    code: 'NOT_FOUND',
    message: `There is no WeightEntry with the id "${id}".`,
  });

  expect(errors).toBeUndefined();
  expect(data).toEqual({
    one: made('2020-01-01'),
    update: { weightEntry: null, errors: [unknown('999', 'id')] },
    updates: {
      weightEntries: null,
      errors: [unknown('x', 'changes', '1', 'id'), unknown('999', 'changes', '0', 'id')],
    },
    gone: { deletedIds: [], errors: [unknown('999', 'id')] },
    gones: { deletedIds: [], errors: [unknown('999', 'rows', '0', 'id')] },
    login: {
      token: null,
      errors: [{ path: [], code: 'WRONG_CREDENTIALS', message: 'Username or password unknown' }],
    },
    two: made('2020-01-02'),
  });
});

test('reports all invalid fields at once and writes nothing', async () => {
  const { errors, data } = await create({ date: '2021-01-01', weight: '700.123' });

  expect(errors).toBeUndefined();
  expect(data.made).toEqual({
    weightEntry: null,
    errors: [
      {
        path: ['input', 'weight'],
        message: 'Ensure that there are no more than 5 digits in total.',
      },
    ],
  });
  expect(
    (await ann.ask('{ weightEntries(where: { date: { eq: "2021-01-01" } }) { totalCount } }'))
      .weightEntries.totalCount,
  ).toBe(0);
  const setting = await ann.ask(
    `mutation ($input: PlannedSetPatch!) { made: updatePlannedSet(id: 1, input: $input) { ${ERRORS} } }`,
    {
      input: { reps: 1 },
    },
  );

  expect(setting.made).toEqual({
    errors: [{ path: ['id'], message: 'There is no PlannedSet with the id "1".' }],
  });
  const plan = (await ann.post('/nutritionplan/', {})).body.id;
  const entry = await ann.ask(
    `mutation ($input: DiaryEntryInput!) { made: createDiaryEntry(input: $input) { diaryEntry { id } ${ERRORS} } }`,
    {
      input: { planId: plan, ingredientId: 999, amount: '5000', ingredientUnitId: 999 },
    },
  );

  expect(entry.made).toEqual({
    diaryEntry: null,
    errors: [
      { path: ['input', 'ingredientId'], message: 'There is no Ingredient with the id "999".' },
      {
        path: ['input', 'ingredientUnitId'],
        message: 'There is no IngredientUnit with the id "999".',
      },
      { path: ['input', 'amount'], message: 'Ensure this value is less than or equal to 1000.' },
    ],
  });
});

test('reports a code for each kind of invalid value, and several errors for one field', async () => {
  const bob = await fitgraph.user('bob');
  const foreign = String((await bob.post('/workout/', {})).body.id);

  await create({ date: '2021-01-09', weight: '80' });

  const codes = async (name: string, input: object) => {
    const type = name[0]!.toUpperCase() + name.slice(1);
    const { made } = await ann.ask(
      `mutation ($input: ${type}Input!) { made: create${type}(input: $input) { ${name} { id } errors { path code message } } }`,
      { input },
    );

    expect(made[name]).toBeNull();
    for (const { message } of made.errors) expect(message).toMatch(/\.$/);

    return made.errors.map(
      ({ path, code }: { path: string[]; code: string }) => `${path.slice(1).join('.')} ${code}`,
    );
  };

  const tooMuch = 'x'.repeat(101) + '\0';

  expect(await codes('trainingDay', { workoutId: foreign, name: tooMuch, weekdays: [] })).toEqual([
    'workoutId NOT_FOUND',
    'name TOO_LONG',
    'name INVALID',
    'weekdays EMPTY',
  ]);
  expect(
    await codes('plannedSet', { setGroupId: 1, exerciseId: 1, reps: 601, targetWeight: '-1' }),
  ).toEqual(['setGroupId NOT_FOUND', 'reps TOO_LARGE', 'targetWeight TOO_SMALL']);
  // A missing parent does not hide the missing target of another reference, in a single row or in a
  // tree.
  expect(await codes('plannedSet', { setGroupId: 1, exerciseId: 999, reps: 1 })).toEqual([
    'setGroupId NOT_FOUND',
    'exerciseId NOT_FOUND',
  ]);
  expect(
    await codes('setGroup', {
      trainingDayId: foreign,
      plannedSets: [{ exerciseId: 999, reps: 1 }],
    }),
  ).toEqual(['trainingDayId NOT_FOUND', 'plannedSets.0.exerciseId NOT_FOUND']);
  expect(await codes('weightEntry', { date: '2021-01-09', weight: '80.123' })).toEqual([
    'date NOT_UNIQUE',
    'weight TOO_PRECISE',
  ]);
  expect(
    await codes('schedule', {
      name: 'x',
      startsOn: null,
      steps: [{ workoutId: foreign, duration: 0 }],
    }),
  ).toEqual(['startsOn NULL', 'steps.0.workoutId NOT_FOUND', 'steps.0.duration TOO_SMALL']);
});

test('reports missing rows together with missing parents and invalid values, in single, bulk and nested updates', async () => {
  const workoutId = (await ann.post('/workout/', {})).body.id;
  const log = { workoutId, exerciseId: 1, date: '2021-03-01', weight: '60', reps: 5 };
  const { createWorkoutLog } = await ann.ask(
    'mutation ($log: WorkoutLogInput!) { createWorkoutLog(input: $log) { workoutLog { id } } }',
    {
      log,
    },
  );
  const wrong = { workoutId: 999, exerciseId: 999, reps: 90_000 };
  const answer = await ann.ask(
    `mutation ($wrong: WorkoutLogPatch!, $id: ID!, $workout: ID!, $tree: WorkoutPatch!) {
      single: updateWorkoutLog(id: 999, input: $wrong) { errors { path code } }
      bulk: updateWorkoutLogs(changes: [{ id: 999, input: $wrong }, { id: $id, input: { reps: -1 } }]) { errors { path code } }
      nested: updateWorkout(id: $workout, input: $tree) { errors { path code } }
      missing: updateWorkout(id: 999, input: $tree) { errors { path code } }
    }`,
    {
      wrong,
      id: createWorkoutLog.workoutLog.id,
      workout: workoutId,
      tree: {
        name: 'x'.repeat(101),
        days: [
          { id: 999, name: 'Day', weekdays: [] },
          {
            name: 'Day',
            weekdays: ['MONDAY'],
            setGroups: [{ id: 999, plannedSets: [{ id: 999, exerciseId: 999, reps: 1 }] }],
          },
        ],
      },
    },
  );
  const formatErrors = ({ errors }: any) =>
    errors.map(({ path, code }: any) => `${path.join('.')} ${code}`);
  const values = (place: string) => [
    `${place}.reps TOO_LARGE`,
    `${place}.exerciseId NOT_FOUND`,
    `${place}.workoutId NOT_FOUND`,
  ];

  expect(formatErrors(answer.single)).toEqual(['id NOT_FOUND', ...values('input')]);
  expect(formatErrors(answer.bulk)).toEqual([
    'changes.0.id NOT_FOUND',
    ...values('changes.0.input'),
    'changes.1.input.reps TOO_SMALL',
  ]);
  const tree = [
    'input.name TOO_LONG',
    'input.days.0.weekdays EMPTY',
    'input.days.1.setGroups.0.plannedSets.0.exerciseId NOT_FOUND',
  ];
  const group = 'input.days.1.setGroups.0';
  const missing = ['input.days.0.id', `${group}.id`, `${group}.plannedSets.0.id`].map(
    (id) => `${id} NOT_FOUND`,
  );

  expect(formatErrors(answer.nested)).toEqual([...missing, ...tree]);
  expect(formatErrors(answer.missing)).toEqual(['id NOT_FOUND', ...tree]);
});

test('limits the repetitions of a log in GraphQL only, with the complete path of the value', async () => {
  const workoutId = (await ann.post('/workout/', {})).body.id;
  const log = (reps: number) => ({
    workoutId,
    exerciseId: 1,
    date: '2021-02-01',
    weight: '60',
    reps,
  });
  const { body } = await ann.post('/workoutlog/', {
    workout: workoutId,
    exercise: 1,
    date: '2021-02-01',
    weight: '60',
    reps: 2147483647,
  });

  expect(body.reps).toBe(2147483647);
  const errorFields = 'errors { path code message }';
  const answer = await ann.ask(
    `mutation ($id: ID!, $log: WorkoutLogInput!, $logs: [WorkoutLogInput!]!) {
      most: createWorkoutLog(input: $log) { workoutLog { reps } ${errorFields} }
      logs: createWorkoutLogs(inputs: $logs) { workoutLogs { reps } ${errorFields} }
      update: updateWorkoutLog(id: $id, input: { reps: 86401 }) { workoutLog { reps } ${errorFields} }
      updates: updateWorkoutLogs(changes: [{ id: $id, input: { reps: 86401 } }]) { workoutLogs { reps } ${errorFields} }
      weight: updateWorkoutLog(id: $id, input: { weight: "70" }) { workoutLog { reps weight } ${errorFields} }
    }`,
    { id: body.id, log: log(86_400), logs: [log(1), log(86_401)] },
  );
  const tooLarge = (...path: string[]) => [
    { path, code: 'TOO_LARGE', message: 'Ensure this value is less than or equal to 86400.' },
  ];

  expect(answer).toEqual({
    most: { workoutLog: { reps: 86_400 }, errors: [] },
    logs: { workoutLogs: null, errors: tooLarge('inputs', '1', 'reps') },
    update: { workoutLog: null, errors: tooLarge('input', 'reps') },
    updates: { workoutLogs: null, errors: tooLarge('changes', '0', 'input', 'reps') },
    weight: { workoutLog: { reps: 2147483647, weight: '70.00' }, errors: [] },
  });
});

test('rejects a foreign parent over REST before it validates other fields', async () => {
  const bob = await fitgraph.user('bob');
  const training = (await bob.post('/workout/', {})).body.id;
  const rejected = await ann.post('/day/', { training, description: '', day: [] });

  expect([rejected.status, rejected.body]).toEqual([
    403,
    { detail: 'You are not allowed to do this' },
  ]);
});

test('reports invalid fields on update', async () => {
  const { made } = (await create({ date: '2021-01-02', weight: '80' })).data;
  const document = `mutation ($id: ID!, $input: WeightEntryPatch!) { made: updateWeightEntry(id: $id, input: $input) { weightEntry { weight } ${ERRORS} } }`;
  const change = async (input: unknown) =>
    (await ann.ask(document, { id: made.weightEntry.id, input })).made;
  const message = 'Ensure this value is less than or equal to 600.';

  expect(await change({ weight: '601' })).toEqual({
    weightEntry: null,
    errors: [{ path: ['input', 'weight'], message }],
  });
  expect(await change({ date: null })).toEqual({
    weightEntry: null,
    errors: [{ path: ['input', 'date'], message: 'This field may not be null.' }],
  });
  expect(await change({ weight: '81' })).toEqual({ weightEntry: { weight: '81.00' }, errors: [] });
});

test('names the fields of variables with a missing value or a wrong type', async () => {
  const { code, errors } = await create({ date: '2021-02-30', weight: true });

  expect(code).toBe('BAD_USER_INPUT');
  expect(messagesByPath(errors![0]!)).toEqual({
    'input.date': ['Date has wrong format. Use one of these formats instead: YYYY-MM-DD.'],
    'input.weight': ['A valid number is required.'],
  });
  expect(messagesByPath((await create({})).errors![0]!)).toEqual({
    'input.date': ['This field is required.'],
    'input.weight': ['This field is required.'],
  });
});

test('rejects a duplicate row over GraphQL and REST', async () => {
  expect((await create({ date: '2021-01-05', weight: '80' })).data.made.errors).toEqual([]);
  const message = 'The field date must be unique.';

  expect((await create({ date: '2021-01-05', weight: '81' })).data.made).toEqual({
    weightEntry: null,
    errors: [{ path: ['input', 'date'], message }],
  });
  const rest = await ann.post('/weightentry/', { date: '2021-01-05', weight: '81' });

  expect(rest).toMatchObject({
    status: 400,
    body: { non_field_errors: ['The fields date, user must make a unique set.'] },
  });
});

test('returns the existing row as the conflict of a create or update, but never the row of another user', async () => {
  const conflict = 'errors { path code conflict { ... on WorkoutSession { id notes } } }';
  const session = `mutation ($input: WorkoutSessionInput!) { made: createWorkoutSession(input: $input) { workoutSession { id } ${conflict} } }`;
  const workout = async (person: Person) => String((await person.post('/workout/', {})).body.id);
  const input = { workoutId: await workout(ann), date: '2021-05-01', notes: 'There already' };
  const { made } = await ann.ask(session, { input });

  expect(made).toEqual({ workoutSession: { id: expect.any(String) }, errors: [] });
  const { id } = made.workoutSession;
  const doubled = {
    errors: [
      {
        path: ['input', 'date'],
        code: 'NOT_UNIQUE',
        conflict: { id, notes: 'There already' },
      },
    ],
  };

  expect((await ann.ask(session, { input: { ...input, notes: 'Another' } })).made).toEqual({
    workoutSession: null,
    ...doubled,
  });
  const other = (await ann.ask(session, { input: { ...input, date: '2021-05-02' } })).made
    .workoutSession;
  const move = `mutation ($id: ID!) { made: updateWorkoutSession(id: $id, input: { date: "2021-05-01" }) { ${conflict} } }`;

  expect((await ann.ask(move, { id: other.id })).made).toEqual(doubled);
  const bob = await fitgraph.user('bob');
  const theirs = (await bob.ask(session, { input: { ...input, workoutId: await workout(bob) } }))
    .made;

  expect(theirs).toMatchObject({ errors: [] });
});

test('accepts exactly one of several concurrent creates for the same day', async () => {
  const answers = await Promise.all(
    [1, 2, 3, 4].map((kg) => create({ date: '2021-01-06', weight: `8${kg}` })),
  );
  const made = answers.map(({ data }) => data.made);

  expect(made.filter(({ weightEntry }) => weightEntry)).toHaveLength(1);

  for (const { errors } of made.filter(({ weightEntry }) => !weightEntry)) {
    expect(errors).toMatchObject([{ path: ['input', 'date'] }]);
  }
});

describe('an unexpected error', () => {
  beforeAll(() => fitgraph.sql('ALTER TABLE "weight_entry" RENAME TO "lost"'));
  afterAll(() => fitgraph.sql('ALTER TABLE "lost" RENAME TO "weight_entry"'));

  const INTERNAL_DETAILS = /weight_entry|relation|SELECT|INSERT|at .*\.[jt]s|node_modules|42P01/;
  const ID = /\(id ([0-9a-f-]{36})\)/;

  test.each([
    ['a query', () => ann.query('{ weightEntries { nodes { id } } }'), 200],
    ['an analysis query', () => ann.query('{ bodyWeightTrend { date } }'), 200],
    ['a mutation', () => create({ date: '2021-01-07', weight: '80' }), 200],
    ['a REST list', () => ann.get('/weightentry/'), 500],
    ['a REST POST', () => ann.post('/weightentry/', { date: '2021-01-07', weight: '80' }), 500],
    ['a REST DELETE', () => ann.delete('/weightentry/1/'), 500],
  ])('in %s returns only an id, and logs the details under that id', async (_what, ask, status) => {
    const answer = await ask();

    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(INTERNAL_DETAILS);
    const id = ID.exec(answer.text)![1]!;
    const line = JSON.parse(fitgraph.logged.find((one) => one.includes(id))!);

    expect(line).toMatchObject({
      level: 50,
      id,
      err: { message: expect.stringContaining('weight_entry'), code: '42P01' },
    });
    if (status === 200) {
      expect(answer.body.errors[0].extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR', id });
    } else expect(answer.body).toEqual({ detail: `Internal server error (id ${id}).` });
  });

  test('does not affect other requests', async () => {
    expect((await ann.get('/workout/')).status).toBe(200);
    const { data } = await ann.query('{ viewer { name } }');

    expect(data).toEqual({ viewer: { name: 'ann' } });
  });
});
