/** Nutrition intake compared with the plan, checked against values calculated by hand. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const [OATS, MILK, APPLE] = [1, 2, 3];

const fitgraph = fitgraphForThisFile();
let ann: Person;
let plan: number;

async function createRow(person: Person, path: string, body: object): Promise<number> {
  const { status, body: row } = await person.post(path, body);

  expect(status).toBe(201);
  return row.id as number;
}

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const bob = await fitgraph.user('bob');

  const logFood = async (person: Person, of: number, rows: readonly object[]) => {
    for (const row of rows) await createRow(person, '/nutritiondiary/', { plan: of, ...row });
  };

  await logFood(bob, await createRow(bob, '/nutritionplan/', {}), [
    { ingredient: OATS, amount: '999.00', datetime: '2021-03-10T08:00:00Z' },
  ]);
  plan = await createRow(ann, '/nutritionplan/', { description: 'p' });

  for (const [time, ingredient, amount] of [
    ['08:00:00', OATS, '100.00'],
    ['13:00:00', MILK, '500.00'],
  ]) {
    await createRow(ann, '/mealitem/', {
      meal: await createRow(ann, '/meal/', { plan, time }),
      ingredient,
      amount,
    });
  }

  await logFood(ann, plan, [
    { ingredient: OATS, amount: '200.00', datetime: '2021-03-10T08:30:00+01:00' },
    { ingredient: MILK, amount: '100.00', datetime: '2021-03-10T12:00:00+01:00' },
    // In Berlin this is already the next day.
    { ingredient: APPLE, amount: '500.00', datetime: '2021-03-11T23:30:00Z' },
    // A cup of oats weighs 101 g.
    { ingredient: OATS, amount: '1.00', weight_unit: 1, datetime: '2021-03-13T08:00:00+01:00' },
  ]);
  await createRow(ann, '/weightentry/', { date: '2021-03-10', weight: '80.00' });
  await createRow(ann, '/weightentry/', { date: '2021-03-13', weight: '81.00' });
});

const BERLIN = 'timeZone: "Europe/Berlin"';
const SINCE = 'from: "2021-03-01"';
const intake = async (args: string, selection: string) =>
  (
    await ann.ask(
      `{ intake: nutritionIntake(${SINCE}, ${args}) { bucket { start } ${selection} } }`,
    )
  ).intake;

test('sums the intake of each day, per kg of body weight and against the plan', async () => {
  const selection =
    'days total { energy energyKilojoule protein fibres } goal { energy protein carbohydrates fat } goalEnergy daysOver daysUnder bodyWeight proteinPerKg';
  const [first, second, third] = await intake(BERLIN, selection);

  expect(first).toEqual({
    bucket: { start: '2021-03-10' },
    days: 1,
    total: { energy: '808.00', energyKilojoule: '3380.67', protein: '30.30', fibres: '0.00' },
    goal: { energy: '692.00', protein: '30.00', carbohydrates: '82.70', fat: '24.50' },
    ...{
      goalEnergy: '692.00',
      daysOver: 1,
      daysUnder: 0,
      bodyWeight: '80.00',
      proteinPerKg: '0.38',
    },
  });
  expect(second).toMatchObject({
    bucket: { start: '2021-03-12' },
    daysUnder: 1,
    bodyWeight: '81.00',
    proteinPerKg: '0.02',
  });
  expect(third).toMatchObject({ bucket: { start: '2021-03-13' }, total: { energy: '375.72' } });
});

test('averages weeks over days with entries and counts days over and under the goal', async () => {
  const selection = 'days total { energy } mean { energy } daysOver daysUnder plan { name }';

  expect(await intake(`by: WEEK, ${BERLIN}`, selection)).toEqual([
    {
      ...{
        bucket: { start: '2021-03-08' },
        days: 3,
        total: { energy: '1443.72' },
        mean: { energy: '481.24' },
      },
      ...{ daysOver: 1, daysUnder: 2, plan: { name: 'p' } },
    },
  ]);
  expect(await intake(`by: WEEK, tolerance: 50, ${BERLIN}`, 'daysOver daysUnder')).toMatchObject([
    { daysOver: 0, daysUnder: 1 },
  ]);
});

test('assigns each entry to the meal that is nearest in time', async () => {
  const where = 'where: { eatenAt: { lt: "2021-03-11T00:00:00Z" } }';

  expect(
    await intake(
      `perMeal: true, ${BERLIN}, ${where}`,
      'meal { time } total { energy } goal { energy }',
    ),
  ).toEqual([
    {
      bucket: { start: '2021-03-10' },
      meal: { time: '08:00:00' },
      total: { energy: '744.00' },
      goal: { energy: '372.00' },
    },
    {
      bucket: { start: '2021-03-10' },
      meal: { time: '13:00:00' },
      total: { energy: '64.00' },
      goal: { energy: '320.00' },
    },
  ]);
});

test('compares with the calories of the profile when the plan has goal calories', async () => {
  expect((await ann.patch(`/nutritionplan/${plan}/`, { has_goal_calories: true })).status).toBe(
    200,
  );
  const goals = await intake(
    `by: WEEK, ${BERLIN}`,
    'goal { energy } goalEnergy daysOver daysUnder',
  );

  expect(goals).toMatchObject([
    { goal: { energy: '692.00' }, goalEnergy: '2500.00', daysOver: 0, daysUnder: 3 },
  ]);
});

test('ranks foods by number of entries or by grams', async () => {
  const foods = async (args: string) =>
    (
      await ann.ask(
        `{ foods: topFoods${args} { ingredient { name } count grams total { energy } energyShare } }`,
      )
    ).foods;

  expect(await foods('')).toEqual([
    {
      ingredient: { name: 'Oats' },
      count: 2,
      grams: '301.00',
      total: { energy: '1119.72' },
      energyShare: '77.56',
    },
    {
      ingredient: { name: 'Apple' },
      count: 1,
      grams: '500.00',
      total: { energy: '260.00' },
      energyShare: '18.01',
    },
    {
      ingredient: { name: 'Milk' },
      count: 1,
      grams: '100.00',
      total: { energy: '64.00' },
      energyShare: '4.43',
    },
  ]);
  expect(
    (await foods('(by: GRAMS, first: 1)')).map(({ ingredient }: any) => ingredient.name),
  ).toEqual(['Apple']);
});

test.each([
  ['tolerance: 101', 'tolerance'],
  ['timeZone: "Moon"', 'timeZone'],
  ['last: 10001', 'last'],
  ['last: -1', 'last'],
  ['from: "2021-03-02", until: "2021-03-01"', 'until'],
])('rejects %s with the name of the argument', async (args, field) => {
  const { code, errors } = await ann.query(`{ nutritionIntake(${args}) { days } }`);

  expect([code, Object.keys(messagesByPath(errors![0]!))]).toEqual(['BAD_USER_INPUT', [field]]);
});

test('hides body weight and calories of the profile from a token without their scopes', async () => {
  const { data } = await ann.query(
    `mutation { createAccessToken(name: "n", scopes: [READ_NUTRITION]) { token } }`,
  );
  const client = fitgraph.anonymous.withHeaders({
    Authorization: `Bearer ${data.createAccessToken.token}`,
  });
  const { nutritionIntake } = await client.ask(
    '{ nutritionIntake(last: 1) { days proteinPerKg bodyWeight goalEnergy } }',
  );

  // This token may not read the profile with its goal of 2500 kcal, so the goal is the energy of
  // the plan.
  expect(nutritionIntake).toEqual([
    { days: 1, proteinPerKg: null, bodyWeight: null, goalEnergy: '692.00' },
  ]);
  expect((await client.query('{ bodyWeightTrend { date } }')).code).toBe('FORBIDDEN');
});

test('adds up the plans without `perPlan`, and has no goals then', async () => {
  const cy = await fitgraph.user('cy');

  for (const amount of ['100.00', '50.00']) {
    const { id } = (await cy.post('/nutritionplan/', { description: amount })).body;

    await createRow(cy, '/nutritiondiary/', {
      plan: id,
      ingredient: OATS,
      amount,
      datetime: '2021-03-10T08:00:00Z',
    });
  }

  const read = async (args: string) =>
    (
      await cy.ask(
        `{ intake: nutritionIntake(${SINCE}, ${BERLIN}${args}) { bucket { start } planId plan { id } days total { energy } goal { energy } goalEnergy daysOver } }`,
      )
    ).intake;

  expect(await read('')).toHaveLength(2);
  expect(await read(', perPlan: false')).toEqual([
    {
      bucket: { start: '2021-03-10' },
      planId: null,
      plan: null,
      days: 1,
      total: { energy: '558.00' },
      goal: null,
      goalEnergy: null,
      daysOver: 0,
    },
  ]);
  const { code, errors } = await cy.query(
    '{ nutritionIntake(perMeal: true, perPlan: false) { days } }',
  );

  expect([code, errors![0]!.message]).toEqual([
    'BAD_USER_INPUT',
    expect.stringContaining('`perMeal`'),
  ]);
});
