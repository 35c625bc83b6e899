/**
 * Released schemas never change, and `npm run check:breaking` compares with them; it runs in
 * temporary repositories.
 */
import { createHash } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const script = path.join(__dirname, '../../scripts/breaking.mjs');
const RELEASED = 'type Query { name: String, size: Int }';
const REMOVED = "Field 'size' was removed from object type 'Query'";

let folder: string;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-breaking-'));
  git('init', '-q');
  write('schema.graphql', RELEASED);
  version('1.0.1');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qm', 'first');
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const git = (...words: string[]) => execFileSync('git', words, { cwd: folder });
const write = (file: string, text: string) => fs.writeFileSync(path.join(folder, file), text);
const version = (name: string) => write('package.json', JSON.stringify({ version: name }));
const list = (listed: Record<string, string>) =>
  write('schema.breaking.json', JSON.stringify(listed));

function runCheck(): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    cwd: folder,
    encoding: 'utf8',
  });

  return { status, said: stdout + stderr };
}

it('passes before the first release', () => {
  write('schema.graphql', 'type Query { other: Int }');
  expect(runCheck()).toEqual({ status: 0, said: expect.stringContaining('no release tag') });
});

describe('check:breaking with released/*.graphql', () => {
  const storeReleasedSchema = (version: string, text: string) => {
    fs.mkdirSync(path.join(folder, 'released'), { recursive: true });
    write(`released/${version}.graphql`, text);
  };

  it('compares with the newest released schema when there is no release tag', () => {
    storeReleasedSchema('0.9.0', 'type Query { nothing: Int }');
    storeReleasedSchema('0.10.0', RELEASED);
    version('0.10.1');
    write('schema.graphql', 'type Query { name: String }');
    expect(runCheck()).toEqual({
      status: 1,
      said: expect.stringContaining(`breaks clients of 0.10.0: ${REMOVED}`),
    });
    list({ [REMOVED]: 'Nobody ever asked for it.' });
    expect(runCheck()).toEqual({
      status: 0,
      said: 'schema: 1 changes since 0.10.0, 1 of them breaking\n',
    });
  });

  it.each([
    ['0.10.0', '0.11.0', 0],
    ['0.10.0', '1.0.0', 0],
    ['0.10.0', '0.10.9', 1],
    ['1.2.0', '1.3.0', 1],
    ['1.2.0', '2.0.0', 0],
  ])(
    'exits, for a breaking change from version %s to %s, with status %i',
    (released, next, status) => {
      storeReleasedSchema(released, RELEASED);
      version(next);
      write('schema.graphql', 'type Query { name: String }');
      const said = status
        ? expect.stringContaining(REMOVED)
        : `schema: 1 changes since ${released}, 1 of them breaking, as ${next} may\n`;

      expect(runCheck()).toEqual({ status, said });
    },
  );

  it('compares with the release tag when there is one', () => {
    storeReleasedSchema('0.10.0', 'type Query { nothing: Int }');
    git('tag', 'v1.0.0');
    expect(runCheck()).toEqual({
      status: 0,
      said: 'schema: 0 changes since v1.0.0, 0 of them breaking\n',
    });
  });
});

describe('check:breaking with a release tag', () => {
  beforeEach(() => git('tag', 'v1.0.0'));

  it('accepts additions to the schema', () => {
    write('schema.graphql', 'type Query { name: String, size: Int, other: Int }');
    expect(runCheck()).toEqual({
      status: 0,
      said: 'schema: 1 changes since v1.0.0, 0 of them breaking\n',
    });
  });

  it('does not count changed descriptions', () => {
    write('schema.graphql', '"The root." type Query { name: String, "In bytes." size: Int }');
    expect(runCheck()).toEqual({
      status: 0,
      said: 'schema: 0 changes since v1.0.0, 0 of them breaking\n',
    });
  });

  it('fails for a removed field unless schema.breaking.json lists it with a reason', () => {
    write('schema.graphql', 'type Query { name: String }');
    expect(runCheck()).toEqual({
      status: 1,
      said: expect.stringContaining(`breaks clients of v1.0.0: ${REMOVED}`),
    });
    list({ [REMOVED]: ' ' });
    expect(runCheck().status).toBe(1);
    list({ [REMOVED]: 'Nobody ever asked for it.' });
    expect(runCheck().status).toBe(0);
  });

  const release = (text: string) => {
    write('schema.graphql', text);
    git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qam', 'second');
    git('tag', 'v1.0.1');
  };

  it.each([
    ['= 6', '6'],
    ['', 'none'],
  ])(
    'fails when the default value of an argument or an input field becomes "%s"',
    (value, text) => {
      const schema = (defaultValue: string) =>
        `directive @d(n: Int ${defaultValue}) on FIELD type Query { rows(first: Int! ${defaultValue}, where: Filter): String } input Filter { size: Int! ${defaultValue}, name: String! = "x" }`;

      release(schema('= 5'));
      write('schema.graphql', schema(value));
      const { status, said } = runCheck();

      expect([status, said.match(/The default value of .*/g)]).toEqual([
        1,
        ['@d(n:)', 'Query.rows(first:)', 'Filter.size'].map(
          (coordinate) => `The default value of '${coordinate}' changed from 5 to ${text}`,
        ),
      ]);
    },
  );

  const schemaWith = ({
    field = '@semanticNonNull',
    scalar = '@specifiedBy(url: "https://a.example")',
    cost = '1',
    reason = 'Removal 2030-01',
  }) => `directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
    directive @cost(weight: String!) on FIELD_DEFINITION
    scalar Day ${scalar}
    type Query { day: Day ${field} size: Int @cost(weight: "${cost}") old: Int @deprecated(reason: "${reason}") }`;

  it.each([
    [{ field: '' }, "'Query.day' changed from @semanticNonNull to none"],
    [
      { field: '@semanticNonNull(levels: [1])' },
      "'Query.day' changed from @semanticNonNull to @semanticNonNull(levels: [1])",
    ],
    [{ scalar: '' }, '\'Day\' changed from @specifiedBy(url: "https://a.example") to none'],
    [
      { scalar: '@specifiedBy(url: "https://b.example")' },
      '\'Day\' changed from @specifiedBy(url: "https://a.example") to @specifiedBy(url: "https://b.example")',
    ],
  ])('fails when a directive that clients rely on is removed or changed: %j', (change, message) => {
    release(schemaWith({}));
    write('schema.graphql', schemaWith(change));
    expect(runCheck()).toEqual({
      status: 1,
      said: expect.stringContaining(`breaks clients of v1.0.1: The directive of ${message}\n`),
    });
  });

  it.each([
    [{ cost: '2' }, '\'Query.size\' changed from @cost(weight: "1") to @cost(weight: "2")'],
    [
      { reason: 'Removal 2029-01' },
      '\'Query.old\' changed from @deprecated(reason: "Removal 2030-01") to @deprecated(reason: "Removal 2029-01")',
    ],
  ])('prints a changed cost or deprecation: %j', (change, message) => {
    release(schemaWith({}));
    write('schema.graphql', schemaWith(change));
    expect(runCheck()).toEqual({
      status: 0,
      said: expect.stringContaining(`The directive of ${message}\n`),
    });
  });

  it('accepts a directive on a field that had none', () => {
    release(schemaWith({ field: '' }));
    write('schema.graphql', schemaWith({}));
    expect(runCheck().status).toBe(0);
  });

  it('fails when schema.breaking.json lists a change that is not breaking', () => {
    list({ [REMOVED]: 'Nobody ever asked for it.' });
    expect(runCheck()).toEqual({
      status: 1,
      said: expect.stringContaining(`lists what is no breaking change: ${REMOVED}`),
    });
  });
});

const RELEASES = path.join(__dirname, '../../released');

/** A release adds its file and digest: SHA-256 of its text. */
const DIGESTS: Record<string, string> = {
  '0.2.0.graphql': '81b4558883b7ae2222dc4df7e6db71665e5536fea1f45f279845217e876ab871',
  '0.3.0.graphql': 'db60c42477ff0b7c9298d96048b292f443d8137b035b410952472530caad1667',
  '0.4.0.graphql': 'dd761ec478743f6ba542fad2b4f2063d869be99cf704e66966f52600f8913e44',
};

test('keeps released schemas as they were released', () => {
  const digestOf = (file: string) =>
    createHash('sha256')
      .update(fs.readFileSync(path.join(RELEASES, file)))
      .digest('hex');

  expect(
    Object.fromEntries(fs.readdirSync(RELEASES).map((file) => [file, digestOf(file)])),
  ).toEqual(DIGESTS);
});
