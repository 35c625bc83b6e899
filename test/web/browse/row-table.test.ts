/** HTML pages of lists and rows: tables with names, and rows with their child rows. */
import { endpoints } from '../../setup/rest-endpoints';
import { createOwnedRows } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let reader: Person;
const MAX_PAGE = 100_000;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  reader = ann.withHeaders({ Accept: 'text/html' });
});

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
    .trim();
const readPage = async (path: string) => (await reader.get(path)).text;
const tableIn = (html: string) => /<table class="rows.*?<\/table>/s.exec(html)![0];
const cells = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}[ >].*?</${tag}>`, 'gs'))].map(([cell]) => plain(cell));
const rowsOf = (html: string) =>
  [...tableIn(html).matchAll(/<tr>.*?<\/tr>/gs)]
    .slice(1)
    .map(([row]) => [...cells(row, 'th'), ...cells(row, 'td')]);
const columnsOf = (html: string) => cells(/<thead>.*?<\/thead>/s.exec(tableIn(html))![0], 'th');
const headlineOf = (html: string) => plain(/<h1>.*?<\/h1>/s.exec(html)![0]);
const titleOf = (html: string) => plain(/<title>.*?<\/title>/s.exec(html)![0]);

/** Requests the page and returns the number of statements that the server logs for the request. */
async function statementsOf(path: string): Promise<number> {
  const before = fitgraph.logged.length;

  await readPage(path);

  for (;;) {
    const line = fitgraph.logged.slice(before).find((one) => JSON.parse(one).msg === 'request');

    if (line) return JSON.parse(line).statements;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it('shows the names of related rows in a list, with links to them', async () => {
  const html = await readPage('/exercise/');

  expect(columnsOf(html)).toEqual(
    expect.arrayContaining(['Name', 'Category', 'Muscles', 'Equipment', 'Language']),
  );
  const squat = rowsOf(html).find(([name]) => name === 'Squat')!;

  expect(squat).toEqual(expect.arrayContaining(['Squat', 'Legs', 'Quadriceps femoris', 'Barbell']));
  expect(tableIn(html)).toContain('<a href="/api/v2/exercise/1/">Squat</a>');
  expect(tableIn(html)).toContain('<a href="/api/v2/exercisecategory/2/">Legs</a>');
  expect(headlineOf(html)).toBe('Exercises');
  expect(headlineOf(await readPage('/equipment/'))).toBe('Equipment');
});

it('sorts a list by a column header, and reverses the order when it is followed again', async () => {
  const link = (html: string) => plain(/<a href="([^"]*)">Name/.exec(tableIn(html))![1]!);
  const up = link(await readPage('/exercise/?language=2&offset=1'));

  expect(up).toBe('/api/v2/exercise/?language=2&ordering=name');
  const first = await readPage(up.slice('/api/v2'.length));

  expect(first).toMatch(/<th scope="col" aria-sort="ascending"><a[^>]*>Name/);
  expect(rowsOf(first).map(([name]) => name)).toEqual(['Bench press', 'Plank', 'Squat']);
  const down = await readPage(link(first).slice('/api/v2'.length));

  expect(down).toMatch(/<th scope="col" aria-sort="descending"><a[^>]*>Name/);
  expect(rowsOf(down).map(([name]) => name)).toEqual(['Squat', 'Plank', 'Bench press']);
});

it('reads the names of related rows with a constant number of statements', async () => {
  const { id: workout } = (await ann.post('/workout/', { comment: 'Push' })).body;
  const log = (exercise: number) =>
    ann.post('/workoutlog/', { workout, exercise, reps: 5, weight: '50', date: '2025-01-01' });

  await log(1);
  await readPage('/workoutlog/');
  const one = await statementsOf('/workoutlog/');

  for (const exercise of [2, 3, 1, 2]) await log(exercise);
  expect(rowsOf(await readPage('/workoutlog/'))).toHaveLength(5);
  expect(await statementsOf('/workoutlog/')).toBeLessThanOrEqual(one);
});

it('limits a page of a long list to 100 rows and 100 kB', async () => {
  const { id: workout } = (await ann.post('/workout/', { comment: 'Long' })).body;

  await fitgraph.sql(
    `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "reps", "weight", "date", "repetition_unit_id", "weight_unit_id")
     SELECT $1, $2, 1 + n % 3, n, n, DATE '2025-01-01' + n, 1, 1 FROM generate_series(1, 150) AS n`,
    [ann.id, workout],
  );
  const html = await readPage('/workoutlog/?limit=1000');

  expect(rowsOf(html)).toHaveLength(100);
  expect(html.length).toBeLessThan(MAX_PAGE);
  expect(html).toContain('the full response');
});

it('links some of a thousand related rows, in time that grows with their number', async () => {
  const [{ id: variation }] = (await fitgraph.sql(
    'INSERT INTO "variation" DEFAULT VALUES RETURNING "id"',
  )) as [{ id: number }];

  await fitgraph.sql('UPDATE "exercise_base" SET "variation_id" = $1 WHERE "id" = 1', [variation]);
  await fitgraph.sql(
    `INSERT INTO "exercise" ("uuid", "name", "name_original", "description", "status", "language_id", "license_id", "exercise_base_id")
     SELECT gen_random_uuid(), 'Variation ' || n, '', "description", '2', 1, 2, 1 FROM "exercise", generate_series(1, 1000) AS n WHERE "id" = 1`,
  );
  const before = process.cpuUsage();
  const html = await readPage('/exercise/?limit=100');
  const { user } = process.cpuUsage(before);

  await fitgraph.sql(`DELETE FROM "exercise" WHERE "name" LIKE 'Variation %'`);
  await fitgraph.sql('UPDATE "exercise_base" SET "variation_id" = NULL WHERE "id" = 1');
  expect(plain(html)).toMatch(/, 99\d more/);
  expect(user / 1e6).toBeLessThan(10);
});

it.each(['/nutritionplaninfo/%/', '/nutritionplaninfo/?limit=1&ordering=-id'])(
  'links to JSON that is too long for the page %s',
  async (path) => {
    const { id: plan } = (await ann.post('/nutritionplan/', { description: 'Long' })).body;
    const { id: meal } = (await ann.post('/meal/', { plan })).body;

    await fitgraph.sql(
      `INSERT INTO "meal_item" ("user_id", "meal_id", "ingredient_id", "amount", "order")
     SELECT $1, $2, (SELECT min("id") FROM "ingredient"), 100, 1 FROM generate_series(1, 1000) AS n`,
      [ann.id, meal],
    );
    const address = path.replace('%', plan);

    expect(JSON.stringify((await ann.get(address)).body).length).toBeGreaterThan(MAX_PAGE);
    const html = await readPage(address);

    expect(html.length).toBeLessThan(MAX_PAGE);
    expect(html).toContain('The JSON is too long for this page');
  },
);

it('titles a page by the name of its row, and links related rows in both directions', async () => {
  const html = await readPage('/exerciseinfo/1/');

  expect([headlineOf(html), titleOf(html)]).toEqual(['Squat', 'Squat – Exercise – Fitgraph']);
  expect([...html.matchAll(/<img [^>]*src="([^"]*)"/g)].map(([, src]) => src)).toEqual([
    '/static/images/muscles/body.svg?main=2&amp;secondary=1,3',
    '/media/exercise-images/1/squat.png.80x80_q85.jpg',
  ]);
  expect(html).toContain('Quadriceps femoris; also Biceps brachii, Rectus abdominis');
  expect(html).toContain('Mind squat.');
  expect(html).toContain('<a href="/api/v2/exercisecomment/?exercise=1">');
  const comment = await readPage('/exercisecomment/1/');

  expect(comment).toMatch(
    /<dt>Exercise<\/dt><dd><a href="\/api\/v2\/exercise\/1\/">Squat<\/a><\/dd>/,
  );
});

it('shows the fields of an exercise to anonymous clients, without lists that require sign-in', async () => {
  const html = (
    await fitgraph.anonymous.withHeaders({ Accept: 'text/html' }).get('/exerciseinfo/1/')
  ).text;

  expect([headlineOf(html), titleOf(html)]).toEqual(['Squat', 'Squat – Exercise – Fitgraph']);
  expect(html).toContain('Mind squat.');
});

it('shows the translations of an exercise', async () => {
  await fitgraph.sql(
    `INSERT INTO "exercise" ("uuid", "name", "name_original", "description", "status", "language_id", "license_id", "exercise_base_id")
     SELECT gen_random_uuid(), 'Kniebeuge', '', "description", '2', 1, 2, 1 FROM "exercise" WHERE "id" = 1`,
  );
  expect(plain(await readPage('/exercise/1/'))).toContain('Kniebeuge (Deutsch)');
});

it('shows the child rows of an owned row, with a link to add one', async () => {
  const { id: training } = (await ann.post('/workout/', { comment: 'Legs and more' })).body;
  const { id: exerciseday } = (
    await ann.post('/day/', { training, day: [1], description: 'Leg day' })
  ).body;
  const { id: set } = (await ann.post('/set/', { exerciseday, order: 1 })).body;

  await ann.post('/setting/', { set, exercise: 1, reps: 5, order: 1 });
  const html = await readPage(`/workout/${training}/`);

  expect(headlineOf(html)).toBe('Legs and more');
  expect(rowsOf(html)).toEqual([['Leg day', 'Monday', 'Squat']]);
  expect(plain(/<section class="day">.*?<\/section>/s.exec(html)![0])).toBe(
    'Leg day MondaySquat 4 × 5',
  );
  const add = plain(/<a href="([^"]*#write)">Add<\/a>/.exec(html)![1]!);

  expect(add).toBe(`/api/v2/day/?training=${training}#write`);
  const form = (await readPage(add.slice('/api/v2'.length, -'#write'.length))).split(
    'id="write"',
  )[1]!;

  expect(form).toMatch(new RegExp(`<option value="${training}" selected>`));
});

it('names a set by its exercises, and by its day too when the name is ambiguous', async () => {
  const dan = await fitgraph.user('dan');
  const { id: training } = (await dan.post('/workout/', { comment: 'Twice a week' })).body;

  const setOf = async (description: string, exercises: number[]) => {
    const { id: exerciseday } = (await dan.post('/day/', { training, day: [1], description })).body;
    const { id: set } = (await dan.post('/set/', { exerciseday, order: 1 })).body;

    for (const exercise of exercises) {
      await dan.post('/setting/', { set, exercise, reps: 5, order: 1 });
    }

    return Number(set);
  };

  const [heavy, light, pair] = [
    await setOf('Heavy', [1]),
    await setOf('Light', [1, 1]),
    await setOf('Arms', [1, 2]),
  ];
  const page = dan.withHeaders({ Accept: 'text/html' });
  const sets = (await page.get('/set/')).text;

  expect(rowsOf(sets).map(([name, day]) => [name, day])).toEqual([
    ['Squat', 'Heavy'],
    ['Squat', 'Light'],
    ['Squat + Bench press', 'Arms'],
  ]);
  const settings = (await page.get('/setting/')).text;

  expect(rowsOf(settings).map(([, set]) => set)).toEqual([
    'Squat (Heavy)',
    'Squat (Light)',
    'Squat (Light)',
    'Squat + Bench press',
    'Squat + Bench press',
  ]);
  const form = settings.split('id="write"')[1]!;

  for (const label of [
    `${heavy}: Squat (Heavy)`,
    `${light}: Squat (Light)`,
    `${pair}: Squat + Bench press`,
  ]) {
    expect(form).toContain(`>${label}</option>`);
  }

  expect(form).toMatch(/<select id="wpost-rir".*?>–<\/option>/s);
  expect(form.split('</form>')[0]).not.toContain('------');
  expect(headlineOf((await page.get(`/set/${pair}/`)).text)).toBe('Squat + Bench press');
});

it('does not name a row by a value that the surrounding rows share', async () => {
  const eve = await fitgraph.user('eve');
  const page = eve.withHeaders({ Accept: 'text/html' });
  const { id: workout } = (await eve.post('/workout/', { comment: 'Push' })).body;

  await eve.post('/workoutlog/', {
    workout,
    exercise: 1,
    reps: 5,
    weight: '50',
    date: '2025-01-01',
  });
  expect(rowsOf((await page.get('/workoutlog/')).text)[0]![0]).toBe('Squat');
  expect(rowsOf((await page.get(`/workout/${workout}/`)).text)[0]![0]).toBe('Squat');
  const squat = (await page.get('/exercise/1/')).text;
  const logs = /<h2>Logs.*?<\/section>/s.exec(squat)![0];

  expect(rowsOf(logs)[0]).toEqual(expect.arrayContaining(['2025-01-01', '5', '50.00']));
  // The ingredient is not repeated in the unit beside it.
  const { id: plan } = (await eve.post('/nutritionplan/', { language: 2 })).body;
  const { id: meal } = (await eve.post('/meal/', { plan, time: '07:30' })).body;
  const [unit] = (await eve.get('/ingredientweightunit/?ingredient=1')).body.results;

  await eve.post('/mealitem/', { meal, ingredient: 1, weight_unit: unit.id, amount: '1' });
  const [item] = rowsOf((await page.get('/mealitem/')).text);

  expect(item!.filter((text) => text.includes('Oats'))).toEqual(['Oats']);
});

it('summarizes the active filters of a list, and distinguishes no matches from no rows', async () => {
  const html = await readPage('/exercise/?category=2&name=Squat');

  expect(html).toMatch(/<details class="filters"><summary>/);
  expect(plain(/<summary>Filter.*?<\/summary>/s.exec(html)![0])).toBe(
    'Filter and sort Name: Squat, Category: Legs',
  );
  const none = plain(await readPage('/exercise/?name=No+such'));

  expect(none).toContain('Nothing found. Show all');
  const bob = (await fitgraph.user('bert')).withHeaders({ Accept: 'text/html' });

  expect(plain((await bob.get('/workout/')).text)).toContain('Nothing here yet.');
});

it('shows search results as a list of links', async () => {
  const html = await readPage('/exercise/search/?term=squ&language=en');

  expect(headlineOf(html)).toBe('Search exercises');
  expect(html).toContain('<a href="/api/v2/exercise/1/">Squat</a> <span class="count">Legs</span>');
  expect(plain(await readPage('/ingredient/search/?term=nothing'))).toContain('Nothing found.');
});

it('names a row without a name by its type and id', async () => {
  const { id } = (await ann.post('/workout/', {})).body;

  expect(headlineOf(await readPage(`/workout/${id}/`))).toBe(`Workout ${id}`);
});

it('shows no API terms such as "Instance" in the titles of pages, but in OPTIONS', async () => {
  const bob = await fitgraph.user('bob');

  await createOwnedRows(bob);
  const page = bob.withHeaders({ Accept: 'text/html' });

  for (const { view } of endpoints) {
    const list = await page.get(`/${view.restName}/`);
    const [row] = (await bob.get(`/${view.restName}/?limit=1`)).body.results;
    const detail = row && (await page.get(`/${view.restName}/${row.id}/`));

    for (const { text, status } of [list, detail ?? list]) {
      expect([view.restName, status]).toEqual([view.restName, 200]);
      expect([
        view.restName,
        /Viewset|Instance| List\b/.test(headlineOf(text) + titleOf(text)),
      ]).toEqual([view.restName, false]);
      expect(text.length).toBeLessThan(MAX_PAGE);
    }

    expect((await bob.options(`/${view.restName}/`)).body.name).toBe(`${view.title} List`);
  }
});

it('links the actions of a row that have a page, but not those for programs', async () => {
  const { id: workout } = (await ann.post('/workout/', { comment: 'Pull' })).body;
  const actions = (html: string) =>
    [...html.matchAll(/<a href="\/api\/v2\/\w+\/\d+\/(\w+)\/"/g)].map(([, name]) => name);

  expect(actions(await readPage(`/workout/${workout}/`))).toEqual(['log_data']);
  expect(actions(await readPage('/ingredient/1/'))).toEqual([]);
  expect(await readPage(`/workout/${workout}/canonical_representation/`)).toContain(
    '<details class="api" open',
  );
});

it('names a user profile by its username', async () => {
  const [{ id: profile }] = (await ann.get('/userprofile/')).body.results;
  const html = await readPage('/userprofile/');

  expect([columnsOf(html)[0], rowsOf(html)[0]![0]]).toEqual(['User profile', 'ann']);
  expect(headlineOf(await readPage(`/userprofile/${profile}/`))).toBe('ann');
});

it('shows nutritional values with units and as a percentage of the goal', async () => {
  const [{ id: profile }] = (await ann.get('/userprofile/')).body.results;

  await ann.patch(`/userprofile/${profile}/`, { calories: 2000 });
  const { id: plan } = (await ann.post('/nutritionplan/', { language: 2, has_goal_calories: true }))
    .body;
  const { id: meal } = (await ann.post('/meal/', { plan, time: '07:30' })).body;

  await ann.post('/mealitem/', { meal, ingredient: 1, amount: '100' });
  const values = plain(await readPage(`/nutritionplan/${plan}/nutritional_values/`));

  expect(values).toContain('372 kcal');
  expect(values).toContain('19 % of the goal of 2000 kcal');
  expect(values).toContain('7 g');
  expect(rowsOf(await readPage(`/nutritionplan/${plan}/`))).toEqual([['07:30', '1', 'Oats']]);
  expect(headlineOf(await readPage(`/meal/${meal}/`))).toBe('Meal at 07:30');
  await ann.patch(`/userprofile/${profile}/`, { weight_unit: 'lb' });
  expect(plain(await readPage(`/nutritionplan/${plan}/nutritional_values/`))).toMatch(/\d oz/);
});

it.each([
  ['muscle', ['Name', 'On the front', 'Drawing']],
  ['license', ['Full name', 'Short name', 'Link']],
  ['language', ['Name', 'Code']],
])('has readable column titles for %s', async (name, columns) =>
  expect(
    columnsOf(await readPage(`/${name}/?limit=1`)).map((column) => column.replace(/[^a-z ]/gi, '')),
  ).toEqual(columns),
);

it('keeps the field labels of the reference service in OPTIONS', async () => {
  const { body } = await ann.options('/muscle/');

  expect([body.fields.is_front.label, body.fields.image_url_main.label]).toEqual([
    'Is front',
    'Image url main',
  ]);
});
