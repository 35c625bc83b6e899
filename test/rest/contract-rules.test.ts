/**
 * Detailed rules of the REST contract, on a real database: the last section of
 * test/system/contract/CONTRACT.md and DEVIATIONS.md.
 */
import { DateTime } from 'luxon';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TIME_ZONE } from '../setup/databases';
import { PASSWORD, fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { growth, LINEAR } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { TIME_ZONE } });
const FORM = 'application/x-www-form-urlencoded';
let ann: Person;
let workout: number;
let day: number;
let set: number;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workout = (await ann.post('/workout/', { comment: 'a' })).body.id;
  day = (await ann.post('/day/', { training: workout, description: 'd', day: [1] })).body.id;
  set = (await ann.post('/set/', { exerciseday: day })).body.id;
});

/** Sends JSON text unchanged, because `JSON.stringify` would normalize numbers. */
const sendJsonText = (method: string, path: string, text: string) =>
  ann.send(method, `/api/v2${path}`, text);
const form = (method: string, path: string, text: string) =>
  ann.withHeaders({ 'Content-Type': FORM }).send(method, `/api/v2${path}`, text);

const filtered = async (path: string) => {
  const { status, body } = await ann.get(path);

  return status === 200 ? body.count : body;
};

/** Shortens a text for the name of a test. */
const shortened = (text: string) =>
  text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text;
const bad = (key: string, message: string) => ({ status: 400, body: { [key]: [message] } });

describe('nutritional values in ounces', () => {
  test('are converted item by item in plans and in the diary, but not in meals and items', async () => {
    const imperial = await fitgraph.user('imperial');

    await fitgraph.sql(`UPDATE "user_profile" SET "weight_unit" = 'lb' WHERE "user_id" = $1`, [
      imperial.id,
    ]);
    await fitgraph.sql(`UPDATE "ingredient" SET "fibres" = 10 WHERE "id" = 1`);
    const plan = (await imperial.post('/nutritionplan/', {})).body.id;
    const meal = (await imperial.post('/meal/', { plan })).body.id;
    const item = (await imperial.post('/mealitem/', { meal, ingredient: 1, amount: '77.70' })).body
      .id;

    await imperial.post('/nutritiondiary/', {
      plan,
      ingredient: 1,
      amount: '77.70',
      datetime: '2021-03-10T08:00',
    });
    expect(
      (await imperial.get(`/nutritionplan/${plan}/nutritional_values/`)).body.total,
    ).toMatchObject({ fibres: 0.27, energy: 289.04 });
    expect(
      (await imperial.get(`/nutritionplan/${plan}/log_summary/?year=2021&month=3&day=10`)).body,
    ).toMatchObject({ fibres: 0.27 });
    expect((await imperial.get(`/nutritionplan/${plan}/get_log_overview/`)).body).toMatchObject([
      { fibres: 0.27, date: '2021-03-10' },
    ]);
    // The values of meals and items remain in metric units.
    expect((await imperial.get(`/meal/${meal}/nutritional_values/`)).body).toMatchObject({
      fibres: 7.77,
    });
    expect((await imperial.get(`/mealitem/${item}/nutritional_values/`)).body).toMatchObject({
      fibres: 7.77,
    });
  });
});

describe('a user profile', () => {
  let profile: string;
  const years = (count: number, days = 0) =>
    DateTime.now().setZone(TIME_ZONE).minus({ years: count }).plus({ days }).toISODate()!;
  const patch = (values: object) => ann.patch(profile, values);

  beforeAll(async () => {
    profile = `/userprofile/${(await ann.get('/userprofile/')).body.results[0].id}/`;
  });

  test('derives the age from the birthdate on every save while it is null', async () => {
    expect((await patch({ birthdate: years(40, -1) })).body.age).toBe(40);
    expect((await patch({ age: 50 })).body.age).toBe(50);
    expect((await patch({ birthdate: years(30) })).body.age).toBe(50);
    expect((await patch({ age: null })).body.age).toBe(30);
    await fitgraph.sql(`UPDATE "user_profile" SET "age" = NULL WHERE "user_id" = $1`, [ann.id]);
    expect((await patch({ height: 180 })).body.age).toBe(30);
    await fitgraph.sql(`UPDATE "user_profile" SET "age" = NULL WHERE "user_id" = $1`, [ann.id]);
    expect((await patch({})).body.age).toBe(30);
    expect((await patch({ birthdate: null, age: null })).body).toMatchObject({
      age: null,
      birthdate: null,
    });
    expect((await patch({})).body.age).toBeNull();
  });

  test('has an age after concurrent changes of the age and the birthdate', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      await patch({ birthdate: null, age: 50 });
      await Promise.all([patch({ age: null }), patch({ birthdate: years(30) })]);
      expect((await ann.get(profile)).body.age).not.toBeNull();
    }
  });

  test.each([
    [10, 0, true],
    [10, 1, false],
    [100, 0, true],
    [100, -1, false],
  ])('accepts a birthdate %d years ago plus %d days: %s', async (age, days, good) => {
    const birthdate = years(age, days);
    const { status, body } = await patch({ birthdate });

    expect([status, body.birthdate]).toEqual(
      good ? [200, birthdate] : [400, [`${birthdate} is not a valid birthdate`]],
    );
  });

  test('accepts a birthdate on 29 February', async () => {
    expect(await patch({ birthdate: '1984-02-29' })).toMatchObject({ status: 200 });
  });
});

describe('ordering', () => {
  const contract = readFileSync(join(__dirname, '../system/contract/CONTRACT.md'), 'utf8');
  const contractSections = contract.split(/^### /m).flatMap((section): [string, string[]][] => {
    const [, name] = /^`([\w-]+)`/.exec(section) ?? [];
    const [, keys] = /`\?ordering=` accepts: ([^.]*)\./.exec(section) ?? [];

    return name === undefined || keys === undefined ? [] : [[name, keys.split(', ')]];
  });

  test('accepts the columns of the contract for each resource, and no others', async () => {
    expect(contractSections.length).toBeGreaterThan(25);
    const { paths } = (await fitgraph.anonymous.send('GET', '/api/v2/schema.json')).body;

    for (const [name, keys] of contractSections) {
      const orders = paths[`/${name}/`].get.parameters.find(
        (parameter: { name?: string }) => parameter.name === 'ordering',
      );

      expect([name, orders.schema.items.enum.toSorted()]).toEqual([
        name,
        keys.flatMap((key) => [key, `-${key}`]).sort(),
      ]);
    }
  });

  test('of plans by `is_active`, which the reference service does not have, keeps the default order', async () => {
    const bob = await fitgraph.user('bob');

    for (const description of ['old', 'new']) await bob.post('/nutritionplan/', { description });
    const planIds = async (query: string) =>
      (await bob.get(`/nutritionplan/?${query}`)).body.results.map(({ id }: { id: number }) => id);

    expect(await planIds('ordering=-is_active')).toEqual(await planIds(''));
  });

  test('of settings by `user` keeps the default order', async () => {
    const ids: number[] = [];

    for (const order of [3, 1, 2]) {
      const { id } = (await ann.post('/setting/', { set, exercise: 1, reps: order })).body;

      await ann.patch(`/setting/${id}/`, { order });
      ids.push(id);
    }

    const settingIds = async (query: string) =>
      (await ann.get(`/setting/?set=${set}&${query}`)).body.results.map(
        ({ id }: { id: number }) => id,
      );
    const usual = await settingIds('');

    expect(usual).toEqual([ids[1], ids[2], ids[0]]);
    expect(await settingIds('ordering=user')).toEqual(usual);
    expect(await settingIds('ordering=-user')).toEqual(usual);
    expect(await settingIds('ordering=%1F-reps%C2%85,user')).toEqual([...usual].reverse());
    expect(await settingIds('ordering=%EF%BB%BF-reps')).toEqual(usual);
  });

  test('accepts at most 50 terms', async () => {
    const terms = Object.keys((await ann.get('/ingredient/?limit=1')).body.results[0]);
    const many = Array.from({ length: 50 }, (_, index) => terms[index % terms.length]);

    expect((await ann.get(`/ingredient/?ordering=${many.join()}`)).status).toBe(200);
    expect(await ann.get(`/ingredient/?ordering=${Array(51).fill('id').join()}`)).toMatchObject(
      bad('ordering', 'Order by no more than 50 fields.'),
    );
    expect((await ann.get(`/ingredient/?ordering=${Array(51).fill('x').join()}`)).status).toBe(400);
  });
});

describe('filters', () => {
  const NUMBER = { gram: ['Enter a number.'] };

  test.each<[path: string, answer: unknown]>([
    ['/ingredientweightunit/?gram=', 3],
    ['/ingredientweightunit/?gram=101', 1],
    ['/ingredientweightunit/?gram=%20101%20', 1],
    ['/ingredientweightunit/?gram=%1F101%C2%85', 1],
    ['/ingredientweightunit/?gram=101.0', 1],
    ['/ingredientweightunit/?gram=1.01e2', 1],
    ['/ingredientweightunit/?gram=101.5', 0],
    ['/ingredientweightunit/?gram=-1e-999999999999999999', 0],
    ['/ingredientweightunit/?amount=1e-999999999999999999', 0],
    ['/ingredientweightunit/?amount=0.1e1', 3],
    ['/ingredientweightunit/?amount=-1e99', 0],
    ['/ingredientweightunit/?amount=-1e999999999', 0],
    ['/ingredientweightunit/?amount=1e50', 0],
    [
      '/ingredientweightunit/?amount=1.1e50',
      { amount: ['Ensure this value is less than or equal to 1e+50.'] },
    ],
    [
      '/ingredientweightunit/?amount=1e999999999999999999',
      { amount: ['Ensure this value is less than or equal to 1e+50.'] },
    ],
    ['/ingredientweightunit/?gram=%20', NUMBER],
    ['/ingredientweightunit/?gram=%1C', NUMBER],
    ['/ingredientweightunit/?gram=%EF%BB%BF101', NUMBER],
    ['/ingredientweightunit/?gram=1_0', NUMBER],
    ['/ingredientweightunit/?gram=%EF%BC%91', NUMBER],
    ['/ingredientweightunit/?gram=1e9999999999999999999', NUMBER],
    ['/ingredientweightunit/?gram=NaN', NUMBER],
    ['/ingredientweightunit/?gram=1,5', NUMBER],
    ['/exercise/?uuid=', 3],
    ['/exercise/?uuid=%20%1F', 3],
    ['/exercise/?uuid=00000002-0000-4000-8000-000000000001', 1],
    ['/exercise/?uuid=%20{00000002-0000-4000-8000-000000000001}%20', 1],
    ['/exercise/?uuid=urn:uuid:00000002-0000-4000-8000-000000000001', 1],
    [
      '/exercise/?uuid=URN:UUID:00000002-0000-4000-8000-000000000001',
      { uuid: ['Enter a valid UUID.'] },
    ],
    ['/exercise/?uuid=00000002', { uuid: ['Enter a valid UUID.'] }],
    ['/workout/?comment=%1Fa%C2%85', 1],
    ['/workout/?comment=%EF%BB%BFa', 0],
    ['/workout/?comment=%20', 1],
    ['/workout/??comment=x', 1],
    ['/workout/?comment=x', 0],
    ['/workout/?creation_date=%202021-3-3%1F', 0],
    ['/workout/?creation_date=03/03/21', 0],
    ['/workout/?creation_date=%20', { creation_date: ['Enter a valid date.'] }],
    ['/workout/?creation_date=2021-03-03T00:00', { creation_date: ['Enter a valid date.'] }],
    ['/meal/?time=18:00:00.5', 0],
    ['/meal/?time=18:00:00,5', { time: ['Enter a valid time.'] }],
    ['/day/?day=1', 1],
    ['/day/?day=2&day=1', 1],
    ['/day/?day=9', { day: ['Select a valid choice. 9 is not one of the available choices.'] }],
    // The messages repeat the value as it was sent.
    ['/day/?day=01', { day: ['Select a valid choice. 01 is not one of the available choices.'] }],
    ['/day/?day=%201', { day: ['Select a valid choice.  1 is not one of the available choices.'] }],
    ['/day/?day=%20x', { day: ['“ x” is not a valid value.'] }],
    ['/day/?day=', { day: ['“” is not a valid value.'] }],
    ['/day/?day=1,3', { day: ['“1,3” is not a valid value.'] }],
  ])('return the matching rows or an error for %s', async (path, answer) => {
    expect(await filtered(path)).toEqual(answer);
  });

  test.each<[name: string, text: (length: number) => string]>([
    ['digits', (length) => '1'.repeat(length)],
    ['digits and a letter', (length) => `${'1'.repeat(length)}x`],
    ['zeros and a letter', (length) => `${'0'.repeat(length)}x`],
    ['spaces', (length) => `1${'%20'.repeat(length / 3)}x`],
    ['signs', (length) => '-'.repeat(length)],
  ])('parse long values in linear time: %s', async (_name, textOf) => {
    const read = async (share: number) => {
      const text = textOf(15_000 * share);

      for (const path of [
        `/ingredient/?fat=${text}`,
        `/ingredient/?energy=${text}`,
        `/exercise/?muscles=${text}`,
        `/day/?training=${text}`,
        `/day/?day=${text}`,
        `/exercise/?uuid=${text}`,
        `/workout/?creation_date=${text}`,
        `/meal/?time=${text}`,
        `/workout/?limit=${text}`,
        `/workout/?ordering=${text}`,
        `/workout/${text}/`,
        `/workout/1/log_data/?id=${text}`,
        `/ingredient/1/get_values/?amount=${text}`,
        `/nutritionplan/1/log_summary/?day=${text}`,
      ]) {
        expect((await ann.get(path)).status).toBeLessThan(500);
      }
    };

    expect(await growth(read)).toBeLessThan(LINEAR);
  });
});

describe('a JSON body', () => {
  const setting = (values: string) =>
    sendJsonText(
      'POST',
      '/setting/',
      `{"set":${set},"exercise":1,"reps":5${values && `,${values}`}}`,
    );
  const cases: [values: string, expected: object][] = [
    ['"reps":1e20', bad('reps', 'A valid integer is required.')],
    [
      '"reps":100000000000000000000',
      bad('reps', 'Ensure this value is less than or equal to 600.'),
    ],
    ['"reps":5.0', { status: 201, body: { reps: 5 } }],
    ['"reps":5e0', { status: 201, body: { reps: 5 } }],
    ['"exercise":1.0', { status: 201, body: { exercise: 1 } }],
    ['"exercise":99.0', bad('exercise', 'Invalid pk "99.0" - object does not exist.')],
    [
      '"exercise":100000000000000000000',
      bad('exercise', 'Invalid pk "100000000000000000000" - object does not exist.'),
    ],
    ['"exercise":1e20', bad('exercise', 'Invalid pk "1e+20" - object does not exist.')],
    ['"exercise":" 99 "', bad('exercise', 'Invalid pk " 99 " - object does not exist.')],
    ['"exercise":"9"', bad('exercise', 'Invalid pk "9" - object does not exist.')],
    [
      `"exercise":"${'9'.repeat(400)}"`,
      bad('exercise', `Invalid pk "${'9'.repeat(400)}" - object does not exist.`),
    ],
    [
      `"exercise":${'9'.repeat(400)}`,
      bad('exercise', `Invalid pk "${'9'.repeat(400)}" - object does not exist.`),
    ],
    [`"reps":${'9'.repeat(400)}`, bad('reps', 'Ensure this value is less than or equal to 600.')],
    ['"comment":"a\u2028b"', { status: 201, text: expect.stringContaining('"a\\u2028b"') }],
    ['"rir":1.0', bad('rir', '"1.0" is not a valid choice.')],
    ['"rir":1', { status: 201, body: { rir: '1' } }],
    ['"rir":1.5', { status: 201, body: { rir: '1.5' } }],
    ['"rir":"None"', { status: 201, body: { rir: null } }],
    ['"rir":""', { status: 201, body: { rir: '' } }],
    ['"rir":"none"', bad('rir', '"none" is not a valid choice.')],
    ['"comment":1.0', { status: 201, body: { comment: '1' } }],
    ['"comment":"\\u001f\\u0085x\\u2003"', { status: 201, body: { comment: 'x' } }],
    ['"comment":"\\ufeffx"', { status: 201, body: { comment: '\ufeffx' } }],
    ['"comment":"\\ud800"', bad('comment', 'Surrogate characters are not allowed: U+D800.')],
    ['"comment":"a\\udfffb"', bad('comment', 'Surrogate characters are not allowed: U+DFFF.')],
    ['"comment":"\\ud83d\\ude00"', { status: 201, body: { comment: '😀' } }],
    ['"weight":-0.00', { status: 201, body: { weight: '0.00' } }],
    ['"weight":"-0.00"', { status: 201, body: { weight: '0.00' } }],
    ['"weight":20.50', { status: 201, body: { weight: '20.50' } }],
    ['"weight":""', bad('weight', 'A valid number is required.')],
  ];

  test.each(cases.map(([values, expected]) => [shortened(values), values, expected] as const))(
    'is read as in Python: %s',
    async (_shown, values, expected) => {
      expect(await setting(values)).toMatchObject(expected);
    },
  );

  test.each(
    [
      `{"set":${'9'.repeat(200)}}`,
      '{"set":1e400}',
      '{"set":"x"}',
      '{"set":true}',
      '{"set":[1]}',
      '{"set":{}}',
      '{"set":1.5}',
      '1.0',
      '[1.0]',
    ].map((text) => [shortened(text), text]),
  )('never fails with a server error: %s', async (_shown, text) => {
    expect((await sendJsonText('POST', '/setting/', text)).status).toBeLessThan(500);
  });

  test('is rejected with the name of its Python type when it is not an object', async () => {
    const notADictionary = (type: string) =>
      bad('non_field_errors', `Invalid data. Expected a dictionary, but got ${type}.`);

    expect(await sendJsonText('POST', '/workout/', '1.0')).toMatchObject(notADictionary('float'));
    expect(await sendJsonText('POST', '/workout/', '100000000000000000000')).toMatchObject(
      notADictionary('int'),
    );
    expect(await sendJsonText('POST', '/workout/', '[1.0]')).toMatchObject(notADictionary('list'));
  });

  test.each([
    [99, 201],
    [100, 400],
  ])('with %d levels below the first returns %d', async (levels, status) => {
    const text = `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;

    expect((await sendJsonText('POST', '/workout/', text)).status).toBe(status);
  });
});

describe('a list of weekdays', () => {
  const patch = (value: string) => sendJsonText('PATCH', `/day/${day}/`, `{"day":${value}}`);

  test.each<[value: string, expected: object]>([
    ['""', bad('day', 'Expected a list of items but got type "str".')],
    ['null', bad('day', 'This field may not be null.')],
    ['{}', bad('day', 'This list may not be empty.')],
    ['[]', bad('day', 'This list may not be empty.')],
    ['{"1": 2}', { status: 200, body: { day: [1] } }],
    ['[3.0, "1", 3]', { status: 200, body: { day: [1, 3] } }],
    ['[9, "x", true]', bad('day', 'Invalid pk "9" - object does not exist.')],
    ['["x", 9]', bad('day', 'Incorrect type. Expected pk value, received str.')],
    ['[1, 99.0, 8]', bad('day', 'Invalid pk "99.0" - object does not exist.')],
    ['1.0', bad('day', 'Expected a list of items but got type "float".')],
  ])('is read as in Python: %s', async (value, expected) => {
    expect(await patch(value)).toMatchObject(expected);
  });

  test('is looked up in linear time', async () => {
    const lookUp = async (share: number) => {
      const length = 15_000 * share;

      expect(await patch(`[${'1,'.repeat(length)}2]`)).toMatchObject({
        status: 200,
        body: { day: [1, 2] },
      });
      expect(
        await patch(`[${Array.from({ length }, (_, index) => index + 1).join()}]`),
      ).toMatchObject(bad('day', 'Invalid pk "8" - object does not exist.'));
    };

    expect(await growth(lookUp)).toBeLessThan(LINEAR);
  });

  test('is empty when a form omits it, and missing when JSON omits it', async () => {
    expect((await form('POST', '/day/', '')).body).toMatchObject({
      day: ['This list may not be empty.'],
    });
    expect((await form('POST', '/day/', `training=${workout}`)).body.day).toEqual([
      'This list may not be empty.',
    ]);
    expect((await sendJsonText('POST', '/day/', '{}')).body.day).toEqual([
      'This field is required.',
    ]);
    expect((await form('PATCH', `/day/${day}/`, '')).status).toBe(200);
  });
});

describe('a request body', () => {
  test('in a form keeps a leading question mark in the first name', async () => {
    expect((await form('POST', '/workout/', '?comment=x')).body.comment).toBe('');
    expect((await form('POST', '/workout/', 'comment=%3Fx')).body.comment).toBe('?x');
  });

  test('in a form is decoded in linear time', async () => {
    const decode = async (share: number) => {
      const text = `comment=${'a%41'.repeat(500_000 * share)}`;

      expect((await form('PATCH', `/workout/${workout}/`, text)).status).toBe(400);
    };

    expect(await growth(decode)).toBeLessThan(LINEAR);
  });

  test('in multipart format keeps spaces in part names', async () => {
    const parts = (name: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n--b--\r\n`;
    const postParts = (name: string) =>
      ann
        .withHeaders({ 'Content-Type': 'multipart/form-data; boundary=b' })
        .send('POST', '/api/v2/workout/', parts(name));

    expect((await postParts('comment')).body.comment).toBe('x');
    expect((await postParts(' comment ')).body.comment).toBe('');
    expect((await postParts('comment ')).body.comment).toBe('');
  });

  test('is rejected with an unknown charset and accepted with a known one', async () => {
    const charset = (name: string, type = FORM, text = 'comment=\xe9') =>
      ann
        .withHeaders({ 'Content-Type': `${type}; charset=${name}` })
        .send(
          'POST',
          '/api/v2/workout/',
          Buffer.from(type === FORM ? text : '{"comment":"x"}', 'latin1'),
        );

    expect((await charset('latin-1')).body.comment).toBe('é');
    expect((await charset('utf-8')).body.comment).toBe('é');
    expect((await charset('latin-1', FORM, 'comment=%C3%A9')).body.comment).toBe('Ã©');
    expect((await charset('utf-8', FORM, 'comment=%E9')).status).toBe(400);
    expect((await charset('"UTF-8"')).status).toBe(201);

    for (const type of [FORM, 'application/json', 'multipart/form-data; boundary=b']) {
      expect((await charset('klingon', type)).status).toBe(400);
    }
  });

  test.each([
    ['ascii', 'é', undefined],
    ['cp1252', 'Á', undefined],
    ['cp1252', 'é', 'Ã©'],
    ['utf-8', '\uFFFD', '\uFFFD'],
  ])('in JSON is decoded by its charset %s: bytes of %j', async (charset, sent, comment) => {
    const { status, body } = await ann
      .withHeaders({ 'Content-Type': `application/json; charset=${charset}` })
      .send('POST', '/api/v2/workout/', JSON.stringify({ comment: sent }));

    expect([status, body.comment]).toEqual(comment ? [201, comment] : [400, undefined]);
    if (!comment) expect(body).toEqual({ detail: expect.stringMatching(/^JSON parse error - /) });
  });

  test.each([
    [1, 'InMemoryUploadedFile'],
    [2_621_440, 'InMemoryUploadedFile'],
    [2_621_441, 'TemporaryUploadedFile'],
  ])('is rejected when it has a file of %d bytes for an id', async (size, type) => {
    const sent = new FormData();

    sent.append('training', new Blob([new Uint8Array(size)]), 'key.bin');
    sent.append('description', 'd');
    sent.append('day', '1');
    expect(await ann.post('/day/', sent)).toMatchObject(
      bad('training', `Incorrect type. Expected pk value, received ${type}.`),
    );
  });

  test.each(['application/*', '*/*', 'text/*', 'application/jsonp'])(
    'is rejected with 415 when its type is %s',
    async (type) => {
      expect(
        await ann.withHeaders({ 'Content-Type': type }).send('POST', '/api/v2/workout/', '{}'),
      ).toMatchObject({
        status: 415,
        body: { detail: `Unsupported media type "${type}" in request.` },
      });
    },
  );

  test('has a case-insensitive type and charset', async () => {
    expect(
      (
        await ann
          .withHeaders({ 'Content-Type': 'Application/JSON; Charset=UTF-8' })
          .send('POST', '/api/v2/workout/', '{}')
      ).status,
    ).toBe(201);
  });
});

describe('dates and times', () => {
  const session = (values: object) =>
    ann.post('/workoutsession/', { workout, date: '2021-01-01', ...values });
  const WRONG = (
    key: string,
    form: string,
    message = 'Time has wrong format. Use one of these formats instead:',
  ) => bad(key, `${message} ${form}.`);

  test('may have a comma before the fraction and a line feed at the end', async () => {
    expect(
      await session({ date: '2021-02-01\n', time_start: '08:00:00,25', time_end: '9:5' }),
    ).toMatchObject({
      status: 201,
      body: { date: '2021-02-01', time_start: '08:00:00.250000', time_end: '09:05:00' },
    });
    const plan = (await ann.post('/nutritionplan/', {})).body.id;
    const postEntry = (datetime: string) =>
      ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime });

    expect((await postEntry('2021-03-10T08:00:00,5\n')).body.datetime).toBe(
      '2021-03-10T08:00:00.500000+01:00',
    );
    expect((await postEntry('2021-03-10 08:00:00,5Z')).body.datetime).toBe(
      '2021-03-10T09:00:00.500000+01:00',
    );
    expect((await postEntry('2021-03-10T08:00:00+01:60')).body.datetime).toBe(
      '2021-03-10T07:00:00+01:00',
    );
    expect((await postEntry('2021-03-10T08:00:00+23:60')).status).toBe(400);
    expect((await postEntry('2021-03-10T08:00:00\n\n')).status).toBe(400);
  });

  test('must have ASCII digits and no surrounding spaces', async () => {
    const date = (value: string) => session({ date: value });

    for (const value of [
      '２021-01-01',
      ' 2021-01-01',
      '2021-01-01\n\n',
      '2021-01-01 ',
      '2021_1-1',
    ]) {
      expect(await date(value)).toMatchObject(
        WRONG('date', 'YYYY-MM-DD', 'Date has wrong format. Use one of these formats instead:'),
      );
    }

    expect(await session({ time_start: '٠8:00' })).toMatchObject(
      WRONG('time_start', 'hh:mm[:ss[.uuuuuu]]'),
    );
  });
});

test('uses the UTC offset of the time zone for the years 1960 and 2050', async () => {
  const plan = (await ann.post('/nutritionplan/', {})).body.id;
  const storedDatetime = async (datetime: string) =>
    (await ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1, datetime })).body
      .datetime;

  expect(await storedDatetime('2050-07-01T08:00')).toBe('2050-07-01T08:00:00+02:00');
  expect(await storedDatetime('1960-07-01T08:00')).toBe('1960-07-01T08:00:00+01:00');
});

test('reads a chunked request body', async () => {
  const init = {
    method: 'POST',
    headers: { Authorization: `Token ${ann.token}`, 'Content-Type': 'application/json' },
    body: new Blob(['{"comment":', '"in chunks"}']).stream(),
    duplex: 'half',
  };
  const response = await fetch(`${fitgraph.url}/api/v2/workout/`, init as RequestInit);

  expect([response.status, await response.json()]).toEqual([
    201,
    expect.objectContaining({ comment: 'in chunks' }),
  ]);
});

describe('booleans', () => {
  let schedule: number;

  beforeAll(async () => {
    schedule = (await ann.post('/schedule/', { name: 's' })).body.id;
  });

  const patchIsLoop = async (value: string) => {
    const { status, body } = await sendJsonText(
      'PATCH',
      `/schedule/${schedule}/`,
      `{"is_loop":${value}}`,
    );

    return status === 200 ? body.is_loop : body.is_loop[0];
  };

  const texts = (list: string) => list.split(' ').map((text) => JSON.stringify(text));

  test('are true for every accepted spelling of true', async () => {
    for (const value of [
      ...texts('t T y Y yes YES Yes true True TRUE on On ON 1'),
      'true',
      '1',
      '1.0',
    ]) {
      expect([value, await patchIsLoop(value)]).toEqual([value, true]);
    }
  });
  test('are false for every accepted spelling of false', async () => {
    for (const value of [
      ...texts('f F n N no NO No false False FALSE off Off OFF 0'),
      'false',
      '0',
      '0.0',
      '-0',
    ]) {
      expect([value, await patchIsLoop(value)]).toEqual([value, false]);
    }
  });
  test('are rejected for null and other values', async () => {
    for (const value of [
      ...texts('yEs tRUE nO null None 2 1.0'),
      '""',
      '" "',
      '" true"',
      '2',
      '1.5',
      '[]',
      '{}',
    ]) {
      expect([value, await patchIsLoop(value)]).toEqual([value, 'Must be a valid boolean.']);
    }

    expect(await patchIsLoop('null')).toBe('This field may not be null.');
  });
});

describe('login', () => {
  const login = (username: string, password: string) =>
    sendJsonText('POST', '/login/', `{"username":"${username}","password":"${password}"}`);
  const SHORT = 'Ensure this field has at least 8 characters.';

  test.each<[username: string, password: string, status: number, errors: object]>([
    ['ann', '😀'.repeat(7), 400, { password: [SHORT] }],
    ['ann', '😀'.repeat(8), 401, {}],
    ['ann', '  1234567\\u0085', 400, { password: [SHORT] }],
    ['ann', '12345678\\u0000', 400, { password: ['Null characters are not allowed.'] }],
    ['ann', '\\u0000', 400, { password: [SHORT, 'Null characters are not allowed.'] }],
    [
      'ann',
      'a good pass\\ud800',
      400,
      { password: ['Surrogate characters are not allowed: U+D800.'] },
    ],
    [
      'a\\u0000',
      'short',
      400,
      { username: ['Null characters are not allowed.'], password: [SHORT] },
    ],
    ['', 'short', 400, { username: ['This field may not be blank.'], password: [SHORT] }],
    [
      '\\udc00',
      'a good password',
      400,
      { username: ['Surrogate characters are not allowed: U+DC00.'] },
    ],
  ])(
    'with username "%s" and password "%s" returns %d',
    async (username, password, status, errors) => {
      const answer = await login(username, password);

      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.body).toEqual(errors);
    },
  );

  test('strips the whitespace around a password that Python strips', async () => {
    expect((await login('ann', `\\u001f${PASSWORD}\\u0085`)).status).toBe(200);
    expect((await login('ann', `\\ufeff${PASSWORD}`)).status).toBe(401);
  });
});

describe('the language of a request', () => {
  test.each([
    ['de', '03.05.2021', 200],
    ['fr-CH, en;q=0.5', '3.5.2021', 200],
    ['en, de;q=0.5', '03.05.2021', 400],
    ['de', '33.05.2021', 400],
    ['de', '2021-05-03', 200],
  ])(
    'decides how a date filter is read: %s with %s returns %d',
    async (languages, date, status) => {
      await ann.post('/weightentry/', { date: '2021-05-03', weight: 80 });
      const answer = await ann
        .withHeaders({ 'Accept-Language': languages })
        .get(`/weightentry/?date=${date}`);

      expect(answer.status).toBe(status);
      if (status === 200) expect(answer.body.results).toMatchObject([{ date: '2021-05-03' }]);
      else expect(answer.body).toEqual({ date: ['Enter a valid date.'] });
    },
  );
});

test('rejects an id of 400 digits in a filter and in a body', async () => {
  const answer = await ann.get(`/workoutlog/?exercise=${'9'.repeat(400)}`);

  expect(answer).toMatchObject({
    status: 400,
    body: { exercise: [expect.stringContaining('not one of the available choices')] },
  });
  expect(
    await ann.post('/day/', { training: '9'.repeat(400), day: [1], description: 'x' }),
  ).toMatchObject({ status: 403 });
});

describe('the size of a body', () => {
  const TOO_LARGE = { status: 413, body: { detail: 'Request body too large.' } };
  const login = (size: number, type: string) =>
    fitgraph.anonymous
      .withHeaders({ 'Content-Type': type })
      .send(
        'POST',
        '/api/v2/login/',
        type === FORM
          ? `username=${'x'.repeat(size)}`
          : JSON.stringify({ username: 'x'.repeat(size) }),
      );

  test.each(['application/json', FORM])(
    'is limited to 256 KiB for anonymous clients: %s',
    async (type) => {
      expect((await login(250_000, type)).status).toBe(400);
      expect(await login(263_000, type)).toMatchObject(TOO_LARGE);
    },
  );

  test('is limited to 5 MiB for signed-in users', async () => {
    expect(await ann.post('/workout/', { comment: 'x'.repeat(3_000_000) })).toMatchObject({
      status: 400,
    });
    expect(await ann.post('/workout/', { comment: 'x'.repeat(5_300_000) })).toMatchObject(
      TOO_LARGE,
    );
  });
});

describe('the nutritional values of an amount', () => {
  const values = async (query: string) =>
    (await fitgraph.anonymous.get(`/ingredient/2/get_values/?${query}`)).body;
  const NOT_A_CHOICE = ['Select a valid choice. That choice is not one of the available choices.'];

  test('read a decimal comma in the languages that have one', async () => {
    const get = async (language: string, amount: string) => {
      const person = fitgraph.anonymous.withHeaders({ 'Accept-Language': language });

      return (await person.get(`/ingredient/2/get_values/?amount=${amount}`)).body;
    };

    const expected = await get('en', '1.5');

    expect(expected).toMatchObject({ energy: expect.stringMatching(/^0\.9/) });
    expect(await get('pl', '1,5')).toEqual(expected);
    expect(await get('pl', '1.5')).toEqual(expected);
    expect((await get('en', '1,5')).errors).toEqual({ amount: ['Enter a number.'] });
    expect((await get('pl', '1,5,5')).errors).toEqual({ amount: ['Enter a number.'] });
  });

  test('need a unit that belongs to the ingredient in the query', async () => {
    // Unit 1 weighs 101 g, which has 64.64 kcal for milk. The unit of milk itself weighs 102 g.
    expect(await values('amount=1&unit=1&ingredient=1')).toMatchObject({ energy: '64.64' });
    expect(await values('amount=1&unit=2&ingredient=2')).toMatchObject({ energy: '65.28' });
    expect(await values('amount=1&unit=%202%C2%85&ingredient=%2B02')).toMatchObject({
      energy: '65.28',
    });

    for (const query of [
      'unit=2&ingredient=1',
      'unit=1',
      'unit=1&ingredient=',
      'unit=1&ingredient=999',
      'unit=x&ingredient=2',
      'unit=%20&ingredient=2',
    ]) {
      expect(await values(`amount=1&${query}`)).toMatchObject({
        energy: 0,
        errors: { unit: NOT_A_CHOICE },
      });
    }

    expect(await values('amount=1&ingredient=999')).toMatchObject({ energy: '0.64' });
    expect(await values('amount=1&ingredient=abc')).toMatchObject({
      energy: 0,
      errors: { ingredient: NOT_A_CHOICE },
    });
  });

  test('keep the minus sign when a negative amount is rounded to zero', async () => {
    await fitgraph.sql(
      `UPDATE "ingredient" SET "protein" = 0, "sodium" = 0.001, "fibres" = NULL WHERE "id" = 2`,
    );
    expect(await values('amount=-1')).toMatchObject({
      energy: '-0.64',
      protein: '0.00',
      sodium: '-0.00',
      fibres: '0.00',
    });
    expect(await values('amount=0')).toMatchObject({ energy: '0.00', protein: '0.00' });
    expect(await values('amount=%1F-1%C2%85')).toMatchObject({ energy: '-0.64' });
    expect(await values('amount=%201e1%20')).toMatchObject({ energy: '6.40' });
  });

  test('need an amount in ASCII digits', async () => {
    expect(await values('amount=%EF%BC%91')).toMatchObject({
      errors: { amount: ['Enter a number.'] },
    });
    expect(await values('amount=%20')).toMatchObject({ errors: { amount: ['Enter a number.'] } });
    expect(await values('amount=')).toMatchObject({
      errors: { amount: ['This field is required.'] },
    });
  });
});

test('accepts a sign and spaces around year, month and day of log_summary', async () => {
  const plan = (await ann.post('/nutritionplan/', {})).body.id;

  await ann.post('/nutritiondiary/', {
    plan,
    ingredient: 1,
    amount: 100,
    datetime: '2021-03-10T08:00',
  });
  const summary = (query: string) => ann.get(`/nutritionplan/${plan}/log_summary/?${query}`);

  expect((await summary('year=%2B2021&month=%E3%80%8003%20&day=%C2%8510')).body.energy).toBe(372);

  for (const query of ['year=-2021', 'month=%EF%BC%91', 'day=1.0', 'day=x', 'year=0', 'year=%20']) {
    expect(await summary(query)).toMatchObject(bad('date', 'Enter a valid date.'));
  }
});

test('gives a diary entry without a time the current time in microseconds', async () => {
  const plan = (await ann.post('/nutritionplan/', {})).body.id;
  const eaten = Array.from({ length: 20 }, () =>
    ann.post('/nutritiondiary/', { plan, ingredient: 1, amount: 1 }),
  );
  const moments = (await Promise.all(eaten)).map(({ body }) => body.datetime as string);
  const format = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?\+0[12]:00$/;

  expect(moments.filter((moment) => !format.test(moment))).toEqual([]);
  expect(moments.some((moment) => /[1-9]\d\d\+|\d[1-9]\d\+|[1-9]\+/.test(moment))).toBe(true);
  expect(moments.every((moment) => Math.abs(Date.parse(moment) - Date.now()) < 60_000)).toBe(true);
});

test('rejects a query with more than 1000 parameters', async () => {
  const many = (count: number) => ann.get(`/workout/?${'a&'.repeat(count - 1)}a`);

  expect((await many(1_000)).status).toBe(200);
  expect(await many(1_001)).toMatchObject({
    status: 400,
    body: { detail: 'A query has at most 1000 parameters.' },
  });
});

describe('a path without a trailing slash', () => {
  test.each([
    ['/workout', '/api/v2/workout/'],
    ['/workout?', '/api/v2/workout/'],
    ['/workout?a=b&c', '/api/v2/workout/?a=b&c'],
  ])('redirects %s to %s', async (path, location) => {
    const { status, headers, text } = await ann.get(path);

    expect([status, headers.get('location'), headers.get('content-length'), text]).toEqual([
      301,
      location,
      '0',
      '',
    ]);
  });
});

test.each([
  ['Token\u00a0x', 200, undefined],
  ['\u00a0Token x', 200, undefined],
  [
    'Token x\u00a0',
    403,
    'Invalid token header. Token string should not contain invalid characters.',
  ],
  [
    'Token \u00a0',
    403,
    'Invalid token header. Token string should not contain invalid characters.',
  ],
  ['Token  x', 403, 'Invalid token.'],
])(
  'does not split an Authorization header at a non-breaking space: %j returns %d',
  async (header, status, detail) => {
    const answer = await fitgraph.anonymous.withHeaders({ Authorization: header }).get('/muscle/');

    expect([answer.status, answer.body.detail]).toEqual([status, detail]);
  },
);

test('keeps the format parameter in the links of the root', async () => {
  const links = (await ann.get('/?format=json')).body;

  expect(links.workout).toMatch(/\/api\/v2\/workout\/\?format=json$/);
  expect((await ann.get('/?format=')).body.workout).toMatch(/\/api\/v2\/workout\/\?format=$/);
  expect((await ann.get('/.json?format=json')).body.workout).toMatch(
    /\/api\/v2\/workout\.json\?format=json$/,
  );
});

describe('ids in paths', () => {
  test.each([
    ['%0A1%C2%85', 200],
    ['%1F1', 404],
    ['%20001', 200],
    ['+1', 200],
    ['%EF%BB%BF1', 404],
    ['1_0', 404],
    ['%EF%BC%91', 404],
    ['-1', 404],
    ['1.0', 404],
  ])('are read as in Python: %s returns %d', async (id, status) => {
    expect((await ann.get(`/muscle/${id}/`)).status).toBe(status);
  });
});

describe('cross-origin clients', () => {
  const Origin = 'https://elsewhere.example';
  const origin = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin');

  test('may follow a redirect and read images', async () => {
    const redirect = await ann.withHeaders({ Origin }).get('/workout');

    expect([redirect.status, origin(redirect)]).toEqual([301, '*']);
    expect(origin(await ann.get('/workout'))).toBeNull();
    expect(
      origin(
        await fitgraph.anonymous
          .withHeaders({ Origin })
          .send('GET', '/media/exercise-images/1/nothing.png'),
      ),
    ).toBe('*');
  });

  test('may send the headers that API clients need', async () => {
    const answer = await fitgraph.anonymous
      .withHeaders({ Origin, 'Access-Control-Request-Method': 'PUT' })
      .options('/workout/');

    expect([answer.status, answer.text, origin(answer)]).toEqual([200, '', '*']);
    const allowed = answer.headers.get('access-control-allow-headers')!.split(', ');

    expect(allowed).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'idempotency-key',
        'cache-control',
        'if-match',
        'if-none-match',
      ]),
    );
  });
});

test('uses the default limit and offset when they are not valid integers', async () => {
  const window = async (query: string) =>
    (await ann.get(`/daysofweek/?${query}`)).body.results.map(({ id }: { id: number }) => id);

  expect(await window('limit=%202%C2%85&offset=%2B1')).toEqual([2, 3]);

  for (const query of [
    'limit=%EF%BC%92',
    'limit=%1F2',
    'limit=1_0',
    'limit=2.0',
    'limit=-2',
    'limit=0',
    'limit=',
    'limit=%EF%BB%BF2',
    'offset=-1',
    'offset=%EF%BC%91',
  ]) {
    expect(await window(query)).toHaveLength(7);
  }

  expect(
    (await ann.get('/ingredient/?limit=99999999999999999999&offset=99999999999999999999')).status,
  ).toBe(200);
});
