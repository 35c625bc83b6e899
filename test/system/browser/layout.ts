/** Layout and accessibility of every kind of page, on screen and on paper. */
import type { BrowserSetup, Person } from './person';

const FOR_EVERYBODY: [name: string, address: string, status?: number][] = [
  ['landing', '/'],
  ['login', '/login'],
  ['registration', '/register'],
  ['root', '/api/v2/'],
  ['list', '/api/v2/exercise/?limit=5'],
  ['list-nested', '/api/v2/exerciseinfo/?limit=2'],
  ['list-empty', '/api/v2/exercise/?name=Nothing'],
  ['list-invalid-filters', '/api/v2/exercise/?category=999999&creation_date=soon', 400],
  ['row-public', '/api/v2/ingredient/1/'],
  ['search', '/api/v2/exercise/search/?term=press&language=en'],
  ['sign-in-required', '/api/v2/workout/', 403],
  ['resource-not-found', '/api/v2/nothing/', 404],
  ['page-not-found', '/nothing', 404],
  ['token', '/api/v2/login/'],
];

const WHEN_SIGNED_IN: [name: string, address: string][] = [
  ['signed-in-landing', '/'],
  ['account', '/user'],
  ['account-delete', '/user/delete'],
  ['key', '/user/api-key'],
  ['key-replace', '/user/api-key/replace'],
  ['catalogue', '/catalogue'],
  ['catalogue-list', '/catalogue/ingredient'],
  ['catalogue-row', '/catalogue/ingredient/1'],
  ['catalogue-form', '/catalogue/exercise/new'],
  ['chart', '/api/v2/weightentry/'],
  ['log', '/api/v2/workoutlog/?limit=10'],
  ['log-data', '/api/v2/workout/1/log_data/?id=1'],
  ['row-owned', '/api/v2/workout/1/'],
  ['action', '/api/v2/nutritionplan/1/get_log_overview/'],
  ['nutrition', '/api/v2/nutritionplan/1/nutritional_values/'],
  ['form', '/api/v2/nutritionplan/'],
];

const FOR_CURATORS: [name: string, address: string][] = [
  ['curation', '/catalogue'],
  ['curation-list', '/catalogue/exerciseTranslation'],
  ['curation-food', '/catalogue/ingredient/1'],
  ['curation-exercise', '/catalogue/exercise/1'],
  ['curation-changes', '/catalogue/changes'],
];

export function describeLooks(browserSetup: () => BrowserSetup): void {
  describe('the page layout', () => {
    let anybody: Person;
    let demo: Person;
    let curator: Person;

    beforeAll(async () => {
      anybody = await browserSetup().person();
      demo = await browserSetup().person({ signedInAs: browserSetup().demo.username });
      curator = await browserSetup().person({ signedInAs: 'ann' });
    });

    test.each(FOR_EVERYBODY)(
      'is accessible on desktop and phone for anonymous visitors: %s',
      async (name, address, status = 200) => {
        expect(await anybody.open(address)).toBe(status);
        await anybody.checkPage(name);
      },
    );

    test.each(WHEN_SIGNED_IN)(
      'is accessible on desktop and phone for signed-in users: %s',
      async (name, address) => {
        expect(await demo.open(address)).toBe(200);
        await demo.checkPage(name);
      },
    );

    test.each(FOR_CURATORS)(
      'is accessible on desktop and phone for curators: %s',
      async (name, address) => {
        expect(await curator.open(address)).toBe(200);
        await curator.checkPage(name);
      },
    );

    test('prints lists of 100 rows completely and keeps their HTML below 100 kB', async () => {
      const { page } = demo;

      for (const address of [
        '/api/v2/exerciseinfo/?limit=100',
        '/api/v2/ingredient/?limit=100',
        '/api/v2/workoutlog/?limit=100',
      ]) {
        await demo.open(address);
        expect(Buffer.byteLength(await page.content())).toBeLessThan(100_000);
      }

      await demo.open('/api/v2/exercise/?limit=100');
      await demo.asPrinted('list', async () => {
        expect(await page.locator('table.rows tbody tr:visible').count()).toBe(100);
        // Nothing may need scrolling on paper.
        expect(
          await page.evaluate(
            '[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth).length',
          ),
        ).toBe(0);
        expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(1);
      });
    });

    test('prints a chart completely, in light colours', async () => {
      const { page } = demo;

      await page.emulateMedia({ colorScheme: 'dark' });
      await demo.open('/api/v2/workoutlog/?limit=10');
      await demo.asPrinted('chart', async () => {
        const chart = page.locator('.chart .scroll').first();

        expect(await chart.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
        expect(
          await page
            .locator('main')
            .evaluate((one) => getComputedStyle(one).getPropertyValue('--num')),
        ).toBe('#8a3c00');
        expect(await page.getByRole('link', { name: 'CSV' }).isVisible()).toBe(false);
      });
      await page.emulateMedia({ colorScheme: 'light' });
    });

    test('scrolls a chart to its newest values on a narrow screen', async () => {
      const { page } = demo;

      await page.setViewportSize({ width: 390, height: 844 });
      await demo.open('/api/v2/workoutlog/?limit=10');
      const chart = page.locator('.chart .scroll').first();
      const isAtNewestValues = await chart.evaluate((one) => {
        const [drawn, seen] = [one.querySelector('svg')!, one].map((element) =>
          element.getBoundingClientRect(),
        ) as [DOMRect, DOMRect];

        return drawn.right <= seen.right + 1 && drawn.right > seen.left && drawn.left < seen.left;
      });

      expect(isAtNewestValues).toBe(true);
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    test('includes the REST reference, which sends requests with a token or the session', async () => {
      const docs = '/api/v2/schema/docs';

      await anybody.open(docs);
      await anybody.page.locator('[data-tag=exercise]').waitFor();
      expect(await anybody.page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
      // One input, into which the API key is pasted.
      await anybody.page.locator('.auth-wrapper .authorize').click();
      const key = anybody.page.locator('.auth-container input');

      expect(await key.count()).toBe(1);
      await key.fill(browserSetup().demo.token);
      await anybody.page.locator('.auth-btn-wrapper .authorize').click();
      await anybody.page.locator('.auth-btn-wrapper .btn-done').click();
      await anybody.page.locator('[data-tag=workout]').click();
      await anybody.page.getByRole('button', { name: /^GET \/workout\/ / }).click();
      await anybody.page.getByRole('button', { name: 'Try it out' }).click();
      await anybody.page.getByRole('button', { name: 'Execute' }).click();
      const responseStatus = anybody.page
        .locator('.live-responses-table .response-col_status')
        .last();

      await responseStatus.waitFor();
      expect(await responseStatus.innerText()).toContain('200');

      const { page } = demo;

      await demo.open(docs);
      expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
      expect(await page.getByRole('navigation', { name: 'Breadcrumbs' }).innerText()).toContain(
        'Reference',
      );
      // Requests from the reference use the session of the user.
      await page.locator('[data-tag=workout]').click();
      await page.getByRole('button', { name: /^POST \/workout\/ / }).click();
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByRole('button', { name: 'Execute' }).click();
      expect(
        await page.locator('.live-responses-table .response-col_status').last().innerText(),
      ).toContain('201');
      await demo.checkPage('reference');
    });

    test('links the OpenAPI document from the REST reference without JavaScript', async () => {
      const { page } = await browserSetup().person({ scripts: false });

      await page.goto('/api/v2/schema/docs');
      await page.getByRole('link', { name: 'JSON' }).first().click();
      expect(await page.innerText('body')).toContain('"openapi"');
    });
  });
}
