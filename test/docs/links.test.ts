/** Links of the README and the guides work. */
import fs from 'node:fs';
import path from 'node:path';
import { ERROR_CODES } from '../../src/shared/error-codes';
import { SETTINGS } from '../../src/shared/settings';

const ROOT = path.join(__dirname, '../..');
const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8');
const guides = [
  ...fs.readdirSync(ROOT),
  ...fs.readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

const prose = (text: string) => text.replace(/^```.*?^```$/gms, '');

/** Returns the anchors that GitHub creates for headings. */
const anchorsOf = (file: string) =>
  [...prose(read(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );

test('scalars.md has a section for each scalar whose specification it is', () => {
  const urls = [...read('schema.graphql').matchAll(/@specifiedBy\(url: "(.*)"\)/g)].map(
    ([, url]) => url!,
  );
  const sections = urls.flatMap((url) => url.split('/docs/scalars#').slice(1));

  expect(sections).toEqual(['datetime', 'decimal', 'time']);
  expect(anchorsOf('docs/scalars.md')).toEqual(expect.arrayContaining(sections));
});

test.each(guides)('%s has no broken links', (guide) => {
  const broken = [...prose(read(guide)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to]) => to!)
    .filter((to) => !/^[a-z]+:/.test(to))
    .filter((to) => {
      const [file, anchor] = to.split('#') as [string, string?];
      const target = file === '' ? guide : path.join(path.dirname(guide), file);

      if (!fs.existsSync(path.join(ROOT, target))) return true;

      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });

  expect(broken).toEqual([]);
});

// add-a-resource.test.ts creates the files and settings of this guide.
const otherGuides = guides.filter((guide) => guide !== 'docs/add-a-resource.md');

test('files named in the guides exist', () => {
  const named = otherGuides.flatMap((guide) =>
    [...prose(read(guide)).matchAll(/`((?:src|test|scripts|deploy|seeders)\/[\w./-]*\w)`/g)].map(
      ([, file]) => file!,
    ),
  );

  expect(named.length).toBeGreaterThan(40);
  expect([...new Set(named)].filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});

/** Environment variables of the tests and scripts, and of other programs. */
const OTHER_VARIABLES = [
  ...['FAULT_DATABASE_KILLS', 'FAULT_KILLS', 'SIEGE_SECONDS', 'SYSTEMD_ANALYZE', 'FITGRAPH_TOKEN'],
  ...['AWS_ACCESS_KEY_ID', 'AWS_REGION', 'AWS_SECRET_ACCESS_KEY', 'SCARF_ANALYTICS'],
  ...['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
];

test('settings named in the guides exist', () => {
  const existing = new Set([
    ...Object.values(SETTINGS).map(({ name }) => name),
    ...OTHER_VARIABLES,
    ...Object.keys(ERROR_CODES),
    ...read('schema.graphql').match(/\w+/g)!,
  ]);
  // The changelog names settings of earlier versions.
  const code = otherGuides
    .filter((guide) => guide !== 'CHANGELOG.md')
    .flatMap((guide) => read(guide).match(/```[^]*?```|`[^`]+`/g) ?? []);
  const named = code.flatMap((text) => text.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? []);

  expect(named.length).toBeGreaterThan(200);
  expect([...new Set(named)].filter((name) => !existing.has(name))).toEqual([]);
});

test('the README links every guide', () => {
  const readme = read('README.md');

  expect(
    guides.filter((guide) => guide !== 'README.md' && !readme.includes(`](${guide})`)),
  ).toEqual([]);
});
