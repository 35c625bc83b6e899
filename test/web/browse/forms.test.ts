/**
 * Forms that write: redirects after success, repeated submissions, and rows that another client has
 * changed or deleted meanwhile.
 */
import sharp from 'sharp';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { lockIsAwaited } from '../../setup/waits';
import { Visitor, type Page } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const ENTRIES = '/api/v2/weightentry/';
const NEW = /id="wpost-/;
const EDIT = /id="wpatch-/;
const DELETE = /Delete permanently/;

let ann: Person;
let visitor: Visitor;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
  await visitor.signIn('ann');
});
beforeEach(() => fitgraph.sql('DELETE FROM "weight_entry"'));

const count = async () => (await ann.get('/weightentry/')).body.count as number;

const entry = async (
  weight = '80.00',
  date = '2021-03-10',
): Promise<{ id: number; path: string }> => {
  const { id } = (await ann.post('/weightentry/', { date, weight })).body;

  return { id, path: `${ENTRIES}${id}/` };
};

const weightOf = async (id: number) => (await ann.get(`/weightentry/${id}/`)).body.weight as string;
const radios = (html: string, key: string) =>
  [
    ...html.matchAll(
      new RegExp(
        `<input type="radio" name="${key}" value(?:="([^"]*)")?( checked)?/?>\\s*([^<]*)<span class="value">([^<]*)`,
        'g',
      ),
    ),
  ].map(([, value, checked, title, shown]) => [value, checked !== undefined, `${title}${shown}`]);

it('is on a list to POST a row and on its page to PATCH it, next to the table, the fields and OPTIONS', async () => {
  const { path } = await entry('80.00', '2021-03-11');
  const [list, page] = [(await visitor.get(ENTRIES)).text, (await visitor.get(path)).text];

  expect(list).toMatch(/<form class="fields" method="post" action="\/api\/v2\/weightentry\/"/);
  expect(list).toMatch(new RegExp(`<a href="${path}">2021-03-11</a>`));
  expect(list.split('New weight entry').map((part) => part.includes('<table'))).toEqual([
    false,
    true,
  ]);
  expect(page).toContain(`<form class="fields" method="post" action="${path}"`);
  expect(page).toContain('<button name="_method" value="PATCH">Save</button>');
  expect(page).toMatch(/<dt>Weight<\/dt><dd>80\.00/);

  for (const html of [list, page]) {
    expect(/<pre id="options"[^>]*>([^<]*)/.exec(html)![1]).toContain('"actions": {');
  }
});

describe('a successful form', () => {
  it('redirects to the created row, whose page says so once', async () => {
    const fields = await visitor.fieldsOf(ENTRIES, NEW);
    const answer = await visitor.post(ENTRIES, { ...fields, date: '2021-03-10', weight: '80' });

    expect([answer.status, answer.text, answer.headers.get('cache-control')]).toEqual([
      303,
      '',
      'private, no-store',
    ]);
    const location = answer.headers.get('location')!;

    expect(location).toMatch(/^\/api\/v2\/weightentry\/\d+\/$/);
    expect(answer.cookies).toEqual([
      `fitgraph-notice=created; Max-Age=60; Path=${location}; HttpOnly; SameSite=Strict`,
    ]);
    const first = await visitor.get(location);

    expect(first.text).toContain('<strong>Created.</strong>');
    expect((await visitor.get(location)).text).not.toContain('Created.');
    expect(await count()).toBe(1);
  });

  it('redirects to the row after a change and to the list after a deletion', async () => {
    const { id, path } = await entry();
    const saved = await visitor.submit(path, {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      date: '2021-03-10',
      weight: '81',
    });

    expect([
      saved.location,
      saved.text.includes('<strong>Saved.</strong>'),
      await weightOf(id),
    ]).toEqual([path, true, '81.00']);
    const deleted = await visitor.submit(path, {
      ...(await visitor.fieldsOf(path, DELETE)),
      _method: 'DELETE',
    });

    expect([
      deleted.location,
      deleted.text.includes('<strong>Deleted.</strong>'),
      await count(),
    ]).toEqual([ENTRIES, true, 0]);
  });

  it('returns 201 without a redirect to a client that signs in with a token', async () => {
    const form = ann.withHeaders({
      Accept: 'text/html',
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    const { status, headers } = await form.send(
      'POST',
      '/api/v2/weightentry/',
      'date=2021-03-10&weight=80',
    );

    expect([status, headers.get('content-type'), headers.get('set-cookie')]).toEqual([
      201,
      'text/html; charset=utf-8',
      null,
    ]);
  });

  it('does not change the method of a client that signs in with a token', async () => {
    const { id, path } = await entry();
    const form = ann.withHeaders({
      Accept: 'text/html',
      'Content-Type': 'application/x-www-form-urlencoded',
    });

    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      expect((await form.send('POST', path, `_method=${method}&weight=81`)).status).toBe(405);
    }

    expect((await ann.get(`/weightentry/${id}/`)).body.weight).toBe('80.00');
  });

  it('returns 201 without a redirect when it is posted as JSON or accepts JSON', async () => {
    const created = await ann
      .withHeaders({ Accept: 'text/html' })
      .post('/weightentry/', { date: '2021-03-10', weight: '80' });

    expect([created.status, created.headers.get('content-type')]).toEqual([
      201,
      'text/html; charset=utf-8',
    ]);
    expect(created.text).toContain('<strong>Created.</strong>');
    const form = new FormData();

    form.set('date', '2021-03-11');
    form.set('weight', '80');
    expect(await ann.send('POST', ENTRIES, form)).toMatchObject({
      status: 201,
      body: { date: '2021-03-11', weight: '80.00' },
    });
  });
});

describe('a form that is submitted twice', () => {
  it('stores one row and redirects to it both times', async () => {
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(ENTRIES, NEW)),
      date: '2021-03-10',
      weight: '80',
    };
    const first = await visitor.submit(ENTRIES, fields);

    expect((await visitor.submit(ENTRIES, fields)).location).toBe(first.location);
    expect(await count()).toBe(1);
    const workout = { ...(await visitor.fieldsOf('/api/v2/workout/', NEW)), comment: 'Push' };
    const locations = [
      await visitor.submit('/api/v2/workout/', workout),
      await visitor.submit('/api/v2/workout/', workout),
    ];

    expect(new Set(locations.map(({ location }) => location)).size).toBe(1);
    expect((await ann.get('/workout/')).body.count).toBe(1);
  });

  it('waits for the response to the first submission while that is running', async () => {
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(ENTRIES, NEW)),
      date: '2021-03-10',
      weight: '80',
    };
    const client = await fitgraph.database.pool.connect();
    let answers: Promise<Page[]>;

    try {
      await client.query('BEGIN; LOCK TABLE "weight_entry" IN EXCLUSIVE MODE');
      answers = Promise.all([visitor.post(ENTRIES, fields), visitor.post(ENTRIES, fields)]);
      await lockIsAwaited(fitgraph);
    } finally {
      await client.query('COMMIT');
      client.release();
    }

    const [first, second] = await answers;

    expect([first!.status, second!.status]).toEqual([303, 303]);
    expect(second!.headers.get('location')).toBe(first!.headers.get('location'));
    expect(await count()).toBe(1);
  });

  it('keeps other values and asks before it stores them too', async () => {
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(ENTRIES, NEW)),
      date: '2021-03-10',
      weight: '80',
    };

    await visitor.submit(ENTRIES, fields);
    const changedForm = await visitor.post(ENTRIES, { ...fields, date: '2021-03-11' });

    expect(changedForm.status).toBe(409);
    expect(changedForm.text).toContain('This form has been submitted before.');
    expect(changedForm.text).toMatch(
      /<input type="date" id="wpost-date" name="date" value="2021-03-11"/,
    );
    const key = /name="_key" value="([^"]*)"/.exec(changedForm.text)![1]!;

    expect(key).not.toBe(fields._key);
    await visitor.submit(ENTRIES, { ...fields, date: '2021-03-11', _key: key });
    expect(await count()).toBe(2);
  });

  it('is stored when the browser goes back and corrects it after it was rejected', async () => {
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(ENTRIES, NEW)),
      date: '2021-03-10',
      weight: '1',
    };

    expect((await visitor.post(ENTRIES, fields)).status).toBe(400);
    expect((await visitor.post(ENTRIES, fields)).status).toBe(400);
    expect((await visitor.submit(ENTRIES, { ...fields, weight: '80' })).text).toContain(
      '<strong>Created.</strong>',
    );
    expect(await count()).toBe(1);
  });

  it('stores one upload', async () => {
    const picture = await sharp({
      create: { width: 40, height: 30, channels: 3, background: '#0b6e4f' },
    })
      .png()
      .toBuffer();
    const fields = await visitor.fieldsOf('/api/v2/exerciseimage/', NEW);
    const images = async () => (await fitgraph.sql('SELECT "id" FROM "exercise_image"')).length;
    const before = await images();

    const upload = () => {
      const form = new FormData();

      for (const [name, value] of Object.entries({ ...fields, exercise: '3' })) {
        form.append(name, value);
      }

      form.append('image', new Blob([new Uint8Array(picture)], { type: 'image/png' }), 'bench.png');
      return visitor.submit('/api/v2/exerciseimage/', form);
    };

    const [first, second] = [await upload(), await upload()];

    expect(second.location).toBe(first.location);
    expect(await images()).toBe(before + 1);
  });

  it('deletes once, and redirects to the list both times', async () => {
    const { path } = await entry();
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, DELETE)),
      _method: 'DELETE',
    };

    for (let times = 0; times < 2; times += 1) {
      expect((await visitor.submit(path, fields)).location).toBe(ENTRIES);
    }
  });
});

describe('a form for a row that was changed meanwhile', () => {
  it('shows both values where they differ, and stores the chosen ones', async () => {
    const { id, path } = await entry();
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      date: '2021-03-10',
      weight: '81',
    };

    await ann.patch(`/weightentry/${id}/`, { weight: '82.50' });
    const rejected = await visitor.post(path, fields);

    expect(rejected.status).toBe(412);
    expect(rejected.text).toContain('This weight entry was changed after you opened the form.');
    expect(radios(rejected.text, 'weight')).toEqual([
      ['81', true, 'Yours: 81'],
      ['82.50', false, 'Stored now: 82.50'],
    ]);
    expect(radios(rejected.text, 'date')).toEqual([]);
    expect(rejected.text).toMatch(
      /<input type="date" id="wpatch-date" name="date" value="2021-03-10"/,
    );
    expect(rejected.text).toContain(`<a href="${path}">Keep everything as stored</a>`);
    expect(await weightOf(id)).toBe('82.50');

    const hidden = [
      ...rejected.text.matchAll(/<input type="hidden" name="(_key|_version)" value="([^"]*)"/g),
    ];
    const now = Object.fromEntries(hidden.slice(0, 2).map(([, name, value]) => [name, value]));

    expect(now._version).not.toBe(fields._version);
    await visitor.submit(path, { ...fields, ...now });
    expect(await weightOf(id)).toBe('81.00');
  });

  it('names related rows and other choices, and shows long texts completely', async () => {
    const { id: workout } = (await ann.post('/workout/', { comment: 'Pull' })).body;
    const session = (
      await ann.post('/workoutsession/', {
        workout,
        date: '2021-03-10',
        impression: '2',
        notes: 'fine',
      })
    ).body;
    const path = `/api/v2/workoutsession/${session.id}/`;
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      workout: String(workout),
      date: '2021-03-10',
    };
    const { id: other } = (await ann.post('/workout/', { comment: 'Legs' })).body;

    await ann.patch(`/workoutsession/${session.id}/`, {
      workout: other,
      impression: '3',
      notes: 'two\nlines',
      time_start: '07:30',
      time_end: '08:30',
    });
    const { text, status } = await visitor.post(path, {
      ...fields,
      impression: '2',
      notes: '<b>bold</b>\r\nand more',
      time_start: '07:30',
      time_end: '',
    });

    expect(status).toBe(412);
    expect(radios(text, 'workout').map(([, , shown]) => shown)).toEqual([
      `Yours: ${workout}: Pull`,
      `Stored now: ${other}: Legs`,
    ]);
    expect(radios(text, 'impression').map(([, , shown]) => shown)).toEqual([
      'Yours: Neutral',
      'Stored now: Good',
    ]);
    expect(radios(text, 'notes').map(([, , shown]) => shown)).toEqual([
      'Yours: &lt;b>bold&lt;/b>\r\nand more',
      'Stored now: two\nlines',
    ]);
    expect(radios(text, 'time_start')).toEqual([]);
    expect(radios(text, 'time_end').map(([, , shown]) => shown)).toEqual([
      'Yours: –',
      'Stored now: 08:30:00',
    ]);
  });

  it('keeps its version when it is rejected for another reason', async () => {
    const { id, path } = await entry();
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      date: '2021-03-10',
      weight: '1',
    };

    await ann.patch(`/weightentry/${id}/`, { weight: '82.50' });
    const rejected = await visitor.post(path, fields);

    expect([
      rejected.status,
      rejected.text.includes(`name="_version" value="${fields._version}"`),
    ]).toEqual([400, true]);
    expect((await visitor.post(path, { ...fields, _key: 'another', weight: '81' })).status).toBe(
      412,
    );
  });

  it('does not delete the row, and shows its current values', async () => {
    const { id, path } = await entry();
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, DELETE)),
      _method: 'DELETE',
    };

    await ann.patch(`/weightentry/${id}/`, { weight: '82.50' });
    const { status, text } = await visitor.post(path, fields);

    expect([status, await count()]).toEqual([412, 1]);
    expect(text).toContain('It was changed after you opened this page.');
    expect(text).toMatch(/<dt>Weight<\/dt><dd>82\.50/);
  });
});

describe('a form for a row that was deleted meanwhile', () => {
  it('keeps its values and stores them as a new row', async () => {
    const { id, path } = await entry();
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      date: '2021-03-12',
      weight: '81',
    };

    await ann.delete(`/weightentry/${id}/`);
    const { status, text } = await visitor.post(path, fields);

    expect(status).toBe(404);
    expect(text).toContain(
      'This weight entry was deleted after you opened the form. Your input is kept',
    );
    expect(text).toMatch(/<form class="fields" method="post" action="\/api\/v2\/weightentry\/"/);
    expect(text).toMatch(/<input type="number" id="wpost-weight" name="weight" value="81"/);
    expect(text).not.toContain('name="_version"');
    const { location } = await visitor.submit(ENTRIES, {
      csrfToken: fields.csrfToken!,
      date: '2021-03-12',
      weight: '81',
    });

    expect((await visitor.get(location)).text).toContain('81.00');
  });

  it('keeps its values if the row was deleted with its parent', async () => {
    const { id: training } = (await ann.post('/workout/', { comment: 'Pull' })).body;
    const { id } = (await ann.post('/day/', { training, description: 'Back', day: [1] })).body;
    const path = `/api/v2/day/${id}/`;
    const fields: Record<string, string> = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      description: 'Arms',
      day: '2',
    };

    await ann.delete(`/workout/${training}/`);
    const { text } = await visitor.post(path, { ...fields, training: String(training) });

    expect(text).toContain(
      'This training day was deleted after you opened the form. Your input is kept',
    );
    expect(text).toMatch(
      /<input type="text" id="wpost-description" name="description" value="Arms"/,
    );
  });
});

describe('a time whose local text does not determine it', () => {
  const DATETIME_INPUT = /name="datetime"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="datetime"/;

  it.each([
    ['because clocks go back', '2026-10-25T02:30:00+01:00'],
    ['because its offset has seconds, so that it is given in UTC', '1890-01-01T00:06:32+00:00'],
  ])('is kept when another field is changed: %s', async (_why, time) => {
    const plan = (await ann.post('/nutritionplan/', {})).body.id;
    const { id } = (
      await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: '100', datetime: time })
    ).body;
    const path = `/api/v2/nutritiondiary/${id}/`;
    const found = DATETIME_INPUT.exec((await visitor.get(path)).text)!;
    const datetime = (found[1] ?? found[2])!;
    const fields = {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      plan: String(plan),
      ingredient: '1',
      amount: '90',
      datetime,
    };

    await visitor.submit(path, fields);
    expect((await ann.get(`/nutritiondiary/${id}/`)).body).toMatchObject({
      amount: '90.00',
      datetime: time,
    });
  });

  it('is rejected without its offset, with the reason', async () => {
    const plan = (await ann.post('/nutritionplan/', {})).body.id;
    const list = '/api/v2/nutritiondiary/';
    const fields = {
      ...(await visitor.fieldsOf(list, NEW)),
      plan: String(plan),
      ingredient: '1',
      amount: '90',
      datetime: '2026-10-25T02:30',
    };
    const { status, text } = await visitor.post(list, fields);

    expect(status).toBe(400);
    expect(text).toContain('Invalid datetime for the timezone');
  });
});

describe('a form that edits a row', () => {
  it('clears what is unchecked or emptied, and keeps fields that it does not send', async () => {
    const { id: workout } = (await ann.post('/workout/', { comment: 'Pull' })).body;
    const { id } = (
      await ann.post('/schedule/', {
        name: 'Spring',
        start_date: '2021-03-10',
        is_active: true,
        is_loop: true,
      })
    ).body;
    const path = `/api/v2/schedule/${id}/`;

    await visitor.submit(path, {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      name: 'Summer',
    });
    expect((await ann.get(`/schedule/${id}/`)).body).toMatchObject({
      name: 'Summer',
      start_date: '2021-03-10',
      is_active: false,
      is_loop: false,
    });
    const session = (
      await ann.post('/workoutsession/', {
        workout,
        date: '2021-03-20',
        time_start: '07:30',
        time_end: '08:30',
        notes: 'fine',
      })
    ).body;
    const sessionPath = `/api/v2/workoutsession/${session.id}/`;
    const fields = {
      ...(await visitor.fieldsOf(sessionPath, EDIT)),
      _method: 'PATCH',
      time_start: '',
      time_end: '',
      notes: '',
    };

    await visitor.submit(sessionPath, fields);
    expect((await ann.get(`/workoutsession/${session.id}/`)).body).toEqual({
      ...session,
      time_start: null,
      time_end: null,
      notes: '',
    });
  });

  it('has only those settings of a profile that have an effect, and keeps the others', async () => {
    const [profile] = (await ann.get('/userprofile/')).body.results;
    const path = `/api/v2/userprofile/${profile.id}/`;

    await ann.patch(`/userprofile/${profile.id}/`, { sleep_hours: 9 });
    const { text } = await visitor.get(path);
    const labels = [...text.matchAll(/<label class="label" for="wpatch-(\w+)"/g)].map(
      ([, key]) => key,
    );

    expect(labels).toEqual([
      'show_english_ingredients',
      'age',
      'birthdate',
      'height',
      'gender',
      'calories',
      'weight_unit',
    ]);
    await visitor.submit(path, {
      ...(await visitor.fieldsOf(path, EDIT)),
      _method: 'PATCH',
      height: '180',
    });
    expect((await ann.get(`/userprofile/${profile.id}/`)).body).toEqual({
      ...profile,
      show_english_ingredients: false,
      sleep_hours: 9,
      height: 180,
    });
  });

  it('is rejected if a list that needs a value has none checked', async () => {
    const { id: training } = (await ann.post('/workout/', { comment: 'Pull' })).body;
    const { id } = (await ann.post('/day/', { training, description: 'Back', day: [1, 3] })).body;
    const path = `/api/v2/day/${id}/`;

    expect((await visitor.get(path)).text).toContain('<input type="hidden" name="day" value');
    const fields = { ...(await visitor.fieldsOf(path, EDIT)), _method: 'PATCH', day: '' };
    const { status, text } = await visitor.post(path, fields);

    expect([status, /<p class="error" id="wpatch-day-error">([^<]*)/.exec(text)?.[1]]).toEqual([
      400,
      'Choose at least one.',
    ]);
    const form = new FormData();

    for (const [key, value] of [...Object.entries(fields), ['day', '2']]) form.append(key!, value!);
    await visitor.submit(path, form);
    expect((await ann.get(`/day/${id}/`)).body).toMatchObject({
      training,
      description: 'Back',
      day: [2],
    });
  });
});

describe('the unit of a body weight', () => {
  let profilePath: string;
  const setUnit = async (unit: string) =>
    expect((await ann.patch(profilePath, { weight_unit: unit })).status).toBe(200);
  const unitChoice = (html: string) =>
    /<select id="w(?:post|patch)-unit".*?<option value="(\w+)" selected/s.exec(html)?.[1];
  const storedEntry = async (id: number) =>
    (await fitgraph.sql('SELECT "weight", "unit" FROM "weight_entry" WHERE "id" = $1', [id]))[0];
  const submit = async (path: string, fields: Record<string, string>) =>
    visitor.send(
      'POST',
      path,
      new URLSearchParams({ csrfToken: await visitor.csrfToken(), ...fields }).toString(),
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    );

  beforeAll(async () => {
    const [{ id }] = (await ann.get('/userprofile/')).body.results;

    profilePath = `/userprofile/${id}/`;
  });
  afterEach(() => setUnit('kg'));

  it('is that of the row in its form, and stays when another field is changed', async () => {
    const { id, path } = await entry('80.00');

    await setUnit('lb');
    const { text } = await visitor.get(path);

    expect(unitChoice(text)).toBe('kg');
    expect(text).toContain('Between 30 and 600 kg');
    const fields = { _method: 'PATCH', date: '2021-03-11', weight: '80.00', unit: 'kg' };

    expect((await submit(path, fields)).status).toBe(303);
    expect(await storedEntry(id)).toEqual({ weight: '80.00', unit: 'kg' });
    expect((await submit(path, { ...fields, weight: '176', unit: 'lb' })).status).toBe(303);
    expect(await storedEntry(id)).toEqual({ weight: '176.00', unit: 'lb' });
  });

  it('is the preferred one in the form for a new row, and can be another', async () => {
    await setUnit('lb');
    expect(unitChoice((await visitor.get(ENTRIES)).text)).toBe('lb');
    const fields = { date: '2021-04-01', weight: '80' };
    const { headers } = await submit(ENTRIES, { ...fields, unit: 'kg' });
    const created = Number(/(\d+)\/$/.exec(headers.get('location')!)![1]);

    expect(await storedEntry(created)).toEqual({ weight: '80.00', unit: 'kg' });
    const rejected = await submit(ENTRIES, { ...fields, date: '2021-04-02', unit: 'stone' });

    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('wpost-unit-error');
  });

  it('is in the table and on the page of the row', async () => {
    const { path } = await entry('80.00');

    await setUnit('lb');
    await ann.post('/weightentry/', { date: '2021-03-12', weight: '176' });
    const { text } = await visitor.get(ENTRIES);

    expect(
      [...text.matchAll(/<td class="number">([\d.]+)<\/td><td>(\w+)<\/td>/g)].map((m) =>
        m.slice(1),
      ),
    ).toEqual([
      ['80.00', 'kg'],
      ['176.00', 'lb'],
    ]);
    expect((await visitor.get(path)).text).toMatch(/<dt>Unit<\/dt><dd>kg<\/dd>/);
  });

  it('stays that of the row for REST clients, whatever they send', async () => {
    const { id } = await entry('80.00');

    await setUnit('lb');
    await ann.patch(`/weightentry/${id}/`, { weight: '80.20', unit: 'lb' });
    expect(await storedEntry(id)).toEqual({ weight: '80.20', unit: 'kg' });
    expect(Object.keys((await ann.get(`/weightentry/${id}/`)).body)).not.toContain('unit');
    expect((await ann.options('/weightentry/')).body.actions.POST).not.toHaveProperty('unit');
  });
});

describe('the unit of a mass that is added to the body weight', () => {
  const LOGS = '/api/v2/workoutlog/';

  const unitsOf = async (path: string) => {
    const { text } = await visitor.get(path);
    const unit = (key: string) =>
      new RegExp(`<dt>${key}</dt><dd>(?:<a[^>]*>)?([^<]*)`).exec(text)?.[1];

    return [unit('Weight unit'), unit('Unit of mass')];
  };

  it('can be chosen in the form, and follows another weight unit', async () => {
    const { id: workout } = (await ann.post('/workout/', { comment: 'Dips' })).body;
    const log = { workout, exercise: 1, date: '2025-01-01', weight: '45', weight_unit: 3, reps: 5 };
    const { location, text } = await visitor.submit(LOGS, {
      ...(await visitor.fieldsOf(LOGS, NEW)),
      ...Object.fromEntries(Object.entries(log).map(([key, value]) => [key, String(value)])),
      mass_unit: 'lb',
    });

    expect(text).toMatch(
      /<select id="wpatch-mass_unit" name="mass_unit".*?<option value="lb" selected/s,
    );
    expect(text).toContain('Only with the unit Body Weight: that of the added mass');
    expect(await unitsOf(location)).toEqual(['Body Weight', 'lb']);
    const fields = { ...(await visitor.fieldsOf(location, EDIT)), _method: 'PATCH' };

    await visitor.submit(location, { ...fields, weight_unit: '1', mass_unit: 'lb' });
    expect(await unitsOf(location)).toEqual(['kg', 'kg']);
  });

  it('is unknown to REST clients', async () => {
    const { id: workout } = (await ann.post('/workout/', { comment: 'Pull' })).body;
    const log = { workout, exercise: 1, date: '2025-01-02', weight: '5', weight_unit: 3, reps: 5 };
    const { id, ...row } = (await ann.post('/workoutlog/', { ...log, mass_unit: 'lb' })).body;

    expect(Object.keys(row)).not.toContain('mass_unit');
    expect(await unitsOf(`${LOGS}${id}/`)).toEqual(['Body Weight', 'kg']);
    expect((await ann.options('/workoutlog/')).body.actions.POST).not.toHaveProperty('mass_unit');
  });
});

it('says how much history a deletion removes', async () => {
  const workout = (await ann.post('/workout/', { comment: 'With a history' })).body.id as number;
  const path = `/api/v2/workout/${workout}/`;

  expect((await visitor.get(path)).text).not.toContain('Your history');
  expect((await ann.post('/workoutsession/', { workout, date: '2023-03-10' })).status).toBe(201);

  for (const reps of [5, 6]) {
    await ann.post('/workoutlog/', {
      workout,
      exercise: 1,
      reps,
      weight: '50',
      date: '2021-03-10',
    });
  }

  expect((await visitor.get(path)).text).toContain(
    'Your history is deleted with it: logs: 2, sessions: 1.',
  );
  const plan = (await ann.post('/nutritionplan/', {})).body.id as number;

  await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: '100' });
  expect((await visitor.get(`/api/v2/nutritionplan/${plan}/`)).text).toContain(
    'Your history is deleted with it: diary entries: 1.',
  );
});
