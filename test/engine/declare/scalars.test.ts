/**
 * Decimals, times and moments in GraphQL: the accepted notations and the returned one, as
 * docs/scalars.md describes them.
 */
import { exporterOf } from '../../graphql/export/exported';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let planId: string;
let workoutId: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  planId = (await ann.post('/nutritionplan/', { language: 2 })).body.id;
  workoutId = (await ann.post('/workout/', {})).body.id;
});

const createDiaryEntry = (values: object) =>
  ann.query(
    'mutation ($input: DiaryEntryInput!) { made: createDiaryEntry(input: $input) { diaryEntry { id amount eatenAt } errors { path } } }',
    { input: { planId, ingredientId: 1, amount: '1', ...values } },
  );

const createSession = (date: string, startTime: string) =>
  ann.query(
    'mutation ($input: WorkoutSessionInput!) { made: createWorkoutSession(input: $input) { workoutSession { startTime } errors { path } } }',
    { input: { workoutId, date, startTime, endTime: '23:59:59.999999' } },
  );

test('moments before standard time, whose offsets had seconds, stay the same and can be cursors', async () => {
  const bob = await fitgraph.user('bob');
  const plan = (await bob.post('/nutritionplan/', { language: 2 })).body.id;
  const times = [
    '1890-01-01T12:00:00+00:00',
    '1890-01-01T12:00:10.500000+00:00',
    '1890-01-01T12:00:20+00:00',
    '2021-06-01T12:00:00+02:00',
  ];

  for (const datetime of times) {
    expect(
      (await bob.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime })).status,
    ).toBe(201);
  }

  expect(
    (await bob.get('/nutritiondiary/?ordering=datetime')).body.results.map(
      ({ datetime }: { datetime: string }) => datetime,
    ),
  ).toEqual(times);
  const page =
    'query ($after: String) { diaryEntries(orderBy: [{ eatenAt: ASC }], first: 1, after: $after) { nodes { eatenAt } pageInfo { endCursor } } }';
  const found: string[] = [];
  let after: string | null = null;

  for (const _ of times) {
    const { diaryEntries }: Record<string, any> = await bob.ask(page, { after });

    found.push(...diaryEntries.nodes.map(({ eatenAt }: { eatenAt: string }) => eatenAt));
    after = diaryEntries.pageInfo.endCursor;
  }

  expect(found).toEqual([
    '1890-01-01T12:00:00Z',
    '1890-01-01T12:00:10.500000Z',
    '1890-01-01T12:00:20Z',
    '2021-06-01T10:00:00Z',
  ]);
});

test('a moment is in UTC in lists, groups, changes and files, and in the zone of the server in REST', async () => {
  const eve = await fitgraph.user('eve');
  const file = exporterOf(fitgraph.url);
  const { cursor } = (await eve.ask('{ changes { cursor } }')).changes;
  const plan = (await eve.post('/nutritionplan/', { language: 2 })).body.id;
  const { body: entry } = await eve.post('/nutritiondiary/', {
    plan,
    ingredient: 1,
    amount: 1,
    datetime: '2021-06-01T12:00:00.25+02:00',
  });
  const moment = '2021-06-01T10:00:00.250000Z';

  expect(entry.datetime).toBe('2021-06-01T12:00:00.250000+02:00');
  const { list, groups, changes, rateLimit } = await eve.ask(
    `query ($since: String) {
      list: diaryEntries { nodes { eatenAt } }
      groups: diaryEntriesGrouped(groupBy: [{ field: EATEN_AT }, { eatenAt: { by: DAY } }]) {
        max { eatenAt } keys { eatenAt eatenAtBucket { start end } }
      }
      changes(since: $since) { changes { occurredAt node { ... on DiaryEntry { eatenAt } } } }
      rateLimit { resetAt }
    }`,
    { since: cursor },
  );

  expect(list).toEqual({ nodes: [{ eatenAt: moment }] });
  expect(groups).toEqual([
    {
      max: { eatenAt: moment },
      keys: {
        eatenAt: moment,
        eatenAtBucket: { start: '2021-05-31T22:00:00Z', end: '2021-06-01T22:00:00Z' },
      },
    },
  ]);
  expect(changes.changes).toContainEqual({
    occurredAt: expect.stringMatching(/^[\d-]{10}T[\d:]{8}\.\d{6}Z$/),
    node: { eatenAt: moment },
  });
  expect(rateLimit?.resetAt ?? '').toMatch(/^([\d-]{10}T[\d:]{8}(\.\d{6})?Z)?$/);

  const query = '{ diaryEntries { nodes { eatenAt } } }';

  expect((await file(eve, { query })).records).toEqual([['eatenAt'], [moment]]);
  expect((await file(eve, { query }, 'jsonl')).rows).toEqual([{ eatenAt: moment }]);
});

test.each([
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00.1234567Z', '2026-01-01T00:00:00.123456Z'],
  ['2026-01-01T00:00:00.999999999Z', '2026-01-01T00:00:00.999999Z'],
  ['2026-01-01t00:00:00z', '2026-01-01T00:00:00Z'],
  ['2026-01-01t00:00:00.5+01:00', '2025-12-31T23:00:00.500000Z'],
  ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00.0-23:59', '2026-01-01T23:59:00Z'],
  ['2026-01-01T00:00+0100', '2025-12-31T23:00:00Z'],
  ['2025-12-31T24:00:00Z', '2026-01-01T00:00:00Z'],
])('the moment %s is accepted', async (eatenAt, shown) => {
  const { data } = await createDiaryEntry({ eatenAt });

  expect(data!.made).toEqual({
    diaryEntry: expect.objectContaining({ eatenAt: shown }),
    errors: [],
  });
});

test.each([
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-06-30T23:59:60Z',
  '2026-01-01T00:00:00+24:00',
  '0001-01-01T23:59:59Z',
  '9999-12-31T00:00:00Z',
])('the moment %s is rejected', async (eatenAt) =>
  expect((await createDiaryEntry({ eatenAt })).code).toBe('BAD_USER_INPUT'),
);

test.each([
  ['80', '80.00'],
  ['+80.5', '80.50'],
  ['080.', '80.00'],
  ['.5e1', '5.00'],
  ['8e1', '80.00'],
  ['8.05E+1', '80.50'],
  [' 80\n', '80.00'],
  [80.5, '80.50'],
])('the decimal %j is accepted', async (amount, shown) => {
  const { data } = await createDiaryEntry({ amount });

  expect(data!.made).toEqual({
    diaryEntry: expect.objectContaining({ amount: shown }),
    errors: [],
  });
});

test.each(['', '.', '1,5', '1 000', '0x10', 'NaN', 'Infinity', '1e10000', '1'.repeat(1_001), true])(
  'the decimal %j is rejected',
  async (amount) => expect((await createDiaryEntry({ amount })).code).toBe('BAD_USER_INPUT'),
);

test.each([
  ['08:00', '08:00:00', '2021-01-01'],
  ['08:00:05', '08:00:05', '2021-01-02'],
  ['08:00:05.5', '08:00:05.500000', '2021-01-03'],
  ['08:00:05.000', '08:00:05', '2021-01-04'],
])('the time %s is accepted', async (startTime, shown, date) => {
  const { data } = await createSession(date, startTime);

  expect(data!.made).toEqual({ workoutSession: { startTime: shown }, errors: [] });
});

test.each(['8:00', '24:00', '08:60', '08:00:60', '08:00:05.1234567', '08:00Z', '08:00+01:00'])(
  'the time %s is rejected',
  async (startTime) =>
    expect((await createSession('2021-02-01', startTime)).code).toBe('BAD_USER_INPUT'),
);
