/** User journeys over several pages. */
import sharp from 'sharp';
import { MAX_UPLOAD_KB, type BrowserSetup, type Person } from './person';

/** Parses a curl command into the request that it sends. */
function requestOf(command: string): Request {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare!,
  );

  expect(words.shift()).toBe('curl');
  const headers = new Headers();
  let url = '';
  let body: string | undefined;

  while (words.length) {
    const word = words.shift()!;

    if (word === '-H') {
      const [, name, value] = /^(.*?): (.*)$/.exec(words.shift()!)!;

      headers.append(name!, value!);
    } else if (word === '-d') body = words.shift()!;
    else url = word;
  }

  return new Request(url, { headers, body, method: body === undefined ? 'GET' : 'POST' });
}

async function shownExamples({ page }: Person): Promise<[rest: Request, graphql: Request]> {
  return [
    requestOf(await page.locator('#rest').innerText()),
    requestOf(await page.locator('#graphql').innerText()),
  ];
}

const picture = () =>
  sharp({ create: { width: 640, height: 480, channels: 3, background: '#0b6e4f' } })
    .png()
    .toBuffer();

/** Widths of all images on the page after loading; 0 for those that failed to load. */
const imageWidths = ({ page }: Person) =>
  page.evaluate<number[]>(
    `Promise.all([...document.images].map(async (image) => { image.loading = 'eager'; await image.decode().catch(() => {}); return image.naturalWidth }))`,
  );

export function describeJourneys(browserSetup: () => BrowserSetup): void {
  test('shows times in the time zone of the browser', async () => {
    const { demo } = browserSetup();
    const { page } = await browserSetup().person({
      signedInAs: demo.username,
      timeZone: 'Asia/Tokyo',
    });

    for (const address of ['/api/v2/nutritiondiary/?limit=1', '/user/api-key']) {
      await page.goto(address);
      await page.getByText('Times are in the time zone Asia/Tokyo.').waitFor();
      const times = await page.locator('main time').all();

      expect(times.length).toBeGreaterThan(0);

      for (const time of times) {
        const moment = new Date((await time.getAttribute('datetime'))!);
        const tokyoTime = new Date(moment.getTime() + 9 * 3_600_000).toISOString();
        const text = await time.innerText();

        expect([10, 16]).toContain(text.length);
        expect(text).toBe(tokyoTime.slice(0, text.length).replace('T', ' '));
      }
    }
  });

  test('has no invisible links in the cards of a narrow screen', async () => {
    const { page } = await browserSetup().person();

    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto('/api/v2/exercise/?limit=2');
    const headerLinks = page.locator('.rows thead a');

    expect(await headerLinks.count()).toBeGreaterThan(2);
    await headerLinks
      .first()
      .focus({ timeout: 1_000 })
      .catch(() => undefined);
    expect(await page.evaluate('document.activeElement.closest("thead")')).toBeNull();
  });

  describe.each([
    ['with JavaScript', true, 'ann'],
    ['without JavaScript', false, 'bob'],
  ])('a browser %s', (_title, scripts, username) => {
    let person: Person;

    /** Checks a page with JavaScript only, because it looks the same without. */
    const judge = async (name: string) => {
      if (scripts) await person.checkPage(name);
    };

    beforeAll(async () => {
      person = await browserSetup().person({ scripts });
    });

    test('signs in, and creates, uses and replaces an API key', async () => {
      const { page } = person;

      await person.open('/');
      await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('User name').fill(username);
      await page.getByLabel('Password').fill('not my password');
      await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
      expect(await page.getByRole('alert').innerText()).toBe('Username or password unknown.');
      expect(await page.getByLabel('User name').inputValue()).toBe(username);
      await judge('login-refused');
      await person.signIn(username);
      await page.waitForURL('**/api/v2/');
      await person.open('/user/api-key');
      expect(await page.getByText('You have no API key yet.').count()).toBe(1);
      await judge('key-none');

      await page.getByRole('button', { name: 'Create key' }).click();
      const examples = await shownExamples(person);

      for (const example of examples) expect((await fetch(example.clone())).status).toBe(200);
      expect(await (await fetch(examples[1].clone())).json()).toMatchObject({
        data: { viewer: { username } },
      });
      await judge('key-made');
      if (scripts) {
        await page.getByRole('button', { name: 'Copy key' }).click();
        await page.getByRole('button', { name: /^(Copied|Selected)/ }).waitFor();
      } else expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);

      await page.getByRole('link', { name: 'Replace key' }).click();
      await page.getByRole('link', { name: 'Cancel' }).click();
      expect((await fetch(examples[0].clone())).status).toBe(200);
      await page.getByRole('link', { name: 'Replace key' }).click();
      await page.getByRole('button', { name: 'Replace key' }).click();
      expect((await fetch(examples[0])).status).toBe(403);

      for (const example of await shownExamples(person)) {
        expect((await fetch(example)).status).toBe(200);
      }
    });

    test('navigates from the API root to a row, edits and deletes it', async () => {
      const { demo } = browserSetup();
      const owner = await browserSetup().person({ scripts, signedInAs: demo.username });
      const { page } = owner;

      await page.getByRole('link', { name: 'REST API' }).click();
      await page
        .getByRole('main')
        .getByRole('link', { name: 'Workout logs', exact: true })
        .first()
        .click();
      await owner.openDetails('Filter and sort');
      await page.locator('.filters').getByLabel('Workout', { exact: false }).selectOption('1');
      await page.getByLabel('Rows per page').fill('5');
      await page.getByRole('button', { name: 'Apply' }).click();
      expect(await page.getByLabel('Pages').innerText()).toMatch(/^.*1–5 of \d+/s);
      await page.getByRole('link', { name: 'Next' }).click();
      expect(await page.getByLabel('Pages').innerText()).toContain('6–10 of');
      expect(new URL(page.url()).searchParams.get('workout')).toBe('1');

      const link = page.locator('table.rows tbody th a').first();
      const address = (await link.getAttribute('href'))!;

      await link.click();
      await page.waitForURL(`**${address}`);
      await owner.openDetails('Edit');
      await page.getByLabel('Repetitions', { exact: true }).fill('12');
      await page.getByLabel('Weight', { exact: true }).fill('-5');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const weight = page.getByLabel('Weight', { exact: true });

      expect(await weight.inputValue()).toBe('-5');
      expect(await page.getByLabel('Repetitions', { exact: true }).inputValue()).toBe('12');
      const message = (await weight.getAttribute('aria-describedby'))!.split(' ')[0]!;

      expect(await page.locator(`#${message}`).innerText()).toBe('At least 0.');
      if (scripts) await owner.checkPage('form-refused');

      await weight.fill('42.50');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('status').innerText()).toContain('Saved.');
      expect(await page.locator('.facts').innerText()).toMatch(
        /Repetitions\s+12\s[^]*Weight\s+42\.50/,
      );
      if (scripts) await owner.checkPage('saved');

      await owner.openDetails('Delete');
      await page.getByRole('button', { name: 'Delete permanently' }).click();
      expect(await page.getByRole('status').innerText()).toContain('Deleted.');
      if (scripts) await owner.checkPage('deleted');
      expect(await owner.open(address)).toBe(404);
    });

    test('selects related rows by their name in forms and filters', async () => {
      const owner = await browserSetup().person({
        scripts,
        signedInAs: browserSetup().demo.username,
      });
      const { page } = owner;

      await owner.open('/api/v2/mealitem/1/');
      await owner.openDetails('Edit');
      const ingredient = page.getByLabel('Ingredient', { exact: true });

      await ingredient.fill('cheese');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('alert').innerText()).toContain(
        'Ingredient: Choose one of the matches below.',
      );
      if (scripts) await owner.checkPage('form-found');
      await page.getByRole('radio', { name: 'Cream cheese' }).first().check();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('status').innerText()).toContain('Saved.');
      expect(await ingredient.inputValue()).toBe('Cream cheese');

      if (scripts) {
        await owner.openDetails('Edit');
        await ingredient.clear();
        await ingredient.pressSequentially('cuc');
        const list = page.locator(`#${await ingredient.getAttribute('list')}`);

        await list.locator('option[value=Cucumber]').first().waitFor({ state: 'attached' });
        await ingredient.fill('Cucumber');
        await owner.checkPage('form-suggested');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        expect(await page.getByRole('status').innerText()).toContain('Saved.');
        expect(await ingredient.inputValue()).toBe('Cucumber');
      }

      // A part of a name finds the rows of all exercises with such a name, of which one can be chosen.
      expect(await owner.open('/api/v2/workoutlog/?exercise=press')).toBe(200);
      await owner.openDetails('Filter and sort');
      await page.getByRole('radio', { name: 'Bench Press', exact: true }).check();
      await page.getByRole('button', { name: 'Apply' }).click();
      expect(await page.getByLabel('Pages').innerText()).toMatch(/of \d+/);
      expect(await page.locator('.filters').getByLabel('Exercise').inputValue()).toBe(
        'Bench Press',
      );

      // The JSON and OPTIONS responses of the page.
      await owner.openDetails('API');
      await page.getByRole('link', { name: 'Indented' }).click();
      expect(await page.innerText('body')).toMatch(/^\{\n {2}"count": \d+,/);
      await page.goBack();

      if (!(await page.getByRole('link', { name: 'OPTIONS' }).isVisible())) {
        await owner.openDetails('API');
      }

      await page.getByRole('link', { name: 'OPTIONS' }).click();
      expect(await page.getByRole('region', { name: 'OPTIONS' }).isVisible()).toBe(true);
    });

    test('stores a form once when its page is reloaded, and chooses between values after a concurrent change', async () => {
      const { demo } = browserSetup();
      const owner = await browserSetup().person({ scripts, signedInAs: demo.username });
      const { page } = owner;

      await owner.open('/api/v2/workout/');
      await owner.openDetails('New workout');
      await page.locator('#wpost-comment').fill('Written once');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('status').innerText()).toContain('Created.');
      const address = new URL(page.url()).pathname;

      expect(address).toMatch(/^\/api\/v2\/workout\/\d+\/$/);
      await page.reload();
      expect(await page.getByRole('status').count()).toBe(0);
      await owner.open('/api/v2/workout/?limit=100');
      expect(await page.locator('table.rows tbody th a', { hasText: 'Written once' }).count()).toBe(
        1,
      );

      await owner.open(address);
      await owner.openDetails('Edit');
      await page.locator('#wpatch-comment').fill('Mine');
      const changed = await fetch(new URL(address, page.url()), {
        method: 'PATCH',
        headers: { Authorization: `Token ${demo.token}`, 'Content-Type': 'application/json' },
        body: '{"comment":"Theirs"}',
      });

      expect(changed.status).toBe(200);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('alert').innerText()).toContain(
        'This workout was changed after you opened the form.',
      );
      expect(await page.getByRole('radio', { name: 'Yours: Mine' }).isChecked()).toBe(true);
      if (scripts) await owner.checkPage('form-conflict');
      await page.getByRole('radio', { name: 'Stored now: Theirs' }).check();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('Theirs');

      await owner.openDetails('Edit');
      await page.locator('#wpatch-comment').fill('Kept');
      await fetch(new URL(address, page.url()), {
        method: 'DELETE',
        headers: { Authorization: `Token ${demo.token}` },
      });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('alert').innerText()).toContain('Your input is kept');
      if (scripts) await owner.checkPage('form-deleted');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('Kept');
      await owner.openDetails('Delete');
      await page.getByRole('button', { name: 'Delete permanently' }).click();
    });

    test('uploads an image and displays its thumbnail', async () => {
      const { page } = person;

      await person.open('/api/v2/exerciseimage/');
      await person.openDetails('New exercise image');
      await page.locator('#write').getByLabel('Exercise').fill('1');
      const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer });
      const image = page.locator('input[type=file]');

      await image.setInputFiles(file('large.png', Buffer.alloc((MAX_UPLOAD_KB + 1) * 1024)));
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const message = (await image.getAttribute('aria-describedby'))!.split(' ')[0]!;

      expect(await page.locator(`#${message}`).innerText()).toMatch(
        /^The submitted file is larger than/,
      );
      await judge('upload-refused');

      // When another field is invalid, typed values are kept, but the file must be chosen again.
      await image.setInputFiles(file('picture.png', await picture()));
      const exercise = page.getByLabel('Exercise', { exact: true }).first();
      const typed = await exercise.inputValue();

      await exercise.fill('no such exercise');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('alert').innerText()).toContain('Please choose the file again');
      await judge('upload-again');
      await exercise.fill(typed);
      await image.setInputFiles(file('picture.png', await picture()));
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await page.getByRole('status').innerText()).toContain('Created.');
      expect(await imageWidths(person)).toEqual([200]);
      await judge('image');
    });
  });

  test('opens the GraphQL equivalent of a REST page in the playground', async () => {
    const { demo } = browserSetup();
    const person = await browserSetup().person({ signedInAs: demo.username });
    const { page } = person;

    await person.open('/api/v2/weightentry/?limit=2');
    await person.openDetails('API');
    await person.checkPage('as-graphql');
    await page.getByRole('link', { name: 'Open in the playground' }).click();

    const run = async () => {
      await page.locator('.graphiql-query-editor').getByText('totalCount').waitFor();
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.graphiql-response').getByText('"totalCount"').waitFor();
    };

    await run();
    // The demo's weights depend on the day.
    const rest = await page.request.get(new URL('/api/v2/weightentry/?limit=2', page.url()).href, {
      headers: { Accept: 'application/json' },
    });
    const displayedResult = JSON.parse(
      (await page.locator('.graphiql-response .result-window').innerText()).replaceAll(
        '\u00a0',
        ' ',
      ),
    ).data.page.nodes;

    expect(displayedResult.map(({ weight }: { weight: string }) => weight)).toEqual(
      (await rest.json()).results.map(({ weight }: { weight: string }) => weight),
    );
    await person.checkPage('playground', {
      restore: async () => {
        await page.reload();
        await run();
      },
      // GraphiQL's tabs contain a close button, which no option removes.
      exempt: { 'nested-interactive': '.graphiql-tab' },
    });
  });

  test('shows changes immediately for a subscription in the playground', async () => {
    const { demo } = browserSetup();
    const person = await browserSetup().person({ signedInAs: demo.username });
    const { page } = person;
    const query =
      'subscription { changed(types: [WORKOUT]) { changes { operation node { ... on Workout { name } } } } }';

    await person.open(`/playground?query=${encodeURIComponent(query)}`);
    await page.locator('.graphiql-query-editor').getByText('changed').waitFor();
    await page.locator('.graphiql-execute-button').click();
    const response = page.locator('.graphiql-response');

    await response.getByText('"changes"').waitFor();
    const written = await fetch(new URL('/api/v2/workout/', page.url()), {
      method: 'POST',
      headers: { Authorization: `Token ${demo.token}`, 'Content-Type': 'application/json' },
      body: '{"comment":"told at once"}',
    });

    expect(written.status).toBe(201);
    await response.getByText('"told at once"').waitFor();
    await page.locator('.graphiql-execute-button').click();
  });
}
