/**
 * Nested creates: one mutation creates a row and its children, all or nothing, and reports all
 * errors at once with their paths.
 */
import { getNamedType, isInputObjectType, isListType, type GraphQLInputObjectType } from 'graphql';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { ownedTypes } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
});

const schema = buildGraphQLSchema();
const ERRORS = 'errors { path message }';

const createWorkout = (person: Person, input: unknown) =>
  person.query(
    `mutation ($input: WorkoutInput!) { made: createWorkout(input: $input) { ${ERRORS} workout {
      name sessions { nodes { date impression } } logs { totalCount }
      days { name weekdays setGroups { sets position plannedSets { reps weight: targetWeight exercise { id } repetitionUnitId } } } } } }`,
    { input },
  );

const setting = (reps: number, more: object = {}) => ({ exerciseId: 1, reps, ...more });

const PLAN = {
  name: 'Push and pull',
  days: [
    {
      name: 'Push',
      weekdays: ['FRIDAY', 'MONDAY', 'FRIDAY'],
      setGroups: [
        {
          position: 1,
          plannedSets: [
            setting(10, { targetWeight: '20', position: 1 }),
            setting(8, { position: 2 }),
          ],
        },
        { position: 2, sets: 3, plannedSets: [setting(5, { exerciseId: 2 })] },
      ],
    },
    {
      name: 'Pull',
      weekdays: ['TUESDAY'],
      setGroups: [{ position: 1, plannedSets: [setting(12)] }],
    },
    { name: 'Rest', weekdays: ['SUNDAY'] },
  ],
  sessions: [{ date: '2021-03-10' }, { date: '2021-03-12', impression: 'GOOD' }],
};

async function rowsOf(person: Person): Promise<number> {
  const counts = await Promise.all(
    ownedTypes().map((entity) =>
      fitgraph.sql(
        `SELECT count(*)::int AS n FROM "${resourceOf(entity)!.table}" WHERE "user_id" = $1`,
        [person.id],
      ),
    ),
  );

  return counts.reduce((sum, [row]) => sum + row!.n, 0);
}

test('creates a nested workout with the defaults of each row', async () => {
  const { data, errors } = await createWorkout(ann, PLAN);

  expect(errors).toBeUndefined();
  expect(data.made.errors).toEqual([]);
  const plannedSets = (reps: number, weight: string | null, id = '1') => ({
    reps,
    weight,
    exercise: { id },
    repetitionUnitId: '1',
  });

  expect(data.made.workout).toEqual({
    name: 'Push and pull',
    sessions: {
      nodes: [
        { date: '2021-03-10', impression: 'NEUTRAL' },
        { date: '2021-03-12', impression: 'GOOD' },
      ],
    },
    logs: { totalCount: 0 },
    days: [
      {
        name: 'Pull',
        weekdays: ['TUESDAY'],
        setGroups: [{ sets: 4, position: 1, plannedSets: [plannedSets(12, null)] }],
      },
      {
        name: 'Push',
        weekdays: ['MONDAY', 'FRIDAY'],
        setGroups: [
          { sets: 4, position: 1, plannedSets: [plannedSets(10, '20.00'), plannedSets(8, null)] },
          { sets: 3, position: 2, plannedSets: [plannedSets(5, null, '2')] },
        ],
      },
      { name: 'Rest', weekdays: ['SUNDAY'], setGroups: [] },
    ].sort(
      (a, b) =>
        PLAN.days.findIndex(({ name }) => name === a.name) -
        PLAN.days.findIndex(({ name }) => name === b.name),
    ),
  });
});

test('reports all errors of the tree in input order and writes nothing', async () => {
  const before = await rowsOf(ann);
  const { data, errors } = await createWorkout(ann, {
    name: 'x'.repeat(101),
    days: [
      { name: 'Push', weekdays: [] },
      {
        name: 'a\0b',
        weekdays: ['MONDAY'],
        setGroups: [
          {
            sets: 11,
            plannedSets: [
              setting(1),
              setting(2),
              setting(601, { exerciseId: 999, targetWeight: '1.234' }),
            ],
          },
          { plannedSets: [setting(-1)] },
        ],
      },
    ],
    sessions: [
      { date: '2021-05-01' },
      { date: '2021-05-01' },
      { date: '2021-03-12', notes: 'a\0b' },
    ],
  });

  expect(errors).toBeUndefined();
  expect(data.made.workout).toBeNull();
  const doubled = 'The field date must be unique.';

  expect(data.made.errors).toEqual([
    { path: ['input', 'name'], message: 'Ensure this field has no more than 100 characters.' },
    { path: ['input', 'days', '0', 'weekdays'], message: 'This list may not be empty.' },
    { path: ['input', 'days', '1', 'name'], message: 'Null characters are not allowed.' },
    {
      path: ['input', 'days', '1', 'setGroups', '0', 'sets'],
      message: 'Ensure this value is less than or equal to 10.',
    },
    {
      path: ['input', 'days', '1', 'setGroups', '0', 'plannedSets', '2', 'exerciseId'],
      message: 'There is no Exercise with the id "999".',
    },
    {
      path: ['input', 'days', '1', 'setGroups', '0', 'plannedSets', '2', 'reps'],
      message: 'Ensure this value is less than or equal to 600.',
    },
    {
      path: ['input', 'days', '1', 'setGroups', '0', 'plannedSets', '2', 'targetWeight'],
      message: 'Ensure that there are no more than 2 decimal places.',
    },
    {
      path: ['input', 'days', '1', 'setGroups', '1', 'plannedSets', '0', 'reps'],
      message: 'Ensure this value is greater than or equal to 0.',
    },
    { path: ['input', 'sessions', '1', 'date'], message: doubled },
    { path: ['input', 'sessions', '2', 'date'], message: doubled },
    { path: ['input', 'sessions', '2', 'notes'], message: 'Null characters are not allowed.' },
  ]);
  expect(await rowsOf(ann)).toBe(before);
});

test('names the paths of nested values with a wrong type', async () => {
  const { code, errors } = await createWorkout(ann, {
    days: [{ name: 'x', weekdays: ['MONDAY'], setGroups: [{ plannedSets: [{ reps: 'ten' }] }] }],
  });

  expect(code).toBe('BAD_USER_INPUT');
  expect(Object.keys(messagesByPath(errors![0]!))).toEqual([
    'input.days.0.setGroups.0.plannedSets.0.reps',
  ]);
});

test('reports a nested foreign row as NOT_FOUND together with other errors and writes nothing', async () => {
  const workouts = await Promise.all([ann, bob].map((person) => person.post('/workout/', {})));
  const [own, foreign] = workouts.map(({ body }) => body.id);
  const before = [await rowsOf(ann), await rowsOf(bob)];
  const document = `mutation ($input: ScheduleInput!) { made: createSchedule(input: $input) { schedule { steps { workoutId } } errors { path code message } } }`;
  const schedule = (workoutId: number) => ({
    input: {
      name: 'Year',
      steps: [
        { workoutId: own, position: 1 },
        { workoutId, position: 2, duration: 99 },
      ],
    },
  });

  for (const id of [foreign, 2_000_000_000]) {
    const { made } = await ann.ask(document, schedule(id));

    expect(made.errors).toEqual([
      {
        path: ['input', 'steps', '1', 'workoutId'],
        code: 'NOT_FOUND',
        message: `There is no Workout with the id "${id}".`,
      },
      {
        path: ['input', 'steps', '1', 'duration'],
        code: 'TOO_LARGE',
        message: 'Ensure this value is less than or equal to 25.',
      },
    ]);
  }

  expect([await rowsOf(ann), await rowsOf(bob)]).toEqual(before);
});

test('applies side effects and computed defaults of resources in nested creates', async () => {
  const create = (input: unknown) =>
    ann.ask(
      `mutation ($input: ScheduleInput!) { made: createSchedule(input: $input) { schedule { id isActive steps { duration } } } }`,
      {
        input,
      },
    );
  const workoutId = (await ann.post('/workout/', {})).body.id;
  const first = (await create({ name: 'First' })).made.schedule;
  const second = (
    await create({
      name: 'Second',
      steps: [{ workoutId }, { workoutId, duration: 2 }],
    })
  ).made.schedule;

  expect(second).toMatchObject({ isActive: true, steps: [{ duration: 4 }, { duration: 2 }] });
  expect((await ann.get(`/schedule/${first.id}/`)).body.is_active).toBe(false);
  const plan = await ann.withHeaders({ 'Accept-Language': 'en' }).ask(
    `mutation { made: createNutritionPlan(input: { name: "Bulk", meals: [{ time: "08:00", items: [{ ingredientId: 1, amount: "50" }] }, { items: [] }] }) {
      nutritionPlan { language { shortName } createdOn meals { time position items { amount ingredientId } } } ${ERRORS} } }`,
  );

  expect(plan.made.nutritionPlan).toMatchObject({
    language: { shortName: 'en' },
    createdOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    meals: [
      { time: '08:00:00', position: 1, items: [{ amount: '50.00', ingredientId: '1' }] },
      { time: null, position: 2, items: [] },
    ],
  });
});

test('rejects more than 500 rows, including nested ones', async () => {
  const before = await rowsOf(ann);
  const many = (plannedSets: number) => ({
    days: [
      {
        name: 'Long',
        weekdays: ['MONDAY'],
        setGroups: [{ plannedSets: Array.from({ length: plannedSets }, () => setting(1)) }],
      },
    ],
  });
  const { errors } = await createWorkout(ann, many(498));

  expect(errors![0]!.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    inputErrors: [
      { path: ['input'], message: 'A mutation can write at most 500 rows; this one has 501.' },
    ],
  });
  expect(await rowsOf(ann)).toBe(before);
  expect((await createWorkout(ann, many(497))).data.made.errors).toEqual([]);
  expect(await rowsOf(ann)).toBe(before + 500);
});

test('offers nested lists of children on create inputs', () => {
  const found = new Set<string>();

  const visit = (type: GraphQLInputObjectType, path: string) => {
    for (const field of Object.values(type.getFields())) {
      const fieldType = getNamedType(field.type);

      if (!isInputObjectType(fieldType)) continue;
      expect(isListType(field.type)).toBe(true);
      found.add(`${path}.${field.name}`);
      visit(fieldType, `${path}.${field.name}`);
    }
  };

  for (const entity of allEntities()) {
    const type = schema.getType(`${entity.name}Input`);

    if (isInputObjectType(type)) visit(type, entity.name);
  }

  expect([...found]).toEqual(
    expect.arrayContaining([
      'Workout.days.setGroups.plannedSets',
      'Workout.sessions',
      'Workout.logs',
      'Workout.scheduleSteps',
      'TrainingDay.setGroups.plannedSets',
      'SetGroup.plannedSets',
      'NutritionPlan.meals.items',
      'NutritionPlan.diaryEntries',
      'Meal.items',
      'Schedule.steps',
    ]),
  );
});
