/** The request shown on a page, and the links to other formats. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const PATH = '/api/v2/exercise/1/';

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
const requestIn = (html: string) => plain(/<pre class="line"[^>]*>(.*?)<\/pre>/s.exec(html)![1]!);

it('shows the request with the headers that a program sends', async () => {
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
  const lines = [`GET ${PATH}`, `Host: ${new URL(fitgraph.url).host}`, 'Accept: application/json'];

  expect(requestIn((await visitor.get(PATH)).text).split('\n')).toEqual(lines);
  await fitgraph.user('ann');
  await visitor.signIn('ann');
  expect(requestIn((await visitor.get(PATH)).text).split('\n')).toEqual([
    ...lines,
    'Authorization: Token <your key>',
  ]);
});

it('links to JSON and to indented JSON, and shows OPTIONS', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const visitor = new Visitor(fitgraph.url, { Accept: accept });
  const { text } = await visitor.get(PATH);
  const links = [...text.matchAll(/<a href="([^"]*)">(JSON|Indented|OPTIONS)<\/a>/g)].map(
    ([, href, label]) => [label, plain(href!)],
  );

  expect(links.map(([label]) => label)).toEqual(['JSON', 'Indented', 'OPTIONS']);
  const [json, indented] = await Promise.all(
    links.slice(0, 2).map(([, href]) => visitor.get(href!)),
  );

  expect(json!.text).toBe(JSON.stringify(JSON.parse(json!.text)));
  expect(indented!.text).toBe(JSON.stringify(JSON.parse(json!.text), null, 2));
  expect(text).toMatch(/<pre id="options"[^>]*>\{\n "name": /);
});

it.each(['?indent=2', '?format=json&indent=x', '?format=json&indent=-1', '?format=json&indent='])(
  'does not indent JSON for %s',
  async (query) => {
    const { text } = await fitgraph.anonymous.send('GET', `${PATH}${query}`);

    expect(text).not.toContain('\n');
  },
);

it('keeps filters, order and page size in links, and starts a new order on the first page', async () => {
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
  const pathIn = (html: string, pattern: RegExp) => plain(pattern.exec(html)![1]!);
  const parameters = (path: string) => Object.fromEntries(new URL(path, fitgraph.url).searchParams);
  const parametersOfRequest = { language: '2', limit: '1', ordering: '-name' };
  const { text } = await visitor.get(
    `/api/v2/exercise/?${new URLSearchParams(parametersOfRequest)}`,
  );
  const next = pathIn(text, /<a class="button plain" rel="next" href="([^"]*)"/);

  expect(parameters(next)).toEqual({ ...parametersOfRequest, offset: '1' });
  const second = (await visitor.get(next)).text;
  const previous = pathIn(second, /<a class="button plain" rel="prev" href="([^"]*)"/);

  expect(parameters(previous)).toEqual(parametersOfRequest);
  const byLanguage = pathIn(second, /<th [^>]*><a href="([^"]*)">Language<\/a>/);

  expect(parameters(byLanguage)).toEqual({ ...parametersOfRequest, ordering: 'language' });
  // The filter form keeps the order.
  expect(second).toContain('<option value="-name" selected>');
});
