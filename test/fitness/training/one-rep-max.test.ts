/** Estimates of the one-repetition maximum, checked against values calculated by hand. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { BENCH, BODY_WEIGHT, LB, PLATES, SECONDS, SQUAT, train, type Log } from '../training-data';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight'), (4, 'Plates') ON CONFLICT DO NOTHING`,
  );
  await fitgraph.reference.reload();
  await ann.post('/weightentry/', { date: '2021-03-01', weight: '80.00' });
  await ann.post('/weightentry/', { date: '2021-03-11', weight: '82.00' });
});

const FORMULAS = ['EPLEY', 'BRZYCKI', 'WATHAN', 'LOMBARDI', 'MAYHEW'];
const HUNDRED = { weight: '100.00' };

const TABLE: [set: string, log: Log, estimates: (string | null)[]][] = [
  [
    'one repetition, which is the maximum',
    { ...HUNDRED, reps: 1 },
    ['100.00', '100.00', '100.00', '100.00', '100.00'],
  ],
  ['five repetitions', { ...HUNDRED, reps: 5 }, ['116.67', '112.50', '116.58', '117.46', '119.01']],
  [
    'three repetitions with two in reserve, like five',
    { ...HUNDRED, reps: 3, rir: '2' },
    ['116.67', '112.50', '116.58', '117.46', '119.01'],
  ],
  [
    'one repetition with half a repetition in reserve',
    { ...HUNDRED, reps: 1, rir: '0.5' },
    ['105.00', '101.41', '103.23', '104.14', '110.15'],
  ],
  // Before rounding: Epley 26.625, Brzycki 810 / 31.5.
  [
    'five repetitions with half a repetition in reserve',
    { weight: '22.50', reps: 5, rir: '0.5' },
    ['26.63', '25.71', '26.65', '26.68', '27.06'],
  ],
  [
    'twelve repetitions',
    { ...HUNDRED, reps: 12 },
    ['140.00', '144.00', '141.50', '128.21', '135.40'],
  ],
  ['thirteen repetitions as null', { ...HUNDRED, reps: 13 }, [null, null, null, null, null]],
  [
    'ten repetitions with three in reserve as null',
    { ...HUNDRED, reps: 10, rir: '3' },
    [null, null, null, null, null],
  ],
  ['zero repetitions as null', { ...HUNDRED, reps: 0 }, [null, null, null, null, null]],
  // 225 lb are 102.05828325 kg.
  [
    'a weight in pounds',
    { weight: '225.00', weight_unit: LB, reps: 5 },
    ['119.07', '114.82', '118.98', '119.88', '121.46'],
  ],
  [
    'body weight plus 10 kg',
    { weight: '10.00', weight_unit: BODY_WEIGHT, reps: 5, date: '2021-03-06' },
    ['105.00', '101.25', '104.92', '105.72', '107.11'],
  ],
  [
    'body weight by the entry of a later day',
    { weight: '0.00', weight_unit: BODY_WEIGHT, reps: 1, date: '2021-03-07' },
    ['82.00', '82.00', '82.00', '82.00', '82.00'],
  ],
  [
    'a weight in plates as null',
    { weight: '4.00', weight_unit: PLATES, reps: 5 },
    [null, null, null, null, null],
  ],
  [
    'a number of seconds as null',
    { ...HUNDRED, reps: 5, repetition_unit: SECONDS },
    [null, null, null, null, null],
  ],
  ['zero weight as null', { weight: '0.00', reps: 5 }, [null, null, null, null, null]],
];

test.each(TABLE)('estimates %s', async (_set, log, estimates) => {
  const [id] = await train(ann, [log]);
  const selection = FORMULAS.map((formula) => `${formula}: oneRepMax(formula: ${formula})`).join(
    ' ',
  );
  const { row } = await ann.ask(
    `query ($id: ID!) { row: workoutLog(id: $id) { oneRepMax ${selection} } }`,
    { id },
  );

  expect(FORMULAS.map((formula) => row[formula])).toEqual(estimates);
  expect(row.oneRepMax).toBe(row.EPLEY);
});

test('estimates all logs in pounds with one statement', async () => {
  const bob = await fitgraph.user('bob');

  await train(bob, [
    { weight: '225.00', weight_unit: LB, reps: 1 },
    { weight: '100.00', reps: 5 },
  ]);
  const { data, statements } = await bob.query(
    '{ workoutLogs(orderBy: [{ reps: ASC }]) { nodes { oneRepMax(unit: LB) } } }',
  );

  expect(data.workoutLogs.nodes).toEqual([{ oneRepMax: '225.00' }, { oneRepMax: '257.21' }]);
  expect(statements).toBe(3);
});

describe('the best estimates per day and exercise', () => {
  let eve: Person;
  let ids: number[];

  beforeAll(async () => {
    eve = await fitgraph.user('eve');
    ids = await train(eve, [
      { date: '2021-03-08', reps: 5, weight: '100.00' },
      { date: '2021-03-08', reps: 3, weight: '105.00' },
      { date: '2021-03-08', reps: 8, weight: '60.00', exercise: BENCH },
      { date: '2021-03-10', reps: 1, weight: '110.00' },
      { date: '2021-03-15', reps: 13, weight: '90.00' },
      { date: '2021-03-15', reps: 1, weight: '242.51', weight_unit: LB },
    ]);
  });

  const best = async (args = '', person = eve) =>
    (
      await person.ask(`{ best: bestOneRepMaxes(from: "2021-03-01"${args && `, ${args}`}) {
    bucket { start } date exercise { name } exerciseId oneRepMax log { id } } }`)
    ).best;
  const short = (nodes: any[]) =>
    nodes.map(({ date, exerciseId, oneRepMax }) => [date, Number(exerciseId), oneRepMax]);

  test('are listed oldest first', async () => {
    const nodes = await best();

    expect(short(nodes)).toEqual([
      ['2021-03-08', SQUAT, '116.67'],
      ['2021-03-08', BENCH, '76.00'],
      ['2021-03-10', SQUAT, '110.00'],
      ['2021-03-15', SQUAT, '110.00'],
    ]);
    expect(nodes[1]).toMatchObject({
      bucket: { start: '2021-03-08' },
      exercise: { name: 'Bench press' },
      log: { id: String(ids[2]) },
    });
  });

  test('are grouped by week, filtered, converted and limited to the newest', async () => {
    const args =
      'by: WEEK, firstDay: WEDNESDAY, where: { exerciseId: { eq: 1 } }, unit: LB, formula: BRZYCKI';
    const all = await best(args);

    expect(short(all)).toEqual([
      ['2021-03-08', SQUAT, '248.02'],
      ['2021-03-15', SQUAT, '242.51'],
    ]);
    expect(all[0].bucket.start).toBe('2021-03-03');
    expect(await best(`${args}, last: 1`)).toEqual([all[1]]);
  });
});
