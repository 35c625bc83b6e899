/** The playground: running queries, charts, downloads. Other servers are unreachable. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { buildClientSchema, type IntrospectionQuery } from 'graphql';
import type { BrowserSetup, Person } from './person';

/** GraphiQL's tabs contain a close button, which no option removes. */
const EXEMPT = { 'nested-interactive': '.graphiql-tab' };

async function downloaded(
  { page }: Person,
  button: string,
): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);

  return {
    name: download.suggestedFilename(),
    text: await readFile(await download.path(), 'utf8'),
  };
}

export function describePlayground(browserSetup: () => BrowserSetup): void {
  describe('the playground', () => {
    let person: Person;
    let link: string;

    beforeAll(async () => {
      person = await browserSetup().person();
      const context = person.page.context();

      await context.route(
        ({ origin }) => origin !== browserSetup().url,
        (route) => route.abort(),
      );
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    });

    test('renders its heading and examples before scripts load, and is restored after sign-in', async () => {
      const { page } = person;
      const { demo } = browserSetup();

      // The assets never arrive.
      await page.route('**/playground/assets/*', () => undefined);
      await page.goto('/playground?question=mean-weight-by-week', { waitUntil: 'commit' });
      // A function, because the page's Content-Security-Policy forbids evaluating text repeatedly.
      await page.waitForFunction(
        () => performance.getEntriesByName('first-contentful-paint').length,
      );
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('GraphQL playground');
      expect(await page.getByRole('link', { name: 'Mean weight by week' }).count()).toBe(1);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('User name').fill(demo.username);
      await page.getByLabel('Password').fill(demo.password);
      await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL('**/playground?question=mean-weight-by-week');
      expect(
        await page.getByRole('banner').getByRole('link', { name: demo.username }).count(),
      ).toBe(1);
    });

    test('shows the result of an example as chart, table and downloads', async () => {
      const { page } = person;

      await page.locator('.answer .chart svg text').first().waitFor();
      expect(await page.locator('.answer .facts').innerText()).toMatch(
        /^Status 200 · \d+ ms · [\d.]+ kB · charged \d+ · \d+ statements?$/,
      );
      expect(await page.title()).toBe('MeanWeightByWeek – Playground – Fitgraph');
      const svg = await downloaded(person, 'SVG');

      expect([svg.name, svg.text.slice(0, 4)]).toEqual(['MeanWeightByWeek.svg', '<svg']);
      const png = await downloaded(person, 'PNG');

      expect([png.name, png.text.slice(1, 4)]).toEqual(['MeanWeightByWeek.png', 'PNG']);

      await page.getByRole('button', { name: 'My heaviest set per exercise' }).click();
      await page.locator('.answer .chart').getByText('Max weight (kg)').waitFor();
      await page.getByLabel('Unit', { exact: true }).selectOption('lb');
      await page.locator('.answer .chart').getByText('Max weight (lb)').waitFor();
      await page.getByRole('button', { name: 'Table', exact: true }).click();
      const table = page.getByRole('region', { name: 'Table' });
      const heaviestShown = async () =>
        Number(await table.locator('tbody td:nth-child(3)').first().innerText());

      expect(await table.locator('thead').innerText()).toMatch(
        /keys\.exercise\.name\s+count\s+max\.weightKg \(lb\)\s+max\.date/,
      );
      const pounds = await heaviestShown();

      await page.getByLabel('Unit', { exact: true }).selectOption('kg');
      await table.getByText('max.weightKg (kg)').waitFor();
      expect(pounds).toBeCloseTo((await heaviestShown()) / 0.45359237, 1);
      await table.getByRole('button', { name: 'count' }).click();
      const counts = (await table.locator('tbody td:nth-child(2)').allInnerTexts()).map(Number);

      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      await page.getByRole('searchbox', { name: 'Filter rows' }).fill('squat');
      const found = await table.locator('tbody td:first-child').allInnerTexts();

      expect(found).toEqual(expect.arrayContaining(['Back Squat', 'Front Squat']));

      const csv = await downloaded(person, 'CSV');
      const [header, ...rows] = parse(csv.text) as string[][];

      expect([csv.name, header]).toEqual([
        'HeaviestSetPerExercise.csv',
        ['keys.exercise.name', 'count', 'max.weightKg', 'max.date'],
      ]);
      expect(rows.map(([name]) => name)).toEqual(found);
      const json = await downloaded(person, 'JSON');

      expect(JSON.parse(json.text).workoutLogsGrouped.length).toBeGreaterThan(found.length);

      await page.getByRole('button', { name: 'Chart', exact: true }).click();
      await page.getByLabel('Kind of chart').selectOption('Points');
      await page.getByLabel('Unit', { exact: true }).selectOption('lb');
      await page.getByRole('button', { name: 'Share link' }).click();
      await page.getByText('Link copied').waitFor();
      link = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(link).toMatch(/^http.*\/playground#query=.*&view=chart&chart=.*&unit=lb$/);
      await page.getByLabel('Copy as').selectOption('curl');
      await page.getByText('curl copied').waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(
        /^curl 'http[^']*\/graphql'/,
      );

      // Another question starts without the filter of this one.
      await page.getByRole('button', { name: 'My weight by day' }).click();
      await page.locator('.answer .chart').getByText('Weight (kg)').waitFor();
      await page.getByRole('button', { name: 'Table', exact: true }).click();
      expect(await page.getByRole('searchbox', { name: 'Filter rows' }).inputValue()).toBe('');
      await table.locator('tbody td').first().waitFor();
    });

    test('restores query and chart from a shared link and is accessible on desktop and phone', async () => {
      const { page } = person;

      const openSharedLink = async () => {
        // A browser does not load a page again for the same URL with a fragment.
        await page.goto('about:blank');
        await page.goto(link);
        await page.locator('.answer .chart svg text').first().waitFor();
      };

      await openSharedLink();
      expect(await page.getByLabel('Kind of chart').inputValue()).toBe('scatter');
      await page.locator('.answer .chart').getByText('Max weight (lb)').waitFor();
      const views = ['Chart', 'Table'].values();

      await person.checkPage('playground-answer', {
        // The chart on desktop, the table on the phone.
        restore: async () => {
          await openSharedLink();
          await page.getByRole('button', { name: views.next().value, exact: true }).click();
          await page
            .locator('.answer')
            .locator('.chart svg text, table tbody td')
            .first()
            .waitFor();
        },
        exempt: EXEMPT,
      });
    });

    test('opens a long shared link in a tab with an open playground', async () => {
      const { page } = await browserSetup().person();
      const query = `# ${'long '.repeat(4_000)}\nquery Shared { __typename }`;

      await page.goto('/playground');
      await page.locator('.graphiql-container').waitFor();
      await page.goto(`/playground#${new URLSearchParams({ query }).toString()}`);
      await page.getByText('Shared', { exact: true }).first().waitFor();
    });

    test('shows the estimated cost of the query in the editor, and how to reduce one above the limit', async () => {
      const { page } = await browserSetup().person();
      const executed: string[] = [];

      page.on('request', (request) => {
        const body =
          request.method() === 'POST'
            ? (request.postDataJSON() as { extensions?: { dryRun?: boolean } })
            : undefined;

        if (body && !body.extensions?.dryRun) executed.push(request.postData()!);
      });
      const gauge = page.locator('.answer .gauge');

      await page.goto(
        `/playground?query=${encodeURIComponent('{ exercises(first: 20) { nodes { id name } } }')}`,
      );
      await gauge.getByText(/^Estimated cost \d{2,3} of 500,000$/).waitFor();
      expect(Number(await gauge.locator('meter').getAttribute('value'))).toBeGreaterThan(20);
      const expensive =
        '{ schedules(first: 1000) { nodes { steps { workout { days { setGroups { plannedSets { id reps } } } } } } } }';

      await page.goto(`/playground?query=${encodeURIComponent(expensive)}`);
      await gauge.getByText('Too high: reduce Query.schedules(first:)').waitFor();
      await page.locator('.graphiql-query-editor').click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('{ exercises(first: 20) { nodes { ');
      await gauge.waitFor({ state: 'detached' });
      expect(executed).toEqual([]);
    });

    test('links to the sign-in when an anonymous visitor queries personal data', async () => {
      const { page } = await browserSetup().person();

      await page.goto('/playground');
      await page.getByRole('button', { name: 'My weight by day' }).click();
      const problems = page.locator('.answer .problems');

      await problems.getByRole('link', { name: 'Sign in' }).waitFor();
      expect(await problems.getByRole('link').getAttribute('href')).toMatch(
        /^\/login\?next=%2Fplayground/,
      );
    });

    test('can be left and reached by the keyboard: editors, skip links and the settings', async () => {
      const { page } = await browserSetup().person();
      const focused = (selector: string) =>
        page.evaluate<boolean>(
          `document.activeElement?.closest(${JSON.stringify(selector)}) !== null`,
        );

      await page.goto('/playground?query={ __typename }');
      await page.locator('.graphiql-query-editor .view-lines').getByText('__typename').waitFor();

      const skipTo = async (name: string) => {
        await page.getByRole('link', { name }).focus();
        await page.keyboard.press('Enter');
      };

      await skipTo('Skip to the answer');
      await page.keyboard.press('Tab');
      expect(await focused('.answer')).toBe(true);
      await skipTo('Skip to the query');
      await page.keyboard.press('Tab');
      expect(await focused('.graphiql-query-editor')).toBe(true);

      await page.locator('.graphiql-query-editor .view-lines').click();
      await page.keyboard.press('Tab');
      expect(await focused('.monaco-editor')).toBe(true);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      expect(await focused('.monaco-editor')).toBe(false);
      await page.getByText('In an editor, press Esc, then Tab, to leave it.').waitFor();

      const settings = page.getByRole('button', { name: 'Open settings dialog' });

      await settings.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused('[aria-label="Open settings dialog"]')).toBe(true);
    });

    test('says how many of the rows a result has, and loads the others', async () => {
      const { demo } = browserSetup();
      const { page } = await browserSetup().person({ signedInAs: demo.username });
      const query = '{ weightEntries(first: 30) { nodes { date weightKg } } }';

      for (const view of ['tree', 'table', 'chart']) {
        await page.goto(`/playground?query=${encodeURIComponent(query)}&view=${view}`);
        await page
          .locator('.completeness')
          .getByText(/^30 of 3\d\d rows/)
          .waitFor();
      }

      await page.getByRole('button', { name: /^Load 3\d\d$/ }).click();
      await page.locator('.completeness').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Table', exact: true }).click();
      await page
        .locator('.answer')
        .getByText(/^3\d\d rows$/)
        .waitFor();
    });

    test('counts the rows with the headers of the run', async () => {
      const { demo } = browserSetup();
      const { page } = await browserSetup().person();
      const query = '{ weightEntries(first: 30) { nodes { date weightKg } } }';

      await page.goto(`/playground?query=${encodeURIComponent(query)}`);
      await page.locator('.graphiql-query-editor .view-lines').getByText('weightEntries').waitFor();
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await page.locator('.graphiql-editor-tool .view-lines:visible').click();
      await page.keyboard.insertText(JSON.stringify({ Authorization: `Token ${demo.token}` }));
      await page.locator('.graphiql-execute-button').click();
      await page
        .locator('.completeness')
        .getByText(/^30 of 3\d\d rows/)
        .waitFor();
    });

    test('gives the result its whole width', async () => {
      const { demo } = browserSetup();
      const { page } = await browserSetup().person({ signedInAs: demo.username });

      await page.goto('/playground?question=when-i-eat');
      const chart = page.locator('.answer .chart svg');

      await chart.locator('text').first().waitFor();
      const widthOf = async () => (await chart.boundingBox())!.width;

      expect(await widthOf()).toBeLessThan(600);
      await page.getByRole('button', { name: 'Full width' }).click();
      await page.waitForFunction(
        () => document.querySelector('.answer .chart svg')!.getBoundingClientRect().width > 1100,
      );
      await page.getByRole('button', { name: 'Full width' }).click();
      await page.locator('.graphiql-query-editor .view-lines').waitFor();
    });

    test('builds a query from ticked fields', async () => {
      const { page } = await browserSetup().person();
      // Fields can be ticked once the editor has loaded, which is delayed here.
      let arrive!: () => void;
      const arrived = new Promise<void>((resolve) => (arrive = resolve));

      await page.route('**/playground/assets/monaco-editor-*.js', async (route) => {
        await arrived;
        await route.continue();
      });
      await page.goto('/playground?query=query Made { __typename }');
      await page.getByRole('button', { name: 'Show Field builder' }).click();
      await page.getByText('Loading …').waitFor();
      const ticked = page
        .locator('.graphiql-explorer-root')
        .getByText('rateLimit', { exact: true })
        .click();

      await sleep(2_000);
      arrive();
      await ticked;
      await page.locator('.graphiql-query-editor .view-lines').getByText('rateLimit').waitFor();
    });

    test('serves its assets compressed and as immutable', async () => {
      const { url } = browserSetup();
      const html = await (await fetch(`${url}/playground`)).text();
      const [script, style] = [/src="([^"]*\.js)"/, /href="([^"]*\.css)"/].map(
        (address) => url + address.exec(html)![1]!,
      );

      for (const [address, coding, expected] of [
        [script, 'gzip, br', 'br'],
        [script, 'gzip', 'gzip'],
        [style, 'br;q=0.5', 'br'],
        [script, 'identity', null],
      ] as const) {
        const { status, headers, body } = await fetch(address!, {
          headers: { 'Accept-Encoding': coding, Cookie: 'a=b' },
        });

        await body!.cancel();
        expect([status, headers.get('content-encoding'), headers.get('vary')]).toEqual([
          200,
          expected,
          'Accept-Encoding',
        ]);
        expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/i);
      }

      const schema = await fetch(`${url}/playground/schema.json`, {
        headers: { 'Accept-Encoding': 'br', Cookie: 'a=b' },
      });

      expect([schema.status, schema.headers.get('content-encoding')]).toEqual([200, 'br']);
      expect(
        Object.keys(
          buildClientSchema((await schema.json()) as IntrospectionQuery)
            .getQueryType()!
            .getFields(),
        ),
      ).toContain('workoutLogs');
      const revalidationHeaders = {
        'Accept-Encoding': 'br',
        'Cache-Control': 'max-age=0',
        'If-None-Match': schema.headers.get('etag')!,
      };

      expect(
        (await fetch(`${url}/playground/schema.json`, { headers: revalidationHeaders })).status,
      ).toBe(304);
    });

    test('opens when a browser navigates to /graphql, and runs the query', async () => {
      const { page } = await browserSetup().person();

      await page.goto('/graphql?query={exercises{totalCount}}&view=table');
      expect(new URL(page.url()).pathname).toBe('/playground');
      const table = page.getByRole('region', { name: 'Table' });

      await table.locator('td').first().waitFor();
      expect((await table.locator('thead').innerText()).trim()).toBe('exercises.totalCount');
    });
  });
}
