/**
 * Saving a row with its parts: parts with an id are updated, parts without one created, omitted
 * ones deleted, all or nothing.
 */
import { isInputObjectType, isNonNullType, type GraphQLInputObjectType } from 'graphql';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { nodeIdOf } from '../../../src/engine/declare/node';
import type { Person } from '../../setup/person';

// Long timeouts: saving a row and writing one of its parts may deadlock. PostgreSQL detects this
// after a second, and other saves wait until then.
const fitgraph = fitgraphForThisFile({
  environment: { LOCK_TIMEOUT: '1min', MAX_WAIT: '1min', STATEMENT_TIMEOUT: '1min' },
});
let ann: Person;
let bob: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  bob = await fitgraph.user('bob');
});

interface Item {
  id: string;
  amount: string;
}
interface Meal {
  id: string;
  position: number;
  items: Item[];
}
interface Plan {
  id: string;
  name: string;
  version: string;
  meals: Meal[];
}

const PLAN = 'id name version meals { id position items { id amount } }';
const ERRORS = 'errors { path code message conflict { ... on NutritionPlan { id version } } }';
const SAVE = `mutation ($id: ID!, $input: NutritionPlanPatch!, $ifVersion: String) {
  saved: updateNutritionPlan(id: $id, input: $input, ifVersion: $ifVersion) { nutritionPlan { ${PLAN} } ${ERRORS} } }`;

const item = (amount: string, more: object = {}) => ({ ingredientId: 1, amount, ...more });

/** Creates a plan of two meals, one with two items and one with a single item. */
async function planOf(person = ann): Promise<Plan> {
  const meals = [
    { position: 1, items: [item('10'), item('20')] },
    { position: 2, items: [item('30')] },
  ];
  const { made } = await person.ask(
    `mutation ($input: NutritionPlanInput!) { made: createNutritionPlan(input: $input) { nutritionPlan { ${PLAN} } } }`,
    { input: { name: 'before', meals } },
  );

  return made.nutritionPlan;
}

const savePlan = async (id: string, input: object, ifVersion?: string) =>
  (await ann.ask(SAVE, { id, input, ifVersion })).saved as {
    nutritionPlan: Plan | null;
    errors: object[];
  };

const savedPlan = async (id: string, input: object, ifVersion?: string): Promise<Plan> => {
  const { nutritionPlan, errors } = await savePlan(id, input, ifVersion);

  expect(errors).toEqual([]);
  return nutritionPlan!;
};

const readPlan = async (id: string): Promise<Plan> =>
  (await ann.ask(`query ($id: ID!) { plan: nutritionPlan(id: $id) { ${PLAN} } }`, { id })).plan;

test('updates parts with an id, creates new ones, deletes omitted ones and keeps omitted lists', async () => {
  const plan = await planOf();
  const [first, second] = plan.meals as [Meal, Meal];
  const after = await savedPlan(plan.id, {
    name: 'after',
    meals: [
      { id: first.id, position: 5, items: [item('11', { id: first.items[0]!.id }), item('12')] },
      { id: nodeIdOf('Meal', second.id), position: 6 },
      { position: 7, items: [item('70')] },
    ],
  });
  const [changed, kept, made] = after.meals as [Meal, Meal, Meal];

  expect(after).toMatchObject({ id: plan.id, name: 'after' });
  expect(changed).toEqual({
    id: first.id,
    position: 5,
    items: [
      { id: first.items[0]!.id, amount: '11.00' },
      { id: expect.any(String), amount: '12.00' },
    ],
  });
  expect(kept).toEqual({ ...second, position: 6 });
  expect(made).toEqual({
    id: expect.any(String),
    position: 7,
    items: [{ id: expect.any(String), amount: '70.00' }],
  });
  expect(await ann.ask(`{ mealItem(id: ${first.items[1]!.id}) { id } }`)).toEqual({
    mealItem: null,
  });
  expect(await readPlan(plan.id)).toEqual(after);
  expect((await savedPlan(plan.id, { meals: [] })).meals).toEqual([]);
  expect((await savedPlan(plan.id, { meals: null, name: 'none' })).meals).toEqual([]);
});

test('moves a part to another existing or new parent, also out of a deleted one', async () => {
  const plan = await planOf();
  const [first, second] = plan.meals as [Meal, Meal];
  const [one, two] = first.items as [Item, Item];
  const after = await savedPlan(plan.id, {
    meals: [
      {
        id: second.id,
        position: 2,
        items: [item('30', { id: second.items[0]!.id }), item('20', { id: two.id })],
      },
      { position: 3, items: [item('10', { id: one.id })] },
    ],
  });

  expect(after.meals.map(({ items }) => items)).toEqual([[second.items[0], two], [one]]);
  expect(await ann.ask(`{ meal(id: ${first.id}) { id } }`)).toEqual({ meal: null });
});

test('reports the path of every error and writes nothing', async () => {
  const [theirs, other, plan] = [await planOf(bob), await planOf(), await planOf()];
  const [first] = plan.meals as [Meal];

  const rejectionOf = async (meals: object[]) => {
    const { nutritionPlan, errors } = await savePlan(plan.id, { name: 'wrong', meals });

    expect(nutritionPlan).toBeNull();
    expect(await readPlan(plan.id)).toEqual(plan);
    return errors.map(({ path, code }: any) => [...path, code].join(' '));
  };

  for (const id of [theirs.meals[0]!.id, other.meals[0]!.id, '2000000000', 'x']) {
    expect(await rejectionOf([{}, { id }])).toEqual(['input meals 1 id NOT_FOUND']);
  }

  expect(await rejectionOf([{ id: first.id }, { id: first.id }])).toEqual([
    'input meals 1 id INVALID',
  ]);
  expect(await rejectionOf([{ id: nodeIdOf('MealItem', first.id) }])).toEqual([
    'input meals 0 id INVALID',
  ]);
  expect(
    await rejectionOf([{ id: first.id, items: [item('1', { id: other.meals[0]!.items[0]!.id })] }]),
  ).toEqual(['input meals 0 items 0 id NOT_FOUND']);
  expect(
    await rejectionOf([
      {
        id: first.id,
        items: [item('0', { id: first.items[0]!.id }), item('5', { ingredientUnitId: 2 })],
      },
      { items: [item('1', { ingredientId: 999 })] },
    ]),
  ).toEqual([
    'input meals 0 items 0 amount TOO_SMALL',
    'input meals 0 items 1 ingredientUnitId INVALID',
    'input meals 1 items 0 ingredientId NOT_FOUND',
  ]);
  const { made } = await ann.ask(
    'mutation ($input: NutritionPlanInput!) { made: createNutritionPlan(input: $input) { errors { path code } } }',
    { input: { meals: [{ id: first.id }] } },
  );

  expect(made.errors).toEqual([{ path: ['input', 'meals', '0', 'id'], code: 'INVALID' }]);
});

test('rejects the plan of another user, an anonymous client and more than 500 rows', async () => {
  const plan = await planOf(bob);

  expect(await savePlan(plan.id, { meals: [] })).toMatchObject({
    nutritionPlan: null,
    errors: [{ path: ['id'], code: 'NOT_FOUND' }],
  });
  expect(
    (await bob.ask(`{ nutritionPlan(id: ${plan.id}) { meals { id } } }`)).nutritionPlan.meals,
  ).toHaveLength(2);
  const mine = await planOf();
  const large = await ann.query(SAVE, {
    id: mine.id,
    input: { meals: Array.from({ length: 500 }, () => ({})) },
  });

  expect(large.code).toBe('BAD_USER_INPUT');
  expect(await readPlan(mine.id)).toEqual(mine);
  expect((await fitgraph.anonymous.query(SAVE, { id: mine.id, input: { meals: [] } })).code).toBe(
    'UNAUTHENTICATED',
  );
});

test('changes the version of a row when GraphQL or REST changes its parts', async () => {
  const plan = await planOf();
  const [first] = plan.meals as [Meal];
  const before = plan.version;
  const seen = [before];

  const expectNewVersion = async () => {
    const { version } = await readPlan(plan.id);

    expect(seen).not.toContain(version);
    seen.push(version);
  };

  await ann.patch(`/mealitem/${first.items[0]!.id}/`, { amount: '99' });
  await expectNewVersion();
  await ann.post('/mealitem/', { meal: first.id, ingredient: 1, amount: '5' });
  await expectNewVersion();
  await ann.ask(`mutation { deleteMeal(id: ${plan.meals[1]!.id}) { deletedIds } }`);
  await expectNewVersion();

  const current = await readPlan(plan.id);

  expect((await ann.get(`/nutritionplan/${plan.id}/`)).headers.get('etag')).toBe(
    `"${current.version}"`,
  );
  const conflictPayload = {
    nutritionPlan: null,
    errors: [
      {
        path: ['ifVersion'],
        code: 'CONFLICT',
        conflict: { id: plan.id, version: current.version },
      },
    ],
  };

  expect(await savePlan(plan.id, { meals: [] }, before)).toMatchObject(conflictPayload);
  expect(await savePlan(plan.id, { name: 'x' }, before)).toMatchObject(conflictPayload);
  const remove =
    'mutation ($id: ID!, $v: String) { gone: deleteNutritionPlan(id: $id, ifVersion: $v) { deletedIds } }';

  expect((await ann.ask(remove, { id: plan.id, v: before })).gone.deletedIds).toEqual([]);
  expect(await readPlan(plan.id)).toEqual(current);
  const next = await savedPlan(
    plan.id,
    { meals: [{ id: first.id, position: 8 }] },
    current.version,
  );
  const last = await savedPlan(plan.id, { name: 'y' }, next.version);

  expect((await ann.ask(remove, { id: plan.id, v: last.version })).gone.deletedIds).toEqual([
    plan.id,
  ]);
});

test('saves a workout with days, weekdays, set groups and planned sets, and keeps its logs', async () => {
  const plannedSets = (reps: number, more: object = {}) => [{ exerciseId: 1, reps, ...more }];
  const day = (name: string, weekdays: string[], more: object = {}) => ({
    name,
    weekdays,
    ...more,
  });
  const selection =
    'id name days { id name weekdays setGroups { id sets plannedSets { id reps } } } logs { totalCount }';
  const { made } = await ann.ask(
    `mutation ($input: WorkoutInput!) { made: createWorkout(input: $input) { workout { ${selection} } } }`,
    {
      input: {
        days: [
          day('a', ['MONDAY'], { setGroups: [{ plannedSets: plannedSets(5) }] }),
          day('b', ['TUESDAY']),
        ],
        logs: [{ exerciseId: 1, reps: 5, weight: '10', date: '2021-01-01' }],
      },
    },
  );
  const { id, days } = made.workout;
  const [set] = days[0].setGroups;
  const { saved: answer } = await ann.ask(
    `mutation ($id: ID!, $input: WorkoutPatch!) { saved: updateWorkout(id: $id, input: $input) { workout { ${selection} } errors { path } } }`,
    {
      id,
      input: {
        name: 'saved',
        days: [
          day('A', ['WEDNESDAY', 'MONDAY'], {
            id: days[0].id,
            setGroups: [
              { id: set.id, sets: 7, plannedSets: plannedSets(6, { id: set.plannedSets[0].id }) },
              { plannedSets: plannedSets(8) },
            ],
          }),
          day('c', ['THURSDAY', 'FRIDAY']),
        ],
      },
    },
  );

  expect(answer.errors).toEqual([]);
  expect(answer.workout).toMatchObject({
    id,
    name: 'saved',
    logs: { totalCount: 1 },
    days: [
      {
        id: days[0].id,
        name: 'A',
        weekdays: ['MONDAY', 'WEDNESDAY'],
        setGroups: [
          { id: set.id, sets: 7, plannedSets: [{ id: set.plannedSets[0].id, reps: 6 }] },
          { sets: 4, plannedSets: [{ reps: 8 }] },
        ],
      },
      { name: 'c', weekdays: ['THURSDAY', 'FRIDAY'], setGroups: [] },
    ],
  });
});

const SET_GROUP =
  'id sets position plannedSets { id reps rir targetWeight notes position exercise { id } }';

/** Creates a day with one set group, whose planned sets have values that are not the defaults. */
async function setGroupOf(plannedSets: object[]): Promise<any> {
  const setGroups = [{ sets: 1, position: 2, plannedSets }];
  const { made } = await ann.ask(
    `mutation ($input: WorkoutInput!) { made: createWorkout(input: $input) { workout { days { setGroups { ${SET_GROUP} } } } errors { path message } } }`,
    { input: { name: 'tree', days: [{ name: 'a', weekdays: ['MONDAY'], setGroups }] } },
  );

  expect(made.errors).toEqual([]);
  return made.workout.days[0].setGroups[0];
}

const saveSetGroup = async (id: string, input: object) =>
  (
    await ann.ask(
      `mutation ($id: ID!, $input: SetGroupPatch!) { saved: updateSetGroup(id: $id, input: $input) { setGroup { ${SET_GROUP} } errors { path code message } } }`,
      { id, input },
    )
  ).saved;

test('leaves absent fields of a part with an id unchanged', async () => {
  const before = await setGroupOf([
    { exerciseId: 2, reps: 8, rir: 'RIR_2', targetWeight: '60', notes: 'slow', position: 3 },
  ]);
  const [plannedSet] = before.plannedSets;
  const { setGroup, errors } = await saveSetGroup(before.id, {
    plannedSets: [{ id: plannedSet.id, reps: 9, position: 3 }],
  });

  expect(errors).toEqual([]);
  expect(setGroup).toEqual({ ...before, plannedSets: [{ ...plannedSet, reps: 9 }] });
  const created = await saveSetGroup(before.id, { plannedSets: [{ notes: 'new' }] });

  expect(created.errors).toMatchObject([
    { path: ['input', 'plannedSets', '0', 'exerciseId'], code: 'REQUIRED' },
    { path: ['input', 'plannedSets', '0', 'reps'], code: 'REQUIRED' },
  ]);
});

test('gives parts the places in their list, unless all have a position', async () => {
  const set = (reps: number, more: object = {}) => ({ exerciseId: 1, reps, ...more });
  const { id, plannedSets } = await setGroupOf([set(1), set(2), set(3)]);
  const repsAndPositions = (rows: { reps: number; position: number }[]) =>
    rows.map(({ reps, position }) => [reps, position]);

  expect(repsAndPositions(plannedSets)).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
  const [first, second, third] = plannedSets.map((row: { id: string }) => ({ id: row.id }));
  const reordered = await saveSetGroup(id, { plannedSets: [third, first, set(4), second] });

  expect(repsAndPositions(reordered.setGroup.plannedSets)).toEqual([
    [3, 1],
    [1, 2],
    [4, 3],
    [2, 4],
  ]);
  const placed = await saveSetGroup(id, {
    plannedSets: [
      { ...second, position: 30 },
      { ...first, position: 10 },
      set(5, { position: 20 }),
    ],
  });

  expect(repsAndPositions(placed.setGroup.plannedSets)).toEqual([
    [1, 10],
    [5, 20],
    [2, 30],
  ]);
  const { errors } = await saveSetGroup(id, {
    plannedSets: [first, { ...second, position: 1 }, set(6)],
  });

  expect(errors).toMatchObject([
    { path: ['input', 'plannedSets', '0', 'position'], code: 'REQUIRED' },
    { path: ['input', 'plannedSets', '2', 'position'], code: 'REQUIRED' },
  ]);
});

test('saves a tree as it was read, although a position is null', async () => {
  const day = 'id setGroups { id position sets }';
  const { made } = await ann.ask(
    `mutation ($input: WorkoutInput!) { made: createWorkout(input: $input) { workout { days { ${day} } } errors { path message } } }`,
    {
      input: {
        name: 'unplaced',
        days: [
          { name: 'a', weekdays: ['MONDAY'], setGroups: [{ position: 1 }, { position: null }] },
        ],
      },
    },
  );

  expect(made.errors).toEqual([]);
  const [{ id, setGroups }] = made.workout.days;

  expect(setGroups.map(({ position }: any) => position)).toEqual([1, null]);
  const { saved } = await ann.ask(
    `mutation ($id: ID!, $input: TrainingDayPatch!) { saved: updateTrainingDay(id: $id, input: $input) { trainingDay { ${day} } errors { path message } } }`,
    { id, input: { setGroups } },
  );

  expect(saved).toEqual({ trainingDay: { id, setGroups }, errors: [] });
});

test('reads meals and their items in the order in which they were saved', async () => {
  const plan = await planOf();
  const [first, second] = plan.meals as [Meal, Meal];
  const [one, two] = first.items as [Item, Item];
  const { meals } = await savedPlan(plan.id, {
    meals: [
      { id: second.id },
      { id: first.id, items: [{ id: two.id }, item('15'), { id: one.id }] },
    ],
  });

  expect(meals.map(({ id, position }) => [id, position])).toEqual([
    [second.id, 1],
    [first.id, 2],
  ]);
  expect(meals[1]!.items.map(({ amount }) => amount)).toEqual(['20.00', '15.00', '10.00']);
  expect(await readPlan(plan.id)).toMatchObject({ meals });
});

test.each(
  Object.values(buildGraphQLSchema().getTypeMap()).filter(
    (type) =>
      isInputObjectType(type) && 'id' in type.getFields() && / together /.test(type.description!),
  ),
)('%s declares no default and requires no field, because its rows may exist', (type) => {
  const fields = Object.values((type as GraphQLInputObjectType).getFields());

  expect(
    fields.filter((field) => field.defaultValue !== undefined || isNonNullType(field.type)),
  ).toEqual([]);
});

test('keeps the version of an unchanged row and records no change for it', async () => {
  const day = { name: 'a', weekdays: ['TUESDAY', 'MONDAY'] };
  const versionedFields =
    'id version days { id version setGroups { id version plannedSets { id version } } }';
  const { made } = await ann.ask(
    `mutation ($input: WorkoutInput!) { made: createWorkout(input: $input) { workout { ${versionedFields} } } }`,
    {
      input: {
        name: 'same',
        days: [
          {
            ...day,
            setGroups: [{ plannedSets: [{ exerciseId: 1, reps: 5, targetWeight: '20' }] }],
          },
          day,
        ],
      },
    },
  );
  const { id, days } = made.workout;
  const [first, second] = days;
  const [set] = first.setGroups;
  const [setting] = set.plannedSets;
  const { cursor } = (await ann.ask('{ changes { cursor } }')).changes;
  const input = (reps: number, weekdays: string[]) => ({
    name: 'same',
    days: [
      {
        ...day,
        id: first.id,
        setGroups: [
          {
            id: set.id,
            plannedSets: [{ id: setting.id, exerciseId: 1, reps, targetWeight: '20.00' }],
          },
        ],
      },
      { ...day, id: second.id, weekdays },
    ],
  });

  const saveWorkout = async (reps: number, weekdays: string[]) => {
    const document = `mutation ($id: ID!, $input: WorkoutPatch!) { saved: updateWorkout(id: $id, input: $input) { workout { ${versionedFields} } errors { path } } }`;
    const { saved: answer } = await ann.ask(document, { id, input: input(reps, weekdays) });

    expect(answer.errors).toEqual([]);
    return answer.workout;
  };

  expect(await saveWorkout(5, ['MONDAY', 'TUESDAY'])).toEqual(made.workout);
  expect(
    (await ann.ask(`{ changes(since: "${cursor}") { changes { type } } }`)).changes.changes,
  ).toEqual([]);
  const after = await saveWorkout(6, ['MONDAY', 'TUESDAY']);

  expect(after.days[1]).toEqual(second);

  for (const [changedRow, previousRow] of [
    [after, made.workout],
    [after.days[0], first],
    [after.days[0].setGroups[0].plannedSets[0], setting],
  ]) {
    expect(changedRow.version).not.toBe(previousRow.version);
  }

  const moved = await saveWorkout(6, ['MONDAY', 'WEDNESDAY']);

  expect([moved.days[0], moved.days[1].version === second.version]).toEqual([after.days[0], false]);
});

test('bounds the number of statements whatever the size of the tree', async () => {
  const counts: number[] = [];

  for (const size of [1, 10, 60]) {
    const { id } = await planOf();
    const meals = Array.from({ length: size }, (_, position) => ({
      position,
      items: [item('1'), item('2')],
    }));
    const { meals: made } = await savedPlan(id, { meals });
    const again = made.map((meal) => ({
      id: meal.id,
      position: meal.position,
      items: [item('3', { id: meal.items[0]!.id }), item('4')],
    }));
    const { statements, data } = await ann.query(SAVE, { id, input: { meals: again } });

    expect(data.saved.errors).toEqual([]);
    counts.push(statements);
  }

  expect(counts[2]).toBe(counts[1]);
  expect(counts[1]! - counts[0]!).toBeLessThanOrEqual(3);
  expect(counts[2]).toBeLessThanOrEqual(28);
});

test('accepts exactly one of several concurrent saves of the same version, or none after another write', async () => {
  for (let round = 0; round < 6; round += 1) {
    const isAlone = round % 2 === 0;
    const plan = await planOf();
    const [first] = plan.meals as [Meal];
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map((number) =>
        savePlan(
          plan.id,
          {
            name: `${number}`,
            meals: [{ id: first.id, position: number, items: [item(`${number}`)] }],
          },
          plan.version,
        ),
      ),
      ...(isAlone
        ? []
        : [
            ann
              .post('/mealitem/', { meal: plan.meals[1]!.id, ingredient: 1, amount: '50' })
              .then(() => undefined),
          ]),
    ]);
    const saves = answers.filter((answer) => answer !== undefined);
    const won = saves.filter(({ nutritionPlan }) => nutritionPlan);

    if (isAlone) expect(won).toHaveLength(1);
    else expect(won.length).toBeLessThanOrEqual(1);

    for (const { nutritionPlan, errors } of saves) {
      if (!nutritionPlan) expect(errors).toMatchObject([{ path: ['ifVersion'], code: 'CONFLICT' }]);
    }

    const { meals, name } = await readPlan(plan.id);

    if (won.length) {
      expect(meals).toEqual([
        {
          id: first.id,
          position: Number(name),
          items: [expect.objectContaining({ amount: `${name}.00` })],
        },
      ]);
    } else expect(name).toBe('before');
  }
});
