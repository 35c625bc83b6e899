/** The scripts of pages below the path of PUBLIC_URL. */
import { chromium, type Browser } from 'playwright-core';
import { MAX_PAGE_SIZE } from '../../../src/shared/page-size';
import { fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { startPrefixProxy, type PrefixProxy } from '../../setup/prefix-proxy';

let proxy: PrefixProxy;
let browser: Browser;
const fitgraph = fitgraphForThisFile(async () => {
  proxy = await startPrefixProxy('/fitness');

  return { environment: { PUBLIC_URL: proxy.url, BUDGET: 'off' } };
});

beforeAll(async () => {
  proxy.forwardTo(fitgraph.url);
  const ann = await fitgraph.user('ann');

  // With more rows, forms have suggestions instead of a list.
  await Promise.all(
    Array.from({ length: 120 }, (_, index) => ann.post('/workout/', { comment: `Plan ${index}` })),
  );
  // One more than a page of a list has at most.
  await fitgraph.sql(
    `INSERT INTO "weight_entry" ("user_id", "date", "weight")
     SELECT $1, DATE '1990-01-01' + day, 80 FROM generate_series(0, ${MAX_PAGE_SIZE}) day`,
    [ann.id],
  );
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
    headless: true,
  });
});
afterAll(async () => {
  await browser.close();
  proxy.close();
});

test('send requests and link only below the path', async () => {
  const page = await browser.newPage();
  const failed: string[] = [];
  const requested = new Set<string>();

  page.on('response', (response) => {
    requested.add(new URL(response.url()).pathname);
    if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
  });
  page.on('pageerror', (error) => failed.push(error.message));

  await page.goto(`${proxy.url}/playground#query={exercises(first:1){nodes{name}}}&view=tree`);
  await page.getByText('"nodes"').first().waitFor();
  await page.goto(`${proxy.url}/api/v2/schema/docs`);
  await page.locator('#reference .opblock-tag').first().waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('User name').fill('ann');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/fitness/api/v2/schema/docs');
  await page.goto(`${proxy.url}/api/v2/day/`);
  await page.locator('details:has(#wpost-training) > summary').click();
  await page.locator('#wpost-training').pressSequentially('plan');
  await page.locator('datalist option').first().waitFor({ state: 'attached' });
  const query = `{weightEntries(first:${MAX_PAGE_SIZE}){nodes{id}}}`;

  await page.goto(`${proxy.url}/playground?query=${query}&view=table`);
  await page.getByRole('link', { name: 'Export the rest as a file' }).waitFor();
  const links = await page.evaluate<string[]>('[...document.links].map(({ href }) => href)');
  const { origin } = new URL(proxy.url);

  expect(links).toContain(`${proxy.url}/docs/analysts`);
  expect(
    links.filter((link) => link.startsWith(origin) && !link.startsWith(`${proxy.url}/`)),
  ).toEqual([]);
  expect(failed).toEqual([]);
  expect([...requested]).toEqual(
    expect.arrayContaining([
      '/fitness/graphql',
      '/fitness/playground/schema.json',
      expect.stringMatching(/^\/fitness\/playground\/assets\/editor-.*\.js$/),
      '/fitness/api/v2/schema.json',
      '/fitness/pages/suggestions',
    ]),
  );
  expect([...requested].filter((path) => !path.startsWith('/fitness/'))).toEqual([]);
});
