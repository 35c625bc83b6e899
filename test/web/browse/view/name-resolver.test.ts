/** Relations in forms and filters: a select for few rows, a search by name for many. */
import { fitgraphForThisFile } from '../../../setup/fitgraph';
import type { Person } from '../../../setup/person';
import { Visitor } from '../../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const DAYS = '/api/v2/day/';
const MANY = 61;

async function visitorOf(username: string): Promise<[Person, Visitor]> {
  const person = await fitgraph.user(username);
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn(username);
  return [person, visitor];
}

async function workouts(person: Person, count: number): Promise<number[]> {
  const rows = await fitgraph.sql(
    `INSERT INTO "workout" ("user_id", "comment", "creation_date") SELECT $1, 'Plan ' || n, '2025-01-01' FROM generate_series(1, $2::int) AS n RETURNING "id"`,
    [person.id, count],
  );

  return rows.map(({ id }) => id);
}

const options = (html: string, id: string) =>
  [
    ...(new RegExp(`<select id="${id}".*?</select>`, 's').exec(html)?.[0] ?? '').matchAll(
      /<option value(?:="([^"]*)")?[^>]*>([^<]*)/g,
    ),
  ].map(([, value = '', label]) => [value, label]);
const foundTrainings = (html: string) =>
  [...html.matchAll(/<input type="radio" name="training" value="(\d+)"\/?> ([^<]*)/g)].map(
    ([, id, name]) => [id, name],
  );

it('offers the few rows of the user in a select, without rows of other users', async () => {
  const [bob] = await visitorOf('bob');

  await workouts(bob, 1);
  const [ann, visitor] = await visitorOf('ann');
  const [id] = await workouts(ann, 1);
  const { text } = await visitor.get(DAYS);

  expect(options(text, 'wpost-training')).toEqual([
    ['', '–'],
    [String(id), `${id}: Plan 1`],
  ]);
  expect(options(text, 'f-training')).toEqual([
    ['', 'Any'],
    [String(id), `${id}: Plan 1`],
  ]);
});

it('labels meals without a name by their time', async () => {
  const [carl, visitor] = await visitorOf('carl');
  const plan = (await carl.post('/nutritionplan/', { language: 2 })).body.id;
  const meal = (await carl.post('/meal/', { plan, time: '07:30' })).body.id;

  expect(options((await visitor.get('/api/v2/mealitem/')).text, 'wpost-meal')).toContainEqual([
    String(meal),
    `${meal}: 07:30:00`,
  ]);
});

it('labels sets by their exercises, and empty sets by their day', async () => {
  const [eve, visitor] = await visitorOf('eve');
  const [training] = await workouts(eve, 1);
  const exerciseday = (await eve.post('/day/', { training, day: [1], description: 'Legs' })).body
    .id;
  const [trained, empty] = [
    (await eve.post('/set/', { exerciseday, order: 1 })).body.id,
    (await eve.post('/set/', { exerciseday, order: 2 })).body.id,
  ];
  const [exercise] = (await eve.get('/exercise/?limit=1')).body.results;
  const setting = { set: trained, exercise: exercise.id, reps: 5, order: 1 };

  expect((await eve.post('/setting/', setting)).status).toBe(201);
  expect(options((await visitor.get('/api/v2/setting/')).text, 'wpost-set')).toEqual([
    ['', '–'],
    [String(trained), `${trained}: ${exercise.name}`],
    [String(empty), `${empty}: Legs`],
  ]);
});

describe('relations with many rows', () => {
  let ids: number[];
  let visitor: Visitor;

  beforeAll(async () => {
    let dora: Person;

    [dora, visitor] = await visitorOf('dora');
    ids = await workouts(dora, MANY);
  });

  const form = async (training: string, further = '') => {
    const fields = new URLSearchParams({
      csrfToken: await visitor.csrfToken(),
      day: '1',
      description: 'Legs',
      training,
    });
    const answer = await visitor.send('POST', DAYS, `${fields}${further}`, {
      'Content-Type': 'application/x-www-form-urlencoded',
    });

    if (answer.status !== 303) return answer;

    return { ...(await visitor.get(answer.headers.get('location')!)), status: answer.status };
  };

  const chosenTraining = (html: string) => /name="_chosen_training" value="(\d*)"/.exec(html)?.[1];

  it('accept a unique name, and then show the id with the name', async () => {
    const { status, text } = await form(' pLAN 61 ');

    expect(status).toBe(303);
    expect(text).toContain(`name="training" value="${ids[60]}: Plan 61"`);
    expect(chosenTraining(text)).toBe(String(ids[60]));
  });

  it('accept the displayed label when the name is not unique', async () => {
    const twins = (
      await fitgraph.sql(
        `UPDATE "workout" SET "comment" = 'Twin' WHERE "id" = ANY($1) RETURNING "id"`,
        [ids.slice(0, 2)],
      )
    ).map(({ id }) => id);

    expect((await form('twin')).status).toBe(400);
    const { status, text } = await form(`${twins[1]}: Twin`);

    expect([status, chosenTraining(text)]).toEqual([303, String(twins[1])]);
  });

  it('show matches for a part of a name, and accept the chosen one', async () => {
    const { status, text } = await form('plan');

    expect(status).toBe(400);
    expect(text).toContain('id="wpost-training-error">Choose one of the matches below.');
    expect(text).toMatch(
      /<input type="search" id="wpost-training" name="training" value="plan"[^>]* autofocus/,
    );
    expect(foundTrainings(text)).toContainEqual([String(ids[9]), `${ids[9]}: Plan 10`]);
    expect(text).toContain('value="Legs"');
    const created = await form('plan', `&training=${ids[60]}`);

    expect(created.status).toBe(303);
    expect(chosenTraining(created.text)).toBe(String(ids[60]));
  });

  it('show an error when no name matches', async () => {
    const { status, text } = await form('zumba');

    expect(status).toBe(400);
    expect(text).toContain('id="wpost-training-error">No match for “zumba”.');
    expect(foundTrainings(text)).toEqual([]);
  });

  it('accept names in filters too', async () => {
    const { status, text } = await visitor.get(`${DAYS}?training=plan`);

    expect(status).toBe(200);
    expect(foundTrainings(text)).toContainEqual([String(ids[9]), `${ids[9]}: Plan 10`]);

    for (const query of [`training=plan&training=${ids[60]}`, 'training=Plan+61']) {
      const narrowed = await visitor.get(`${DAYS}?${query}`);

      expect([query, narrowed.status]).toEqual([query, 200]);
      expect(narrowed.text).toContain(`value="${ids[60]}: Plan 61"`);
    }
  });

  it('do not accept names from API clients', async () => {
    const dora = await fitgraph.user('dora');
    const { status, body } = await dora.post('/day/', {
      training: 'Plan 61',
      day: [1],
      description: 'Legs',
    });

    expect([status, body]).toEqual([
      400,
      { training: ['Incorrect type. Expected pk value, received str.'] },
    ]);
    expect((await dora.get('/day/?training=Plan+61')).status).toBe(400);
  });

  it('keep an unknown id in the field', async () => {
    for (const id of ['999999', '99999999999999999999']) {
      const { status, text } = await form(id);

      expect(status).toBe(403);
      expect(text).toContain(`name="training" value="${id}"`);
    }
  });

  const suggestionsFor = async (
    type: string,
    text: string,
    whom: Pick<Visitor, 'get'> = visitor,
  ) => {
    const answer = await whom.get(`/pages/suggestions?${new URLSearchParams({ type, text })}`);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    return JSON.parse(answer.text);
  };

  it('suggest up to 20 rows while a name is typed', async () => {
    expect((await suggestionsFor('Workout', ' plan 61'))[0]).toEqual({
      value: String(ids[60]),
      label: `${ids[60]}: Plan 61`,
    });
    expect(await suggestionsFor('Workout', 'plan')).toHaveLength(20);
    const { text, headers } = await visitor.get(DAYS);

    expect(text).toMatch(
      /<input type="search" id="wpost-training" name="training" [^>]*data-suggest="Workout"/,
    );
    const [, script] = /<script src="([^"]*suggest[^"]*)" defer><\/script>/.exec(text)!;

    expect((await visitor.get(script!)).headers.get('content-type')).toBe(
      'text/javascript; charset=utf-8',
    );
    expect(headers.get('content-security-policy')).toContain("connect-src 'self'");
  });

  it('suggest names with markup as JSON', async () => {
    const [gerd, other] = await visitorOf('gerd');
    const comment = '<img src=x onerror=alert(1)>';
    const { id } = (await gerd.post('/workout/', { comment })).body;
    const { headers, text } = await other.get('/pages/suggestions?type=Workout&text=onerror');

    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(JSON.parse(text)).toEqual([{ value: String(id), label: `${id}: ${comment}` }]);
  });

  it('suggest owned rows to their user only', async () => {
    const [, other] = await visitorOf('frida');

    expect(await suggestionsFor('Workout', 'plan', other)).toEqual([]);
    expect(await suggestionsFor('Workout', 'plan', new Visitor(fitgraph.url))).toEqual([]);
  });

  it('suggest public rows to anonymous clients', async () => {
    expect(await suggestionsFor('Ingredient', 'appl', new Visitor(fitgraph.url))).toEqual([
      { value: expect.any(String), label: 'Apple' },
    ]);
  });

  it.each([
    ['an empty text', 'Workout', ''],
    ['a space', 'Workout', ' '],
    ['a null character', 'Workout', 'a\0'],
    ['a very long text', 'Workout', 'x'.repeat(5000)],
    ['an unknown type', 'Zumba', 'plan'],
    ['an empty type', '', 'plan'],
    ['a type without rows', '__Schema', 'plan'],
    ['a property of Object.prototype', 'constructor', 'plan'],
  ])('suggest nothing for %s', async (_what, type, text) =>
    expect(await suggestionsFor(type, text)).toEqual([]),
  );

  it('load no suggestion script and forbid connections on pages without a search field', async () => {
    const { text, headers } = await visitor.get('/api/v2/workout/');

    expect(text).not.toContain('<script');
    expect(headers.get('content-security-policy')).toMatch(
      /script-src 'self';.*connect-src 'none'/,
    );
  });
});

describe('text in the filters of a list', () => {
  let gil: Person;
  let visitor: Visitor;
  const rowNames = (html: string) =>
    [...html.matchAll(/<th scope="row">(?:<img[^>]*>)?<a [^>]*>([^<]*)/g)].map(([, name]) => name);

  beforeAll(async () => {
    [gil, visitor] = await visitorOf('gil');
    const { id: workout } = (await gil.post('/workout/', { comment: 'Push day' })).body;

    for (const exercise of [1, 2]) {
      const log = { workout, exercise, date: '2025-01-01', weight: '50', reps: 5 };

      expect((await gil.post('/workoutlog/', log)).status).toBe(201);
    }
  });

  it.each([
    ['/exercise/?name=bench', ['Bench press']],
    ['/exercise/?name=bnech+pres', ['Bench press']],
    ['/exerciseinfo/?name=BENCH', ['Bench press']],
    ['/ingredient/?name=oat', ['Oats']],
    ['/workout/?comment=push', ['Push day']],
    ['/workoutlog/?exercise=bench', ['Bench press']],
    ['/workoutlog/?exercise=s', ['Squat', 'Bench press']],
    ['/exercise/?muscles=biceps&language=2', ['Bench press']],
    ['/exercise/?muscles=1&name=bench', ['Bench press']],
    ['/exercise/?name=zumba', []],
    ['/workoutlog/?exercise=zumba', []],
  ])('finds parts of names and similar names: %s', async (path, names) => {
    const { status, text } = await visitor.get(`/api/v2${path}`);

    expect([status, rowNames(text)]).toEqual([200, names]);
    expect(text.includes('Nothing found.')).toBe(names.length === 0);
  });

  it('exports the rows that the page shows', async () => {
    const { text } = await visitor.get('/api/v2/exercise/?name=bench');
    const link = /<a href="([^"]*)">CSV</.exec(text)![1]!.replaceAll('&amp;', '&');
    const lines = (await visitor.get(link)).text.trim().split('\r\n');

    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('Bench press');
  });

  it('is compared exactly in JSON', async () => {
    const countOf = async (path: string) => (await gil.get(path)).body.count;

    expect(await countOf('/exercise/?name=bench')).toBe(0);
    expect(await countOf('/exercise/?name=Bench+press')).toBe(1);
    expect(await countOf('/exercise/?muscles=biceps')).toBe(await countOf('/exercise/'));
    expect((await gil.get('/workoutlog/?exercise=bench')).status).toBe(400);
  });

  it('is explained where the page and the JSON differ', async () => {
    const isExplained = async (path: string) =>
      (await visitor.get(path)).text.includes('The filters of this page search for text.');

    expect(await isExplained('/api/v2/exercise/?name=bench')).toBe(true);
    expect(await isExplained('/api/v2/exercise/?category=1&name=')).toBe(false);
  });
});

describe('rows without a name of their own', () => {
  const names = (html: string, field: string) =>
    [
      ...html.matchAll(
        new RegExp(`<input type="radio" name="${field}" value="\\d+"/?> ([^<]*)`, 'g'),
      ),
    ].map(([, name]) => name);

  beforeAll(async () => {
    await fitgraph.sql(
      `INSERT INTO "household_unit" ("name", "language_id") SELECT 'Bowl ' || n, 1 FROM generate_series(1, 61) AS n`,
    );
    await fitgraph.sql(
      `INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "gram", "amount") SELECT 2, "id", 250, 1 FROM "household_unit" WHERE "name" LIKE 'Bowl %'`,
    );
  });

  it('are named by the rows that they belong to', async () => {
    const [, visitor] = await visitorOf('eve');

    for (const part of ['milk', 'bowl 1']) {
      const { status, text } = await visitor.get(`/api/v2/mealitem/?weight_unit=${part}`);

      expect(status).toBe(200);
      expect(names(text, 'weight_unit')).toContain('Milk, Bowl 1, 1.00');
    }
  });

  it('have no id in their label when they are exercises of images', async () => {
    const [, visitor] = await visitorOf('fay');

    expect(
      options((await visitor.get('/api/v2/exerciseimage/')).text, 'wpost-exercise'),
    ).toContainEqual(['1', 'Squat']);
  });
});
