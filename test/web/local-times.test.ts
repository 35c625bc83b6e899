/** Times of pages: in the time zone of the server, with what a script needs to convert them. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { TIME_ZONE } from '../setup/databases';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();

test('names the time zone of times, and loads the script that converts them', async () => {
  const ann = await fitgraph.user('ann');
  const { id: plan } = (await ann.post('/nutritionplan/', { language: 2 })).body;
  const diaryEntry = { plan, ingredient: 1, amount: '100', datetime: '2025-01-01T10:00:00Z' };
  const { id } = (await ann.post('/nutritiondiary/', diaryEntry)).body;
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');

  for (const path of ['/nutritiondiary/', `/nutritiondiary/${id}/`]) {
    const { text } = await visitor.get(`/api/v2${path}`);

    expect(text).toMatch(/<time datetime="2025-01-01T11:00:00\+01:00">2025-01-01 11:00<\/time>/);
    expect(text).toMatch(
      new RegExp(`Times are in the time zone <span data-time-zone[^>]*>${TIME_ZONE}</span>`),
    );
    expect(text).toContain(`In the time zone ${TIME_ZONE}.`);
    const [, script] = /<script src="([^"]*times[^"]*)" defer><\/script>/.exec(text)!;

    expect((await visitor.get(script!)).headers.get('content-type')).toContain('text/javascript');
  }
});

test('names the time zone of the times on the API key page', async () => {
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('ann');
  await visitor.post('/user/api-key', {
    ...(await visitor.fieldsOf('/user/api-key', /Create access token/)),
    name: 'Watch',
    scope: 'read',
    days: '7',
  });
  const { text } = await visitor.get('/user/api-key');

  expect(text).toMatch(
    /created on <time datetime="(20\d\d-\d\d-\d\d)T[^"]*[+-]\d\d:\d\d">\1<\/time>/,
  );
  expect(text.match(/<td><time datetime="(20\d\d-\d\d-\d\d)T[^"]*">\1<\/time>/g)).toHaveLength(2);
  expect(text).toMatch(/<time datetime="20[^"]*[+-]\d\d:\d\d">20\d\d-\d\d-\d\d \d\d:\d\d<\/time>/);
  expect(text).toContain('times.js');
  expect(text).toContain(TIME_ZONE);
});

test('is not part of pages without times', async () => {
  const { text } = await new Visitor(fitgraph.url, { Accept: 'text/html' }).get(
    '/api/v2/exercise/',
  );

  expect(text).not.toContain('times.js');
  expect(text).not.toContain('data-time-zone');
});
