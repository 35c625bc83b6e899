/** Choice fields: enums in GraphQL; stored values or ids in REST. */
import { isEnumType, isNonNullType } from 'graphql';
import { fieldsOf } from '../../../src/engine/declare/fields';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { allEntities } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema, buildRestSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const schema = buildGraphQLSchema();
let ann: Person;
let workoutId: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workoutId = String((await ann.post('/workout/', {})).body.id);
});

const CREATE_SESSION = `mutation ($input: WorkoutSessionInput!) {
  made: createWorkoutSession(input: $input) { workoutSession { id impression } errors { path message } } }`;
const CREATE_LOG = `mutation ($input: WorkoutLogInput!) {
  made: createWorkoutLog(input: $input) { workoutLog { id rir } errors { path message } } }`;

test('exposes every choice field as an enum in GraphQL types, inputs and filters, but not in REST', () => {
  const choices = allEntities().flatMap((entity) =>
    fieldsOf(entity)
      .filter(({ kind }) => kind === 'choice')
      .map((field) => ({ entity, field })),
  );

  expect(choices.length).toBeGreaterThanOrEqual(12);
  const checked = { types: 0, filters: 0 };

  for (const { entity, field } of choices) {
    const type = schema.getType(field.enum!.name);

    expect(isEnumType(type)).toBe(true);

    for (const suffix of ['', 'Input', 'Patch']) {
      const holder: any = schema.getType(`${entity.name}${suffix}`);
      const typeInSchema = holder?.getFields()[field.name]?.type;

      if (!typeInSchema) continue;
      expect(isNonNullType(typeInSchema) ? typeInSchema.ofType : typeInSchema).toBe(type);
      checked.types += 1;
    }

    const where: any = schema.getType(`${entity.name}Where`);

    if (where) {
      expect(String(where.getFields()[field.name].type)).toBe(`${field.enum!.name}Filter`);
      checked.filters += 1;
    }

    expect(isEnumType(buildRestSchema().getType(field.enum!.name))).toBe(false);
  }

  expect(checked.types).toBeGreaterThanOrEqual(26);
  expect(checked.filters).toBeGreaterThanOrEqual(8);
});

test('writes, reads and filters a choice by enum name in GraphQL and by stored value in REST', async () => {
  const { made } = await ann.ask(CREATE_SESSION, {
    input: { workoutId, date: '2021-03-10', impression: 'GOOD' },
  });

  expect(made).toEqual({
    workoutSession: { id: expect.any(String), impression: 'GOOD' },
    errors: [],
  });
  const path = `/workoutsession/${made.workoutSession.id}/`;

  expect((await ann.get(path)).body.impression).toBe('3');
  expect((await ann.patch(path, { impression: '1' })).body.impression).toBe('1');
  const { bad, good, some } = await ann.ask(`{
    bad: workoutSessions(where: { impression: { eq: BAD } }) { nodes { id impression } }
    good: workoutSessions(where: { impression: { in: [GOOD, NEUTRAL] } }) { totalCount }
    some: workoutSession(id: ${made.workoutSession.id}) { impression } }`);

  expect([bad.nodes, good.totalCount, some]).toEqual([
    [{ id: made.workoutSession.id, impression: 'BAD' }],
    0,
    { impression: 'BAD' },
  ]);
});

test('rejects stored values in GraphQL and enum names in REST', async () => {
  const { errors } = await ann.query(CREATE_SESSION, {
    input: { workoutId, date: '2021-03-11', impression: '3' },
  });

  expect(errors![0]!.extensions).toEqual({
    code: 'BAD_USER_INPUT',
    inputErrors: [
      {
        path: ['input', 'impression'],
        message: expect.stringMatching(/"3" does not exist in "WorkoutImpression"/),
      },
    ],
  });
  const rejected = await ann.post('/workoutsession/', {
    workout: Number(workoutId),
    date: '2021-03-11',
    impression: 'GOOD',
  });

  expect([rejected.status, rejected.body]).toEqual([
    400,
    { impression: ['"GOOD" is not a valid choice.'] },
  ]);
});

test('treats a choice left blank in REST as null in GraphQL, also in filters', async () => {
  const log = {
    reps: 1,
    weight: '10',
    date: '2021-03-10',
    exercise: 1,
    workout: Number(workoutId),
  };
  const ids: Record<string, string> = {};

  for (const rir of ['', null, '2.5']) {
    ids[String(rir)] = String((await ann.post('/workoutlog/', { ...log, rir })).body.id);
  }

  expect((await ann.get(`/workoutlog/${ids['']}/`)).body.rir).toBe('');
  const page = (where: object) =>
    ann.ask(
      'query ($where: WorkoutLogWhere) { page: workoutLogs(where: $where, orderBy: [{ id: ASC }]) { nodes { id rir } } }',
      { where },
    );
  const nodes = [
    { id: ids[''], rir: null },
    { id: ids.null, rir: null },
    { id: ids['2.5'], rir: 'RIR_2_5' },
  ];

  expect((await page({})).page.nodes).toEqual(nodes);
  expect((await page({ rir: { isNull: true } })).page.nodes).toEqual(nodes.slice(0, 2));
  expect((await page({ rir: { eq: null } })).page.nodes).toEqual(nodes.slice(0, 2));
  expect((await page({ rir: { isNull: false } })).page.nodes).toEqual(nodes.slice(2));
  expect((await page({ rir: { ne: 'RIR_2_5' } })).page.nodes).toEqual(nodes.slice(0, 2));
  const { made } = await ann.ask(CREATE_LOG, {
    input: { reps: 1, weight: '10', date: '2021-03-10', exerciseId: 1, workoutId, rir: 'RIR_0' },
  });

  expect([
    made.workoutLog.rir,
    (await ann.get(`/workoutlog/${made.workoutLog.id}/`)).body.rir,
  ]).toEqual(['RIR_0', '0']);
});

test('reads and updates choices of the profile by enum name, and accepts null for nullable ones', async () => {
  const { viewer } = await ann.ask(
    '{ viewer { profile { id gender workIntensity sportIntensity unitSystem } } }',
  );

  expect(viewer.profile).toMatchObject({
    gender: 'MALE',
    workIntensity: 'LOW',
    sportIntensity: 'MEDIUM',
    unitSystem: 'METRIC',
  });
  const { update } = await ann.ask(
    `mutation ($input: UserProfilePatch!) { update: updateProfile(input: $input) {
      userProfile { gender workIntensity unitSystem } errors { path } } }`,
    { input: { gender: null, workIntensity: 'HIGH', unitSystem: 'IMPERIAL' } },
  );

  expect(update).toEqual({
    userProfile: { gender: null, workIntensity: 'HIGH', unitSystem: 'IMPERIAL' },
    errors: [],
  });
  const [profile] = (await ann.get('/userprofile/')).body.results;

  expect(profile).toMatchObject({ gender: null, work_intensity: '3', weight_unit: 'lb' });
});

describe('weekdays', () => {
  const DAY = 'trainingDay { id version weekdays } errors { path code }';
  const CREATE = `mutation ($input: TrainingDayInput!) { made: createTrainingDay(input: $input) { ${DAY} } }`;
  const UPDATE = `mutation ($id: ID!, $input: TrainingDayPatch!) { made: updateTrainingDay(id: $id, input: $input) { ${DAY} } }`;
  const input = (weekdays: unknown) => ({ input: { workoutId, name: 'a', weekdays } });
  const createDay = async (weekdays: string[]) =>
    (await ann.ask(CREATE, input(weekdays))).made.trainingDay;

  test('are sorted enum names in GraphQL and ids in REST, and can be filtered by either', async () => {
    const day = await createDay(['SUNDAY', 'MONDAY', 'SUNDAY']);

    expect(day.weekdays).toEqual(['MONDAY', 'SUNDAY']);
    const path = `/day/${day.id}/`;

    expect((await ann.get(path)).body.day).toEqual([1, 7]);
    expect((await ann.patch(path, { day: [3, 2] })).body.day).toEqual([2, 3]);

    const weekdaysWhere = async (where: object) => {
      const { page } = await ann.ask(
        'query ($where: TrainingDayWhere) { page: trainingDays(where: $where) { nodes { weekdays } } }',
        {
          where,
        },
      );

      return page.nodes.map(({ weekdays }: any) => weekdays);
    };

    const days = ['TUESDAY', 'WEDNESDAY'];

    expect(await weekdaysWhere({ weekdays: { in: ['WEDNESDAY', 'SUNDAY'] } })).toEqual([days]);
    expect(await weekdaysWhere({ weekdays: { notIn: ['TUESDAY'] } })).toEqual([]);
    expect((await ann.get('/day/?day=3')).body.results).toMatchObject([
      { id: Number(day.id), day: [2, 3] },
    ]);
    const update = await ann.ask(UPDATE, { id: day.id, input: { weekdays: ['FRIDAY'] } });

    expect(update.made).toMatchObject({
      trainingDay: { id: day.id, weekdays: ['FRIDAY'] },
      errors: [],
    });
    expect(update.made.trainingDay.version).not.toBe(day.version);
    expect((await ann.get(path)).body.day).toEqual([5]);
  });

  test('are rejected with the field name when they are unknown or empty', async () => {
    for (const wrong of ['FUNDAY', '1', 'monday', 1]) {
      const { errors } = await ann.query(CREATE, input(['MONDAY', wrong]));
      const inputErrors = [
        { path: ['input', 'weekdays', '1'], message: expect.stringContaining('"Weekday"') },
      ];

      expect(errors![0]!.extensions).toEqual({ code: 'BAD_USER_INPUT', inputErrors });
      const { code } = await ann.query(
        'query ($days: [Weekday!]) { trainingDays(where: { weekdays: { in: $days } }) { totalCount } }',
        {
          days: [wrong],
        },
      );

      expect(code).toBe('BAD_USER_INPUT');
    }

    expect((await ann.ask(CREATE, input([]))).made).toEqual({
      trainingDay: null,
      errors: [{ path: ['input', 'weekdays'], code: 'EMPTY' }],
    });
  });

  test('without an enum name appear only in REST', async () => {
    const { id } = await createDay(['MONDAY']);

    await fitgraph.sql(`INSERT INTO "day_of_week" ("id", "day_of_week") VALUES (8, 'Funday')`);
    await fitgraph.reference.reload();
    expect((await ann.patch(`/day/${id}/`, { day: [8, 2] })).body.day).toEqual([2, 8]);
    expect(
      await ann.ask('query ($id: ID!) { day: trainingDay(id: $id) { weekdays } }', { id }),
    ).toEqual({
      day: { weekdays: ['TUESDAY'] },
    });
    await fitgraph.sql('DELETE FROM "day_of_week" WHERE "id" = 8');
  });

  test('are part of their training day in the change log', async () => {
    const day = await createDay(['MONDAY']);
    const { changes } = await ann.ask('{ changes { cursor } }');

    await ann.ask(UPDATE, { id: day.id, input: { weekdays: ['SATURDAY'] } });
    const changesAfterUpdate = await ann.ask(
      'query ($since: String!) { changes(since: $since, types: [TRAINING_DAY]) { changes { type operation node { ... on TrainingDay { weekdays } } } } }',
      { since: changes.cursor },
    );

    expect(changesAfterUpdate.changes.changes[0]).toEqual({
      type: 'TRAINING_DAY',
      operation: 'UPDATED',
      node: { weekdays: ['SATURDAY'] },
    });
  });

  test('are rows in REST, but neither a type nor a node in GraphQL', async () => {
    expect(schema.getType('DayOfWeek')).toBeUndefined();
    const { data, errors } = await ann.query(
      'query ($id: ID!) { node(nodeId: $id) { nodeId } nodes(nodeIds: [$id]) { nodeId } }',
      {
        id: nodeIdOf('DayOfWeek', 1),
      },
    );

    expect(data).toEqual({ node: null, nodes: [null] });
    expect(errors).toBeUndefined();
    expect((await ann.get('/daysofweek/1/')).body).toEqual({ id: 1, day_of_week: 'Monday' });
    expect((await ann.get('/daysofweek/?day_of_week=Sunday')).body.results).toEqual([
      { id: 7, day_of_week: 'Sunday' },
    ]);
  });

  test('set the first day of week buckets by enum name', async () => {
    await ann.ask(CREATE_LOG, {
      input: { reps: 1, weight: '10', date: '2022-03-09', exerciseId: 1, workoutId },
    });
    const WEEKS = `query ($day: Weekday!) { workoutLogsGrouped(
      where: { date: { eq: "2022-03-09" } }, groupBy: [{ date: { by: WEEK, firstDay: $day } }]) { keys { dateBucket { start } } } }`;
    const start = async (day: string) =>
      (await ann.ask(WEEKS, { day })).workoutLogsGrouped[0].keys.dateBucket.start;

    expect([await start('MONDAY'), await start('SUNDAY'), await start('THURSDAY')]).toEqual([
      '2022-03-07',
      '2022-03-06',
      '2022-03-03',
    ]);
  });
});

test('an empty choice of REST is sorted as null', async () => {
  const bob = await fitgraph.user('bob');
  const workout = (await bob.post('/workout/', {})).body.id;

  for (const rir of ['2.5', '', null, '0']) {
    await bob.post('/workoutlog/', {
      workout,
      exercise: 1,
      reps: 1,
      weight: '1',
      repetition_unit: 1,
      weight_unit: 1,
      date: '2024-01-01',
      rir,
    });
  }

  const sorted = async (direction: string) =>
    (
      await bob.ask(`{ logs: workoutLogs(orderBy: [{ rir: ${direction} }]) { nodes { rir } } }`)
    ).logs.nodes.map(({ rir }: any) => rir);

  expect(await sorted('ASC')).toEqual(['RIR_0', 'RIR_2_5', null, null]);
  expect(await sorted('DESC')).toEqual([null, null, 'RIR_2_5', 'RIR_0']);
  const byRest = (await bob.get('/workoutlog/?ordering=rir')).body.results.map(
    ({ rir }: any) => rir,
  );

  expect(byRest).toEqual(['', '0', '2.5', null]);
});
