/**
 * The trend of the body weight, checked against the figures of the publication that defines it, and
 * its weekly rate.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  [ann] = [
    await fitgraph.user('ann'),
    await (
      await fitgraph.user('bob')
    ).post('/weightentry/', { date: '2021-03-01', weight: '99.00' }),
  ];

  for (const [date, weight] of [
    ['2021-03-01', '173.60'],
    ['2021-03-02', '172.50'],
    ['2021-03-03', '171.50'],
    ['2021-03-04', '172.00'],
    ['2021-03-08', '171.50'],
  ]) {
    expect((await ann.post('/weightentry/', { date, weight })).status).toBe(201);
  }
});

const trend = async (args: string) =>
  (await ann.ask(`{ trend: bodyWeightTrend(${args}) { date weight trend ratePerWeek } }`)).trend;

test('moves the trend by a tenth of the difference at each entry', async () => {
  const nodes = await trend('last: 9');

  expect(nodes.map((node: any) => node.weight)).toEqual([
    '173.60',
    '172.50',
    '171.50',
    '172.00',
    '171.50',
  ]);
  expect(nodes.map((node: any) => node.trend)).toEqual([
    '173.600',
    '173.490',
    '173.291',
    '173.162',
    '172.996',
  ]);
});

// For days d = 0 to 3 with weights w, the slope is Σ (d − 1.5)(w − 172.4) / 5 = −0.58 per day, or
// −4.06 per week.
test('computes the weekly rate as the regression slope of the last days', async () => {
  const nodes = await trend('last: 9, days: 4');

  expect(nodes.map((node: any) => node.ratePerWeek)).toEqual([
    null,
    '-7.700',
    '-7.350',
    '-4.060',
    null,
  ]);
});

test('returns a range of days in pounds', async () => {
  const nodes = await trend('from: "2021-03-02", until: "2021-03-03", days: 7, unit: LB');

  expect(nodes).toEqual([
    { date: '2021-03-02', weight: '380.30', trend: '382.480', ratePerWeek: '-16.976' },
    { date: '2021-03-03', weight: '378.09', trend: '382.041', ratePerWeek: '-16.204' },
  ]);
});

test('rejects a number of days below 2', async () => {
  const { code, errors } = await ann.query('{ bodyWeightTrend(days: 1) { date } }');

  expect([code, messagesByPath(errors![0]!)]).toEqual([
    'BAD_USER_INPUT',
    { days: ['Must be from 2 to 3660.'] },
  ]);
});
