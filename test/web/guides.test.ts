/** The guides as pages below `/docs`. */
import fs from 'node:fs';
import path from 'node:path';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();
const visitor = () => new Visitor(fitgraph.url, { Accept: 'text/html' });

/** A signed-in visitor, because guides link pages with own data. */
let ann: Visitor;

beforeAll(async () => {
  await fitgraph.user('ann');
  ann = visitor();
  await ann.signIn('ann');
});

const names = fs
  .readdirSync(path.join(__dirname, '../../docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace(/\.md$/, ''));

type Element = DefaultTreeAdapterTypes.Element;

function elementsIn(node: DefaultTreeAdapterTypes.Node): Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap(elementsIn) : [];

  return 'tagName' in node ? [node, ...children] : children;
}

const attributeOf = ({ attrs }: Element, attribute: string) =>
  attrs.find(({ name }) => name === attribute)?.value;

interface GuidePage {
  status: number;
  html: string;
  elements: Element[];
}

const pages = new Map<string, Promise<GuidePage>>();

const readGuide = (address: string): Promise<GuidePage> => {
  const page =
    pages.get(address) ??
    ann
      .get(address)
      .then(({ status, text }) => ({ status, html: text, elements: elementsIn(parse(text)) }));

  pages.set(address, page);
  return page;
};

test('is linked from every page, and links each guide from its index', async () => {
  for (const address of ['/', '/api/v2/', '/playground', '/login', '/docs/rest', '/nothing']) {
    expect([address, (await visitor().get(address)).text]).toEqual([
      address,
      expect.stringContaining('<a href="/docs">Guides</a>'),
    ]);
  }

  const { html } = await readGuide('/docs');

  for (const name of names) expect(html).toContain(`href="/docs/${name}"`);
});

test.each(['', ...names.map((name) => `/${name}`)])('/docs%s has no broken links', async (name) => {
  const { status, html, elements } = await readGuide(`/docs${name}`);

  expect(status).toBe(200);
  expect(html).toMatch(/<article class="guide"><h1 id="[^"]+">/);
  const ids = new Set(elements.flatMap((element) => attributeOf(element, 'id') ?? []));

  for (const element of elements) {
    const target = attributeOf(element, 'href') ?? attributeOf(element, 'src');

    if (target === undefined || /^(?:https?|data):/.test(target)) continue;
    const [address, anchor] = target.split('#') as [string, string?];

    if (address !== '') {
      const { status: targetStatus, elements: targetElements } = await readGuide(address);

      expect([target, targetStatus < 400]).toEqual([target, true]);
      const targetIds = targetElements.map((one) => attributeOf(one, 'id'));

      if (anchor) expect([target, targetIds.includes(anchor)]).toEqual([target, true]);
    } else if (anchor) expect([target, ids.has(anchor)]).toEqual([target, true]);
  }
});

test('obeys the security policy, and has no raw HTML of the text', async () => {
  const page = await visitor().get('/docs/analysts');

  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(page.text).not.toMatch(/<article.*(?:style=|<script).*<\/article>/s);
  expect((await visitor().get('/docs/weight.png')).headers.get('content-type')).toBe('image/png');
  expect((await visitor().get('/docs/../package.json')).status).toBe(404);
  expect((await visitor().get('/docs/zumba')).status).toBe(404);
});
