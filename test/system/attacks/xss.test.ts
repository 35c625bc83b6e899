/**
 * Cross-site scripting: markup in data and requests is escaped. Tests write it to every text field
 * over REST, and to every stored text in the database, because imported dumps contain texts too. A
 * browser's HTML parser then reads every page that displays it.
 */
import { createUser } from '../../../src/accounts/accounts';
import { resourceOf, allEntities } from '../../../src/engine/declare/registry';
import { fieldsOf, type Entity } from '../../../src/engine/declare/fields';
import type { ResourceEndpoint } from '../../../src/rest/endpoints';
import { Visitor } from '../../setup/visitor';
import { createOwnedRows, parentsIn, type OwnedRowIds } from '../../setup/owned-rows';
import { fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { bodyOf } from '../../setup/sample-values';
import { foreignElements, visibleTexts } from '../../setup/injected-markup';
import { MARKUP } from '../../setup/hostile-texts';
import { endpoints, filterKeys, searches, textKeys, writable } from '../../setup/rest-endpoints';

const fitgraph = fitgraphForThisFile();
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
let ann: Person;
let reader: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  reader = ann.withHeaders({ Accept: 'text/html' });
  ownedRowIds = await createOwnedRows(ann);
});

const entityOf = ({ type }: ResourceEndpoint): Entity =>
  allEntities().find(({ name }) => name === type.name)!;
const isUpload = ({ fields }: ResourceEndpoint) => fields.some(({ kind }) => kind === 'image');
const fitsLength = (payload: string, { maxLength = Infinity, minLength = 0 }) =>
  payload.length <= maxLength && payload.length >= minLength;
const query = (values: Record<string, string>) => `?${new URLSearchParams(values)}`;
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** Checks that a page displays the text, or displays it within JSON, where quotes are escaped. */
function expectShown(text: string, { text: html }: Pick<Answer, 'text'>, at = ''): void {
  const displayed = visibleTexts(html);

  expect({ at, text, shown: displayed.includes(text) || displayed.includes(inJson(text)) }).toEqual(
    { at, text, shown: true },
  );
}

/** Checks the headers of a page and that it contains no injected elements. */
function expectHarmless({ headers, text }: Pick<Answer, 'headers' | 'text'>, at: string): void {
  expect({ at, type: headers.get('content-type') }).toEqual({
    at,
    type: 'text/html; charset=utf-8',
  });
  const policy = headers.get('content-security-policy') ?? '';

  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect({ at, foreign: foreignElements(text) }).toEqual({ at, foreign: [] });
}

async function visit(path: string): Promise<Answer> {
  const page = await reader.send('GET', path);

  expect({ path, status: page.status < 500 }).toEqual({ path, status: true });
  expectHarmless(page, path);
  return page;
}

const viewsOf = (endpoint: ResourceEndpoint): readonly ResourceEndpoint[] =>
  endpoints.filter(({ type }) => type === endpoint.type);

const listsOf = (endpoint: ResourceEndpoint): string[] =>
  viewsOf(endpoint).map(({ view }) => `/api/v2/${view.restName}/?limit=100`);

/** Pages of a row other than lists: all views of its type, and its actions. */
const pagesOf = (endpoint: ResourceEndpoint, id: number): string[] =>
  viewsOf(endpoint).flatMap(({ view: { restName }, actions }) => [
    `/api/v2/${restName}/${id}/`,
    ...[...actions.keys()].map((action) => `/api/v2/${restName}/${id}/${action}/`),
  ]);

test('detects injected markup in an unescaped page', () => {
  const page = (inner: string) =>
    `<!doctype html><style>a{}</style><p>${inner}</p><textarea>${inner}</textarea><a title="${inner}">x</a>`;
  const undetected = MARKUP.filter((payload) => foreignElements(page(payload)).length === 0);

  // These add no element. They must not be used as a URL or decoded.
  expect(undetected).toEqual([MARKUP[4], MARKUP[5], MARKUP[7]]);
  expect(foreignElements(`<a href="${MARKUP[4]}">x</a>`)).toHaveLength(1);
  expect(foreignElements('<a href="java\tscript:alert(1)">x</a>')).toHaveLength(1);
});

test.each(writable.map((endpoint) => [endpoint.view.restName, endpoint] as const))(
  'escapes markup in texts of %s',
  async (rest, endpoint) => {
    const keys = textKeys(endpoint);

    if (keys.length === 0) return;
    const entity = entityOf(endpoint);

    // Most payloads fit into each field.
    for (const field of keys) {
      expect(MARKUP.filter((payload) => fitsLength(payload, field)).length).toBeGreaterThan(8);
    }

    for (const payload of MARKUP) {
      const chosenFields = keys.filter((field) => fitsLength(payload, field));
      const texts = Object.fromEntries(
        chosenFields.map(({ restKey: restKey }) => [restKey, payload]),
      );
      const answer = endpoint.create
        ? await ann.post(`/${rest}/`, { ...bodyOf(entity, 2, parentsIn(ownedRowIds)), ...texts })
        : await ann.patch(`/${rest}/${ownedRowIds.get(entity)}/`, texts);

      expect(answer).toMatchObject({ status: endpoint.create ? 201 : 200, body: texts });
      const { id } = answer.body;

      for (const path of [...listsOf(endpoint), ...pagesOf(endpoint, id)]) {
        const page = await visit(path);

        if (path === `/api/v2/${rest}/${id}/` && chosenFields.length) {
          expectShown(payload, page, path);
        }
      }

      if (endpoint.create) expect((await ann.delete(`/${rest}/${id}/`)).status).toBe(204);
    }
  },
);

test.each(writable.map((endpoint) => [endpoint.view.restName, endpoint] as const))(
  'escapes markup in redisplayed forms of %s',
  async (rest, endpoint) => {
    const keys = endpoint.fields
      .filter(({ restReadOnly }) => !restReadOnly)
      .map((field) => field.restKey);

    for (const payload of MARKUP) {
      const fields = new URLSearchParams([
        ...keys.map((key): [string, string] => [key, payload]),
        [payload, payload],
      ]);
      const odd = new URLSearchParams({ _method: payload, csrfToken: payload });

      for (const body of [fields, odd]) {
        const answer = await reader
          .withHeaders(FORM)
          .send('POST', `/api/v2/${rest}/`, body.toString());

        // A resource with text fields only accepts the payload, and its page is shown.
        expect([201, 400, 403, 405, 415]).toContain(answer.status);
        expectHarmless(answer, `POST ${rest} ${body}`);

        if (body !== odd && answer.status === 400 && !isUpload(endpoint)) {
          expectShown(payload, answer);
        }
      }
    }
  },
);

test('escapes markup that was written to the database directly', async () => {
  const attacked = new Set<string>();
  const payload = (id: number, length: number) => `${id}${MARKUP[0]}${MARKUP[1]}`.slice(0, length);

  for (const endpoint of endpoints) {
    const entity = entityOf(endpoint);
    const { table, publishedColumnValues: publishedColumnValues } = resourceOf(entity)!;
    const stored = fieldsOf(entity).filter(
      ({ kind, column }) =>
        ['string', 'url', 'image'].includes(kind) && column && !publishedColumnValues?.[column],
    );

    for (const { column, maxLength = 100 } of stored) {
      if (maxLength < 20) continue;

      for (const { id } of await fitgraph.sql(`SELECT "id" FROM "${table}"`)) {
        await fitgraph.sql(`UPDATE "${table}" SET "${column}" = $2 WHERE "id" = $1`, [
          id,
          payload(id, maxLength),
        ]);
      }

      attacked.add(table);
    }
  }

  expect(attacked.size).toBeGreaterThan(15);
  await fitgraph.reference.reload();

  for (const endpoint of endpoints) {
    for (const path of [
      ...listsOf(endpoint),
      ...pagesOf(endpoint, ownedRowIds.get(entityOf(endpoint)) ?? 1),
    ]) {
      await visit(path);
    }
  }

  for (const rest of ['exercise', 'exerciseinfo', 'ingredient', 'license', 'muscle']) {
    expectShown(payload(1, 50), await visit(`/api/v2/${rest}/1/`), rest);
  }

  for (const search of searches) {
    expectShown(
      payload(1, 50),
      await visit(`/api/v2/${search}/${query({ term: 'script' })}`),
      search,
    );
  }
});

test('escapes markup in query parameters and ids', async () => {
  for (const endpoint of endpoints) {
    const { restName } = endpoint.view;
    const keys = [...filterKeys(endpoint), 'ordering', 'limit', 'offset', 'unknown'];

    for (const turn of [0, 4, 8]) {
      const payload = (index: number) => MARKUP[(turn + index) % MARKUP.length]!;

      await visit(
        `/api/v2/${restName}/${query(Object.fromEntries(keys.map((key, index) => [key, payload(index)])))}`,
      );
      // Without dots, which would select a format.
      await visit(`/api/v2/${restName}/${encodeURIComponent(payload(0)).replaceAll('.', '')}/`);
    }
  }
});

test.each(MARKUP)('escapes %s in searches, actions and unknown paths', async (payload) => {
  for (const search of searches) {
    await visit(
      `/api/v2/${search}/${query({ term: payload, language: payload, [payload]: payload })}`,
    );
  }

  for (const endpoint of endpoints) {
    for (const { metadata, field } of endpoint.actions.values()) {
      const names = field.args.map(({ name }) => name);
      const id = ownedRowIds.get(entityOf(endpoint)) ?? 1;
      const values = Object.fromEntries([...names, 'unknown'].map((name) => [name, payload]));

      await visit(`/api/v2/${endpoint.view.restName}/${id}/${metadata.name}/${query(values)}`);
    }
  }

  await visit(`/api/v2/${encodeURIComponent(payload).replaceAll('.', '')}/`);
  await visit(`/api/v2/${query({ [payload]: payload })}`);
  const parameters = query({
    next: payload,
    query: payload,
    variables: payload,
    [payload]: payload,
  });

  for (const path of ['/', '/register', '/login', '/playground', '/api/v2/schema/docs']) {
    const page = await fitgraph.anonymous.send('GET', path + parameters);

    // The playground may not be built.
    expect(path === '/playground' ? [200, 503] : [200]).toContain(page.status);
    expectHarmless(page, path);
  }

  const redirect = await fitgraph.anonymous.send('GET', `/user/api-key${parameters}`);

  expect([redirect.status, redirect.headers.get('location')]).toEqual([
    303,
    `/login?next=${encodeURIComponent(`/user/api-key${parameters}`)}`,
  ]);
});

test.each(MARKUP)('escapes %s as a username and as the target of a login', async (payload) => {
  const visitor = new Visitor(fitgraph.url);

  for (const next of [payload, `/${payload}`, `/x?${payload}`]) {
    const page = await visitor.signIn(payload, 'a wrong password', next);

    expect(page.status).toBe(401);
    expectHarmless(page, next);
    expectShown(payload, page);
  }

  const form = await visitor.post('/login', {
    username: payload,
    password: payload,
    next: payload,
    csrfToken: payload,
  });

  expect(form.status).toBe(403);
  expectHarmless(form, '/login');
  const login = new URLSearchParams({ username: payload, password: payload });
  const answer = await fitgraph.anonymous
    .withHeaders({ ...FORM, Accept: 'text/html' })
    .post('/login/', login.toString());

  expect(answer.status).toBe(401);
  expectHarmless(answer, 'POST /api/v2/login/');
});

test('rejects markup in new usernames and escapes it in stored ones', async () => {
  for (const username of MARKUP) {
    await expect(
      createUser({ username, password: PASSWORD }, fitgraph.database.createSession()),
    ).rejects.toThrow('A user name has');
  }

  const { id } = await fitgraph.user('mia');
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn('mia');

  for (const payload of MARKUP) {
    await fitgraph.sql('UPDATE "user_account" SET "username" = $1 WHERE "id" = $2', [payload, id]);

    for (const path of [
      '/',
      '/register',
      '/user/api-key',
      '/user/api-key/replace',
      '/api/v2/',
      '/api/v2/weightentry/',
    ]) {
      const page = await visitor.get(path, { Accept: 'text/html' });

      expect(page.status).toBe(200);
      expectHarmless(page, path);
      expectShown(payload, page);
    }

    expectHarmless(await visitor.get('/playground'), '/playground');
  }
});

test('escapes markup in contributions, refusals and the history of the catalogue', async () => {
  const [author, curator] = [new Visitor(fitgraph.url), new Visitor(fitgraph.url)];

  await fitgraph.user('author');
  await author.signIn('author');
  await fitgraph.user('curator', { isCurator: true });
  await curator.signIn('curator');

  const send = async (visitor: Visitor, path: string, fields: Record<string, string>) => {
    const page = await visitor.post(path, { csrfToken: await visitor.csrfToken(), ...fields });

    if (page.status !== 303) expectHarmless(page, `POST ${path}`);

    return page;
  };

  for (const payload of MARKUP) {
    const food = { energy: '1', protein: '1', carbohydrates: '1', fat: '1', languageId: '2' };
    const texts = { name: payload, brand: payload, code: payload };
    const rejected = await send(author, '/catalogue/ingredient/new', { ...texts, energy: payload });

    expect(rejected.status).toBe(400);
    expectShown(payload, rejected);
    const { status, headers } = await send(author, '/catalogue/ingredient/new', {
      ...food,
      ...texts,
    });

    expect(status).toBe(303);
    const row = headers.get('location')!.split('?')[0]!;

    for (const visitor of [author, curator]) {
      for (const path of ['/catalogue', '/catalogue/ingredient', row]) {
        const page = await visitor.get(path + query({ search: payload, done: payload }));

        expect([path, page.status]).toEqual([path, 200]);
        expectHarmless(page, path);
        if (path !== '/catalogue/ingredient') expectShown(payload, page, path);
      }

      const form = await visitor.get(
        `/catalogue/ingredient/new${query({ ...texts, [payload]: payload })}`,
      );

      expectHarmless(form, 'new');
      expectShown(payload, form);
      const unknown = await visitor.get(`/catalogue/${encodeURIComponent(payload)}`, {
        Accept: 'text/html',
      });

      expectHarmless(unknown, payload);
    }

    for (const field of [
      'into',
      'change',
      'version',
      'action',
      'units.0.grams',
      `units.${payload}.grams`,
    ]) {
      await send(curator, row, { ...food, ...texts, action: 'save', [field]: payload });
    }

    await send(curator, row, { action: 'merge', into: payload });
    await send(curator, '/catalogue/changes', { change: payload });
    expect((await send(curator, row, { action: 'refuse', refusalReason: payload })).status).toBe(
      303,
    );

    for (const [visitor, path] of [
      [author, '/catalogue'],
      [author, row],
      [curator, row],
      [curator, '/catalogue/changes'],
    ] as const) {
      const page = await visitor.get(path);

      expectHarmless(page, path);
      expectShown(payload, page, path);
    }
  }
});
