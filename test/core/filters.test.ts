/** `where` and `orderBy`. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

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
    await ann.post('/weightentry/', { date, weight });
  const workout = (await ann.post('/workout/', { comment: 'Back' })).body.id;
  await ann.post('/workout/', { comment: 'back' });
  const session = { workout, date: '2021-01-01' };
  await ann.post('/workoutsession/', { ...session, time_start: '18:00:00.5', time_end: '19:00', notes: 'Said "hi"', impression: '3' });
  await ann.post('/workoutsession/', { ...session, date: '2021-01-02' });
  for (const day of [[1, 3], [3], [5]]) await ann.post('/day/', { training: workout, description: `${day}`, day }); // prettier-ignore
  plan = (await ann.post('/nutritionplan/', {})).body.id;
  const eaten = { plan, ingredient: 1, amount: '1' };
  await ann.post('/nutritiondiary/', { ...eaten, datetime: '2021-03-10T08:00:00Z' });
  await ann.post('/nutritiondiary/', { ...eaten, datetime: '2021-03-10T08:00:00+02:00', weight_unit: 1 });
});

/** The values of one field in the rows that match. */
async function matching(type: string, many: string, where: unknown, field: string): Promise<unknown[]> {
  const document = `query ($where: ${type}Where) { page: ${many}(where: $where, orderBy: [{ id: ASC }]) { totalCount nodes { value: ${field} } } }`;
  const { page } = await ann.ask(document, { where });
  expect(page.totalCount).toBe(page.nodes.length);
  return page.nodes.map(({ value }: any) => value);
}

type Case = [string, string, unknown, string, unknown[]];

test.each<Case>([
  ['WeightEntry', 'weightEntries', {}, 'date', ['2021-01-03', '2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', null, 'date', ['2021-01-03', '2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', { date: null }, 'date', ['2021-01-03', '2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', { date: { eq: '2021-01-02' } }, 'date', ['2021-01-02']],
  ['WeightEntry', 'weightEntries', { date: { in: ['2021-01-01', '2021-01-02', '2001-01-01'] } }, 'date', ['2021-01-01', '2021-01-02']],
  ['WeightEntry', 'weightEntries', { date: { in: [] } }, 'date', []],
  ['WeightEntry', 'weightEntries', { weight: { eq: '80.5' } }, 'date', ['2021-01-03', '2021-01-01']],
  ['WeightEntry', 'weightEntries', { weight: { eq: 79 } }, 'date', ['2021-01-02']],
  ['WeightEntry', 'weightEntries', { weight: { eq: '80.5' }, date: { eq: '2021-01-01' } }, 'date', ['2021-01-01']],
  ['WeightEntry', 'weightEntries', { weight: { eq: '1e9999' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { eq: '99999999999999999999' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { eq: 'x' } }, 'date', []],
  ['WeightEntry', 'weightEntries', { id: { in: ['x', '-1', '1.5'] } }, 'date', []],
  ['Workout', 'workouts', { comment: { eq: 'back' } }, 'comment', ['back']],
  ['Workout', 'workouts', { comment: { in: ['back', 'Back'] } }, 'comment', ['Back', 'back']],
  ['Workout', 'workouts', { comment: { eq: 'a\0b' } }, 'comment', []],
  ['Workout', 'workouts', { comment: { in: ['a\0b', 'Back'] } }, 'comment', ['Back']],
  ['WorkoutSession', 'workoutSessions', { timeStart: { eq: '18:00:00.500000' } }, 'timeStart', ['18:00:00.500000']],
  ['WorkoutSession', 'workoutSessions', { timeStart: { eq: null } }, 'date', ['2021-01-02']],
  ['WorkoutSession', 'workoutSessions', { impression: { eq: '3' } }, 'impression', ['3']],
  ['WorkoutSession', 'workoutSessions', { notes: { eq: 'Said "hi"' } }, 'notes', ['Said "hi"']],
  ['TrainingDay', 'trainingDays', { weekdayIds: { in: ['3'] } }, 'description', ['1,3', '3']],
  ['TrainingDay', 'trainingDays', { weekdayIds: { in: ['1', '3'] } }, 'description', ['1,3', '3']],
  ['TrainingDay', 'trainingDays', { weekdayIds: { each: ['1', '3'] } }, 'description', ['1,3', '1,3', '3']],
  ['TrainingDay', 'trainingDays', { weekdayIds: { in: [] } }, 'description', []],
  ['TrainingDay', 'trainingDays', { weekdayIds: { in: ['x'] } }, 'description', []],
  ['DiaryEntry', 'diaryEntries', { datetime: { eq: '2021-03-10T09:00:00+01:00' } }, 'datetime', ['2021-03-10T09:00:00+01:00']],
  ['DiaryEntry', 'diaryEntries', { weightUnitId: { eq: null } }, 'datetime', ['2021-03-10T09:00:00+01:00']],
  ['DiaryEntry', 'diaryEntries', { weightUnitId: { eq: '1' } }, 'datetime', ['2021-03-10T07:00:00+01:00']],
  ['Exercise', 'exercises', { muscleIds: { in: ['1'] } }, 'name', ['Bench press']],
  ['Exercise', 'exercises', { muscleSecondaryIds: { in: ['1'] } }, 'name', ['Squat']],
  ['Exercise', 'exercises', { categoryId: { eq: '2' } }, 'name', ['Squat']],
  ['Exercise', 'exercises', { uuid: { eq: '00000002-0000-4000-8000-000000000003' } }, 'name', ['Plank']],
  ['Exercise', 'exercises', { uuid: { eq: 'x' } }, 'name', []],
  ['Exercise', 'exercises', { status: { eq: '1' } }, 'name', []],
  ['Muscle', 'muscles', { isFront: { eq: false } }, 'name', ['Quadriceps femoris']],
  ['Ingredient', 'ingredients', { energy: { in: [52, 64] } }, 'name', ['Milk', 'Apple']],
])('%s: %s where %j', async (type, many, where, field, expected) => {
  expect(await matching(type, many, where, field)).toEqual(expected);
});

test.each([
  ['{ weightEntries(where: { date: { eq: "2021-02-30" } }) { totalCount } }', 400],
  ['{ weightEntries(where: { date: { eq: "yesterday" } }) { totalCount } }', 400],
  ['{ weightEntries(where: { weight: { eq: "NaN" } }) { totalCount } }', 400],
  ['{ weightEntries(where: { colour: { eq: "red" } }) { totalCount } }', 400],
  ['{ diaryEntries(where: { datetime: { eq: "2021-03-10T08:00:00" } }) { totalCount } }', 400],
  ['{ workoutSessions(where: { timeStart: { eq: "25:00" } }) { totalCount } }', 400],
])('%s is refused before anything runs', async (document, status) => {
  const answer = await ann.query(document);
  expect([answer.status, answer.code]).toEqual([status, 'GRAPHQL_VALIDATION_FAILED']);
});

test.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00'])(
  'a moment at the edge of time, %s',
  async (eq) => {
    const { errors, data } = await ann.query('query ($eq: DateTime) { diaryEntries(where: { datetime: { eq: $eq } }) { totalCount } }', {
      eq,
    });
    if (errors) expect(errors[0]!.extensions.code).toBe('BAD_USER_INPUT');
    else expect(data.diaryEntries.totalCount).toBe(0);
  },
);

describe('orderBy', () => {
  const ordered = async (type: string, many: string, orderBy: unknown, field: string) => {
    const { page } = await ann.ask(`query ($orderBy: [${type}Order!]) { page: ${many}(orderBy: $orderBy) { nodes { value: ${field} } } }`, {
      orderBy,
    });
    return page.nodes.map(({ value }: any) => value);
  };

  test('several fields, each with its direction', async () => {
    expect(await ordered('WeightEntry', 'weightEntries', [{ weight: 'ASC' }, { date: 'DESC' }], 'date')).toEqual([
      '2021-01-02',
      '2021-01-03',
      '2021-01-01',
    ]);
  });

  test('nothing is the default order', async () => {
    for (const orderBy of [null, undefined])
      expect(await ordered('WeightEntry', 'weightEntries', orderBy, 'date')).toEqual(['2021-01-01', '2021-01-02', '2021-01-03']);
  });

  test('a field of the row that a reference names', async () => {
    expect(await ordered('Exercise', 'exercises', [{ language: { fullName: 'ASC' } }, { name: 'DESC' }], 'name')).toEqual([
      'Squat',
      'Plank',
      'Bench press',
    ]);
  });

  test('one field an element', async () => {
    const document = 'query ($orderBy: [WeightEntryOrder!]) { weightEntries(orderBy: $orderBy) { totalCount nodes { id } } }';
    for (const orderBy of [[{}], [{ date: 'ASC', weight: 'ASC' }]])
      expect((await ann.query(document, { orderBy })).errors![0]!.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: { orderBy: ['Each element names exactly one field.'] },
      });
  });
});
