/** Weights in kilograms, converted from the unit in which they were entered. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const KG = 1;
const LB = 2;
let ann: Person;
let workout: number;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workout = (await ann.post('/workout/', { comment: '' })).body.id;
  // Units that are not units of mass.
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight'), (4, 'Plates') ON CONFLICT DO NOTHING`,
  );
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (2, 'lb') ON CONFLICT DO NOTHING`,
  );
  await fitgraph.reference.reload();
});

const units = async (unit: string) => {
  const { viewer } = await ann.ask('{ viewer { profile { id } } }');

  expect(
    (await ann.patch(`/userprofile/${viewer.profile.id}/`, { weight_unit: unit })).status,
  ).toBe(200);
};

const weights = async () =>
  (
    await ann.ask(
      '{ weightEntries(orderBy: [{ date: ASC }]) { nodes { date weight unit weightKg } } }',
    )
  ).weightEntries.nodes;
const numbers = async () =>
  (await ann.get('/weightentry/?ordering=date')).body.results.map(
    ({ weight }: { weight: string }) => weight,
  ) as string[];

describe('a body weight', () => {
  beforeEach(async () => {
    await fitgraph.sql('DELETE FROM "weight_entry"');
    await units('kg');
  });

  test('keeps the unit in which it was logged when the profile changes', async () => {
    await ann.post('/weightentry/', { date: '2021-01-01', weight: '77.40' });
    const [before] = await weights();

    expect(before).toEqual({ date: '2021-01-01', weight: '77.40', unit: 'KG', weightKg: '77.400' });
    await units('lb');
    await ann.post('/weightentry/', { date: '2021-01-02', weight: '177.50' });
    expect(await weights()).toEqual([
      before,
      { date: '2021-01-02', weight: '177.50', unit: 'LB', weightKg: '80.513' },
    ]);
    await units('kg');
    expect((await weights()).map(({ unit }: { unit: string }) => unit)).toEqual(['KG', 'LB']);
    // REST returns the numbers as they were logged.
    expect(await numbers()).toEqual(['77.40', '177.50']);
    const heavy = await ann.ask(
      '{ weightEntries(where: { weightKg: { gt: "80" }, unit: { eq: LB } }) { totalCount nodes { date } } }',
    );

    expect(heavy.weightEntries).toEqual({ totalCount: 1, nodes: [{ date: '2021-01-02' }] });
  });

  test('keeps its unit on a REST update, also when its number changes', async () => {
    const { id } = (await ann.post('/weightentry/', { date: '2021-01-01', weight: '80.00' })).body;

    await units('lb');
    await ann.patch(`/weightentry/${id}/`, { date: '2021-01-03' });
    await ann.put(`/weightentry/${id}/`, { date: '2021-01-04', weight: '80' });
    expect(await weights()).toMatchObject([{ date: '2021-01-04', weight: '80.00', unit: 'KG' }]);
    await ann.patch(`/weightentry/${id}/`, { weight: '80.20' });
    expect(await weights()).toMatchObject([{ weight: '80.20', unit: 'KG' }]);
  });

  test('has the unit given over GraphQL, or else the unit of the profile', async () => {
    await units('lb');
    const CREATE = `mutation ($input: WeightEntryInput!) { createWeightEntry(input: $input) { weightEntry { id unit weightKg } errors { path } } }`;
    const createEntry = async (input: object) =>
      (await ann.ask(CREATE, { input })).createWeightEntry.weightEntry;

    expect(await createEntry({ date: '2021-01-01', weight: '80', unit: 'KG' })).toMatchObject({
      unit: 'KG',
      weightKg: '80.000',
    });
    expect(await createEntry({ date: '2021-01-02', weight: '80' })).toMatchObject({
      unit: 'LB',
      weightKg: '36.287',
    });
    const { id } = await createEntry({ date: '2021-01-03', weight: '80', unit: null });
    const UPDATE = `mutation ($id: ID!, $input: WeightEntryPatch!) { updateWeightEntry(id: $id, input: $input) { weightEntry { weight unit } errors { path } } }`;
    const updateEntry = async (input: object) =>
      (await ann.ask(UPDATE, { id, input })).updateWeightEntry.weightEntry;

    expect(await updateEntry({ unit: 'KG' })).toEqual({ weight: '80.00', unit: 'KG' });
    expect(await updateEntry({ date: '2021-02-03' })).toEqual({ weight: '80.00', unit: 'KG' });
    expect(await updateEntry({ weight: '81', unit: 'KG' })).toEqual({
      weight: '81.00',
      unit: 'KG',
    });
    // The profile is in pounds.
    expect(await updateEntry({ weight: '80.40' })).toEqual({ weight: '80.40', unit: 'KG' });
    expect(await updateEntry({ weight: '80.50', unit: null })).toEqual({
      weight: '80.50',
      unit: 'KG',
    });
    const MANY = `mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) { weightEntries { unit } errors { path } } }`;
    const many = await ann.ask(MANY, {
      inputs: [
        { date: '2021-03-01', weight: '80', unit: 'KG' },
        { date: '2021-03-02', weight: '176' },
      ],
    });

    expect(many.createWeightEntries.weightEntries).toEqual([{ unit: 'KG' }, { unit: 'LB' }]);
  });

  test('is converted from its own unit in analyses', async () => {
    await ann.post('/weightentry/', { date: '2021-01-01', weight: '80' });
    await units('lb');
    const { trend } = await ann.ask('{ trend: bodyWeightTrend(last: 1, unit: KG) { weight } }');

    expect(trend).toEqual([{ weight: '80.00' }]);
  });
});

/** Conversions, rounded half up to three decimals: 0.01 lb = 0.0045… kg, 100 lb = 45.359237 kg. */
const CASES: [weight: string, unit: number, weightKg: string | null][] = [
  ['100.00', KG, '100.000'],
  ['100.00', LB, '45.359'],
  ['0.01', LB, '0.005'],
  ['999.99', LB, '453.588'],
  ['0.00', LB, '0.000'],
  ['5.00', 3, null],
  ['5.00', 4, null],
];

test.each(CASES)('converts a log of %s in unit %i to %s kg', async (weight, unit, weightKg) => {
  const body = { reps: 1, weight, date: '2021-01-01', exercise: 1, workout, weight_unit: unit };
  const { body: log, status } = await ann.post('/workoutlog/', body);

  expect(status).toBe(201);
  expect(
    (
      await ann.ask('query ($id: ID!) { row: workoutLog(id: $id) { weight weightKg } }', {
        id: log.id,
      })
    ).row,
  ).toEqual({
    weight,
    weightKg,
  });
  expect(Object.keys(log)).not.toContain('weight_kg');
});

test('orders and pages logs by mass, logs without a mass last', async () => {
  const page = async (args: string) =>
    (
      await ann.ask(
        `{ page: workoutLogs(orderBy: [{ weightKg: DESC_NULLS_LAST }], ${args}) { nodes { weightKg } pageInfo { endCursor hasNextPage } } }`,
      )
    ).page;
  const all = await page('first: 100');
  const sorted = CASES.map(([, , weightKg]) => weightKg).sort(
    (a, b) => Number(b ?? -1) - Number(a ?? -1),
  );

  expect(all.nodes.map(({ weightKg }: { weightKg: string }) => weightKg)).toEqual(sorted);
  const seen: (string | null)[] = [];

  for (let after = ''; ;) {
    const { nodes, pageInfo } = await page(`first: 2${after && `, after: "${after}"`}`);

    seen.push(...nodes.map(({ weightKg }: { weightKg: string | null }) => weightKg));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }

  expect(seen).toEqual(sorted);
});

test('converts the target weight of a planned set, or returns null without one', async () => {
  const day = (await ann.post('/day/', { training: workout, description: 'Legs', day: [1] })).body
    .id;
  const set = (await ann.post('/set/', { exerciseday: day, sets: 1 })).body.id;

  for (const weight of ['45.00', null]) {
    await ann.post('/setting/', { set, exercise: 1, reps: 5, weight, weight_unit: LB });
  }

  const { plannedSets } = await ann.ask(
    '{ plannedSets(orderBy: [{ id: ASC }]) { nodes { weight: targetWeight weightKg: targetWeightKg } } }',
  );

  expect(plannedSets.nodes).toEqual([
    { weight: '45.00', weightKg: '20.412' },
    { weight: null, weightKg: null },
  ]);
});

describe('a set without a weight unit', () => {
  afterAll(() => units('kg'));

  test('takes the unit of the profile over GraphQL, and kg over REST', async () => {
    const logged = `mutation ($workout: ID!) {
      made: createWorkoutLog(input: { workoutId: $workout, exerciseId: 1, date: "2021-05-01", reps: 5, weight: "100" }) {
        workoutLog { weightUnitId repetitionUnitId weightKg } } }`;
    const planned = `mutation {
      made: createWorkout(input: { days: [{ name: "a", weekdays: [MONDAY], setGroups: [{ plannedSets: [
        { exerciseId: 1, reps: 5, targetWeight: "100" }, { exerciseId: 1, reps: 5, targetWeight: "100", weightUnitId: ${KG} }] }] }] }) {
        workout { days { setGroups { plannedSets { weightUnitId } } } } } }`;

    for (const [unit, id, weightKg] of [
      ['kg', KG, '100.000'],
      ['lb', LB, '45.359'],
    ] as const) {
      await units(unit);
      const log = (await ann.ask(logged, { workout: String(workout) })).made.workoutLog;

      expect(log).toEqual({ weightUnitId: String(id), repetitionUnitId: '1', weightKg });
      const [group] = (await ann.ask(planned)).made.workout.days[0].setGroups;

      expect(group.plannedSets).toEqual([
        { weightUnitId: String(id) },
        { weightUnitId: String(KG) },
      ]);
      const { body } = await ann.post('/workoutlog/', {
        workout,
        exercise: 1,
        date: '2021-05-01',
        reps: 5,
        weight: '100',
      });

      expect(body).toMatchObject({ weight_unit: KG, repetition_unit: 1 });
    }
  });

  test('is rejected when the unit is null', async () => {
    const { made } = await ann.ask(
      `mutation ($workout: ID!) {
        made: createWorkoutLog(input: { workoutId: $workout, exerciseId: 1, date: "2021-05-01", reps: 5, weight: "1", weightUnitId: null }) {
          errors { path message } } }`,
      { workout: String(workout) },
    );

    expect(made.errors).toEqual([
      { path: ['input', 'weightUnitId'], message: 'This field may not be null.' },
    ]);
  });
});

const BODY_WEIGHT = 3;
const PLATES = 4;

describe('a set in the unit Body Weight', () => {
  beforeEach(async () => {
    await fitgraph.sql('DELETE FROM "workout_log"');
    await fitgraph.sql('DELETE FROM "weight_entry"');
    await units('kg');
    await ann.post('/weightentry/', { date: '2021-01-01', weight: '80.00' });
  });

  const LOG = 'massUnit version oneRepMax intensity';
  const logs = async () =>
    (await ann.ask(`{ workoutLogs(orderBy: [{ id: ASC }]) { nodes { ${LOG} } } }`)).workoutLogs
      .nodes;
  const createLog = async (input: object) =>
    (
      await ann.ask(
        `mutation ($input: WorkoutLogInput!) { createWorkoutLog(input: $input) { workoutLog { id massUnit weightUnitId } errors { path message } } }`,
        {
          input: {
            exerciseId: 1,
            workoutId: workout,
            date: '2021-01-01',
            reps: 5,
            weight: '20',
            weightUnitId: BODY_WEIGHT,
            ...input,
          },
        },
      )
    ).createWorkoutLog;
  const updateLog = async (id: string, input: object) =>
    (
      await ann.ask(
        `mutation ($id: ID!, $input: WorkoutLogPatch!) { updateWorkoutLog(id: $id, input: $input) { workoutLog { weight massUnit } errors { path message } } }`,
        { id, input },
      )
    ).updateWorkoutLog;

  test('keeps its mass, version and formulas when the profile changes', async () => {
    await createLog({});
    await units('lb');
    await ann.post('/workoutlog/', {
      reps: 5,
      weight: '44',
      date: '2021-01-01',
      exercise: 1,
      workout,
      weight_unit: BODY_WEIGHT,
    });
    const inPounds = await logs();

    expect(inPounds.map(({ massUnit }: { massUnit: string }) => massUnit)).toEqual(['KG', 'LB']);
    await units('kg');
    expect(await logs()).toEqual(inPounds);
  });

  test('has a unit of mass of its own, unlike other weight units', async () => {
    const { workoutLog } = await createLog({ massUnit: 'LB' });

    expect(workoutLog.massUnit).toBe('LB');
    const { id } = workoutLog;

    expect((await updateLog(id, { weight: '25' })).workoutLog.massUnit).toBe('LB');
    expect((await updateLog(id, { massUnit: null })).workoutLog.massUnit).toBe('LB');
    expect((await updateLog(id, { massUnit: 'KG' })).workoutLog.massUnit).toBe('KG');
    expect((await updateLog(id, { weightUnitId: LB })).workoutLog.massUnit).toBe('LB');
    expect((await updateLog(id, { weightUnitId: BODY_WEIGHT })).workoutLog.massUnit).toBe('LB');
    expect((await updateLog(id, { weightUnitId: PLATES })).workoutLog.massUnit).toBeNull();
    expect((await updateLog(id, { weightUnitId: KG })).workoutLog.massUnit).toBe('KG');
    const rejection = [
      {
        path: ['input', 'massUnit'],
        message: 'The weight unit has another unit of mass.',
      },
    ];

    expect((await createLog({ massUnit: 'LB', weightUnitId: undefined })).workoutLog).toMatchObject(
      {
        massUnit: 'LB',
        weightUnitId: String(LB),
      },
    );
    expect((await createLog({ massUnit: 'LB', weightUnitId: KG })).errors).toEqual(rejection);
    expect((await createLog({ massUnit: 'LB', weightUnitId: PLATES })).errors).toEqual(rejection);
    expect((await updateLog(id, { massUnit: 'LB' })).errors).toEqual(rejection);
  });
});
