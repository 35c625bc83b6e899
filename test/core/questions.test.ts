/** Typical questions of a user about training and nutrition, each answered by one query. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const [SQUAT, BENCH] = [1, 2];

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const createRow = async (path: string, body: object) => {
    const { status, body: row } = await ann.post(path, body);
    expect(status).toBe(201);
    return row.id as number;
  };
  const workout = await createRow('/workout/', { comment: 'w' });
  for (const [date, exercise, reps, weight] of [
    ['2021-03-08', SQUAT, 5, '100.00'],
    ['2021-03-10', SQUAT, 5, '102.50'],
    ['2021-03-10', BENCH, 8, '60.00'],
    ['2021-03-16', SQUAT, 3, '105.00'],
  ])
    await createRow('/workoutlog/', { date, exercise, reps, weight, workout });
  for (const date of ['2021-03-08', '2021-03-10', '2021-03-16'])
    await createRow('/workoutsession/', { date, workout, impression: '2' });
  for (const [date, weight] of [
    ['2021-03-08', '80.00'],
    ['2021-03-10', '80.50'],
    ['2021-03-15', '79.90'],
  ])
    await createRow('/weightentry/', { date, weight });
  const plan = await createRow('/nutritionplan/', { description: 'p' });
  for (const [ingredient, amount] of [
    [1, '50.00'],
    [2, '200.00'],
    [1, '70.00'],
  ])
    await createRow('/nutritiondiary/', {
      plan,
      ingredient,
      amount,
      datetime: '2021-03-10T08:00:00+01:00',
    });
});

test('returns the heaviest set of each exercise, heaviest first', async () => {
  const { records } =
    await ann.ask(`{ records: workoutLogsGrouped(groupBy: [{ field: EXERCISE }], orderBy: [{ statistic: MAX, of: WEIGHT_KG, direction: DESC }]) {
    keys { exercise { name } } max { weightKg reps date } } }`);
  expect(records).toEqual([
    {
      keys: { exercise: { name: 'Squat' } },
      max: { weightKg: '105.000', reps: 5, date: '2021-03-16' },
    },
    {
      keys: { exercise: { name: 'Bench press' } },
      max: { weightKg: '60.000', reps: 8, date: '2021-03-10' },
    },
  ]);
});

test('counts weighted sets per muscle and week', async () => {
  const { sets } = await ann.ask(`{ sets: workoutLogsGrouped(
    groupBy: [{ date: { by: WEEK } }, { muscle: { muscles: 1, musclesSecondary: 0.5 } }]) {
    keys { dateBucket { start } muscle { name } } weightedCount } }`);
  expect(
    sets.map(({ keys, weightedCount }: any) => [
      keys.dateBucket.start,
      keys.muscle.name,
      weightedCount,
    ]),
  ).toEqual([
    ['2021-03-08', 'Biceps brachii', '2'],
    ['2021-03-08', 'Quadriceps femoris', '2'],
    ['2021-03-08', 'Rectus abdominis', '1'],
    ['2021-03-15', 'Biceps brachii', '0.5'],
    ['2021-03-15', 'Quadriceps femoris', '1'],
    ['2021-03-15', 'Rectus abdominis', '0.5'],
  ]);
});

test('counts workout sessions per week', async () => {
  const { sessions } = await ann.ask(
    '{ sessions: workoutSessionsGrouped(groupBy: [{ date: { by: WEEK } }]) { keys { dateBucket { start } } count } }',
  );
  expect(sessions.map(({ keys, count }: any) => [keys.dateBucket.start, count])).toEqual([
    ['2021-03-08', 2],
    ['2021-03-15', 1],
  ]);
});

test('averages body weight per week', async () => {
  const { weights } = await ann.ask(
    '{ weights: weightEntriesGrouped(groupBy: [{ date: { by: WEEK } }]) { keys { dateBucket { start } } avg { weightKg } } }',
  );
  expect(weights.map(({ keys, avg }: any) => [keys.dateBucket.start, avg.weightKg])).toEqual([
    ['2021-03-08', '80.25'],
    ['2021-03-15', '79.9'],
  ]);
});

test('ranks ingredients by the amount eaten', async () => {
  const { foods } = await ann.ask(`{ foods: diaryEntriesGrouped(
    where: { ingredientUnitId: { isNull: true } } groupBy: [{ field: INGREDIENT }], orderBy: [{ statistic: SUM, of: AMOUNT, direction: DESC }], first: 10) {
    keys { ingredient { name } } count sum { amount } } }`);
  expect(foods).toEqual([
    { keys: { ingredient: { name: 'Milk' } }, count: 1, sum: { amount: '200.00' } },
    { keys: { ingredient: { name: 'Oats' } }, count: 2, sum: { amount: '120.00' } },
  ]);
});

test('finds exercises not trained since a given date', async () => {
  const { neglected } =
    await ann.ask(`{ neglected: workoutLogsGrouped(groupBy: [{ field: EXERCISE }], having: [{ statistic: MAX, of: DATE, isDate: { lt: "2021-03-15" } }]) {
    keys { exercise { name } } max { date } } }`);
  expect(neglected).toEqual([
    { keys: { exercise: { name: 'Bench press' } }, max: { date: '2021-03-10' } },
  ]);
});
