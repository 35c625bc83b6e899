/** Moments: their notations, and those before standard time, when offsets had seconds, which ISO 8601 lacks. */
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

test('are shown in UTC, so that they are the same moments and can be cursors', async () => {
  const ann = await fitgraph.user('ann');
  const plan = (await ann.post('/nutritionplan/', { language: 2 })).body.id;
  const times = [
    '1890-01-01T12:00:00+00:00',
    '1890-01-01T12:00:10.500000+00:00',
    '1890-01-01T12:00:20+00:00',
    '2021-06-01T12:00:00+02:00',
  ];

  for (const datetime of times) {
    expect(
      (await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime })).status,
    ).toBe(201);
  }

  expect(
    (await ann.get('/nutritiondiary/?ordering=datetime')).body.results.map(
      ({ datetime }: { datetime: string }) => datetime,
    ),
  ).toEqual(times);
  const page =
    'query ($after: String) { diaryEntries(orderBy: [{ eatenAt: ASC }], first: 1, after: $after) { nodes { eatenAt } pageInfo { endCursor } } }';
  const found: string[] = [];
  let after: string | null = null;

  for (const _ of times) {
    const { diaryEntries }: Record<string, any> = await ann.ask(page, { after });

    found.push(...diaryEntries.nodes.map(({ eatenAt }: { eatenAt: string }) => eatenAt));
    after = diaryEntries.pageInfo.endCursor;
  }

  expect(found).toEqual(times);
});

test.each([
  ['2026-01-01T00:00:00.1234567Z', '2026-01-01T01:00:00.123456+01:00'],
  ['2026-01-01T00:00:00.999999999Z', '2026-01-01T01:00:00.999999+01:00'],
  ['2026-01-01t00:00:00z', '2026-01-01T01:00:00+01:00'],
  ['2026-01-01t00:00:00.5+01:00', '2026-01-01T00:00:00.500000+01:00'],
])('accept the notation %s of RFC 3339', async (eatenAt, shown) => {
  const ann = await fitgraph.user('ann');
  const planId = (await ann.post('/nutritionplan/', { language: 2 })).body.id;
  const { made } = await ann.ask(
    'mutation ($input: DiaryEntryInput!) { made: createDiaryEntry(input: $input) { diaryEntry { eatenAt } errors { path } } }',
    { input: { planId, ingredientId: 1, amount: '1', eatenAt } },
  );

  expect(made).toEqual({ diaryEntry: { eatenAt: shown }, errors: [] });
});
