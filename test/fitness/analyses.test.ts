/** Properties of every analysis: access, cost, number of statements, range of days and export. */
import {
  getNamedType,
  getNullableType,
  getOperationAST,
  isLeafType,
  isListType,
  parse,
  type GraphQLEnumType,
  type GraphQLObjectType,
} from 'graphql';
import { DateTime } from 'luxon';
import { estimateOperationCost } from '../../src/engine/execution/cost';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { TIME_ZONE } from '../setup/databases';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { BODY_WEIGHT, train } from './training-data';
import { messagesByPath } from '../setup/input-errors';

const fitgraph = fitgraphForThisFile();
const schema = buildGraphQLSchema();

/** All analyses, each with the second part of the scope that it requires, such as READ_TRAINING. */
const QUESTIONS: [question: string, scope: string][] = [
  ['bestOneRepMaxes', 'TRAINING'],
  ['bodyWeightTrend', 'BODY'],
  ['muscleVolume', 'TRAINING'],
  ['nutritionIntake', 'NUTRITION'],
  ['personalRecords', 'TRAINING'],
  ['plannedExercises', 'TRAINING'],
  ['scheduleAdherence', 'TRAINING'],
  ['strength', 'TRAINING'],
  ['topFoods', 'NUTRITION'],
  ['trainingLoad', 'TRAINING'],
  ['trainingVolume', 'TRAINING'],
  ['trainingWeeks', 'TRAINING'],
];

const fieldOf = (question: string) => schema.getQueryType()!.getFields()[question]!;
const isSized = (question: string, by: string) =>
  fieldOf(question).args.some(({ name }) => name === by);

/** Returns arguments with which an analysis includes rows of any day. */
function argumentsFor(question: string): string {
  const size = ['last', 'first'].find((name) => isSized(question, name));

  return size ? `${size}: 1000` : 'unit: KG';
}

/** Returns a selection of all leaf fields of a row. */
function selection(question: string): string {
  const leafFields = Object.values(
    (getNamedType(fieldOf(question).type) as GraphQLObjectType).getFields(),
  );

  return `{ ${leafFields.flatMap(({ name, type }) => (isLeafType(getNamedType(type)) ? name : [])).join(' ')} }`;
}

const queryOf = (question: string) =>
  `{ q: ${question}(${argumentsFor(question)}) ${selection(question)} }`;

let ann: Person;

beforeAll(async () => {
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight') ON CONFLICT DO NOTHING`,
  );
  ann = await fitgraph.user('ann');
  await train(ann, [
    { date: '2021-03-08', reps: 5, weight: '100.00' },
    { date: '2021-03-16', reps: 8, weight: '102.50' },
  ]);
  const plan = (await ann.post('/nutritionplan/', { description: 'p' })).body.id;

  await ann.post('/nutritiondiary/', {
    plan,
    ingredient: 1,
    amount: '50.00',
    datetime: '2021-03-10T08:00:00+01:00',
  });

  for (const date of ['2021-03-08', '2021-03-09']) {
    await ann.post('/weightentry/', { date, weight: '80.00' });
  }

  const workout = (await ann.ask('{ workouts { nodes { id } } }')).workouts.nodes[0].id;
  const { createSchedule } = await ann.ask(
    'mutation { createSchedule(input: { name: "s", isActive: true }) { schedule { id } } }',
  );

  await ann.ask(
    `mutation { createScheduleStep(input: { scheduleId: ${createSchedule.schedule.id}, workoutId: ${workout} }) { scheduleStep { id } } }`,
  );
});

test('covers every analysis field of the schema', () => {
  const ownedFields = Object.values(schema.getQueryType()!.getFields()).filter(
    ({ type, args }) =>
      getNamedType(type).name === 'Strength' ||
      (isListType(getNullableType(type)) &&
        !/Group$/.test(getNamedType(type).name) &&
        args.some(({ name }) => ['first', 'last'].includes(name))),
  );

  expect(ownedFields.map(({ name }) => name).sort()).toEqual(
    QUESTIONS.map(([question]) => question),
  );
});

describe.each(QUESTIONS)('%s', (question, scope) => {
  test('needs one statement and has an estimated cost', async () => {
    const { data, errors, statements } = await ann.query(queryOf(question));

    expect([errors, statements]).toEqual([undefined, 2]);
    if (question === 'strength') expect(data.q.total).toBe('102.50');
    // The workout has no planned sets.
    else expect(data.q.length > 0).toBe(question !== 'plannedExercises');
    const document = parse(queryOf(question));

    expect(
      estimateOperationCost(schema, document, getOperationAST(document)!, {}).total,
    ).toBeGreaterThan(100);
  });

  test('reads only rows of the viewer', async () => {
    const { q } = await (await fitgraph.user('bob')).ask(queryOf(question));

    expect(q).toEqual(question === 'strength' ? null : []);
    expect((await fitgraph.anonymous.query(queryOf(question))).code).toBe('UNAUTHENTICATED');
  });

  test('requires a token with its scope', async () => {
    const token = async (scopes: string) => {
      const { made } = await ann.ask(
        `mutation { made: createAccessToken(name: "${question} ${scopes}", scopes: [${scopes}]) { token } }`,
      );

      return fitgraph.anonymous.withHeaders({ Authorization: `Bearer ${made.token}` });
    };

    expect((await (await token(`READ_${scope}`)).query(queryOf(question))).errors).toBeUndefined();
    expect((await (await token('READ_ACCOUNT')).query(queryOf(question))).code).toBe('FORBIDDEN');
  });
});

test('accepts the earliest and latest dates and the largest values in every analysis', async () => {
  const eve = await fitgraph.user('eve');
  const most = { reps: 2_147_483_647, weight: '999.99' };

  await train(eve, [
    { date: '0001-01-01', ...most },
    { date: '9999-12-31', ...most },
    { date: '9999-12-31', reps: 12, weight: '999.99', rir: '0', weight_unit: BODY_WEIGHT },
  ]);
  const plan = (await eve.post('/nutritionplan/', { description: 'p' })).body.id;

  for (const datetime of ['0001-01-02T00:00:00Z', '9999-12-30T23:59:59Z']) {
    expect(
      (await eve.post('/nutritiondiary/', { plan, ingredient: 1, amount: '1000.00', datetime }))
        .status,
    ).toBe(201);
  }

  for (const date of ['0001-01-01', '9999-12-31']) {
    await eve.post('/weightentry/', { date, weight: '600.00' });
  }

  for (const [question] of QUESTIONS) {
    const units = fieldOf(question).args.some(({ type }) => String(type) === 'DayUnit!')
      ? (schema.getType('DayUnit') as GraphQLEnumType).getValues().map(({ name }) => name)
      : [undefined];

    for (const by of units) {
      const args = [
        argumentsFor(question),
        ...(by ? [`by: ${by}, firstDay: SATURDAY`] : []),
        ...(isSized(question, 'until') ? ['until: "9999-12-31"'] : []),
      ];
      const { errors, data } = await eve.query(
        `{ q: ${question}(${args.join(', ')}) ${selection(question)} }`,
      );

      expect([question, by, errors]).toEqual([question, by, undefined]);
      expect(data.q === null).toBe(false);
    }
  }
});

const file = async (query: string) =>
  (await ann.send('GET', `/graphql/export.csv?query=${encodeURIComponent(query)}`)).text
    .split('\r\n')
    .slice(0, -1);

test('exports all days unless the range or number of rows is limited', async () => {
  const rows = ['2021-03-08,Squat,116.67', '2021-03-16,Squat,129.83'];
  const header = 'date,exercise.name,oneRepMax';
  const best = (args: string) =>
    file(
      `{ bestOneRepMaxes${args} { ${header.replaceAll(',', ' ').replace('.name', ' { name }')} } }`,
    );

  expect(await best('')).toEqual([header, ...rows]);
  expect(await best('(until: "2021-03-10")')).toEqual([header, rows[0]]);
  expect(await best('(last: 1)')).toEqual([header, rows[1]]);
  expect(await file('{ topFoods { grams } }')).toEqual(['grams', '50.00']);
  expect(await file('{ topFoods(first: 0) { grams } }')).toEqual(['grams']);
});

describe('the range of days of a series', () => {
  const day = (ago: number) => DateTime.now().setZone(TIME_ZONE).minus({ days: ago }).toISODate()!;
  const DAYS = 10_020;
  let dan: Person;
  let trend: (args: string) => Promise<string[]>;

  beforeAll(async () => {
    dan = await fitgraph.user('dan');
    await fitgraph.sql(
      `INSERT INTO "weight_entry" ("user_id", "date", "weight", "unit") SELECT $1, $2::date - n, 80, 'kg' FROM generate_series(-9, $3::int - 10) n`,
      [dan.id, day(0), DAYS],
    );
    trend = async (args) =>
      (await dan.ask(`{ q: bodyWeightTrend${args} { date } }`)).q.map(
        ({ date }: { date: string }) => date,
      );
  });
  const from = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => day(first - index));

  test('ends today and has 90 days by default', async () => {
    expect(await trend('')).toEqual(from(89, 0));
    expect(await trend(`(until: "${day(100)}")`)).toEqual(from(189, 100));
    expect(await trend(`(from: "${day(2)}")`)).toEqual(from(2, 0));
    expect(await trend(`(from: "${day(2)}", until: "${day(-1)}")`)).toEqual(from(2, -1));
  });

  test('has no default start when `last` is given', async () => {
    expect(await trend('(last: 3)')).toEqual(from(2, 0));
    expect(await trend(`(last: 2, until: "${day(200)}")`)).toEqual(from(201, 200));
    expect(await trend(`(last: 9, from: "${day(1)}")`)).toEqual(from(1, 0));
  });

  test('covers whole weeks, months or years by default', async () => {
    const eve = await fitgraph.user('eva');

    await train(
      eve,
      [0, 100, 190, 800].map((ago) => ({ date: day(ago), reps: 5, weight: '50.00' })),
    );
    const bucketStarts = async (by: string) =>
      (await eve.ask(`{ q: trainingVolume(by: ${by}) { bucket { start } sets } }`)).q.map(
        ({ bucket }: any) => bucket.start,
      );
    const startOf = (ago: number, unit: 'week' | 'month' | 'year') =>
      DateTime.fromISO(day(ago)).startOf(unit).toISODate();

    expect(await bucketStarts('DAY')).toEqual([day(0)]);
    expect(await bucketStarts('WEEK')).toEqual([startOf(100, 'week'), startOf(0, 'week')]);
    expect(await bucketStarts('WEEKDAY')).toHaveLength(
      new Set([0, 100].map((ago) => DateTime.fromISO(day(ago)).weekday)).size,
    );
    expect((await bucketStarts('MONTH')).at(-1)).toBe(startOf(0, 'month'));
    expect((await bucketStarts('YEAR'))[0]).toBe(startOf(800, 'year'));
  });

  test('is limited to 10,000 rows, except in an export', async () => {
    const { code, errors } = await dan.query(
      '{ bodyWeightTrend(from: "1980-01-01", until: "2100-01-01") { date } }',
    );
    const message = 'There are more than 10000 rows. Choose a later day or use `last`.';

    expect([code, messagesByPath(errors![0]!)]).toEqual(['BAD_USER_INPUT', { from: [message] }]);
    const { text } = await dan.send(
      'GET',
      `/graphql/export.csv?query=${encodeURIComponent('{ bodyWeightTrend { date } }')}`,
    );

    expect(text.split('\r\n').slice(1, -1)).toEqual(from(DAYS - 10, -9));
  });

  test.each([
    ['bodyWeightTrend(from: "2021-03-02", until: "2021-03-01") { date }', 'until'],
    ['trainingWeeks(from: "9000-01-01") { streak }', 'until'],
    ['trainingLoad(last: 10001) { date }', 'last'],
    ['topFoods(first: 10001) { grams }', 'first'],
    ['plannedExercises(last: -1) { plannedSets }', 'last'],
    ['topFoods(offset: -1) { grams }', 'offset'],
  ])('is rejected with the name of the argument in %s', async (selection, field) => {
    const { code, errors } = await dan.query(`{ ${selection} }`);

    expect([code, Object.keys(messagesByPath(errors![0]!))]).toEqual(['BAD_USER_INPUT', [field]]);
  });

  test('determines the estimated cost', () => {
    const costs = (fieldText: string) => {
      const document = parse(`{ ${fieldText} { date log { reps } } }`);

      return estimateOperationCost(schema, document, getOperationAST(document)!, {}).total;
    };

    const [short, usual, long, most] = [
      '(last: 10)',
      '',
      `(from: "2020-01-01", until: "2022-09-26")`,
      '(from: "0001-01-01")',
    ].map((args) => costs(`personalRecords${args}`)) as [number, number, number, number];
    const row = (usual - short) / 90;

    expect(row).toBeGreaterThan(1);
    expect(long).toBeCloseTo(usual + 900 * row);
    expect(most).toBeCloseTo(usual + 9_900 * row);
  });
});
