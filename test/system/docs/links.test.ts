/** Links of the README and the guides work. */
import fs from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../../..');
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

test('files named in the guides exist', () => {
  // addaresource.test.ts creates the files of this guide.
  const otherGuides = guides.filter((guide) => guide !== 'docs/add-a-resource.md');
  const named = otherGuides.flatMap((guide) =>
    [...prose(read(guide)).matchAll(/`((?:src|test|scripts|deploy|seeders)\/[\w./-]*\w)`/g)].map(
      ([, file]) => file!,
    ),
  );
  expect(named.length).toBeGreaterThan(40);
  expect([...new Set(named)].filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('the README links every guide', () => {
  const readme = read('README.md');
  expect(
    guides.filter((guide) => guide !== 'README.md' && !readme.includes(`](${guide})`)),
  ).toEqual([]);
});

test('the README has fewer than 150 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150);
});
