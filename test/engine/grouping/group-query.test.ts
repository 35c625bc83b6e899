/**
 * Grouped lists: keys, buckets, statistics, `having` and order.
 * test/system/engine/grouping-model.test.ts checks random groupings.
 */
import { Decimal } from 'decimal.js';
import { toConstantCase } from '../../../src/shared/casing';
import { getOperationAST, parse } from 'graphql';
import { estimateOperationCost } from '../../../src/engine/execution/cost';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const PENDING = 4;
const POUNDS = 2;

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;
let workout: number;
let plan: number;

type Log = [date: string, exercise: number, reps: number, weight: string, unit?: number];

const LOGS: Log[] = [
  ['2021-03-08', 1, 5, '100.00'],
  ['2021-03-08', 1, 5, '102.50'],
  ['2021-03-10', 2, 8, '60.00'],
  ['2021-03-14', 2, 10, '60.00'],
  ['2021-03-15', 3, 1, '0.10'],
  ['2021-03-29', 1, 3, '110.00', POUNDS],
];

const MEALS: [moment: string, ingredient: number, amount: string][] = [
  ['2021-10-30T23:30:00+02:00', 1, '50.00'],
  // In Berlin, 02:30 occurs twice on this day.
  ['2021-10-31T02:30:00+02:00', 1, '60.00'],
  ['2021-10-31T02:30:00+01:00', 2, '200.00'],
  ['2021-10-31T23:30:00+01:00', 3, '150.00'],
];

async function logs(person: Person, rows: readonly Log[]): Promise<number> {
  const { id } = (await person.post('/workout/', { comment: 'w' })).body;

  for (const [date, exercise, reps, weight, unit = 1] of rows) {
    expect(
      (
        await person.post('/workoutlog/', {
          date,
          exercise,
          reps,
          weight,
          weight_unit: unit,
          workout: id,
        })
      ).status,
    ).toBe(201);
  }

  return id;
}

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  workout = await logs(ann, LOGS);
  await logs(bob, [['2021-03-09', 1, 99, '500.00']]);
  plan = (await ann.post('/nutritionplan/', { description: 'p' })).body.id;

  for (const [datetime, ingredient, amount] of MEALS) {
    expect(
      (await ann.post('/nutritiondiary/', { plan, ingredient, amount, datetime })).status,
    ).toBe(201);
  }
});

const groups = async (list: string, args: string, selection: string, person = ann) =>
  (await person.ask(`{ groups: ${list}Grouped${args && `(${args})`} { ${selection} } }`)).groups;

const rejectionOf = async (document: string, person = ann) => {
  const { code, errors, data } = await person.query(document);

  return [code, data?.groups ?? null, messagesByPath(errors![0]!)];
};

describe('a grouping without keys', () => {
  test('puts all rows of the viewer into one group', async () => {
    expect(
      await groups(
        'workoutLogs',
        '',
        'count weightedCount sum { reps weight weightKg } min { date weight } max { date reps } avg { reps } exercises: countDistinct(of: EXERCISE) dates: countDistinct(of: DATE)',
      ),
    ).toEqual([
      {
        count: 6,
        weightedCount: '6',
        sum: { reps: '32', weight: '432.60', weightKg: '372.495' },
        min: { date: '2021-03-08', weight: '0.10' },
        max: { date: '2021-03-29', reps: 10 },
        avg: { reps: '5.3333333333' },
        exercises: 3,
        dates: 5,
      },
    ]);
  });

  test('returns one empty group when no row matches', async () => {
    const none = 'where: { reps: { gt: 1000 } }';
    const selection =
      'count weightedCount sum { reps } avg { reps } min { date } stddev { reps } median { reps } percentile(p: 1) { reps } countDistinct(of: DATE)';
    const empty = {
      count: 0,
      weightedCount: '0',
      sum: { reps: null },
      avg: { reps: null },
      min: { date: null },
      stddev: { reps: null },
    };
    const found = {
      ...empty,
      median: { reps: null },
      percentile: { reps: null },
      countDistinct: 0,
    };

    expect(await groups('workoutLogs', none, selection)).toEqual([found]);
    expect(await groups('workoutLogs', `${none}, groupBy: []`, selection)).toEqual([found]);
    expect(await groups('workoutLogs', `${none}, groupBy: [{ field: REPS }]`, selection)).toEqual(
      [],
    );
  });

  test('computes decimals exactly', async () => {
    const { sum, avg, stddev } = (
      await groups(
        'workoutLogs',
        'where: { weight: { in: ["0.10", "102.50"] } }',
        'sum { weight } avg { weight } stddev { weight }',
      )
    )[0];

    expect([sum.weight, avg.weight, stddev.weight]).toEqual(['102.60', '51.3', '72.4077343935']);
  });

  test.each([
    ['0', '1'],
    ['0.25', '3.5'],
    ['0.5', '5'],
    ['0.9', '9'],
    ['1', '10'],
  ])('computes percentile %s of 1, 3, 5, 5, 8, 10 as %s', async (p, value) => {
    expect(
      (await groups('workoutLogs', '', `percentile(p: ${p}) { reps }`))[0].percentile.reps,
    ).toBe(value);
  });

  test('puts all rows into one group if no statistic is requested', async () => {
    expect(await groups('workoutLogs', '', '__typename')).toEqual([
      { __typename: 'WorkoutLogGroup' },
    ]);
  });

  test('ignores a percentile that a directive excludes', async () => {
    const query = `query ($p: Decimal! = "0.9", $with: Boolean! = false) {
      groups: workoutLogsGrouped { count percentile(p: $p) @include(if: $with) { reps } } }`;

    expect((await ann.ask(query, { p: '90' })).groups).toEqual([{ count: expect.any(Number) }]);
    expect((await ann.query(query, { p: '90', with: true })).code).toBe('BAD_USER_INPUT');
    expect((await ann.ask(query, { with: true })).groups[0].percentile.reps).toEqual(
      expect.anything(),
    );
  });

  test('returns bins whose ends are the starts of the next ones, also for widths with many digits', async () => {
    const width = '0.333333333333333';
    const { bins } = await ann.ask(
      `{ bins: workoutLogsGrouped(groupBy: [{ weight: { width: "${width}", from: "100000000000.000000000000001" } }]) { keys { weightBin { from to } } } }`,
    );

    expect(bins.length).toBeGreaterThan(1);

    for (const { keys } of bins) {
      expect(new Decimal(keys.weightBin.to).minus(keys.weightBin.from).toFixed()).toBe(width);
    }
  });

  test('evaluates percentile variables anew on each execution', async () => {
    const document =
      'query ($p: Decimal!) { workoutLogsGrouped { a: percentile(p: $p) { reps } b: percentile(p: 1) { reps } median { reps } } }';

    for (const [p, reps] of [0, 1, 0, 1, 0, 1].map((one) => [one, one ? '10' : '1'] as const)) {
      expect((await ann.ask(document, { p })).workoutLogsGrouped).toEqual([
        { a: { reps }, b: { reps: '10' }, median: { reps: '5' } },
      ]);
    }
  });
});

describe('a grouping by date', () => {
  const byDate = async (how: string) =>
    (
      await groups(
        'workoutLogs',
        `groupBy: [{ date: { ${how} } }]`,
        'count keys { dateBucket { start end number } }',
      )
    ).map(({ count, keys: { dateBucket } }: any) => [
      dateBucket.start ?? dateBucket.number,
      dateBucket.end,
      count,
    ]);

  test.each([
    [
      'by: WEEK',
      [
        ['2021-03-08', '2021-03-15', 4],
        ['2021-03-15', '2021-03-22', 1],
        ['2021-03-29', '2021-04-05', 1],
      ],
    ],
    [
      'by: WEEK, firstDay: SUNDAY',
      [
        ['2021-03-07', '2021-03-14', 3],
        ['2021-03-14', '2021-03-21', 2],
        ['2021-03-28', '2021-04-04', 1],
      ],
    ],
    [
      'by: WEEK, empty: true',
      [
        ['2021-03-08', '2021-03-15', 4],
        ['2021-03-15', '2021-03-22', 1],
        ['2021-03-22', '2021-03-29', 0],
        ['2021-03-29', '2021-04-05', 1],
      ],
    ],
    [
      'by: WEEKDAY',
      [
        [1, null, 4],
        [3, null, 1],
        [7, null, 1],
      ],
    ],
    [
      'by: WEEKDAY, firstDay: SUNDAY',
      [
        [7, null, 1],
        [1, null, 4],
        [3, null, 1],
      ],
    ],
    [
      'by: WEEKDAY, empty: true',
      [
        [1, null, 4],
        [2, null, 0],
        [3, null, 1],
        [4, null, 0],
        [5, null, 0],
        [6, null, 0],
        [7, null, 1],
      ],
    ],
    ['by: MONTH', [['2021-03-01', '2021-04-01', 6]]],
    ['by: QUARTER', [['2021-01-01', '2021-04-01', 6]]],
    ['by: YEAR', [['2021-01-01', '2022-01-01', 6]]],
    [
      'by: DAY',
      [
        ['2021-03-08', '2021-03-09', 2],
        ['2021-03-10', '2021-03-11', 1],
        ['2021-03-14', '2021-03-15', 1],
        ['2021-03-15', '2021-03-16', 1],
        ['2021-03-29', '2021-03-30', 1],
      ],
    ],
  ])('returns the buckets of { %s }', async (how, found) =>
    expect(await byDate(how)).toEqual(found),
  );

  test('adds empty buckets for each value of the other keys', async () => {
    const found = await groups(
      'workoutLogs',
      'groupBy: [{ field: EXERCISE }, { date: { by: MONTH, empty: true } }], where: { exerciseId: { in: [1, 2] } }',
      'keys { exercise { name } } count countDistinct(of: DATE) sum { reps }',
    );

    expect(found).toHaveLength(2);
    const weeks = await groups(
      'workoutLogs',
      'groupBy: [{ date: { by: WEEK, empty: true } }, { field: EXERCISE }], where: { exerciseId: { in: [1, 2] } }',
      'keys { exercise { name } dateBucket { start } } count countDistinct(of: DATE) sum { reps }',
    );

    expect(weeks).toHaveLength(8);
    expect(weeks[3]).toEqual({
      keys: { exercise: { name: 'Bench press' }, dateBucket: { start: '2021-03-15' } },
      count: 0,
      countDistinct: 0,
      sum: { reps: null },
    });
  });

  test('limits the number of empty buckets for all combinations of the other keys together', async () => {
    const dora = await fitgraph.user('dora');
    const workout = (await dora.post('/workout/', {})).body.id;

    // 60 combinations of repetitions, and 6,000 days between the first and the last log.
    await fitgraph.sql(
      `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "reps", "weight", "repetition_unit_id", "weight_unit_id", "date")
        SELECT $1, $2, 1, n, 1, 1, 1, date '2010-01-01' + n * 100 FROM generate_series(1, 60) n`,
      [dora.id, workout],
    );
    const query = (first: string) =>
      `{ workoutLogsGrouped(groupBy: [{ field: REPS }, { date: { by: DAY, empty: true } }], where: { date: { gte: "${first}" } }, first: 1) { count } }`;
    const { errors } = await dora.query(query('2010-01-01'));

    expect(errors![0]!.message).toContain(
      'or more than 100000 groups. Narrow the range, or omit `empty`.',
    );
    expect((await dora.ask(query('2023-01-01'))).workoutLogsGrouped).toHaveLength(1);
  });

  test('distinguishes several buckets of the same date by their unit', async () => {
    const [first] = await groups(
      'workoutLogs',
      'groupBy: [{ date: { by: YEAR } }, { date: { by: WEEKDAY } }]',
      'keys { dateBucket { unit } day: dateBucket(by: WEEKDAY) { number } year: dateBucket(by: YEAR) { start } month: dateBucket(by: MONTH) { start } date }',
    );

    expect(first.keys).toEqual({
      dateBucket: { unit: 'YEAR' },
      day: { number: 1 },
      year: { start: '2021-01-01' },
      month: null,
      date: null,
    });
  });
});

describe('a grouping by timestamp', () => {
  const byMoment = async (how: string) =>
    (
      await groups(
        'diaryEntries',
        `groupBy: [{ eatenAt: { ${how} } }]`,
        'count keys { eatenAtBucket { start end number } }',
      )
    ).map(({ count, keys: { eatenAtBucket } }: any) => [
      eatenAtBucket.start ?? eatenAtBucket.number,
      eatenAtBucket.end,
      count,
    ]);

  test.each([
    // The day on which daylight saving time ends has 25 hours.
    [
      'by: DAY',
      [
        ['2021-10-29T22:00:00Z', '2021-10-30T22:00:00Z', 1],
        ['2021-10-30T22:00:00Z', '2021-10-31T23:00:00Z', 3],
      ],
    ],
    [
      'by: DAY, timeZone: "UTC"',
      [
        ['2021-10-30T00:00:00Z', '2021-10-31T00:00:00Z', 1],
        ['2021-10-31T00:00:00Z', '2021-11-01T00:00:00Z', 3],
      ],
    ],
    [
      'by: DAY, timeZone: "Asia/Tokyo"',
      [
        ['2021-10-30T15:00:00Z', '2021-10-31T15:00:00Z', 3],
        ['2021-10-31T15:00:00Z', '2021-11-01T15:00:00Z', 1],
      ],
    ],
    [
      'by: HOUR',
      [
        ['2021-10-30T21:00:00Z', '2021-10-30T22:00:00Z', 1],
        ['2021-10-31T00:00:00Z', '2021-10-31T01:00:00Z', 1],
        ['2021-10-31T01:00:00Z', '2021-10-31T02:00:00Z', 1],
        ['2021-10-31T22:00:00Z', '2021-10-31T23:00:00Z', 1],
      ],
    ],
    [
      'by: HOUR_OF_DAY',
      [
        [2, null, 2],
        [23, null, 2],
      ],
    ],
    [
      'by: WEEKDAY',
      [
        [6, null, 1],
        [7, null, 3],
      ],
    ],
    ['by: MONTH', [['2021-09-30T22:00:00Z', '2021-10-31T23:00:00Z', 4]]],
  ])('returns the buckets of { %s }', async (how, found) =>
    expect(await byMoment(how)).toEqual(found),
  );

  test('adds empty hours', async () => {
    const found = await byMoment('by: HOUR, empty: true');

    expect(found).toHaveLength(26);
    expect(found.filter(([, , count]: [string, string, number]) => count === 0)).toHaveLength(22);
  });
});

test('adds no hours that do not exist where clocks change by half an hour', async () => {
  const lou = await fitgraph.user('lou');
  const plan = (await lou.post('/nutritionplan/', { language: 2 })).body.id;

  // On Lord Howe Island, clocks went back from 02:00 to 01:30 on 2021-04-04. The repeated half hour
  // is the second half of an hour of its own.
  for (const datetime of [
    '2021-04-03T23:10:00+11:00',
    '2021-04-04T01:40:00+10:30',
    '2021-04-04T05:20:00+10:30',
  ]) {
    expect(
      (await lou.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime })).status,
    ).toBe(201);
  }

  const hours =
    '{ diaryEntriesGrouped(groupBy: [{ eatenAt: { by: HOUR, empty: true, timeZone: "Australia/Lord_Howe" } }]) { count keys { eatenAtBucket { start } } } }';
  const { diaryEntriesGrouped } = await lou.ask(hours);

  expect(
    diaryEntriesGrouped.map(({ count, keys }: any) => [keys.eatenAtBucket.start, count]),
  ).toEqual([
    ['2021-04-03T12:00:00Z', 1],
    ['2021-04-03T13:00:00Z', 0],
    ['2021-04-03T14:00:00Z', 0],
    ['2021-04-03T14:30:00Z', 1],
    ['2021-04-03T15:30:00Z', 0],
    ['2021-04-03T16:30:00Z', 0],
    ['2021-04-03T17:30:00Z', 0],
    ['2021-04-03T18:30:00Z', 1],
  ]);
});

describe('a grouping by other keys', () => {
  test('reads the related rows of all groups in one statement', async () => {
    const document = (keys: string) =>
      `{ groups: workoutLogsGrouped(groupBy: [{ field: EXERCISE }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }]) { keys { ${keys} } count } }`;
    const { data, statements } = await ann.query(
      document('exerciseId exercise { name category { name } }'),
    );

    expect(data.groups).toEqual([
      {
        keys: { exerciseId: '1', exercise: { name: 'Squat', category: { name: 'Legs' } } },
        count: 3,
      },
      {
        keys: { exerciseId: '2', exercise: { name: 'Bench press', category: { name: 'Arms' } } },
        count: 2,
      },
      {
        keys: { exerciseId: '3', exercise: { name: 'Plank', category: { name: 'Abs' } } },
        count: 1,
      },
    ]);
    // The statements read the token, the groups and the exercises. Categories are cached.
    expect(statements).toBe(3);
    expect((await ann.query(document('exerciseId'))).statements).toBe(2);
  });

  test('supports rows behind a relation, in the order of their ids', async () => {
    const by = (key: string) =>
      `{ groups: workoutLogsGrouped(groupBy: [{ field: ${toConstantCase(key)} }]) { keys { ${key}Id ${key} { name } } count } }`;
    const { data, statements } = await ann.query(by('exerciseCategory'));

    expect(data.groups).toEqual([
      { keys: { exerciseCategoryId: '1', exerciseCategory: { name: 'Arms' } }, count: 2 },
      { keys: { exerciseCategoryId: '2', exerciseCategory: { name: 'Legs' } }, count: 3 },
      { keys: { exerciseCategoryId: '3', exerciseCategory: { name: 'Abs' } }, count: 1 },
    ]);
    expect(statements).toBe(2);
    const found = (await ann.ask(by('equipment'))).groups;

    expect(found.map(({ keys, count }: any) => [keys.equipment?.name ?? null, count])).toEqual([
      ['Barbell', 5],
      ['Bench', 2],
      [null, 1],
    ]);
    const months = await groups(
      'workoutLogs',
      'groupBy: [{ date: { by: MONTH } }]',
      'categories: countDistinct(of: EXERCISE_CATEGORY) exercises: countDistinct(of: EXERCISE)',
    );

    expect(months).toEqual([{ categories: 3, exercises: 3 }]);
  });

  test('supports bins of numbers', async () => {
    const bins = async (how: string) =>
      (
        await groups(
          'workoutLogs',
          `groupBy: [{ reps: { ${how} } }]`,
          'keys { repsBin { from to } } count',
        )
      ).map(({ keys, count }: any) => [keys.repsBin.from, keys.repsBin.to, count]);

    expect(await bins('width: 5')).toEqual([
      ['0', '5', 2],
      ['5', '10', 3],
      ['10', '15', 1],
    ]);
    expect(await bins('width: 2.5, from: 1')).toEqual([
      ['1', '3.5', 2],
      ['3.5', '6', 2],
      ['6', '8.5', 1],
      ['8.5', '11', 1],
    ]);
    expect(await bins('width: 3, empty: true')).toEqual([
      ['0', '3', 1],
      ['3', '6', 3],
      ['6', '9', 1],
      ['9', '12', 1],
    ]);
    expect(await bins('width: 1, empty: true')).toHaveLength(10);
  });

  test('supports muscles with weights', async () => {
    const byMuscle = async (weights: string) =>
      (
        await groups(
          'workoutLogs',
          `groupBy: [{ muscle: { ${weights} } }]`,
          'keys { muscle { name } } count weightedCount sum { reps } avg { reps }',
        )
      ).map(({ keys, count, weightedCount, sum, avg }: any) => [
        keys.muscle?.name ?? null,
        count,
        weightedCount,
        sum.reps,
        avg.reps,
      ]);

    // Biceps and rectus are secondary muscles of the squat; biceps is primary for the bench press,
    // and rectus for the plank.
    expect(await byMuscle('muscles: 1, musclesSecondary: 0.5')).toEqual([
      ['Biceps brachii', 5, '3.5', '24.5', '7'],
      ['Quadriceps femoris', 3, '3', '13', '4.3333333333'],
      ['Rectus abdominis', 4, '2.5', '7.5', '3'],
    ]);
    expect(await byMuscle('muscles: 1, empty: true')).toEqual([
      ['Biceps brachii', 2, '2', '18', '9'],
      ['Quadriceps femoris', 3, '3', '13', '4.3333333333'],
      ['Rectus abdominis', 1, '1', '1', '1'],
    ]);
    expect(await byMuscle('musclesSecondary: 2, empty: true')).toEqual([
      ['Biceps brachii', 3, '6', '26', '4.3333333333'],
      ['Quadriceps femoris', 0, '0', null, null],
      ['Rectus abdominis', 3, '6', '26', '4.3333333333'],
      [null, 3, '3', '19', '6.3333333333'],
    ]);
    expect(await byMuscle('musclesSecondary: 2')).toEqual([
      ['Biceps brachii', 3, '6', '26', '4.3333333333'],
      ['Rectus abdominis', 3, '6', '26', '4.3333333333'],
      [null, 3, '3', '19', '6.3333333333'],
    ]);
  });

  test('adds all muscles if no row matches', async () => {
    const found = await groups(
      'workoutLogs',
      'where: { reps: { lt: 0 } }, groupBy: [{ muscle: { muscles: 1, empty: true } }]',
      'keys { muscle { name } } count',
    );

    expect(found.map(({ keys, count }: any) => [keys.muscle.name, count])).toEqual([
      ['Biceps brachii', 0],
      ['Quadriceps femoris', 0],
      ['Rectus abdominis', 0],
    ]);
  });

  test('puts rows without a value into a group of their own', async () => {
    const found = await groups(
      'workoutLogs',
      'groupBy: [{ field: RIR }, { field: SESSION_IMPRESSION }]',
      'keys { rir sessionImpression } count',
    );

    expect(found).toEqual([{ keys: { rir: null, sessionImpression: null }, count: 6 }]);
  });

  test('groups the rows of each parent, in one statement for all parents', async () => {
    const document = `{ exercises(orderBy: [{ id: ASC }]) { nodes { name logsGrouped(groupBy: [{ date: { by: MONTH } }]) { count sum { reps } } } } }`;
    const { data, statements } = await ann.query(document);
    const of = (count: number, reps: string) => [{ count, sum: { reps } }];

    expect(data.exercises.nodes).toEqual([
      { name: 'Squat', logsGrouped: of(3, '13') },
      { name: 'Bench press', logsGrouped: of(2, '18') },
      { name: 'Plank', logsGrouped: of(1, '1') },
    ]);
    expect(statements).toBe(3);
    expect(
      (await ann.ask(`{ workout(id: ${workout}) { logsGrouped { count } } }`)).workout.logsGrouped,
    ).toEqual([{ count: 6 }]);
  });
});

describe('groups', () => {
  test('are filtered by their statistics with `having`', async () => {
    const exercisesHaving = async (having: string) =>
      (
        await groups(
          'workoutLogs',
          `groupBy: [{ field: EXERCISE }], having: ${having}`,
          'keys { exerciseId }',
        )
      ).map(({ keys }: any) => keys.exerciseId);

    expect(await exercisesHaving('[{ statistic: COUNT, is: { gte: 2 } }]')).toEqual(['1', '2']);
    expect(await exercisesHaving('[{ statistic: COUNT, is: { gt: 2.5 } }]')).toEqual(['1']);
    expect(await exercisesHaving('[]')).toEqual(['1', '2', '3']);
    expect(
      await exercisesHaving('[{ statistic: MAX, of: DATE, isDate: { lt: "2021-03-20" } }]'),
    ).toEqual(['2', '3']);
    expect(
      await exercisesHaving(
        '[{ statistic: SUM, of: WEIGHT_KG, is: { lt: 200 } }, { statistic: COUNT_DISTINCT, of: DATE, is: { eq: 1 } }]',
      ),
    ).toEqual(['3']);
    expect(
      await exercisesHaving('[{ statistic: STDDEV, of: REPS, is: { isNull: true } }]'),
    ).toEqual(['3']);
    expect(
      await exercisesHaving('[{ statistic: MEDIAN, of: REPS, is: { gte: 3, lte: 5 } }]'),
    ).toEqual(['1']);
  });

  test('are paged in a total order', async () => {
    const found: [number, number][] = [];

    for (let offset = 0, more = true; more; offset += 2) {
      const args = `groupBy: [{ field: REPS }], orderBy: [{ statistic: { name: COUNT, direction: DESC } }], first: 2, offset: ${offset}`;
      const page = await groups('workoutLogs', args, 'keys { reps } count');

      found.push(...page.map(({ keys, count }: any) => [keys.reps, count]));
      more = page.length === 2;
    }

    expect(found).toEqual([
      [5, 2],
      [1, 1],
      [3, 1],
      [8, 1],
      [10, 1],
    ]);
    expect(await groups('workoutLogs', 'groupBy: [{ field: REPS }], first: 0', 'count')).toEqual(
      [],
    );
  });
});

test('returns all groups, or an error beyond 10,000', async () => {
  const eve = await fitgraph.user('many-groups');
  const workout = (await eve.post('/workout/', {})).body.id;
  const addLogs = (from: number, until: number) =>
    fitgraph.sql(
      `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "reps", "weight", "repetition_unit_id", "weight_unit_id", "date")
        SELECT $1, $2, 1, 1, 1, 1, 1, date '2000-01-01' + n FROM generate_series($3::int, $4::int) n`,
      [eve.id, workout, from, until],
    );
  const days = async (args = '') =>
    (
      await eve.query(
        `{ workoutLogsGrouped(groupBy: [{ date: { by: DAY } }]${args}) { keys { dateBucket { start } } count } workout(id: ${workout}) { logsGrouped(groupBy: [{ date: { by: DAY } }]${args}) { count } } }`,
      )
    ).body;

  await addLogs(1, 10_000);
  const { data } = await days();

  expect(data.workoutLogsGrouped).toHaveLength(10_000);
  expect(data.workoutLogsGrouped.at(-1).keys.dateBucket.start).toBe('2027-05-19');
  expect(data.workout.logsGrouped).toHaveLength(10_000);
  await addLogs(10_001, 10_001);
  const { errors } = await days();

  expect(errors.map(({ message }: { message: string }) => message)).toEqual(
    Array(2).fill(
      'Invalid input: first: There are more than 10000. Use `first`, narrow `where`, or group by larger units.',
    ),
  );
  expect((await days(', first: 10000')).data.workoutLogsGrouped).toHaveLength(10_000);
});

describe('a grouping of owned rows', () => {
  test('includes only rows of the viewer and is rejected for anonymous clients', async () => {
    expect(
      await groups('workoutLogs', 'groupBy: [{ field: REPS }]', 'keys { reps } count', bob),
    ).toEqual([{ keys: { reps: 99 }, count: 1 }]);
    expect((await groups('workoutLogs', '', 'max { reps }'))[0].max.reps).toBe(10);
    expect((await fitgraph.anonymous.query('{ workoutLogsGrouped { count } }')).code).toBe(
      'UNAUTHENTICATED',
    );
    const { data } = await fitgraph.anonymous.query(
      '{ exercise(id: 1) { name logsGrouped { count } } }',
    );

    expect(data.exercise).toEqual({ name: 'Squat', logsGrouped: null });
    expect(
      await groups('exercises', 'groupBy: [{ field: STATUS }]', 'count', fitgraph.anonymous),
    ).toEqual([{ count: 3 }]);
  });

  test('shows null for keys that lead to unreviewed rows', async () => {
    const { id } = (
      await ann.post('/workoutlog/', {
        date: '2030-01-01',
        exercise: PENDING,
        reps: 1,
        weight: '1',
        workout,
      })
    ).body;
    const future = 'where: { date: { gt: "2029-01-01" } }';
    const far = `${future}, groupBy: [{ field: TRANSLATION }, { field: EXERCISE_CATEGORY }]`;

    expect(
      await groups(
        'workoutLogs',
        far,
        'keys { translation { name } exerciseCategory { name } } count',
      ),
    ).toEqual([{ keys: { translation: null, exerciseCategory: null }, count: 1 }]);
    expect(
      await groups(
        'workoutLogs',
        `${future}, groupBy: [{ field: EXERCISE }]`,
        'keys { exerciseId exercise { name } }',
      ),
    ).toEqual([{ keys: { exerciseId: String(PENDING), exercise: null } }]);
    await ann.delete(`/workoutlog/${id}/`);
  });
});

describe('an invalid grouping', () => {
  const keys = (count: number) =>
    Array.from({ length: count }, (_, index) => `{ reps: { width: ${index + 1} } }`).join(' ');

  test.each([
    [
      'seven keys',
      `groupBy: [${keys(7)}]`,
      { groupBy: ['Ensure this list has no more than 6 elements.'] },
    ],
    [
      'a repeated key',
      'groupBy: [{ field: REPS }, { field: REPS }]',
      { 'groupBy.1': ['This key is a duplicate.'] },
    ],
    [
      'an unknown time zone',
      'groupBy: [{ createdAt: { by: DAY, timeZone: "Mars/Base" } }]',
      { 'groupBy.0.timeZone': [expect.stringContaining('IANA')] },
    ],
    [
      'an offset as the time zone',
      'groupBy: [{ createdAt: { by: DAY, timeZone: "+01:00" } }]',
      { 'groupBy.0.timeZone': [expect.stringContaining('IANA')] },
    ],
    [
      'a bin of a very small width',
      `groupBy: [{ reps: { width: "0.${'1'.repeat(900)}e-9999" } }]`,
      { 'groupBy.0.width': [expect.stringContaining('15 digits')] },
    ],
    [
      'a bin from a very large number',
      'groupBy: [{ reps: { width: 1, from: "1e9999" } }]',
      { 'groupBy.0.from': [expect.stringContaining('15 digits')] },
    ],
    [
      'a bin of width 0',
      'groupBy: [{ reps: { width: 0 } }]',
      { 'groupBy.0.width': ['Ensure this value is greater than 0.'] },
    ],
    [
      'no muscle weight',
      'groupBy: [{ muscle: {} }]',
      { 'groupBy.0': [expect.stringContaining('Provide the weight of at least one list.')] },
    ],
    [
      'a negative muscle weight',
      'groupBy: [{ muscle: { muscles: -1 } }]',
      { 'groupBy.0.muscles': [expect.stringContaining('0')] },
    ],
    [
      'two keys with empty groups',
      'groupBy: [{ date: { by: DAY, empty: true } }, { reps: { width: 1, empty: true } }]',
      { 'groupBy.1': [expect.stringContaining('empty')] },
    ],
    [
      'too many empty groups',
      'groupBy: [{ weight: { width: "0.00001", empty: true } }]',
      { groupBy: [expect.stringContaining('10000')] },
    ],
    [
      'an order by an unknown key',
      'orderBy: [{ key: { number: 1 } }]',
      { 'orderBy.0.key.number': [expect.stringContaining('groupBy')] },
    ],
    [
      'an order by the median of dates',
      'orderBy: [{ statistic: { name: MEDIAN, of: DATE } }]',
      { 'orderBy.0.statistic.of': [expect.stringContaining('weightKg')] },
    ],
    [
      'an order by distinct equipment',
      'orderBy: [{ statistic: { name: COUNT_DISTINCT, of: EQUIPMENT } }]',
      { 'orderBy.0.statistic.of': [expect.stringContaining('exerciseCategory')] },
    ],
    [
      'a sum without a field',
      'having: [{ statistic: SUM, is: { gt: 1 } }]',
      { 'having.0.of': [expect.stringContaining('reps')] },
    ],
    [
      'a count of a field',
      'having: [{ statistic: COUNT, of: REPS, is: { gt: 1 } }]',
      { 'having.0.of': [expect.stringContaining('rows')] },
    ],
    [
      'a date condition on a number',
      'having: [{ statistic: SUM, of: REPS, isDate: { gt: "2021-01-01" } }]',
      { 'having.0.isDate': [expect.stringContaining('`is`')] },
    ],
    [
      'a statistic without a condition',
      'having: [{ statistic: MAX, of: DATE }]',
      { 'having.0.isDate': [expect.stringContaining('`isDate`')] },
    ],
    [
      'a page that is too large',
      'first: 10001',
      { first: ['Ensure this value is less than or equal to 10000.'] },
    ],
    [
      'a negative page size',
      'first: -1',
      { first: ['Ensure this value is greater than or equal to 0.'] },
    ],
    [
      'a negative offset',
      'offset: -1',
      { offset: ['Ensure this value is greater than or equal to 0.'] },
    ],
  ])('is rejected when it has %s', async (_what, args, fields) => {
    expect(
      await rejectionOf(`{ groups: workoutLogsGrouped(${args}) {
    count } }`),
    ).toEqual(['BAD_USER_INPUT', null, fields]);
  });

  test.each(['{}', '{ key: { number: 1 }, statistic: { name: COUNT } }', '{ key: null }'])(
    'orders by exactly one key or statistic, not by %s',
    async (element) =>
      expect(
        (await ann.query(`{ workoutLogsGrouped(orderBy: [${element}]) { count } }`)).code,
      ).toBe('GRAPHQL_VALIDATION_FAILED'),
  );

  test.each(['-0.1', '1.1'])('has no percentile %s', async (p) => {
    expect(
      await rejectionOf(`{ groups: workoutLogsGrouped { percentile(p: "${p}") { reps } } }`),
    ).toEqual([
      'BAD_USER_INPUT',
      [{ percentile: null }],
      { p: ['Ensure this value is from 0 to 1.'] },
    ]);
  });

  test('has no number of distinct pieces of equipment', async () => {
    expect(
      await rejectionOf('{ groups: workoutLogsGrouped { count countDistinct(of: EQUIPMENT) } }'),
    ).toEqual([
      'BAD_USER_INPUT',
      [{ count: 6, countDistinct: null }],
      { of: [expect.stringContaining('exerciseCategory')] },
    ]);
  });

  test('is rejected with COST_LIMIT when it costs too much', async () => {
    const many = Array.from(
      { length: 40 },
      (_, index) => `a${index}: workoutLogsGrouped(first: 10000) { keys { reps } sum { reps } }`,
    );
    const { code, statements } = await ann.query(`{ ${many.join(' ')} }`);

    expect([code, statements]).toEqual(['COST_LIMIT', 1]);
  });
});

test('estimates the cost of a grouping from the rows read and the groups returned', () => {
  const schema = buildGraphQLSchema();
  const cost = (text: string) =>
    estimateOperationCost(schema, parse(text), getOperationAST(parse(text))!, {}).total;

  // Operation + field + rows read, then for each group: the object, its keys and its sums, the
  // latter two with one leaf each.
  expect(cost('{ workoutLogsGrouped(first: 10) { keys { reps } sum { reps } } }')).toBeCloseTo(
    1 + 5 + 100 + 10 * (1 + 1.1 + 1.1),
    6,
  );
  expect(cost('{ workoutLogsGrouped { count } }')).toBeCloseTo(1 + 5 + 100 + 100 * 1.1, 6);
  expect(cost('{ workoutLogsGrouped(first: 1) { median { reps } } }')).toBeCloseTo(
    1 + 5 + 100 + (1 + 5 + 1.1),
    6,
  );
});

test('returns TIMEOUT when a grouping exceeds STATEMENT_TIMEOUT', async () => {
  const withShortTimeout = await Fitgraph.start({ environment: { STATEMENT_TIMEOUT: '300ms' } });

  try {
    const carl = await withShortTimeout.user('carl');
    const blocker = await withShortTimeout.database.pool.connect();

    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "workout_log" IN ACCESS EXCLUSIVE MODE');
    const { code, errors } = await carl.query(
      '{ workoutLogsGrouped(groupBy: [{ date: { by: WEEK } }]) { count } }',
    );

    blocker.release(true);
    expect([code, errors![0]!.message]).toEqual([
      'TIMEOUT',
      expect.stringContaining('took too long'),
    ]);
  } finally {
    await withShortTimeout.stop();
  }
});
