/** The pages on which users contribute to the catalogue, and curators write it. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { alertOf, Visitor, type Page } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });
let ann: Visitor;
let bob: Visitor;
let curator: Visitor;

async function signedIn(username: string, options = {}): Promise<Visitor> {
  const visitor = new Visitor(fitgraph.url);

  await fitgraph.user(username, options);
  await visitor.signIn(username);
  return visitor;
}

beforeAll(async () => {
  [ann, bob] = [await signedIn('ann'), await signedIn('bob')];
  curator = await signedIn('curator', { isCurator: true });
});

type Fields = Record<string, string>;
const DESCRIPTION = 'Push the sled as far as you can, then pull it.';
const NEW_FOOD = '/catalogue/ingredient/new';

const food = (name: string, more: Fields = {}): Fields => ({
  name,
  energy: '45',
  protein: '1',
  carbohydrates: '6.5',
  fat: '1.5',
  languageId: '2',
  ...more,
});

const exercise = (name: string, more: Fields = {}): Fields => ({
  categoryId: '1',
  'translations.0.name': name,
  'translations.0.languageId': '2',
  'translations.0.description': DESCRIPTION,
  ...more,
});

const send = async (visitor: Visitor, path: string, fields: Fields): Promise<Page> =>
  visitor.post(path, { csrfToken: await visitor.csrfToken(), ...fields });

/** Sends a form that is accepted, and returns the page to which it leads. */
const submit = async (visitor: Visitor, path: string, fields: Fields) =>
  visitor.submit(path, { csrfToken: await visitor.csrfToken(), ...fields });

/** Adds a row and returns its path. */
async function add(visitor: Visitor, path: string, fields: Fields): Promise<string> {
  const { location, text } = await submit(visitor, path, { ...fields, action: 'create' });

  expect(text).toContain('Added.');
  return location.split('?')[0]!;
}

const idIn = (path: string) => path.split('/').at(-1)!;

/** Fields of the form that has the button of an action, as a browser would send them. */
async function formOf(visitor: Visitor, path: string, action: string): Promise<Fields> {
  const { text } = await visitor.get(path);
  const form = [...text.matchAll(/<form.*?<\/form>/gs)]
    .map(([html]) => html)
    .find((html) => html.includes(`name="action" value="${action}"`))!;
  const inputs = [...form.matchAll(/<input([^>]*) name="([^"]*)" value="([^"]*)"([^>]*)/g)]
    .filter(
      ([, before, , , after]) => !/checkbox/.test(before!) || /checked/.test(before! + after!),
    )
    .map(([html, , name, value]) => [html, name, value]);
  const selects = [...form.matchAll(/<select[^>]* name="([^"]*)".*?<\/select>/gs)].map(
    ([html, name]) => [name, /<option value="([^"]*)" selected/.exec(html)?.[1] ?? ''],
  );
  const areas = [...form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)<\/textarea>/gs)];

  return {
    ...Object.fromEntries([...inputs, ...areas].map(([, name, value]) => [name!, value!])),
    ...(Object.fromEntries(selects) as Fields),
    action,
  };
}

const textOf = (html: string) =>
  html
    .replace(/^.*<main/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

/** Messages beside the inputs, by the name of the input. */
const fieldErrors = (html: string): Fields =>
  Object.fromEntries(
    [...html.matchAll(/<p class="error" id="\w+-([\w.]+)-error">(.*?)<\/p>/g)].map(
      ([, name, message]) => [name!, message!],
    ),
  );

async function findFoods(name: string): Promise<Record<string, unknown>[]> {
  const { ingredients } = await fitgraph.anonymous.ask(
    'query ($name: String!) { ingredients(where: { name: { eq: $name } }) { nodes { name energy brand units { grams } } } }',
    { name },
  );

  return ingredients.nodes;
}

describe('access', () => {
  it('asks anonymous visitors to sign in', async () => {
    const anonymous = new Visitor(fitgraph.url);

    for (const path of ['/catalogue', '/catalogue/changes', '/catalogue/ingredient', NEW_FOOD]) {
      const { status, headers } = await anonymous.get(path);

      expect([path, status, headers.get('location')]).toEqual([
        path,
        303,
        `/login?next=${encodeURIComponent(path)}`,
      ]);
    }

    const { headers } = await anonymous.get(`${NEW_FOOD}?code=4006381333931`);

    expect(headers.get('location')).toBe(
      `/login?next=${encodeURIComponent(`${NEW_FOOD}?code=4006381333931`)}`,
    );
    expect((await anonymous.post(NEW_FOOD, food('Intruder'))).status).toBe(303);
    expect((await anonymous.get('/')).text).not.toContain('"/catalogue"');
    expect((await ann.get('/')).text).toContain('"/catalogue"');
  });

  it('shows curators all types and others those to which they contribute', async () => {
    const [own, all] = [await ann.get('/catalogue'), await curator.get('/catalogue')];

    for (const type of ['ingredient', 'exercise']) {
      expect(own.text).toContain(`"/catalogue/${type}/new"`);
      expect(all.text).toContain(`"/catalogue/${type}/new"`);
    }

    expect(own.text).not.toContain('"/catalogue/muscle"');
    const types = [...all.text.matchAll(/<li><a href="(\/catalogue\/\w+)"/g)].map(
      ([, path]) => path!,
    );

    expect(types.length).toBeGreaterThan(12);

    for (const path of types) {
      expect([path, (await curator.get(path)).status]).toEqual([path, 200]);
      const isOpen = ['/catalogue/ingredient', '/catalogue/exercise'].includes(path);

      expect([path, (await ann.get(path)).status]).toEqual([path, isOpen ? 200 : 404]);
      const { text } = await curator.get(path);
      const row = /<td><a href="(\/catalogue\/\w+\/\d+)"/.exec(text)?.[1];

      if (row) expect([row, (await curator.get(row)).status]).toEqual([row, 200]);
    }
  });

  it('does not find unknown types and rows', async () => {
    for (const path of [
      '/catalogue/nothing',
      '/catalogue/workout',
      '/catalogue/constructor',
      '/catalogue/nothing/new',
      '/catalogue/ingredient/999999999',
      '/catalogue/ingredient/x',
      '/catalogue/ingredient/99999999999999999999',
    ]) {
      for (const visitor of [ann, curator]) {
        const { status, text } = await visitor.get(path);

        expect([path, status]).toEqual([path, 404]);
        expect(text).toContain('Not found.');
      }
    }

    expect((await ann.get('/catalogue/changes')).status).toBe(404);
    expect((await send(ann, '/catalogue/changes', { change: '1' })).status).toBe(404);
  });

  it('rejects forms without the CSRF token', async () => {
    const path = await add(ann, NEW_FOOD, food('Guarded'));

    for (const [visitor, csrfToken] of [
      [ann, ''],
      [ann, 'x'],
      [ann, await bob.csrfToken()],
    ] as const) {
      for (const [target, fields] of [
        [NEW_FOOD, food('Forged')],
        [path, { ...food('Forged'), action: 'save' }],
        [path, { action: 'delete' }],
        ['/catalogue/changes', { change: '1', action: 'undo' }],
      ] as const) {
        const { status } = await visitor.post(target, { ...fields, csrfToken });

        expect([target, status]).toEqual([target, 403]);
      }
    }

    expect(await fitgraph.sql(`SELECT FROM "ingredient" WHERE "name" = 'Forged'`)).toEqual([]);
    expect((await ann.get(path)).status).toBe(200);
  });

  it('neither offers others the actions of curators nor executes them', async () => {
    const own = await add(ann, NEW_FOOD, food('Own food'));
    const accepted = await add(curator, NEW_FOOD, food('Common food'));
    const before = await fitgraph.sql('SELECT * FROM "ingredient" ORDER BY "id"');

    for (const path of [own, accepted]) {
      const { text } = await ann.get(path);
      const offered = [...text.matchAll(/name="action" value="(\w+)"/g)].map(([, name]) => name);

      expect([path, offered]).toEqual([path, path === own ? ['save', 'delete'] : []]);
      expect(text).not.toContain('History');
      const actions = ['accept', 'refuse', 'merge', 'retire', 'restore', 'undo', 'none'];

      for (const action of [...actions, ...(path === own ? [] : ['save', 'delete'])]) {
        const fields = {
          ...food('Changed'),
          into: idIn(accepted),
          refusalReason: 'No',
          change: '1',
        };
        const rejected = await send(ann, path, { ...fields, action });

        expect([action, rejected.status]).toEqual([action, 400]);
        expect(alertOf(rejected.text)).toContain('This cannot be done');
      }
    }

    expect((await bob.get(own)).status).toBe(404);
    expect((await send(bob, own, { action: 'delete' })).status).toBe(404);
    expect((await send(ann, '/catalogue/muscle/new', { name: 'Gluteus' })).status).toBe(404);
    expect(await fitgraph.sql('SELECT * FROM "ingredient" ORDER BY "id"')).toEqual(before);
  });
});

describe('contributions', () => {
  it('shows a new food to its author alone until a curator corrects and accepts it', async () => {
    const form = (await ann.get(`${NEW_FOOD}?code=4006381333931`)).text;

    expect(form).toContain('Only you see and use it until a curator accepts it.');
    expect(form).toContain('name="code" value="4006381333931"');
    const path = await add(
      ann,
      NEW_FOOD,
      food('Oat drink', { 'units.0.householdUnitId': '1', 'units.0.grams': '200' }),
    );

    expect(textOf((await ann.get('/catalogue')).text)).toMatch(
      /Oat drink Pending [-\d]+ [:\d]+ Food/,
    );
    expect((await ann.get('/catalogue/ingredient?search=oat+drink')).text).toContain('Oat drink');
    expect((await bob.get('/catalogue/ingredient?search=oat+drink')).text).not.toContain(
      'Oat drink',
    );
    expect((await bob.get(path)).status).toBe(404);
    expect(textOf((await bob.get('/catalogue')).text)).toContain('You have added nothing yet.');
    expect(await findFoods('Oat drink')).toEqual([]);

    for (const list of ['/catalogue', '/catalogue/ingredient?pending=yes']) {
      expect((await curator.get(list)).text).toContain(`<a href="${path}">Oat drink</a>`);
    }

    const fields = await formOf(curator, path, 'accept');
    const { text } = await submit(curator, path, { ...fields, energy: '46' });

    expect(text).toContain('Accepted. Everyone sees it now.');
    expect(await findFoods('Oat drink')).toEqual([
      { name: 'Oat drink', energy: 46, brand: null, units: [{ grams: '200' }] },
    ]);
    expect(textOf((await ann.get('/catalogue')).text)).toMatch(
      /Oat drink Accepted [-\d]+ [:\d]+ Food/,
    );
    expect(textOf((await bob.get(path)).text)).toMatch(/Name Oat drink Energy 46 /);
    expect((await curator.get('/catalogue')).text).not.toContain('Oat drink');
  });

  it('adds an exercise with its translation, muscles and equipment in one form', async () => {
    const form = (await ann.get('/catalogue/exercise/new')).text;

    expect(form).toContain('name="muscleIds" value="1"');
    const path = await add(
      ann,
      '/catalogue/exercise/new',
      exercise('Sled push', { muscleIds: '1' }),
    );
    const { muscleIds, translations } = (
      await (
        await fitgraph.user('ann')
      ).ask(`{ exercise(id: ${idIn(path)}) { muscleIds translations { name description } } }`)
    ).exercise;

    expect({ muscleIds, translations }).toEqual({
      muscleIds: ['1'],
      translations: [{ name: 'Sled push', description: DESCRIPTION }],
    });
    expect((await bob.get(path)).status).toBe(404);
    expect(textOf((await curator.get(path)).text)).toMatch(
      /Exercise \d+ updated Muscles: Biceps brachii/,
    );
    const edited = await submit(ann, path, {
      ...(await formOf(ann, path, 'save')),
      'translations.1.name': 'Schlittenschieben',
      'translations.1.languageId': '1',
      'translations.1.description': DESCRIPTION,
    });

    expect(edited.text).toContain('Saved.');
    expect(edited.text).toContain('value="Schlittenschieben"');
    const fields = await formOf(ann, path, 'save');

    // Translations are in the order of their names.
    expect(fields['translations.1.name']).toBe('Sled push');
    await submit(ann, path, { ...fields, 'translations.1.remove': 'on' });
    const outdated = await send(ann, path, fields);

    expect([outdated.status, alertOf(outdated.text)]).toEqual([
      400,
      expect.stringContaining('Somebody has changed this row since you opened it.'),
    ]);
    const { text } = await ann.get(path);

    expect([text.includes('Sled push'), text.includes('Schlittenschieben')]).toEqual([false, true]);
    await submit(curator, path, await formOf(curator, path, 'accept'));
    expect(
      (await fitgraph.anonymous.ask(`{ exercise(id: ${idIn(path)}) { name } }`)).exercise.name,
    ).toBe('Schlittenschieben');
  });

  it('tells the author why a curator has refused a contribution', async () => {
    const path = await add(ann, '/catalogue/exercise/new', exercise('Prowler'));
    const missing = await send(curator, path, { action: 'refuse', refusalReason: ' ' });

    expect([missing.status, fieldErrors(missing.text)]).toEqual([
      400,
      { refusalReason: 'Enter a reason.' },
    ]);
    const long = await send(curator, path, { action: 'refuse', refusalReason: 'x'.repeat(501) });

    expect(Object.keys(fieldErrors(long.text))).toEqual(['refusalReason']);
    expect(long.text).toContain('x'.repeat(501));
    await submit(curator, path, { action: 'refuse', refusalReason: 'It exists as Sled.' });

    for (const page of [path, '/catalogue']) {
      expect(textOf((await ann.get(page)).text)).toContain('Refused: It exists as Sled.');
    }

    expect((await curator.get('/catalogue')).text).not.toContain('Prowler');
    expect((await ann.get(path)).text).not.toContain('value="save"');
  });

  it('deletes a contribution for its author', async () => {
    const path = await add(ann, NEW_FOOD, food('Mistake'));
    const { location, text } = await submit(ann, path, { action: 'delete' });

    expect([location, text.includes('Deleted.')]).toEqual([
      '/catalogue/ingredient?done=delete',
      true,
    ]);
    expect((await ann.get(path)).status).toBe(404);
  });

  it('explains the daily limit and keeps the form', async () => {
    const { id } = await fitgraph.user('ann');

    await fitgraph.sql(
      `INSERT INTO "catalogue_change" ("table", "row_id", "operation", "user_id")
        SELECT 'ingredient', 2000000000, 'INSERT', $1 FROM generate_series(1, 100)`,
      [id],
    );
    const { status, text } = await send(ann, NEW_FOOD, food('One too many'));

    await fitgraph.sql('DELETE FROM "catalogue_change" WHERE "row_id" = 2000000000');
    expect([status, alertOf(text)]).toEqual([
      400,
      expect.stringContaining('You can contribute 100 foods and exercises a day.'),
    ]);
    expect(text).toContain('value="One too many"');
  });
});

describe('errors', () => {
  it('names them beside the fields and keeps what was entered', async () => {
    const { status, text } = await send(
      ann,
      NEW_FOOD,
      food('Ab', {
        energy: 'much',
        languageId: '',
        brand: 'Mill & Co',
        'units.0.grams': '30',
      }),
    );

    expect(status).toBe(400);
    expect(text).toContain('<title>Error: Add a food – Fitgraph</title>');
    expect(fieldErrors(text)).toEqual({
      energy: 'Enter a whole number.',
      languageId: 'Choose a language.',
    });
    expect(text).toContain('value="Mill &amp; Co"');
    expect(text).toContain('value="much"');
    const corrected = await send(ann, NEW_FOOD, food('Ab', { fat: '120', 'units.0.grams': '30' }));

    expect(fieldErrors(corrected.text)).toEqual({
      name: 'Ensure this field has at least 3 characters.',
      fat: 'Between 0 and 100.',
      'units.0.householdUnitId': 'Choose a household unit.',
    });
    expect(corrected.text.match(/autofocus/g)).toHaveLength(1);
    expect(await fitgraph.sql(`SELECT FROM "ingredient" WHERE "name" = 'Ab'`)).toEqual([]);
  });

  it('requires a translation of an exercise', async () => {
    const { text } = await send(ann, '/catalogue/exercise/new', { categoryId: '1' });

    expect(fieldErrors(text)).toMatchObject({
      'translations.0.name': 'Enter a name.',
      'translations.0.languageId': 'Choose a language.',
    });
  });

  it('lets the user choose between their values and those of another user', async () => {
    const path = await add(curator, NEW_FOOD, food('Disputed'));
    const fields = await formOf(curator, path, 'save');

    await submit(curator, path, { ...fields, energy: '50' });
    const { status, text } = await send(curator, path, { ...fields, energy: '60', brand: 'Mill' });

    expect([status, alertOf(text)]).toEqual([
      400,
      expect.stringContaining('Somebody has changed this row since you opened it.'),
    ]);
    expect(textOf(text)).toMatch(/Yours: 60 Stored now: 50/);
    const { version } = await formOf(curator, path, 'save');

    expect(text).toContain(`name="version" value="${version}"`);
    await submit(curator, path, { ...fields, version: version!, energy: '60', brand: 'Mill' });
    expect(await findFoods('Disputed')).toMatchObject([{ energy: 60, brand: 'Mill' }]);
  });

  it('answers unexpected texts in all parameters with a page', async () => {
    for (const text of ['\0', '%', '"><script>', 'x'.repeat(2_000), '-1', '{}']) {
      for (const name of ['search', 'after', 'pending']) {
        const path = `/catalogue/ingredient?${new URLSearchParams({ [name]: text })}`;

        expect([path, (await curator.get(path)).status < 500]).toEqual([path, true]);
      }

      const fields = { id: text, into: text, change: text, version: text, refusalReason: text };
      const path = await add(ann, NEW_FOOD, food('Probed'));

      for (const action of ['save', 'accept', 'refuse', 'merge', 'undo']) {
        const answer = await send(curator, path, {
          ...food(text, { 'units.0.id': text, [`units.${text}.grams`]: text }),
          ...fields,
          action,
        });

        expect([action, answer.status]).toEqual([action, 400]);
      }

      expect((await send(curator, NEW_FOOD, food(text))).status).toBeLessThan(500);
      expect((await send(curator, '/catalogue/changes', fields)).status).toBe(400);
    }
  });
});

describe('curation', () => {
  it('retires a row, uses it again, and deletes it', async () => {
    const path = await add(curator, NEW_FOOD, food('Barley'));

    expect((await submit(curator, path, { action: 'retire' })).text).toContain('Retired.');
    expect(await findFoods('Barley')).toEqual([]);
    await submit(curator, path, { action: 'restore' });
    expect(await findFoods('Barley')).toHaveLength(1);
    await submit(curator, path, { action: 'delete' });
    expect(await findFoods('Barley')).toEqual([]);
    const inUse = await send(curator, '/catalogue/language/2', { action: 'delete' });

    expect([inUse.status, alertOf(inUse.text)]).toEqual([
      400,
      expect.stringContaining('It is in use.'),
    ]);
  });

  it('merges a row into one with a similar name', async () => {
    const [from, into] = [
      await add(ann, NEW_FOOD, food('Rye bread of Ann')),
      await add(curator, NEW_FOOD, food('Rye bread of Anna')),
    ];
    const { text } = await curator.get(from);

    expect(text).toContain(`name="into" value="${idIn(into)}"`);
    const wrong = await send(curator, from, { action: 'merge', into: '999999999' });

    expect([wrong.status, Object.keys(fieldErrors(wrong.text))]).toEqual([400, ['into']]);
    const { location } = await submit(curator, from, { action: 'merge', into: idIn(into) });

    expect(location).toBe(`${into}?done=merge`);
    expect(textOf((await ann.get(from)).text)).toContain(`Merged into the row ${idIn(into)}.`);
  });

  it('writes types that are not contributed', async () => {
    const path = await add(curator, '/catalogue/language/new', {
      shortName: 'xx',
      fullName: 'Test',
    });

    expect((await curator.get('/catalogue/language')).text).toContain(`<a href="${path}">Test</a>`);
    await submit(curator, path, { shortName: 'xy', fullName: 'Testing', action: 'save' });
    expect((await curator.get(path)).text).toContain('<h1>Testing</h1>');
    await submit(curator, path, { action: 'delete' });
    const variation = await add(curator, '/catalogue/variation/new', {});

    await submit(curator, variation, { action: 'delete' });
    expect((await curator.get('/catalogue/exerciseImage')).text).toContain(
      'href="/api/v2/exerciseimage/"',
    );
  });

  it('shows who has changed what, and undoes it', async () => {
    const path = await add(
      curator,
      NEW_FOOD,
      food('Spelt', { 'units.0.grams': '7', 'units.0.householdUnitId': '1' }),
    );

    await submit(curator, path, {
      ...(await formOf(curator, path, 'save')),
      energy: '50',
      'units.0.grams': '8',
    });
    const { text } = await curator.get(path);
    const change = /curator.*?Energy: 45 → 50.*?name="change" value="(\d+)"/s.exec(text)![1]!;

    expect(textOf(text)).toContain('Amount in grams: 7 → 8');
    expect(textOf(text)).toMatch(/curator Food \d+ created/);
    await submit(curator, path, { action: 'undo', change });
    expect(await findFoods('Spelt')).toMatchObject([{ energy: 45, units: [{ grams: '8' }] }]);
    const again = await send(curator, path, { action: 'undo', change });

    expect([again.status, alertOf(again.text)]).toEqual([
      400,
      expect.stringContaining('The row has changed since.'),
    ]);
    await submit(curator, path, { action: 'delete' });
    const [, deletion] = /Food \d+<\/a> deleted.*?name="change" value="(\d+)"/s.exec(
      (await curator.get('/catalogue/changes')).text,
    )!;
    const undone = await submit(curator, '/catalogue/changes', { change: deletion! });

    expect(undone.text).toContain('The change was undone.');
    expect(await findFoods('Spelt')).toMatchObject([{ energy: 45 }]);
  });

  it('links from the browsable pages to the catalogue for curators only', async () => {
    const html = { Accept: 'text/html' };

    expect((await curator.get('/api/v2/ingredient/1/', html)).text).toContain(
      'href="/catalogue/ingredient/1"',
    );
    expect((await curator.get('/api/v2/exercise/1/', html)).text).toContain(
      'href="/catalogue/exerciseTranslation/1"',
    );

    for (const path of ['/api/v2/ingredient/1/', '/api/v2/exercise/1/']) {
      expect((await ann.get(path, html)).text).not.toContain('href="/catalogue/');
    }
  });

  it('pages through long lists', async () => {
    await fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "energy", "protein", "carbohydrates", "fat", "language_id", "license_id", "status", "creation_date", "update_date")
        SELECT 'Row ' || n, 1, 1, 1, 1, 2, 2, '2', now(), now() FROM generate_series(1, 60) n`,
    );
    const first = await ann.get('/catalogue/ingredient?search=Row');
    const [, next] = /<a href="(\?[^"]*)">Next<\/a>/.exec(first.text)!;
    const second = await ann.get(`/catalogue/ingredient${next!.replaceAll('&amp;', '&')}`);
    const namesIn = ({ text }: Page) => [...text.matchAll(/>(Row \d+)</g)].map(([, name]) => name);

    expect([namesIn(first).length, namesIn(second).length]).toEqual([50, 10]);
    expect(new Set([...namesIn(first), ...namesIn(second)]).size).toBe(60);
    expect(second.text).not.toContain('>Next<');
    expect((await ann.get('/catalogue/ingredient?search=Nothing+like+it')).text).toContain(
      'Nothing was found.',
    );
    await fitgraph.sql(
      `INSERT INTO "catalogue_change" ("table", "row_id", "operation", "user_id", "at")
        SELECT 'ingredient', "id", 'INSERT', $1, now() - interval '2 days'
          FROM "ingredient" WHERE "name" LIKE 'Row %'`,
      [(await fitgraph.user('diligent')).id],
    );
    const diligent = await signedIn('diligent');
    const latest = await diligent.get('/catalogue');
    const [, older] = /<a href="(\?[^"]*)">Next<\/a>/.exec(latest.text)!;

    expect([
      namesIn(latest).length,
      namesIn(await diligent.get(`/catalogue${older}`)).length,
    ]).toEqual([50, 10]);
  });
});
