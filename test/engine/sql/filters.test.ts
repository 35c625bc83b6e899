/** The `where` and `orderBy` arguments of lists, and time filters of REST. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import type { Person } from '../../setup/person';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let plan: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');

  for (const [date, weight] of [
    ['2021-01-03', '80.50'],
    ['2021-01-01', '80.50'],
    ['2021-01-02', '79'],
  ])
  // prettier-ignore
  {await ann.post('/weightentry/', { date, weight });}

  const workout = (await ann.post('/workout/', { comment: 'Back' })).body.id;

  await ann.post('/workout/', { comment: 'back' });
  const session = { workout, date: '2021-01-01' };

  await ann.post('/workoutsession/', {
    ...session,
    time_start: '18:00:00.5',
    time_end: '19:00',
    notes: 'Said "hi"',
    impression: '3',
  });
  await ann.post('/workoutsession/', { ...session, date: '2021-01-02' });
  // prettier-ignore
  for (const day of [[1, 3], [3], [5]]) await ann.post('/day/', { training: workout, description: `${day}`, day });
  plan = (await ann.post('/nutritionplan/', {})).body.id;
  const eaten = { plan, ingredient: 1, amount: '1' };

  await ann.post('/nutritiondiary/', { ...eaten, datetime: '2021-03-10T08:00:00Z' });
  await ann.post('/nutritiondiary/', {
    ...eaten,
    datetime: '2021-03-10T08:00:00+02:00',
    weight_unit: 1,
  });
});

/** Returns the values of one field in the rows that match. */
async function matchingValues(
  type: string,
  many: string,
  where: unknown,
  field: string,
): Promise<unknown[]> {
  const document = `query ($where: ${type}Where) { page: ${many}(where: $where, orderBy: [{ id: ASC }]) { totalCount nodes { value: ${field} } } }`;
  const { page } = await ann.ask(document, { where });

  expect(page.totalCount).toBe(page.nodes.length);
  return page.nodes.map(({ value }: any) => value);
}

type Case = [string, string, unknown, string, unknown[]];

test.each<Case>([
  ['WeightEntry', 'weightEntries', {}, 'date', ['2021-01-03', '2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', null, 'date', ['2021-01-03', '2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', { date: { eq: '2021-01-02' } }, 'date', ['2021-01-02']],
  [
    'WeightEntry',
    'weightEntries',
    { date: { in: ['2021-01-01', '2021-01-02', '2001-01-01'] } },
    'date',
    ['2021-01-01', '2021-01-02'],
  ],
  ['WeightEntry', 'weightEntries', { date: { in: [] } }, 'date', []],
  [
    'WeightEntry',
    'weightEntries',
    { weight: { eq: '80.5' } },
    'date',
    ['2021-01-03', '2021-01-01'],
  ],
  ['WeightEntry', 'weightEntries', { weight: { eq: 79 } }, 'date', ['2021-01-02']],
  [
    'WeightEntry',
    'weightEntries',
    { weight: { eq: '80.5' }, date: { eq: '2021-01-01' } },
    'date',
    ['2021-01-01'],
  ],
  ['WeightEntry', 'weightEntries', { weight: { eq: '1e9999' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { eq: '99999999999999999999' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { eq: '0' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { in: ['0', '-1', '99999999999'] } }, 'date', []],
  ['Workout', 'workouts', { name: { eq: 'back' } }, 'name', ['back']],
  ['Workout', 'workouts', { name: { in: ['back', 'Back'] } }, 'name', ['Back', 'back']],
  ['Workout', 'workouts', { name: { eq: 'a\0b' } }, 'name', []],
  ['Workout', 'workouts', { name: { in: ['a\0b', 'Back'] } }, 'name', ['Back']],
  [
    'WorkoutSession',
    'workoutSessions',
    { startTime: { eq: '18:00:00.500000' } },
    'startTime',
    ['18:00:00.500000'],
  ],
  ['WorkoutSession', 'workoutSessions', { startTime: { eq: null } }, 'date', ['2021-01-02']],
  ['WorkoutSession', 'workoutSessions', { impression: { eq: 'GOOD' } }, 'impression', ['GOOD']],
  ['WorkoutSession', 'workoutSessions', { notes: { eq: 'Said "hi"' } }, 'notes', ['Said "hi"']],
  ['TrainingDay', 'trainingDays', { weekdays: { in: ['WEDNESDAY'] } }, 'name', ['1,3', '3']],
  [
    'TrainingDay',
    'trainingDays',
    { weekdays: { in: ['MONDAY', 'WEDNESDAY'] } },
    'name',
    ['1,3', '3'],
  ],
  ['TrainingDay', 'trainingDays', { weekdays: { in: [] } }, 'name', []],
  ['TrainingDay', 'trainingDays', { weekdays: { in: ['SUNDAY'] } }, 'name', []],
  ['TrainingDay', 'trainingDays', { weekdays: { notIn: ['MONDAY'] } }, 'name', ['3', '5']],
  [
    'DiaryEntry',
    'diaryEntries',
    { eatenAt: { eq: '2021-03-10T09:00:00+01:00' } },
    'eatenAt',
    ['2021-03-10T08:00:00Z'],
  ],
  [
    'DiaryEntry',
    'diaryEntries',
    { eatenAt: { eq: '2021-03-11T04:00:00+20:00' } },
    'eatenAt',
    ['2021-03-10T08:00:00Z'],
  ],
  [
    'DiaryEntry',
    'diaryEntries',
    { ingredientUnitId: { isNull: true } },
    'eatenAt',
    ['2021-03-10T08:00:00Z'],
  ],
  [
    'DiaryEntry',
    'diaryEntries',
    { ingredientUnitId: { eq: '1' } },
    'eatenAt',
    ['2021-03-10T06:00:00Z'],
  ],
  ['Exercise', 'exercises', { muscleIds: { in: ['1'] } }, 'name', ['Bench press']],
  ['Exercise', 'exercises', { musclesSecondaryIds: { in: ['1'] } }, 'name', ['Squat']],
  ['Exercise', 'exercises', { categoryId: { eq: '2' } }, 'name', ['Squat']],
  [
    'ExerciseTranslation',
    'exerciseTranslations',
    { uuid: { eq: '00000002-0000-4000-8000-000000000003' } },
    'name',
    ['Plank'],
  ],
  ['Exercise', 'exercises', { uuid: { eq: 'x' } }, 'name', []],
  ['Exercise', 'exercises', { status: { eq: 'PENDING' } }, 'name', []],
  ['Exercise', 'exercises', { category: { name: { eq: 'Legs' } } }, 'name', ['Squat']],
  [
    'Exercise',
    'exercises',
    { equipment: { some: { name: { eq: 'Bench' } } } },
    'name',
    ['Bench press'],
  ],
  ['Exercise', 'exercises', { equipment: { none: {} } }, 'name', ['Plank']],
  [
    'Exercise',
    'exercises',
    { equipment: { none: { not: { name: { eq: 'Barbell' } } } } },
    'name',
    ['Squat', 'Plank'],
  ],
  [
    'ExerciseTranslation',
    'exerciseTranslations',
    { comments: { some: { comment: { contains: 'plank' } } } },
    'name',
    ['Plank'],
  ],
  [
    'ExerciseTranslation',
    'exerciseTranslations',
    { exercise: { category: { name: { in: ['Arms', 'Abs'] } } } },
    'name',
    ['Bench press', 'Plank'],
  ],
  ['Exercise', 'exercises', { images: { some: {} } }, 'name', ['Squat']],
  ['Exercise', 'exercises', { name: { contains: 'a\0b' } }, 'name', []],
  [
    'Exercise',
    'exercises',
    { name: { ne: 'a\0b' }, id: { notIn: ['0', '99999999999'] } },
    'name',
    ['Squat', 'Bench press', 'Plank'],
  ],
  ['Exercise', 'exercises', { name: { contains: '%' } }, 'name', []],
  [
    'Exercise',
    'exercises',
    { name: { startsWith: 'b', mode: 'INSENSITIVE' } },
    'name',
    ['Bench press'],
  ],
  [
    'Exercise',
    'exercises',
    { name: { in: ['PLANK', 'squat'], mode: 'INSENSITIVE' } },
    'name',
    ['Squat', 'Plank'],
  ],
  [
    'Exercise',
    'exercises',
    { not: { or: [{ name: { eq: 'Plank' } }, { muscleIds: { in: ['2'] } }] } },
    'name',
    ['Bench press'],
  ],
  // prettier-ignore
  ['Exercise', 'exercises', { and: [], name: {} }, 'name', ['Squat', 'Bench press', 'Plank']],
  ['Exercise', 'exercises', { or: [] }, 'name', []],
  [
    'Exercise',
    'exercises',
    { muscles: { some: { exercises: { some: { name: { eq: 'Not yet accepted' } } } } } },
    'name',
    [],
  ],
  [
    'WorkoutSession',
    'workoutSessions',
    { startTime: { ne: '18:00:00.5' } },
    'date',
    ['2021-01-02'],
  ],
  ['WorkoutSession', 'workoutSessions', { startTime: { isNull: false } }, 'date', ['2021-01-01']],
  ['WeightEntry', 'weightEntries', { weight: { gte: '79', lte: 80 } }, 'date', ['2021-01-02']],
  ['Exercise', 'exercises', { muscles: { some: { isFront: { eq: false } } } }, 'name', ['Squat']],
  ['Ingredient', 'ingredients', { energy: { in: [52, 64] } }, 'name', ['Milk', 'Apple']],
])('filters %s (%s) by %j', async (type, many, where, field, expected) => {
  expect(await matchingValues(type, many, where, field)).toEqual(expected);
});

test.each([
  '{ weightEntries(where: { date: { eq: "2021-02-30" } }) { totalCount } }',
  '{ weightEntries(where: { date: { eq: "yesterday" } }) { totalCount } }',
  '{ weightEntries(where: { weight: { eq: "NaN" } }) { totalCount } }',
  '{ weightEntries(where: { colour: { eq: "red" } }) { totalCount } }',
  '{ diaryEntries(where: { eatenAt: { eq: "2021-03-10T08:00:00" } }) { totalCount } }',
  '{ workoutSessions(where: { startTime: { eq: "25:00" } }) { totalCount } }',
])('rejects %s during validation', async (document) => {
  const answer = await ann.query(document);

  expect([answer.status, answer.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
});

test.each([
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-14:00',
  '0001-01-01T00:00:00+14:00',
  '2021-03-10T08:00:00+24:00',
])('rejects the out-of-range DateTime %s in a condition', async (eq) => {
  const { code } = await ann.query(
    'query ($eq: DateTime) { diaryEntries(where: { eatenAt: { eq: $eq } }) { totalCount } }',
    { eq },
  );

  expect(code).toBe('BAD_USER_INPUT');
});

describe('an invalid condition or order', () => {
  const expectRejection = async (
    type: string,
    many: string,
    where: unknown,
    fields: Record<string, unknown>,
    orderBy?: unknown,
    expected = 200,
  ) => {
    const document = `query ($where: ${type}Where, $orderBy: [${type}Order!]) { page: ${many}(where: $where, orderBy: $orderBy) { totalCount nodes { id } } }`;
    const { status, code, errors } = await ann.query(document, { where, orderBy });

    expect([status, code]).toEqual([expected, 'BAD_USER_INPUT']);
    expect(messagesByPath(errors![0]!)).toEqual(fields);
  };

  const nested = (depth: number, innermost: object = {}): object =>
    depth ? { not: nested(depth - 1, innermost) } : innermost;

  test('is rejected when it has more than 200 conditions at any depth', async () => {
    const message = ['There are more than 200 conditions.'];

    await expectRejection('Exercise', 'exercises', { or: Array(201).fill({}) }, { where: message });
    // prettier-ignore
    await expectRejection('Exercise', 'exercises', { muscles: { some: { and: Array(100).fill({ name: { eq: 'a', ne: 'b' } }) } } }, { where: message });
  });

  test('is rejected when `some` and `none` are nested deeper than 4 levels', async () => {
    const nestedQuantifiers = (kinds: string[]): object => {
      const [kind, ...rest] = kinds;

      return kind
        ? { category: { exercises: { [kind]: nestedQuantifiers(rest) } } }
        : { id: { eq: '1' } };
    };

    const path =
      'where.category.exercises.some.category.exercises.none.category.exercises.none.category.exercises.some';

    await expectRejection(
      'Exercise',
      'exercises',
      nestedQuantifiers(['some', 'none', 'none', 'some', 'none']),
      {
        [`${path}.category.exercises.none`]: ['`some` and `none` are nested deeper than 4 levels.'],
      },
    );
    // A realistic condition stays within the limit.
    const biceps = {
      days: {
        some: {
          setGroups: {
            some: {
              plannedSets: {
                some: { exercise: { muscles: { some: { name: { eq: 'Biceps brachii' } } } } },
              },
            },
          },
        },
      },
    };

    expect(
      await ann.ask('query ($where: WorkoutWhere) { workouts(where: $where) { totalCount } }', {
        where: biceps,
      }),
    ).toEqual({
      workouts: { totalCount: 0 },
    });
  });

  test('is rejected when its variables are nested too deep, whatever the depth', async () => {
    const path = `where${'.not'.repeat(11)}`;

    await expectRejection('Exercise', 'exercises', nested(11), {
      [path]: ['Conditions are nested deeper than 10 levels.'],
    });
    const message = 'Ensure that this is nested no deeper than 64 levels.';

    await expectRejection(
      'Exercise',
      'exercises',
      nested(65),
      { where: [message] },
      undefined,
      400,
    );
    const query = 'query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }';

    const sendNested = async (levels: number) => {
      const text = `${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`;
      const answer = await ann.send(
        'POST',
        '/graphql',
        `{"query":${JSON.stringify(query)},"variables":{"where":${text}}}`,
      );

      return [answer.status, answer.body.errors[0]];
    };

    expect(await sendNested(90)).toMatchObject([
      200,
      { extensions: { code: 'BAD_USER_INPUT', inputErrors: [{ path: ['where'], message }] } },
    ]);
    // A request body of more than 100 levels is not parsed at all.
    expect(await sendNested(100_000)).toMatchObject([
      400,
      { extensions: { code: 'BAD_REQUEST' }, message: expect.stringContaining('100 levels') },
    ]);
  });

  test('is rejected when it is nested too deep in the text of an operation', async () => {
    const nested = (levels: number) =>
      ann.query(
        `{ exercises(where: ${'{not:'.repeat(levels)}{}${'}'.repeat(levels)}) { totalCount } }`,
      );
    const deep = await nested(150);

    expect([deep.status, deep.code]).toEqual([200, 'BAD_USER_INPUT']);
    expect(deep.text).toContain('Conditions are nested deeper than 10 levels.');
    const deeper = await nested(400);

    expect([deeper.status, deeper.code]).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
    expect(deeper.errors![0]!.message).toContain('nested deeper');
  });

  test.each<[where: object, path: string]>([
    [{ name: null }, 'name'],
    [{ name: { in: null } }, 'name.in'],
    [{ name: { contains: null } }, 'name.contains'],
    [{ name: { isNull: null } }, 'name.isNull'],
    [{ name: { eq: 'a', mode: null } }, 'name.mode'],
    [{ muscleIds: { in: null } }, 'muscleIds.in'],
    [{ muscleIds: { notIn: null } }, 'muscleIds.notIn'],
    [{ category: null }, 'category'],
    [{ category: { name: { startsWith: null } } }, 'category.name.startsWith'],
    [{ muscles: null }, 'muscles'],
    [{ muscles: { some: null } }, 'muscles.some'],
    [{ muscles: { none: null } }, 'muscles.none'],
    [{ not: null }, 'not'],
    [{ or: null }, 'or'],
    [{ and: [{ name: { endsWith: null } }] }, 'and.0.name.endsWith'],
  ])('is rejected where %j contains null, which would match all rows', async (where, path) => {
    await expectRejection('Exercise', 'exercises', where, {
      [`where.${path}`]: ['Must not be null. Omit it for no condition.'],
    });
  });

  test('is rejected when a search text is longer than 200 characters', () =>
    expectRejection(
      'ExerciseTranslation',
      'exerciseTranslations',
      { name: { search: 'ä'.repeat(201) } },
      { 'where.name.search': ['Ensure this value has no more than 200 characters.'] },
    ));

  test('is rejected when `relevance` has no search or the order is too long', async () => {
    const none = ['`relevance` requires a `search` in `where`.'];

    await expectRejection('ExerciseTranslation', 'exerciseTranslations', {}, { orderBy: none }, [
      { relevance: 'DESC' },
    ]);
    await expectRejection(
      'ExerciseTranslation',
      'exerciseTranslations',
      { not: { name: { search: 'x' } } },
      { orderBy: none },
      [{ relevance: 'DESC' }],
    );
    const other = ['`relevance` applies only to the listed rows themselves.'];

    await expectRejection(
      'ExerciseComment',
      'exerciseComments',
      { comment: { contains: 'x' } },
      { 'orderBy.0': other },
      [{ translation: { relevance: 'DESC' } }],
    );
    const long = { orderBy: ['Ensure this list has no more than 50 elements.'] };

    await expectRejection('Exercise', 'exercises', {}, long, Array(51).fill({ id: 'ASC' }));
  });

  test.each([
    ['Exercise', { uuid: { isNil: true } }],
    ['Exercise', { muscles: { some: { isFront: { in: [true] } } } }],
    ['Exercise', { status: { contains: '2' } }],
    ['Exercise', { id: { lt: '2' } }],
    ['Exercise', { muscles: { some: { imageUrlMain: { eq: 'x' } } } }],
  ])('is rejected when its field or operator does not exist: %s %j', async (type, where) => {
    // prettier-ignore
    const { status, code } = await ann.query(`query ($where: ${type}Where) { ${resourceOf(findEntity(type)!)!.pluralName}(where: $where) { totalCount } }`, { where });

    expect([status, code]).toEqual([400, 'BAD_USER_INPUT']);
  });
});

describe('a search in `where`', () => {
  const names = async (search: string, more: Record<string, unknown> = {}, orderBy?: unknown) => {
    const document = `query ($where: IngredientWhere, $orderBy: [IngredientOrder!]) { page: ingredients(where: $where, orderBy: $orderBy) { totalCount nodes { name } } }`;
    const { page } = await ann.ask(document, { where: { name: { search }, ...more }, orderBy });

    expect(page.totalCount).toBe(page.nodes.length);
    return page.nodes.map(({ name }: any) => name);
  };

  beforeAll(async () => {
    for (const [name, brand] of [
      ['Greek yoghurt', null],
      ['Yoghurt', 'Alp'],
      ['Frozen yoghurt with cherries', 'Berg'],
      ['Yogurt drink', 'Alp'],
      ['100% cocoa', null],
    ]) {
      await fitgraph.sql(
        `INSERT INTO "ingredient" ("name", "brand", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
         VALUES ($1, $2, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2')`,
        [name, brand],
      );
    }
  });

  test.each<[string, string[]]>([
    ['yoghurt', ['Yoghurt', 'Greek yoghurt', 'Frozen yoghurt with cherries']],
    ['YOGHURT', ['Yoghurt', 'Greek yoghurt', 'Frozen yoghurt with cherries']],
    ['yoghrt', ['Yoghurt', 'Greek yoghurt', 'Frozen yoghurt with cherries']],
    ['yoghurt greek', ['Greek yoghurt']],
    ['oghur', ['Yoghurt', 'Greek yoghurt', 'Frozen yoghurt with cherries']],
    ['0%', ['100% cocoa']],
    ['_', []],
    ['zzzz', []],
    ['a\0b', []],
  ])('for %j returns the best matches first', async (text, expected) => {
    const found = await names(text);

    expect(found.slice(0, expected.length)).toEqual(expected);
    if (!expected.length) expect(found).toEqual([]);
  });

  test('is ordered by an explicit orderBy, or by ascending relevance on request', async () => {
    expect((await names('yoghurt', {}, [{ name: 'ASC' }]))[0]).toBe('Frozen yoghurt with cherries');
    const upwards = await names('yoghurt', {}, [{ relevance: 'ASC' }]);

    expect(upwards).toEqual((await names('yoghurt')).reverse());
  });

  test('over several fields ranks by the sum of their relevances', async () => {
    expect(await names('yoghurt', { brand: { search: 'berg' } })).toEqual([
      'Frozen yoghurt with cherries',
    ]);
    expect(await names('yo', { brand: { search: 'alp' } })).toEqual(['Yoghurt', 'Yogurt drink']);
  });

  test('inside other conditions filters without ranking', async () => {
    const { page } = await ann.ask(
      '{ page: ingredients(where: { or: [{ name: { search: "oats" } }, { brand: { search: "ALP" } }] }) { nodes { name } } }',
    );

    expect(page.nodes.map(({ name }: any) => name)).toEqual(['Oats', 'Yoghurt', 'Yogurt drink']);
    const { units } = await ann.ask(
      '{ units: ingredientUnits(where: { ingredient: { name: { search: "mlk" } } }) { totalCount } }',
    );

    expect(units.totalCount).toBe(0);
  });

  test('rejects a cursor of another search', async () => {
    // prettier-ignore
    const document = 'query ($text: String!, $after: String) { page: ingredients(first: 1, after: $after, where: { name: { search: $text } }) { nodes { name } pageInfo { endCursor } } }';
    const after = (await ann.ask(document, { text: 'yoghurt' })).page.pageInfo.endCursor;

    expect((await ann.ask(document, { text: 'yoghurt', after })).page.nodes).toEqual([
      { name: 'Greek yoghurt' },
    ]);
    const { errors } = await ann.query(document, { text: 'cocoa', after });

    expect(errors![0]!.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      inputErrors: [
        { path: ['after'], message: 'This cursor belongs to a different order or search.' },
      ],
    });
  });
});

describe('orderBy', () => {
  const ordered = async (type: string, many: string, orderBy: unknown, field: string) => {
    const { page } = await ann.ask(
      `query ($orderBy: [${type}Order!]) { page: ${many}(orderBy: $orderBy) { nodes { value: ${field} } } }`,
      {
        orderBy,
      },
    );

    return page.nodes.map(({ value }: any) => value);
  };

  test('sorts by several fields, each with its direction', async () => {
    expect(
      await ordered('WeightEntry', 'weightEntries', [{ weight: 'ASC' }, { date: 'DESC' }], 'date'),
    ).toEqual(['2021-01-02', '2021-01-03', '2021-01-01']);
  });

  test('uses the default order when it is null or omitted', async () => {
    for (const orderBy of [null, undefined]) {
      expect(await ordered('WeightEntry', 'weightEntries', orderBy, 'date')).toEqual([
        '2021-01-01',
        '2021-01-02',
        '2021-01-03',
      ]);
    }
  });

  test('sorts by a referenced row', async () => {
    expect(
      await ordered(
        'ExerciseTranslation',
        'exerciseTranslations',
        [{ language: 'ASC' }, { name: 'DESC' }],
        'name',
      ),
    ).toEqual(['Squat', 'Plank', 'Bench press']);
  });

  test('requires exactly one field per element', async () => {
    const document =
      'query ($orderBy: [WeightEntryOrder!]) { weightEntries(orderBy: $orderBy) { totalCount nodes { id } } }';

    for (const orderBy of [[{}], [{ date: null }], [{ date: 'ASC', weight: 'ASC' }]]) {
      expect((await ann.query(document, { orderBy })).errors![0]!.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        inputErrors: [
          {
            path: ['orderBy', '0'],
            message: 'Exactly one field of WeightEntryOrder must be given, and not null.',
          },
        ],
      });
    }

    expect(
      (await ann.query('{ weightEntries(orderBy: [{ date: ASC, weight: ASC }]) { totalCount } }'))
        .code,
    ).toBe('GRAPHQL_VALIDATION_FAILED');
    const { __type: type } = await ann.ask('{ __type(name: "WeightEntryOrder") { isOneOf } }');

    expect(type.isOneOf).toBe(true);
  });
});

describe('a time in a REST query', () => {
  const countWithStartTime = async (time: string) =>
    (await ann.get(`/workoutsession/?time_start=${encodeURIComponent(time)}`)).body.count;

  test.each(['18:00:00.5', '18:0:0.500', ' 18:00:00.500000 '])(
    'matches the stored time when written as %j',
    async (time) => {
      expect(await countWithStartTime(time)).toBe(1);
    },
  );

  test.each(['18:00', '18:00:00', '18:00:00.500001', '0:00', '23:59:59.999999'])(
    'does not match the stored time when it is %j',
    async (time) => {
      expect(await countWithStartTime(time)).toBe(0);
    },
  );

  test.each([
    '24:00',
    '24:00:00',
    '18:60',
    '18:00:60',
    '18',
    '18:00:00.',
    '18:00:00.5000001',
    '6 pm',
    ' ',
  ])('is rejected when it is %j', async (time) => {
    const answer = await ann.get(`/workoutsession/?time_start=${encodeURIComponent(time)}`);

    expect([answer.status, answer.body]).toEqual([400, { time_start: ['Enter a valid time.'] }]);
  });
});
