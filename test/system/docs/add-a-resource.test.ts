/**
 * Follows `docs/add-a-resource.md` in a copy of the project: its examples work, and pass everything
 * that the guide says to run.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createTemplates } from '../../setup/databases';
import type { Fitgraph } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const ROOT = path.join(__dirname, '../../..');
const NOT_COPIED = [
  '.data',
  '.git',
  'coverage',
  'node_modules',
  'test/system/contract/cases',
  'test/system/screenshots',
];

const guide = readFileSync(path.join(ROOT, 'docs/add-a-resource.md'), 'utf8');

/** Complete files: `` `src/….ts`: `` followed by a block. */
const files = [...guide.matchAll(/^`(src\/\S+\.ts)`[^\n]*:\n\n```ts\n(.*?)^```/gms)].map(
  ([, name, text]) => ({
    name: name!,
    text: text!,
  }),
);

/** Insertions at a line of a file: `` In `…`, before `…`: `` followed by a block. */
const insertions = [
  ...guide.matchAll(/\bIn\s`(\S+)`, (before|after|instead of) `([^`]+)`:\n\n```ts\n(.*?)^```/gms),
].map(([, name, where, line, text]) => ({ name: name!, where: where!, line: line!, text: text! }));

/** Shell commands, except the one that does not end. */
const commands = [...guide.matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, lines]) => lines!.trim().split('\n'))
  .filter((line) => line !== 'npm start');

function insert({ name, where, line, text }: (typeof insertions)[number]): void {
  const lines = readFileSync(path.join(copy, name), 'utf8').split(/(?<=\n)/);
  const at = lines.findIndex((candidate) => candidate.includes(line));

  if (at < 0) throw new Error(`${name} has no line with ${line}`);
  lines.splice(where === 'after' ? at + 1 : at, where === 'instead of' ? 1 : 0, text);
  writeFileSync(path.join(copy, name), lines.join(''));
}

let copy: string;
let fitgraph: Fitgraph;
let ann: Person;
let bob: Person;

/** Imports a module of the copy with the type of the original. */
const load = async <T>(module: string): Promise<T> => (await import(path.join(copy, module))) as T;

beforeAll(async () => {
  copy = mkdtempSync(path.join(os.tmpdir(), 'fitgraph-copy-'));
  cpSync(ROOT, copy, {
    recursive: true,
    filter: (source) => !NOT_COPIED.includes(path.relative(ROOT, source)),
  });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  for (const { name, text } of files) writeFileSync(path.join(copy, name), text);
  for (const insertion of insertions) insert(insertion);
  // Created first, so that the templates do not contain the migrations of the copy.
  await createTemplates();
  const setup = await load<typeof import('../../setup/fitgraph')>('test/setup/fitgraph');
  const { migrateUp } =
    await load<typeof import('../../../src/database/migrate')>('src/database/migrate');

  fitgraph = await setup.Fitgraph.start();
  expect(await migrateUp(fitgraph.database)).toEqual([
    expect.stringMatching(/jump-tests$/),
    expect.stringMatching(/jump-attempts$/),
  ]);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
});
afterAll(async () => {
  await fitgraph?.stop();
  rmSync(copy, { recursive: true, force: true });
});

const jump = (date: string, value = '80.50') => ({ date, kind: '1', value });

test('the guide contains two resources, their migrations, a question, and changes of other files', () => {
  expect(files.map(({ name }) => path.dirname(name)).sort()).toEqual([
    'src/database/migrations',
    'src/database/migrations',
    'src/fitness/body',
    'src/fitness/body',
    'src/fitness/body',
  ]);
  expect(insertions.length).toBeGreaterThan(5);
  expect(commands.length).toBeGreaterThan(4);
});

test('GraphQL creates, validates and filters rows', async () => {
  const create =
    'mutation ($input: JumpTestInput!) { made: createJumpTest(input: $input) { jumpTest { id kind value } errors { path message } } }';
  const createTest = (input: object) => ann.query(create, { input });
  const { data } = await createTest({ date: '2024-01-01', kind: 'VERTICAL', value: '80.5' });

  expect(data.made).toEqual({
    jumpTest: { id: expect.any(String), kind: 'VERTICAL', value: '80.50' },
    errors: [],
  });
  const again = await createTest({ date: '2024-01-01', kind: 'VERTICAL', value: '1000' });

  expect(again.data.made.errors.map(({ path: at }: { path: string[] }) => at)).toEqual([
    ['input', 'value'],
    ['input'],
  ]);
  const list = await ann.query(
    '{ jumpTests(where: { kind: { eq: VERTICAL } }) { totalCount nodes { date value } } }',
  );

  expect(list.data.jumpTests).toEqual({
    totalCount: 1,
    nodes: [{ date: '2024-01-01', value: '80.50' }],
  });
});

test('an import refuses to delete rows of the resource, which no dump contains', async () => {
  const { importDumpRows } =
    await load<typeof import('../../../src/transfer/importer')>('src/transfer/importer');
  const { validateDump } =
    await load<typeof import('../../../src/transfer/dump')>('src/transfer/dump');

  await fitgraph.sql('DELETE FROM "user_profile"');
  const rows = validateDump([{ model: 'auth.user', pk: 1, fields: {} }]);

  await expect(
    importDumpRows(rows, fitgraph.database, {
      tokenVault: fitgraph.tokenVault,
      shouldReplaceExisting: true,
    }),
  ).rejects.toThrow(
    '--replace would also delete rows of JumpTest, or their links, which the file does not contain.',
  );
});

test('REST serves the resource in its root, with filters, OPTIONS and error messages', async () => {
  const root = await fitgraph.anonymous.get('/');

  expect(Object.keys(root.body as object).slice(-2)).toEqual(['jumpattempt', 'jumptest']);
  const { status, body } = await ann.post('/jumptest/', jump('2024-02-01'));

  expect([status, body]).toEqual([
    201,
    { id: expect.any(Number), ...jump('2024-02-01'), user: ann.id },
  ]);
  const again = await ann.post('/jumptest/', jump('2024-02-01'));

  expect([again.status, again.body]).toEqual([
    400,
    { non_field_errors: ['The fields date, kind, user must make a unique set.'] },
  ]);
  expect((await ann.patch(`/jumptest/${body.id}/`, { value: '81' })).body.value).toBe('81.00');
  const dates = async (query: string) =>
    (await ann.get(`/jumptest/${query}`)).body.results.map(({ date }: { date: string }) => date);

  expect(await dates('')).toEqual(['2024-02-01', '2024-01-01']);
  expect(await dates('?date=2024-01-01&kind=1')).toEqual(['2024-01-01']);
  expect(await dates('?date__gte=2024-01-02&date__lte=2024-02-01')).toEqual(['2024-02-01']);
  expect(await dates('?date__gte=2024-01-01&date__lte=2024-01-31')).toEqual(['2024-01-01']);
  expect(await dates('?date=2024-01-01&date__gte=2024-01-02')).toEqual([]);
  expect((await ann.get('/jumptest/?date__gte=soon')).body).toEqual({
    date__gte: ['Enter a valid date.'],
  });
  const { actions } = (await ann.options('/jumptest/')).body;

  expect(actions.POST).toMatchObject({
    date: { type: 'date', required: true, label: 'Date' },
    kind: {
      type: 'choice',
      choices: [
        { value: '1', display_name: 'Vertical jump' },
        { value: '2', display_name: 'Long jump' },
      ],
    },
    value: { type: 'decimal', required: true },
  });
});

test('the HTML page has a form', async () => {
  const { text } = await ann.withHeaders({ Accept: 'text/html' }).get('/jumptest/');

  expect(text).toMatch(/<input[^>]+name="value"/);
  expect(text).toMatch(/<select[^>]+name="kind"/);
});

test('rows are inaccessible to other users', async () => {
  const { body } = await ann.post('/jumptest/', jump('2024-03-01'));
  const at = `/jumptest/${body.id}/`;
  const statuses = await Promise.all([
    bob.get(at),
    bob.patch(at, { value: '1' }),
    bob.delete(at),
    fitgraph.anonymous.get(at),
  ]);

  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 403]);
  expect((await bob.get('/jumptest/')).body.count).toBe(0);
  expect((await ann.get(at)).body.value).toBe('80.50');
});

test('the change log contains changes for the owner only', async () => {
  const text =
    'query ($since: String) { changes(since: $since, types: [JUMP_TEST]) { cursor changes { type rowId operation } } }';
  const changes = (person: Person, since?: string) => person.query(text, { since });
  const { cursor } = (await changes(ann)).data.changes as { cursor: string };
  const { body } = await ann.post('/jumptest/', jump('2024-04-01'));

  await ann.patch(`/jumptest/${body.id}/`, { value: '79' });
  await ann.delete(`/jumptest/${body.id}/`);
  const changesOf = (person: Person) =>
    changes(person, cursor).then(({ data }) => data.changes.changes);

  expect(await changesOf(ann)).toEqual(
    ['CREATED', 'UPDATED', 'DELETED'].map((operation) => ({
      type: 'JUMP_TEST',
      rowId: String(body.id),
      operation,
    })),
  );
  expect(await changesOf(bob)).toEqual([]);
});

test('attempts of a test are created with it and unique within it', async () => {
  const create = `mutation ($attempts: [JumpAttemptOfJumpTestInput!]!) {
    made: createJumpTest(input: { date: "2024-05-01", kind: LONG, value: "90", attempts: $attempts }) {
      jumpTest { attempts { number value } } errors { path code } } }`;
  const createWithAttempts = async (...numbers: number[]) =>
    (await ann.ask(create, { attempts: numbers.map((number) => ({ number, value: '90' })) })).made;

  expect(await createWithAttempts(2, 1)).toEqual({
    // prettier-ignore
    jumpTest: { attempts: [{ number: 1, value: '90.00' }, { number: 2, value: '90.00' }] },
    errors: [],
  });
  expect(await createWithAttempts(4, 3, 4)).toEqual({
    jumpTest: null,
    // prettier-ignore
    errors: [{ path: ['input'], code: 'NOT_UNIQUE' }, { path: ['input', 'attempts', '2'], code: 'NOT_UNIQUE' }],
  });
  const id = (await ann.get('/jumptest/?date=2024-05-01')).body.results[0].id;
  const again = await ann.post('/jumpattempt/', {
    jump_test: id,
    number: 1,
    value: '90',
  });

  expect([again.status, Object.keys(again.body)]).toEqual([400, ['non_field_errors']]);
  expect((await bob.post('/jumpattempt/', { jump_test: id, number: 3, value: '90' })).status).toBe(
    403,
  );
});

test('the question has a row for each kind', async () => {
  const { data } = await ann.query('{ jumpRanges { kind count shortest longest } }');

  expect(data.jumpRanges).toContainEqual({
    kind: 'LONG',
    count: 1,
    shortest: '90.00',
    longest: '90.00',
  });
});

/**
 * Returns the output of a failed command; undefined if it has passed. Its tests run one at a time,
 * because others run beside them.
 */
function failureOf(command: string): Promise<string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('JEST_'));
  const environment = { ...Object.fromEntries(inherited), TEST_WORKERS: '1' };

  return new Promise((resolve) => {
    execFile(
      'sh',
      ['-c', command],
      { cwd: copy, env: environment, maxBuffer: Infinity },
      (error, stdout, stderr) => resolve(error ? `${stdout}\n${stderr}`.slice(-10_000) : undefined),
    );
  });
}

test.each(commands.map((command) => [command]))('`%s` passes', async (command) => {
  expect(await failureOf(command)).toBeUndefined();
});

test('the guide of the configuration lists the setting afterwards', () => {
  expect(readFileSync(path.join(copy, 'docs/configuration.md'), 'utf8')).toMatch(
    /^\| `SUPPORT_URL` /m,
  );
});
