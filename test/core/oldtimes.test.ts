/** Times before standard time, when offsets from UTC had seconds, which ISO 8601 does not have. */
import { fitgraphForThisFile } from '../setup/fitgraph';

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
  for (const datetime of times)
    expect(
      (await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime })).status,
    ).toBe(201);
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
