/**
 * Each file of `src/database/internals` has a test, and names the version of its library that it
 * was checked with: the installed one.
 */
import fs from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../../..');
const SOURCE = path.join(ROOT, 'src/database/internals');
const libraries = fs.readdirSync(SOURCE).map((file) => path.parse(file).name);

const installedVersion = (name: string): string =>
  (
    JSON.parse(fs.readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string;
    }
  ).version;

test.each(libraries)(
  'src/database/internals/%s.ts was checked with the installed version',
  (library) => {
    const [, checkedVersions = ''] =
      /^ \* Checked with (.+)\.$/m.exec(
        fs.readFileSync(path.join(SOURCE, `${library}.ts`), 'utf8'),
      ) ?? [];
    const versions = checkedVersions.split(', ').map((text) => text.split(' '));

    expect(versions.map(([name]) => name)).toContain(library);

    for (const [name, version] of versions) {
      expect(`${name} ${version}`).toBe(`${name} ${installedVersion(name!)}`);
    }
  },
);
