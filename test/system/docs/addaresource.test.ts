/** Follows `docs/add-a-resource.md` in a copy of the project: its two files make a complete resource. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { createTemplates } from '../../setup/databases';
import type { Fitgraph } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const ROOT = path.join(__dirname, '../../..');
/** Files that the service needs to run in process. */
const COPIED = ['src', 'seeders', 'test/setup', 'test/rest', 'package.json', 'tsconfig.json'];

const guide = readFileSync(path.join(ROOT, 'docs/add-a-resource.md'), 'utf8');
const files = [...guide.matchAll(/^`(src\/\S+\.ts)`.*?:\n\n```ts\n(.*?)^```/gms)].map(([, name, text]) => ({ name: name!, text: text! }));

let copy: string;
let fitgraph: Fitgraph;
let ann: Person;
let bob: Person;

/** Imports a module of the copy with the type of the original. */
const load = async <T>(module: string): Promise<T> => (await import(path.join(copy, module))) as T;

beforeAll(async () => {
  copy = mkdtempSync(path.join(os.tmpdir(), 'fitgraph-copy-'));
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  for (const { name, text } of files) writeFileSync(path.join(copy, name), text);
  // Templates without the migration of the copy.
  await createTemplates();
  const setup = await load<typeof import('../../setup/fitgraph')>('test/setup/fitgraph');
  const { migrateUp } = await load<typeof import('../../../src/database/migrate')>('src/database/migrate');
  fitgraph = await setup.Fitgraph.start();
  expect(await migrateUp(fitgraph.database)).toEqual([expect.stringMatching(/body-measurements$/)]);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
});
afterAll(async () => {
  await fitgraph?.stop();
  rmSync(copy, { recursive: true, force: true });
});

const waist = (date: string, value = '80.50') => ({ date, kind: '1', value });

test('the guide contains a resource and a migration', () =>
  expect(files.map(({ name }) => path.dirname(name))).toEqual(['src/resources', 'src/database/migrations']));

test('the migrated table matches the resource class', async () => {
  const { describeModels } = await load<typeof import('../../setup/modelled')>('test/setup/modelled');
  const { describeTables } = await load<typeof import('../../setup/tables')>('test/setup/tables');
  const client = new Client(fitgraph.database.options.connection);
  await client.connect();
  try {
    const { columns, constraints, indexes } = (await describeTables(client, ['body_measurement'])).body_measurement!;
    expect({ columns, constraints, indexes }).toEqual((await describeModels()).body_measurement);
  } finally {
    await client.end();
  }
});

test('GraphQL creates, validates and filters rows', async () => {
  const create =
    'mutation ($input: BodyMeasurementInput!) { made: createBodyMeasurement(input: $input) { bodyMeasurement { id kind value } errors { path message } } }';
  const made = (input: object) => ann.query(create, { input });
  const { data } = await made({ date: '2024-01-01', kind: 'WAIST', value: '80.5' });
  expect(data.made).toEqual({ bodyMeasurement: { id: expect.any(String), kind: 'WAIST', value: '80.50' }, errors: [] });
  const again = await made({ date: '2024-01-01', kind: 'WAIST', value: '1000' });
  expect(again.data.made.errors.map(({ path: at }: { path: string[] }) => at)).toEqual([['input', 'value'], ['input']]);
  const list = await ann.query('{ bodyMeasurements(where: { kind: { eq: WAIST } }) { totalCount nodes { date value } } }');
  expect(list.data.bodyMeasurements).toEqual({ totalCount: 1, nodes: [{ date: '2024-01-01', value: '80.50' }] });
});

test('REST serves the resource in its root, with filters, OPTIONS and error messages', async () => {
  const root = await fitgraph.anyone.get('/');
  expect(Object.keys(root.body as object).at(-1)).toBe('bodymeasurement');
  const { status, body } = await ann.post('/bodymeasurement/', waist('2024-02-01'));
  expect([status, body]).toEqual([201, { id: expect.any(Number), ...waist('2024-02-01'), user: ann.id }]);
  const again = await ann.post('/bodymeasurement/', waist('2024-02-01'));
  expect([again.status, again.body]).toEqual([400, { non_field_errors: ['The fields date, kind, user must make a unique set.'] }]);
  expect((await ann.patch(`/bodymeasurement/${body.id}/`, { value: '81' })).body.value).toBe('81.00');
  const dates = async (query: string) =>
    (await ann.get(`/bodymeasurement/${query}`)).body.results.map(({ date }: { date: string }) => date);
  expect(await dates('')).toEqual(['2024-02-01', '2024-01-01']);
  expect(await dates('?date=2024-01-01&kind=1')).toEqual(['2024-01-01']);
  const { actions } = (await ann.options('/bodymeasurement/')).body;
  expect(actions.POST).toMatchObject({
    date: { type: 'date', required: true, label: 'Date' },
    kind: {
      type: 'choice',
      choices: [
        { value: '1', display_name: 'Waist' },
        { value: '2', display_name: 'Hip' },
      ],
    },
    value: { type: 'decimal', required: true },
  });
});

test('the HTML page has a form', async () => {
  const { text } = await ann.sending({ Accept: 'text/html' }).get('/bodymeasurement/');
  expect(text).toMatch(/<input[^>]+name="value"/);
  expect(text).toMatch(/<select[^>]+name="kind"/);
});

test('rows are inaccessible to other users', async () => {
  const { body } = await ann.post('/bodymeasurement/', waist('2024-03-01'));
  const at = `/bodymeasurement/${body.id}/`;
  const statuses = await Promise.all([bob.get(at), bob.patch(at, { value: '1' }), bob.delete(at), fitgraph.anyone.get(at)]);
  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 403]);
  expect((await bob.get('/bodymeasurement/')).body.count).toBe(0);
  expect((await ann.get(at)).body.value).toBe('80.50');
});

test('the change log contains changes for the owner only', async () => {
  const text = 'query ($since: String) { changes(since: $since, types: [BODY_MEASUREMENT]) { cursor changes { type rowId operation } } }';
  const changes = (person: Person, since?: string) => person.query(text, { since });
  const { cursor } = (await changes(ann)).data.changes as { cursor: string };
  const { body } = await ann.post('/bodymeasurement/', waist('2024-04-01'));
  await ann.patch(`/bodymeasurement/${body.id}/`, { value: '79' });
  await ann.delete(`/bodymeasurement/${body.id}/`);
  const changesOf = (person: Person) => changes(person, cursor).then(({ data }) => data.changes.changes);
  expect(await changesOf(ann)).toEqual(
    ['CREATED', 'UPDATED', 'DELETED'].map((operation) => ({ type: 'BODY_MEASUREMENT', rowId: String(body.id), operation })),
  );
  expect(await changesOf(bob)).toEqual([]);
});
