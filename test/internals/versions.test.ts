/** Each file of `src/internals` has a test, and names the version of its library that it was checked with: the installed one. */
import fs from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const SOURCE = path.join(ROOT, 'src/internals');
const libraries = fs.readdirSync(SOURCE).map((file) => path.parse(file).name);

/** Libraries that are supported in several versions. The test of `node.ts` checks its assumptions on each version of Node. */
const OTHER_VERSIONS = ['node'];

const installedVersion = (name: string): string =>
  (
    JSON.parse(fs.readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string;
    }
  ).version;

test.each(libraries)('src/internals/%s.ts was checked with the installed version', (library) => {
  const [, checkedVersions = ''] =
    /^ \* Checked with (.+)\.$/m.exec(
      fs.readFileSync(path.join(SOURCE, `${library}.ts`), 'utf8'),
    ) ?? [];
  const versions = checkedVersions.split(', ').map((text) => text.split(' '));
  expect(versions.map(([name]) => name)).toContain(library);
  for (const [name, version] of versions)
    if (!OTHER_VERSIONS.includes(name!))
      expect(`${name} ${version}`).toBe(`${name} ${installedVersion(name!)}`);
});

test.each(libraries)('src/internals/%s.ts has a test', (library) => {
  expect(fs.existsSync(path.join(__dirname, `${library}.test.ts`))).toBe(true);
});
