/** Cross-site request forgery: writes that a session authenticates need its CSRF token. */
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import { allEntities, resourceOf } from '../../src/engine/declare/registry';
import { Visitor } from '../setup/visitor';
import { createOwnedRows, parentsIn, type OwnedRowIds } from '../setup/owned-rows';
import { bodyOf } from '../setup/sample-values';
import { writable } from '../setup/rest-endpoints';

const fitgraph = fitgraphForThisFile();
const REFUSED = { detail: 'CSRF Failed: CSRF token missing or incorrect.' };
const LIST = '/api/v2/weightentry/';
const MUTATION =
  'mutation { createWeightEntry(input: { date: "2021-03-10", weight: "80.00" }) { errors { path } } }';

let visitor: Visitor;
let csrfToken: string;
let foreignToken: string;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  for (const name of ['ann', 'bob']) await fitgraph.user(name);
  ownedRowIds = await createOwnedRows(await fitgraph.user('ann'));
  visitor = new Visitor(fitgraph.url);
  await visitor.signIn('ann');
  csrfToken = await visitor.csrfToken();
  const other = new Visitor(fitgraph.url);

  await other.signIn('bob');
  foreignToken = await other.csrfToken();
});

beforeEach(() => fitgraph.sql('DELETE FROM "weight_entry"'));

const rows = async () =>
  (await fitgraph.sql('SELECT "date", "weight", "user_id" AS "user" FROM "weight_entry"')).length;
const entry = { date: '2021-03-10', weight: '80.00' };

function multipart(fields: Record<string, string>): FormData {
  const form = new FormData();

  for (const [name, value] of Object.entries(fields)) form.set(name, value);

  return form;
}

/** Invalid tokens: none, that of another session, a changed one, half of one, and nonsense. */
const invalidTokens = (): string[] => [
  '',
  foreignToken,
  (csrfToken.startsWith('A') ? 'B' : 'A') + csrfToken.slice(1),
  csrfToken.slice(0, 40),
  'ä'.repeat(65),
];

it('rejects a form without a valid CSRF token', async () => {
  for (const token of invalidTokens()) {
    const fields = token ? { ...entry, csrfToken: token } : entry;

    for (const answer of [
      await visitor.post(LIST, fields),
      await visitor.send('POST', LIST, multipart(fields)),
    ]) {
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toEqual(REFUSED);
    }
  }

  expect(await rows()).toBe(0);
});

it('accepts a form with the CSRF token in a field or a header', async () => {
  expect((await visitor.post(LIST, { ...entry, csrfToken })).status).toBe(201);
  expect(
    (await visitor.send('POST', LIST, multipart({ ...entry, date: '2021-03-11', csrfToken })))
      .status,
  ).toBe(201);
  const headers = { 'X-CSRFToken': csrfToken };

  expect(
    (await visitor.send('POST', LIST, multipart({ ...entry, date: '2021-03-12' }), headers)).status,
  ).toBe(201);
  const { id } = await fitgraph.user('ann');

  expect(await fitgraph.sql('SELECT DISTINCT "user_id" AS "id" FROM "weight_entry"')).toEqual([
    { id },
  ]);
  expect(await rows()).toBe(3);
});

it('requires the CSRF token of JSON requests in a header', async () => {
  expect(JSON.parse((await visitor.json('POST', LIST, { ...entry, csrfToken })).text)).toEqual(
    REFUSED,
  );

  for (const token of invalidTokens().slice(1, 4)) {
    expect(
      JSON.parse((await visitor.json('POST', LIST, entry, { 'X-CSRFToken': token })).text),
    ).toEqual(REFUSED);
  }

  expect(await rows()).toBe(0);
  expect((await visitor.json('POST', LIST, entry, { 'X-CSRFToken': csrfToken })).status).toBe(201);
});

it('rejects updates, deletions and logins without the CSRF token', async () => {
  const { id } = JSON.parse((await visitor.post(LIST, { ...entry, csrfToken })).text);
  const path = `${LIST}${id}/`;
  const answers = [
    await visitor.json('PATCH', path, { weight: '90.00' }),
    await visitor.json('PUT', path, { ...entry, weight: '90.00' }),
    await visitor.send('DELETE', path),
    await visitor.post('/api/v2/login/', { username: 'ann', password: 'whatever it is' }),
  ];

  for (const { status, text } of answers) {
    expect([status, JSON.parse(text)]).toEqual([403, REFUSED]);
  }

  expect(await fitgraph.sql('SELECT "weight" FROM "weight_entry"')).toEqual([{ weight: '80.00' }]);
  expect((await visitor.send('DELETE', path, undefined, { 'X-CSRFToken': csrfToken })).status).toBe(
    204,
  );
});

it('rejects GraphQL mutations without the CSRF token in a header', async () => {
  for (const token of ['', foreignToken]) {
    const answer = await visitor.json(
      'POST',
      '/graphql',
      { query: MUTATION, csrfToken },
      token ? { 'X-CSRFToken': token } : {},
    );

    expect(answer.status).toBe(403);
    const { errors, data } = JSON.parse(answer.text);

    expect(data).toBeUndefined();
    expect(errors).toEqual([{ message: REFUSED.detail, extensions: { code: 'FORBIDDEN' } }]);
  }

  // A GET needs no token, because it cannot change anything.
  const get = await visitor.get(`/graphql?query=${encodeURIComponent(MUTATION)}`, {
    'Apollo-Require-Preflight': '1',
  });

  expect(get.status).toBe(405);
  expect(await rows()).toBe(0);
  const { text } = await visitor.json(
    'POST',
    '/graphql',
    { query: MUTATION },
    { 'X-CSRFToken': csrfToken },
  );

  expect(JSON.parse(text).errors).toBeUndefined();
  expect(await rows()).toBe(1);
});

it('requires no CSRF token from requests without a valid session cookie', async () => {
  const person = (await fitgraph.user('ann')).withHeaders({
    Cookie: `fitgraph=${visitor.cookies.get('fitgraph')}`,
  });

  expect((await person.post('/weightentry/', entry)).status).toBe(201);
  const ended = fitgraph.anonymous.withHeaders({ Cookie: `fitgraph=${'x'.repeat(43)}` });

  expect(
    (await ended.query('{ exercises { totalCount } }')).data.exercises.totalCount,
  ).toBeGreaterThan(0);
  expect((await ended.post('/weightentry/', entry)).body).toEqual({
    detail: 'Authentication credentials were not provided.',
  });
});

it('protects sign-out and the API key with the CSRF token', async () => {
  const { id } = await fitgraph.user('ann');
  const key = () => fitgraph.sql('SELECT "digest" FROM "token" WHERE "user_id" = $1', [id]);
  const before = await key();

  for (const token of invalidTokens()) {
    for (const fields of [
      { action: 'show', replaced: '' },
      { action: 'replace', replaced: before[0]!.digest.toString('hex') },
    ]) {
      const answer = await visitor.post('/user/api-key', { ...fields, csrfToken: token });

      expect(answer.status).toBe(403);
      expect(answer.text).toContain('CSRF Failed');
      expect(answer.text).not.toContain((await fitgraph.user('ann')).token);
    }
  }

  expect(await key()).toEqual(before);
  expect((await visitor.post('/logout', {})).status).toBe(403);
  expect((await visitor.get(LIST)).status).toBe(200);
});

const storedRows = async () => {
  const tables = writable.map(
    ({ type }) => resourceOf(allEntities().find(({ name }) => name === type.name)!)!.table,
  );

  return Promise.all(tables.map((table) => fitgraph.sql(`SELECT * FROM "${table}" ORDER BY "id"`)));
};

/** Invalid ways to send a token: other sites can choose the URL, and some of them a cookie. */
const requestsWithToken = (token: string): { query: string; headers: Record<string, string> }[] => [
  { query: '', headers: {} },
  { query: `?csrfToken=${token}&csrfmiddlewaretoken=${token}&X-CSRFToken=${token}`, headers: {} },
  {
    query: '',
    headers: {
      Cookie: `fitgraph=${visitor.cookies.get('fitgraph')}; csrftoken=${token}; csrfToken=${token}`,
    },
  },
  { query: '', headers: { 'X-CSRFToken': foreignToken } },
  { query: '', headers: { 'X-CSRFToken': `${foreignToken}, ${token}` } },
  { query: '', headers: { 'X-CSRFToken': '' } },
  {
    query: '',
    headers: {
      Origin: fitgraph.url,
      Referer: `${fitgraph.url}/`,
      'X-Requested-With': 'XMLHttpRequest',
    },
  },
  { query: '', headers: { Authorization: 'Basic YW5uOmFubg==' } },
];

it('rejects every write to every resource without the CSRF token', async () => {
  const before = await storedRows();

  for (const { view, type } of writable) {
    const entity = allEntities().find(({ name }) => name === type.name)!;
    const body = bodyOf(entity, 2, parentsIn(ownedRowIds));
    const path = `/api/v2/${view.restName}/`;
    const detail = `${path}${ownedRowIds.get(entity) ?? 1}/`;

    for (const { query, headers } of requestsWithToken(csrfToken)) {
      for (const [method, place] of [
        ['POST', path],
        ['PUT', detail],
        ['PATCH', detail],
        ['DELETE', detail],
      ] as const) {
        const { status, text } = await visitor.json(method, place + query, body, headers);

        expect({ method, place, headers, status, body: JSON.parse(text) }).toEqual({
          method,
          place,
          headers,
          status: 403,
          body: REFUSED,
        });
      }
    }

    // HTML forms send the method in a field.
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'text/plain; application/json',
      ]) {
        const fields = Object.entries(body).map(([key, value]) => [key, String(value)]);
        const form = new URLSearchParams([
          ...fields,
          ['_method', method],
          ['csrfToken', foreignToken],
        ]).toString();
        const sent = await visitor.send('POST', `${detail}?csrfToken=${csrfToken}`, form, {
          'Content-Type': type,
          Accept: 'text/html',
        });

        expect({ detail, status: sent.status }).toEqual({ detail, status: 403 });
      }
    }
  }

  expect(await storedRows()).toEqual(before);
});

it('rejects every form of every page without its CSRF token', async () => {
  const details = [...ownedRowIds].flatMap(([entity, id]) => {
    const view = resourceOf(entity)!.metadata.views[0];

    return view ? [`/api/v2/${view.restName}/`, `/api/v2/${view.restName}/${id}/`] : [];
  });
  const before = await storedRows();
  let forms = 0;

  for (const path of [
    '/',
    '/register',
    '/user',
    '/user/delete',
    '/user/api-key',
    '/user/api-key/replace',
    '/catalogue/ingredient/new',
    '/catalogue/exercise/new',
    '/api/v2/login/',
    ...details,
  ]) {
    const { text } = await visitor.get(path, { Accept: 'text/html' });

    for (const [html] of text.matchAll(/<form[^>]*method="post".*?<\/form>/gs)) {
      const action = /action="([^"]*)"/.exec(html)![1]!;
      const fields = Object.fromEntries(
        [...html.matchAll(/name="(\w+)"(?: value="([^"]*)")?/g)].map(([, name, value]) => [
          name!,
          value ?? '',
        ]),
      );

      for (const token of [undefined, foreignToken, '']) {
        const { csrfToken: _, ...rest } = fields;
        const { status } = await visitor.post(
          action,
          token === undefined ? rest : { ...rest, csrfToken: token },
        );

        expect({ path, action, status }).toEqual({ path, action, status: 403 });
      }

      forms += 1;
    }
  }

  expect(forms).toBeGreaterThan(40);
  expect(await storedRows()).toEqual(before);
});

it('rejects cross-site form submissions to GraphQL', async () => {
  const body = JSON.stringify({ query: MUTATION });
  const form = new URLSearchParams({ query: MUTATION, csrfToken }).toString();
  const requests: [string, string][] = [
    ['text/plain', body],
    ['text/plain; charset=utf-8', body],
    ['text/plain;application/json', body],
    ['application/x-www-form-urlencoded', form],
    ['application/x-www-form-urlencoded', body],
    [
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${body}\r\n--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n--b--\r\n`,
    ],
    ['', body],
    ['application/jsonp', body],
  ];

  for (const [type, text] of requests) {
    for (const path of [
      '/graphql',
      `/graphql?csrfToken=${csrfToken}&query=${encodeURIComponent(MUTATION)}`,
    ]) {
      for (const headers of [{}, { 'X-CSRFToken': csrfToken }] as Record<string, string>[]) {
        // A cross-site form cannot send the header. Even with it, GraphQL does not accept these
        // content types.
        const preflighted = type.startsWith('multipart') ? {} : headers;
        const { status } = await visitor.send('POST', path, text, {
          'Content-Type': type,
          ...preflighted,
        });

        expect({ type, path, status: status >= 400 && status < 500 }).toEqual({
          type,
          path,
          status: true,
        });
      }
    }
  }

  for (const method of ['GET', 'HEAD']) {
    for (const headers of [
      {},
      { 'X-CSRFToken': csrfToken },
      { 'Apollo-Require-Preflight': '1' },
    ] as Record<string, string>[]) {
      expect(
        (
          await visitor.send(
            method,
            `/graphql?query=${encodeURIComponent(MUTATION)}`,
            undefined,
            headers,
          )
        ).status,
      ).toBeGreaterThanOrEqual(400);
    }
  }

  expect(await rows()).toBe(0);
});

it('rejects a login submitted by a form of another site', async () => {
  const mine = await new Visitor(fitgraph.url).fieldsOf('/login');
  const attempts: [Record<string, string>, Record<string, string>][] = [
    [{}, {}],
    [mine, {}],
    [{}, { Cookie: `fitgraph-login=${mine.csrfToken}` }],
    [{ csrfToken: 'x' }, { Cookie: 'fitgraph-login=x' }],
    [{ csrfToken: '' }, { Cookie: 'fitgraph-login=' }],
    [{ csrfToken }, { Cookie: `fitgraph-login=${mine.csrfToken}` }],
    [mine, { Cookie: `fitgraph-login=${'x'.repeat(43)}` }],
  ];

  for (const [fields, headers] of attempts) {
    const body = new URLSearchParams({ username: 'bob', password: PASSWORD, ...fields }).toString();
    const answer = await new Visitor(fitgraph.url).send(
      'POST',
      `/login?csrfToken=${mine.csrfToken}`,
      body,
      {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...headers,
      },
    );

    expect({ fields, status: answer.status, cookies: answer.cookies }).toEqual({
      fields,
      status: 403,
      cookies: [],
    });
  }
});

it('does not allow other origins to read responses with credentials', async () => {
  for (const path of [
    '/api/v2/weightentry/',
    '/graphql?query={viewer{username}}',
    '/',
    '/user/api-key',
    '/api/v2/schema.json',
  ]) {
    const { headers } = await visitor.get(path, {
      Origin: 'https://evil.example',
      'Apollo-Require-Preflight': '1',
    });

    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-allow-origin')).not.toBe('https://evil.example');
  }
});
