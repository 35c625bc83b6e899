/** Responses for unknown paths. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const get = async (path: string, headers: Record<string, string>) => {
  const answer = await fetch(`${fitgraph.url}${path}`, { headers });

  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    vary: answer.headers.get('vary'),
    text: await answer.text(),
  };
};

it('returns a 404 page with links and the signed-in user to a browser', async () => {
  const { status, type, vary, text } = await get('/nothing/<b>here</b>', { Accept: BROWSER });

  expect([status, type, vary]).toEqual([404, 'text/html; charset=utf-8', 'Accept']);
  expect(text).toContain('This page does not exist.');
  expect(text).toContain(
    `<a href="/login?next=${encodeURIComponent('/nothing/%3Cb%3Ehere%3C/b%3E')}">`,
  );
  expect(text).not.toContain('here</b>');

  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn('ann');
  expect((await visitor.get('/nothing', { Accept: BROWSER })).text).toContain('>ann</a>');
});

it.each(['*/*', 'application/json', 'image/png'])(
  'returns a 404 in JSON when the client accepts %s',
  async (accept) => {
    const { status, type, text } = await get('/nothing', { Accept: accept });

    expect([status, type, text]).toEqual([
      404,
      'application/json; charset=utf-8',
      '{"detail":"Not found."}',
    ]);
  },
);
