/** What a session changes needs its CSRF token: without, nothing happens. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Visitor } from './visitor';

const fitgraph = fitgraphForThisFile();
const REFUSED = { detail: 'CSRF Failed: CSRF token missing or incorrect.' };
const LIST = '/api/v2/weightentry/';
const MUTATION = 'mutation { createWeightEntry(input: { date: "2021-03-10", weight: "80.00" }) { fieldErrors { path } } }';

let visitor: Visitor;
let csrfToken: string;
let foreignToken: string;

beforeAll(async () => {
  for (const name of ['ann', 'bob']) await fitgraph.user(name);
  visitor = new Visitor(fitgraph.url);
  await visitor.signIn('ann');
  csrfToken = await visitor.csrfToken();
  const other = new Visitor(fitgraph.url);
  await other.signIn('bob');
  foreignToken = await other.csrfToken();
});

beforeEach(() => fitgraph.sql('DELETE FROM "weight_entry"'));

const rows = async () => (await fitgraph.sql('SELECT "date", "weight", "user_id" AS "user" FROM "weight_entry"')).length;
const entry = { date: '2021-03-10', weight: '80.00' };

function multipart(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

const wrong = (): [string, string][] => [
  ['none', ''],
  ["another session's", foreignToken],
  ['a changed one', (csrfToken.startsWith('A') ? 'B' : 'A') + csrfToken.slice(1)],
  ['half of one', csrfToken.slice(0, 40)],
  ['nonsense', 'ä'.repeat(65)],
];

it('refuses a form without the right field', async () => {
  for (const [, token] of wrong()) {
    const fields = token ? { ...entry, csrfToken: token } : entry;
    for (const answer of [await visitor.post(LIST, fields), await visitor.send('POST', LIST, multipart(fields))]) {
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toEqual(REFUSED);
    }
  }
  expect(await rows()).toBe(0);
});

it('takes a form with the field, or with the header', async () => {
  expect((await visitor.post(LIST, { ...entry, csrfToken })).status).toBe(201);
  expect((await visitor.send('POST', LIST, multipart({ ...entry, date: '2021-03-11', csrfToken }))).status).toBe(201);
  const headers = { 'X-CSRFToken': csrfToken };
  expect((await visitor.send('POST', LIST, multipart({ ...entry, date: '2021-03-12' }), headers)).status).toBe(201);
  const { id } = await fitgraph.user('ann');
  expect(await fitgraph.sql('SELECT DISTINCT "user_id" AS "id" FROM "weight_entry"')).toEqual([{ id }]);
  expect(await rows()).toBe(3);
});

it('wants the header with JSON', async () => {
  expect(JSON.parse((await visitor.json('POST', LIST, { ...entry, csrfToken })).text)).toEqual(REFUSED);
  for (const [, token] of wrong().slice(1, 4))
    expect(JSON.parse((await visitor.json('POST', LIST, entry, { 'X-CSRFToken': token })).text)).toEqual(REFUSED);
  expect(await rows()).toBe(0);
  expect((await visitor.json('POST', LIST, entry, { 'X-CSRFToken': csrfToken })).status).toBe(201);
});

it('refuses changes and removals of rows', async () => {
  const { id } = JSON.parse((await visitor.post(LIST, { ...entry, csrfToken })).text);
  const path = `${LIST}${id}/`;
  const answers = [
    await visitor.json('PATCH', path, { weight: '90.00' }),
    await visitor.json('PUT', path, { ...entry, weight: '90.00' }),
    await visitor.send('DELETE', path),
    await visitor.post('/api/v2/login/', { username: 'ann', password: 'whatever it is' }),
  ];
  for (const { status, text } of answers) expect([status, JSON.parse(text)]).toEqual([403, REFUSED]);
  expect(await fitgraph.sql('SELECT "weight" FROM "weight_entry"')).toEqual([{ weight: '80.00' }]);
  expect((await visitor.send('DELETE', path, undefined, { 'X-CSRFToken': csrfToken })).status).toBe(204);
});

it('refuses GraphQL without the header', async () => {
  for (const token of ['', foreignToken]) {
    const answer = await visitor.json('POST', '/graphql', { query: MUTATION, csrfToken }, token ? { 'X-CSRFToken': token } : {});
    expect(answer.status).toBe(403);
    const { errors, data } = JSON.parse(answer.text);
    expect(data).toBeUndefined();
    expect(errors).toEqual([{ message: REFUSED.detail, extensions: { code: 'FORBIDDEN' } }]);
  }
  // A GET needs no token, because it cannot change anything.
  const get = await visitor.get(`/graphql?query=${encodeURIComponent(MUTATION)}`, { 'Apollo-Require-Preflight': '1' });
  expect(get.status).toBe(405);
  expect(await rows()).toBe(0);
  const { text } = await visitor.json('POST', '/graphql', { query: MUTATION }, { 'X-CSRFToken': csrfToken });
  expect(JSON.parse(text).errors).toBeUndefined();
  expect(await rows()).toBe(1);
});

it('does not ask whom no cookie signs in', async () => {
  const person = (await fitgraph.user('ann')).sending({ Cookie: `fitgraph=${visitor.cookies.get('fitgraph')}` });
  expect((await person.post('/weightentry/', entry)).status).toBe(201);
  const ended = fitgraph.anyone.sending({ Cookie: `fitgraph=${'x'.repeat(43)}` });
  expect((await ended.query('{ exercises { totalCount } }')).data.exercises.totalCount).toBeGreaterThan(0);
  expect((await ended.post('/weightentry/', entry)).body).toEqual({ detail: 'Authentication credentials were not provided.' });
});

it('protects sign-out and the key', async () => {
  const { id } = await fitgraph.user('ann');
  const key = () => fitgraph.sql('SELECT "digest" FROM "token" WHERE "user_id" = $1', [id]);
  const before = await key();
  for (const [, token] of wrong())
    for (const fields of [
      { action: 'show', replaced: '' },
      { action: 'replace', replaced: before[0]!.digest.toString('hex') },
    ]) {
      const answer = await visitor.post('/user/api-key', { ...fields, csrfToken: token });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('CSRF Failed');
      expect(answer.text).not.toContain((await fitgraph.user('ann')).token);
    }
  expect(await key()).toEqual(before);
  expect((await visitor.post('/logout', {})).status).toBe(403);
  expect((await visitor.get(LIST)).status).toBe(200);
});
