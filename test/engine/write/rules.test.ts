/**
 * Consistency rules between fields of a row: GraphQL rejects a violation and names the field; REST
 * stores it, like the reference service.
 */
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let plan: number;
let meal: number;
let workout: number;

/** In the test catalogue, the unit of an ingredient has the same id as the ingredient. */
const [OATS, MILK] = [1, 2];

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  plan = (await ann.post('/nutritionplan/', {})).body.id;
  meal = (await ann.post('/meal/', { plan })).body.id;
  workout = (await ann.post('/workout/', {})).body.id;
});
beforeEach(async () => {
  await fitgraph.sql('DELETE FROM "workout_session"');
});

const UNIT = 'The weight unit is not one of the ingredient.';
const TIME = 'The session ends before it starts, or takes more than 12 hours over midnight.';
const ERRORS = 'errors { path message }';

const errorsOf = async (document: string, variables: Record<string, unknown>) =>
  (await ann.ask(document, variables)).answer.errors as { path: string[]; message: string }[];

describe.each([
  ['MealItem', '/mealitem/', () => ({ mealId: meal }), () => ({ meal })],
  ['DiaryEntry', '/nutritiondiary/', () => ({ planId: plan }), () => ({ plan })],
])('the ingredient unit of a %s', (one, path, parent, restParent) => {
  const create = `mutation ($input: ${one}Input!) { answer: create${one}(input: $input) { ${ERRORS} } }`;
  const update = `mutation ($id: ID!, $input: ${one}Patch!) { answer: update${one}(id: $id, input: $input) { ${ERRORS} } }`;
  const validInput = () => ({
    ...parent(),
    ingredientId: OATS,
    ingredientUnitId: OATS,
    amount: '2',
  });
  const createChild = async (body: object = {}): Promise<number> =>
    (
      await ann.post(path, {
        ...restParent(),
        ingredient: OATS,
        weight_unit: OATS,
        amount: '2',
        ...body,
      })
    ).body.id;

  test('must belong to the ingredient, or be null, on create', async () => {
    expect(await errorsOf(create, { input: validInput() })).toEqual([]);
    expect(await errorsOf(create, { input: { ...validInput(), ingredientUnitId: null } })).toEqual(
      [],
    );
    expect(await errorsOf(create, { input: { ...validInput(), ingredientUnitId: MILK } })).toEqual([
      { path: ['input', 'ingredientUnitId'], message: UNIT },
    ]);
  });

  test('is reported once, together with the errors of other fields', async () => {
    expect(
      await errorsOf(create, {
        input: { ...validInput(), ingredientUnitId: MILK, amount: '2000' },
      }),
    ).toEqual(
      expect.arrayContaining([
        { path: ['input', 'ingredientUnitId'], message: UNIT },
        { path: ['input', 'amount'], message: 'Ensure this value is less than or equal to 1000.' },
      ]),
    );
    expect(
      await errorsOf(create, { input: { ...validInput(), ingredientUnitId: '999999' } }),
    ).toEqual([
      {
        path: ['input', 'ingredientUnitId'],
        message: 'There is no IngredientUnit with the id "999999".',
      },
    ]);
  });

  test('is checked on update against the stored values', async () => {
    const id = await createChild();

    expect(await errorsOf(update, { id, input: { ingredientUnitId: MILK } })).toEqual([
      { path: ['input', 'ingredientUnitId'], message: UNIT },
    ]);
    expect(await errorsOf(update, { id, input: { ingredientId: MILK } })).toEqual([
      { path: ['input', 'ingredientId'], message: UNIT },
    ]);
    expect(
      await errorsOf(update, { id, input: { ingredientId: MILK, ingredientUnitId: MILK } }),
    ).toEqual([]);
    expect(
      await errorsOf(update, { id, input: { ingredientId: OATS, ingredientUnitId: null } }),
    ).toEqual([]);
  });

  test('is not checked over REST, and such a row stays editable in its other fields', async () => {
    const id = await createChild({ weight_unit: MILK });

    expect((await ann.get(`${path}${id}/`)).body).toMatchObject({
      ingredient: OATS,
      weight_unit: MILK,
    });
    expect((await ann.patch(`${path}${id}/`, { ingredient: 3 })).body).toMatchObject({
      ingredient: 3,
      weight_unit: MILK,
    });
    expect(await errorsOf(update, { id, input: { amount: '7' } })).toEqual([]);
    expect(await errorsOf(update, { id, input: { ingredientUnitId: MILK } })).toEqual([
      { path: ['input', 'ingredientUnitId'], message: UNIT },
    ]);
  });

  test('still belongs to the ingredient after concurrent updates of both fields', async () => {
    const second = await Fitgraph.start({ sameDatabaseAs: fitgraph });
    const other = new Person(second.url, { id: ann.id, token: ann.token });

    try {
      const unitBelongs = async (id: number) => {
        const { body } = await ann.get(`${path}${id}/`);

        return body.weight_unit === null || body.weight_unit === body.ingredient;
      };

      for (let round = 0; round < 8; round += 1) {
        const id = await createChild({ weight_unit: null });
        const inputs = [
          { ingredientId: MILK },
          { ingredientUnitId: OATS },
          { ingredientId: 3 },
          { ingredientUnitId: MILK },
          { ingredientUnitId: 3 },
        ];
        const answers = await Promise.all(
          inputs.map((input, index) => (index % 2 ? ann : other).ask(update, { id, input })),
        );

        for (const { answer } of answers) {
          for (const { message } of answer.errors) expect(message).toBe(UNIT);
        }

        expect(await unitBelongs(id)).toBe(true);
      }
    } finally {
      await second.stop();
    }
  });
});

test('checks the ingredient unit of each diary entry in bulk mutations', async () => {
  const validInput = { planId: plan, ingredientId: OATS, ingredientUnitId: OATS, amount: '2' };
  const createMany = `mutation ($inputs: [DiaryEntryInput!]!) { answer: createDiaryEntries(inputs: $inputs) { diaryEntries { id } ${ERRORS} } }`;
  const updateMany = `mutation ($changes: [DiaryEntryChange!]!) { answer: updateDiaryEntries(changes: $changes) { ${ERRORS} } }`;

  expect(
    await errorsOf(createMany, { inputs: [validInput, { ...validInput, ingredientId: MILK }] }),
  ).toEqual([{ path: ['inputs', '1', 'ingredientUnitId'], message: UNIT }]);
  const { answer } = await ann.ask(createMany, { inputs: [validInput, validInput] });
  const [a, b] = answer.diaryEntries.map(({ id }: { id: string }) => id);
  const changes = [
    { id: a, input: { amount: '3' } },
    { id: b, input: { ingredientId: MILK } },
  ];

  expect(await errorsOf(updateMany, { changes })).toEqual([
    { path: ['changes', '1', 'input', 'ingredientId'], message: UNIT },
  ]);
});

test('reports the path of a wrong ingredient unit in a nested nutrition plan', async () => {
  const items = [
    { ingredientId: OATS, ingredientUnitId: OATS, amount: '1' },
    { ingredientId: MILK, ingredientUnitId: OATS, amount: '1' },
  ];

  expect(
    await errorsOf(
      `mutation ($input: NutritionPlanInput!) { answer: createNutritionPlan(input: $input) { ${ERRORS} } }`,
      {
        input: { name: 'a', meals: [{ items: [items[0]] }, { items }] },
      },
    ),
  ).toEqual([{ path: ['input', 'meals', '1', 'items', '1', 'ingredientUnitId'], message: UNIT }]);
});

describe('the start and end time of a workout session', () => {
  const create = `mutation ($input: WorkoutSessionInput!) { answer: createWorkoutSession(input: $input) { ${ERRORS} } }`;
  const update = `mutation ($id: ID!, $input: WorkoutSessionPatch!) { answer: updateWorkoutSession(id: $id, input: $input) { ${ERRORS} } }`;
  const updateMany = `mutation ($changes: [WorkoutSessionChange!]!) { answer: updateWorkoutSessions(changes: $changes) { ${ERRORS} } }`;
  const createSession = async (date: string, body: object = {}): Promise<number> =>
    (await ann.post('/workoutsession/', { workout, date, ...body })).body.id;

  test.each([
    ['18:00', '17:59', false],
    ['18:00', '18:00:00', true],
    ['18:00:00', '18:00', true],
    ['18:00:00.5', '18:00:00.49', false],
    ['18:00:00', '18:00:00.000001', true],
    ['23:10', '00:40', true],
    ['12:00', '00:00', true],
    ['12:00', '00:00:00.000001', false],
    [null, '07:00', true],
    ['07:00', null, true],
  ])('from %s to %s are valid on create: %s', async (startTime, endTime, isValid) => {
    const input = { workoutId: workout, date: '2021-03-01', startTime, endTime };

    expect(await errorsOf(create, { input })).toEqual(
      isValid ? [] : [{ path: ['input', 'endTime'], message: TIME }],
    );
  });

  test('are checked when an update changes either of them', async () => {
    const id = await createSession('2021-03-02', { time_start: '10:00', time_end: '11:00' });

    expect(await errorsOf(update, { id, input: { startTime: '12:00' } })).toEqual([
      { path: ['input', 'startTime'], message: TIME },
    ]);
    expect(await errorsOf(update, { id, input: { endTime: '09:00' } })).toEqual([
      { path: ['input', 'endTime'], message: TIME },
    ]);
    expect(await errorsOf(update, { id, input: { startTime: '12:00', endTime: '13:00' } })).toEqual(
      [],
    );
    expect(await errorsOf(updateMany, { changes: [{ id, input: { endTime: '11:00' } }] })).toEqual([
      { path: ['changes', '0', 'input', 'endTime'], message: TIME },
    ]);
  });

  test('are not checked over REST, and other fields stay editable', async () => {
    const id = await createSession('2021-03-03', { time_start: '10:00', time_end: '09:00' });

    expect((await ann.get(`/workoutsession/${id}/`)).body).toMatchObject({
      time_start: '10:00:00',
      time_end: '09:00:00',
    });
    expect((await ann.patch(`/workoutsession/${id}/`, { time_end: '08:00' })).status).toBe(200);
    expect(await errorsOf(update, { id, input: { notes: 'a' } })).toEqual([]);
  });

  test('can be corrected after a session over midnight was stored over REST', async () => {
    const id = await createSession('2021-03-04', { time_start: '23:10', time_end: '00:40' });

    expect(await errorsOf(update, { id, input: { endTime: '00:50' } })).toEqual([]);

    for (const minute of ['00', '10', '20', '30', '40', '50', '59']) {
      const input = { startTime: `22:${minute}`, endTime: `10:${minute}` };

      expect(await errorsOf(update, { id, input })).toEqual([]);
    }

    const input = { startTime: '22:20', endTime: '10:20:01' };

    expect(await errorsOf(update, { id, input })).toEqual([
      { path: ['input', 'endTime'], message: TIME },
    ]);
  });

  test('stay in order after concurrent updates', async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = await createSession(`2021-04-0${round + 1}`, {
        time_start: '10:00',
        time_end: '20:00',
      });
      const inputs = [
        { startTime: '18:00' },
        { endTime: '12:00' },
        { startTime: '13:00' },
        { endTime: '17:00' },
      ];

      await Promise.all(inputs.map((input) => ann.ask(update, { id, input })));
      const { body } = await ann.get(`/workoutsession/${id}/`);

      expect(body.time_start <= body.time_end).toBe(true);
    }
  });
});
