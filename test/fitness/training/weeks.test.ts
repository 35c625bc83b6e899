/** Training frequency, intensity and load, checked against values calculated by hand. */
import { TIME_ZONE } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { addDays } from '../../../seeders/dates';
import { todayIn } from '../../../src/engine/declare/clock';
import type { Person } from '../../setup/person';
import { BENCH, LB, PLATES, train } from '../training-data';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (4, 'Plates') ON CONFLICT DO NOTHING`,
  );
  await fitgraph.reference.reload();
  await train(await fitgraph.user('bob'), [{ date: '2021-03-23', reps: 1, weight: '900.00' }]);
  // Mondays are the first, eighth, 15th, 22nd and 29th.
  await train(ann, [
    { date: '2021-03-02', reps: 5, weight: '100.00' },
    { date: '2021-03-03', reps: 5, weight: '105.00' },
    { date: '2021-03-03', reps: 1, weight: '122.50' },
    { date: '2021-03-05', reps: 2, weight: '220.46', weight_unit: LB },
    { date: '2021-03-05', reps: 10, weight: '60.00', exercise: BENCH },
    { date: '2021-03-08', reps: 5, weight: '4.00', weight_unit: PLATES },
    { date: '2021-03-14', reps: 5, weight: '100.00' },
    { date: '2021-03-23', reps: 20, weight: '50.00' },
  ]);
  const { workouts } = await ann.ask('{ workouts { nodes { id } } }');
  const workout = Number(workouts.nodes[0].id);

  for (const date of ['2021-03-14', '2021-03-24', '2021-03-31']) {
    expect((await ann.post('/workoutsession/', { date, workout, impression: '2' })).status).toBe(
      201,
    );
  }
});

test('counts training days per week, including empty weeks, and streaks of weeks', async () => {
  const weeks = async (args: string) =>
    (
      await ann.ask(`{ weeks: trainingWeeks(${args}) { bucket { start end } sessions streak } }`)
    ).weeks.map(({ bucket, sessions, streak }: any) => [bucket.start, sessions, streak]);

  expect(await weeks('last: 9, until: "2021-04-11"')).toEqual([
    ['2021-03-01', 3, 1],
    ['2021-03-08', 2, 2],
    ['2021-03-15', 0, 0],
    ['2021-03-22', 2, 1],
    ['2021-03-29', 1, 2],
    ['2021-04-05', 0, 0],
  ]);
  expect(await weeks('last: 9, until: "2021-04-02", firstDay: SUNDAY, goal: 2')).toEqual([
    ['2021-02-28', 3, 1],
    ['2021-03-07', 1, 0],
    ['2021-03-14', 1, 0],
    ['2021-03-21', 2, 1],
    ['2021-03-28', 1, 0],
  ]);
  expect((await ann.query('{ trainingWeeks(goal: 8) { streak } }')).code).toBe('BAD_USER_INPUT');
});

test('computes intensity from the best estimate up to the day, in one statement for all logs', async () => {
  const { data, statements } = await ann.query(
    '{ workoutLogs(orderBy: [{ date: ASC }, { id: ASC }]) { nodes { intensity } } }',
  );

  // Weight / best estimate of the exercise up to that day: 100/116.67; 105/122.5 and 122.5/122.5;
  // 100/122.5; 60/80; none; 100/122.5; 50/122.5.
  expect(data.workoutLogs.nodes.map(({ intensity }: any) => intensity)).toEqual([
    '85.7',
    '85.7',
    '100.0',
    '81.6',
    '75.0',
    null,
    '81.6',
    '40.8',
  ]);
  expect(statements).toBe(3);
});

test('rounds intensity only once when the estimate is a repeating decimal', async () => {
  const eve = await fitgraph.user('eve');

  await train(eve, [{ reps: 2, weight: '100.00' }]);
  // 100 / (100 × 32/30) is 93.75 %.
  expect((await eve.ask('{ workoutLogs { nodes { intensity } } }')).workoutLogs.nodes).toEqual([
    { intensity: '93.8' },
  ]);
});

test('computes the load of each day and its moving averages over 7 and 42 days', async () => {
  const load = async (args: string) =>
    (
      await ann.ask(
        `{ load: trainingLoad(last: 100, until: "2021-03-25", ${args}) { date load acute chronic ratio } }`,
      )
    ).load;
  const nodes = await load('where: { date: { lt: "2021-03-06" } }');

  expect(nodes.slice(0, 5)).toEqual([
    { date: '2021-03-02', load: '500.00', acute: '500.00', chronic: '500.00', ratio: '1.00' },
    // The acute load is 500 + 147.5 / 4, the chronic load 500 + 147.5 / 21.5.
    { date: '2021-03-03', load: '647.50', acute: '536.88', chronic: '506.86', ratio: '1.06' },
    { date: '2021-03-04', load: '0.00', acute: '402.66', chronic: '483.29', ratio: '0.83' },
    { date: '2021-03-05', load: '800.00', acute: '501.99', chronic: '498.02', ratio: '1.01' },
    { date: '2021-03-06', load: '0.00', acute: '376.49', chronic: '474.85', ratio: '0.79' },
  ]);
  const sets = await load('measure: HARD_SETS');

  expect([sets.length, sets[3].load, sets.at(-1).date]).toEqual([24, '1.00', '2021-03-25']);
});

test.each(['TONNAGE', 'HARD_SETS'])(
  'computes the load (%s) after a break of more than seven years',
  async (measure) => {
    const dan = await fitgraph.user(`returning ${measure}`.toLowerCase().replace(/\W/g, '-'));

    await train(dan, [
      { reps: 5, weight: '100.00', date: '2013-01-01' },
      { reps: 5, weight: '100.00', date: '2021-03-02' },
    ]);
    const { load } = await dan.ask(
      `{ load: trainingLoad(last: 2, until: "2021-03-02", measure: ${measure}) { date acute } }`,
    );

    expect(load).toEqual([
      { date: '2021-03-01', acute: '0.00' },
      { date: '2021-03-02', acute: { TONNAGE: '125.00', HARD_SETS: '0.25' }[measure] },
    ]);
  },
);

describe('with a log on a day in the future', () => {
  let eve: Person;
  const today = todayIn(TIME_ZONE);

  beforeAll(async () => {
    eve = await fitgraph.user('future');
    await train(eve, [
      { date: addDays(today, -7), reps: 5, weight: '100.00' },
      { date: '2062-01-01', reps: 5, weight: '100.00' },
    ]);
  });

  test('the load goes on to today, also on days without training', async () => {
    const { load } = await eve.ask('{ load: trainingLoad { date load } }');

    expect(load.map(({ date }: { date: string }) => date)).toEqual(
      Array.from({ length: 8 }, (_, day) => addDays(today, day - 7)),
    );
    expect(load.at(-1).load).toBe('0.00');
  });

  test('the weeks go on to the current one, which continues the streak', async () => {
    const { weeks } = await eve.ask('{ weeks: trainingWeeks { sessions streak } }');

    expect(weeks).toEqual([
      { sessions: 1, streak: 1 },
      { sessions: 0, streak: 1 },
    ]);
  });
});
