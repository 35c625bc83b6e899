/** Personal records of a user in the order in which they were set. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { BENCH, LB, SECONDS, train, insertTranslation } from '../training-data';

const KNIEBEUGE = 5;
const fitgraph = fitgraphForThisFile();
let ann: Person;
let ids: number[];

beforeAll(async () => {
  [ann] = [
    await fitgraph.user('ann'),
    await train(await fitgraph.user('bob'), [{ reps: 1, weight: '900.00' }]),
  ];
  ids = await train(ann, [
    { date: '2021-03-08', reps: 5, weight: '100.00' },
    // Only the best set of a day is a record.
    { date: '2021-03-10', reps: 5, weight: '102.50' },
    { date: '2021-03-10', reps: 5, weight: '105.00' },
    { date: '2021-03-12', reps: 8, weight: '100.00' },
    // Equalling a value is not a record.
    { date: '2021-03-14', reps: 1, weight: '105.00' },
    { date: '2021-03-15', reps: 2, weight: '240.00', weight_unit: LB },
    { date: '2021-03-15', reps: 90, weight: '200.00', repetition_unit: SECONDS },
    { date: '2021-03-15', reps: 8, weight: '60.00', exercise: BENCH },
  ]);
});

const records = async (args: string) => {
  const { records } = await ann.ask(
    `{ records: personalRecords(${args}${args.startsWith('standing') ? '' : ', last: 100'}) { kind date exercise { name } value previous weight reps log { id } } }`,
  );

  return records;
};

const squats = 'where: { exerciseId: { eq: 1 } }';
const short = (rows: any[]) => rows.map(({ date, value, previous }) => [date, value, previous]);

test.each([
  [
    'WEIGHT',
    [
      ['2021-03-08', '100.00', null],
      ['2021-03-10', '105.00', '100.00'],
      ['2021-03-15', '108.86', '105.00'],
    ],
  ],
  // Estimates: 100 × (1 + 5/30), 105 × (1 + 5/30), 100 × (1 + 8/30).
  [
    'ONE_REP_MAX',
    [
      ['2021-03-08', '116.67', null],
      ['2021-03-10', '122.50', '116.67'],
      ['2021-03-12', '126.67', '122.50'],
    ],
  ],
  ['REPETITIONS', [['2021-03-12', '8', '5']]],
  // The volume on 10 March is 5 × 102.5 + 5 × 105.
  [
    'VOLUME',
    [
      ['2021-03-08', '500.00', null],
      ['2021-03-10', '1037.50', '500.00'],
    ],
  ],
])('lists records of %s', async (kind, expected) => {
  expect(short(await records(`kinds: [${kind}], ${squats}`))).toEqual(expected);
});

test('returns the set of each record', async () => {
  const [first, second] = await records(`kinds: [WEIGHT], ${squats}, unit: LB`);

  expect(first).toEqual({
    ...{
      kind: 'WEIGHT',
      date: '2021-03-08',
      exercise: { name: 'Squat' },
      value: '220.46',
      previous: null,
      weight: '220.46',
      reps: 5,
    },
    log: { id: String(ids[0]) },
  });
  expect(second.log.id).toBe(String(ids[2]));
});

test('lists the standing records of all exercises', async () => {
  expect(
    (await records('standing: true')).map(({ exercise, kind, date, value }: any) => [
      date,
      exercise.name,
      kind,
      value,
    ]),
  ).toEqual([
    ['2021-03-10', 'Squat', 'VOLUME', '1037.50'],
    ['2021-03-12', 'Squat', 'ONE_REP_MAX', '126.67'],
    ['2021-03-12', 'Squat', 'REPETITIONS', '8'],
    ['2021-03-15', 'Squat', 'WEIGHT', '108.86'],
    ['2021-03-15', 'Bench press', 'ONE_REP_MAX', '76.00'],
    ['2021-03-15', 'Bench press', 'VOLUME', '480.00'],
    ['2021-03-15', 'Bench press', 'WEIGHT', '60.00'],
  ]);
});

test('compares with records before `from`', async () => {
  expect(short(await records(`kinds: [WEIGHT], ${squats}, from: "2021-03-11"`))).toEqual([
    ['2021-03-15', '108.86', '105.00'],
  ]);
});

test('merges the logs of all translations of an exercise in every analysis per exercise', async () => {
  await insertTranslation(fitgraph, KNIEBEUGE);
  const carl = await fitgraph.user('carl');
  const logs = await train(carl, [
    { date: '2021-03-08', reps: 1, weight: '100.00' },
    { date: '2021-03-08', reps: 1, weight: '90.00', exercise: KNIEBEUGE },
    { date: '2021-03-09', reps: 1, weight: '95.00', exercise: KNIEBEUGE },
    { date: '2021-03-10', reps: 1, weight: '110.00', exercise: KNIEBEUGE },
  ]);
  const selection = 'exerciseId exercise { id name }';
  const answer = await carl.ask(`{
    records: personalRecords(last: 9, kinds: [WEIGHT]) { date value previous ${selection} }
    best: bestOneRepMaxes(last: 9) { date oneRepMax logId ${selection} }
    volume: trainingVolume(last: 9, by: MONTH, perExercise: true) { sets ${selection} }
    strength { total }
    logs: workoutLogs(orderBy: [{ id: ASC }]) { nodes { intensity } }
    one: personalRecords(last: 9, where: { exerciseId: { eq: 1 } }, kinds: [WEIGHT]) { value exercise { name } }
  }`);
  const squat = { exerciseId: '1', exercise: { id: '1', name: 'Squat' } };

  expect(answer).toEqual({
    records: [
      { date: '2021-03-08', value: '100.00', previous: null, ...squat },
      { date: '2021-03-10', value: '110.00', previous: '100.00', ...squat },
    ],
    best: [
      { date: '2021-03-08', oneRepMax: '100.00', logId: String(logs[0]), ...squat },
      { date: '2021-03-09', oneRepMax: '95.00', logId: String(logs[2]), ...squat },
      { date: '2021-03-10', oneRepMax: '110.00', logId: String(logs[3]), ...squat },
    ],
    volume: [{ sets: 4, ...squat }],
    strength: { total: '110.00' },
    logs: { nodes: ['100.0', '90.0', '95.0', '100.0'].map((intensity) => ({ intensity })) },
    one: [
      { value: '100.00', exercise: { name: 'Squat' } },
      { value: '110.00', exercise: { name: 'Squat' } },
    ],
  });
});

test('does not count an equal estimate from other repetitions as a record', async () => {
  const eve = await fitgraph.user('eve');

  // The estimates of the two sets, 90 × 40/30 and 100 × 36/30, are both 120.
  await train(eve, [
    { date: '2021-03-08', reps: 10, weight: '90.00' },
    { date: '2021-03-09', reps: 6, weight: '100.00' },
  ]);
  const { records } = await eve.ask(
    '{ records: personalRecords(kinds: [ONE_REP_MAX], last: 100) { date value previous } }',
  );

  expect(short(records)).toEqual([['2021-03-08', '120.00', null]]);
});

describe('an analysis below an exercise', () => {
  const SELECTIONS = {
    personalRecords: 'kind date value previous logId exerciseId log { reps }',
    bestOneRepMaxes: 'date oneRepMax logId exercise { name }',
    trainingVolume: 'bucket { start } sets tonnage exercise { id }',
  };
  const fields = (args: string) =>
    Object.entries(SELECTIONS)
      .map(([name, shown]) => `${name}(${args}) { ${shown} }`)
      .join(' ');
  const page = (first: number, args: string) =>
    ann.query(
      `{ exercises(first: ${first}, orderBy: [{ id: ASC }]) { nodes { id ${fields(args)} } } }`,
    );

  test('equals the root field filtered by that exercise', async () => {
    const { exercises } = (await page(10, 'last: 100, unit: LB')).data;

    expect(exercises.nodes.length).toBeGreaterThan(2);

    for (const { id, ...found } of exercises.nodes) {
      const where = `last: 100, where: { exerciseId: { eq: ${id} } }, unit: LB`;
      const { personalRecords, bestOneRepMaxes, trainingVolume } = SELECTIONS;
      const expected = await ann.ask(`{
        personalRecords(${where}) { ${personalRecords} }
        bestOneRepMaxes(${where}) { ${bestOneRepMaxes} }
        trainingVolume(${where}, perExercise: true) { ${trainingVolume} }
      }`);

      expect([id, found]).toEqual([id, expected]);
    }

    expect(exercises.nodes[0].personalRecords.length).toBeGreaterThan(2);
  });

  test('needs as many statements for many exercises as for one', async () => {
    const counts = [];

    for (const first of [1, 10]) counts.push((await page(first, 'last: 100')).statements);
    expect(counts[0]).toBe(counts[1]);
  });

  test('returns the newest rows of each exercise', async () => {
    const { exercises } = (await page(2, 'last: 1')).data;

    expect(
      exercises.nodes.map((node: any) => node.bestOneRepMaxes.map(({ date }: any) => date)),
    ).toEqual([['2021-03-15'], ['2021-03-15']]);
    expect(
      (await page(2, 'unit: KG')).data.exercises.nodes.flatMap((node: any) => node.personalRecords),
    ).toEqual([]);
  });

  test('fails alone for an anonymous client and for a reversed range of days', async () => {
    const queryWith = (args: string) =>
      `{ exercise(id: 1) { name personalRecords${args} { value } } }`;

    for (const [person, args, code] of [
      [fitgraph.anonymous, '', 'UNAUTHENTICATED'],
      [ann, '(from: "2021-03-02", until: "2021-03-01")', 'BAD_USER_INPUT'],
    ] as const) {
      const { data, errors } = await person.query(queryWith(args));

      expect(data).toEqual({ exercise: { name: 'Squat', personalRecords: null } });
      expect(errors!.map(({ path, extensions }) => [path, extensions.code])).toEqual([
        [['exercise', 'personalRecords'], code],
      ]);
    }
  });

  test('exports all days as CSV, but only the default days below another list', async () => {
    const file = async (query: string) =>
      (await ann.send('GET', `/graphql/export.csv?query=${encodeURIComponent(query)}`)).text
        .split('\r\n')
        .slice(0, -1);
    const dates = ['2021-03-08', '2021-03-10', '2021-03-15'];

    expect(await file('{ exercise(id: 1) { personalRecords(kinds: [WEIGHT]) { date } } }')).toEqual(
      ['date', ...dates],
    );
    const nestedFile = await file(
      '{ bestOneRepMaxes { date exercise { personalRecords(kinds: [WEIGHT]) { date } } } }',
    );

    expect(nestedFile).toEqual([
      'date,exercise.personalRecords.date',
      ...['08', '10', '12', '14', '15', '15'].map((day) => `2021-03-${day},""`),
    ]);
  });
});
