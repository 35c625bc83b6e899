/** What the README and the guides lead to is there, and what they list is whole. */
import fs from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../../..');
const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8');
const guides = [...fs.readdirSync(ROOT), ...fs.readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

const prose = (text: string) => text.replace(/^```.*?^```$/gms, '');

/** As GitHub makes anchors of headings. */
const anchorsOf = (file: string) =>
  [...prose(read(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(guides)('%s leads nowhere in vain', (guide) => {
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

test('files that the guides name exist', () => {
  // That guide makes files of its own, in its own test.
  const others = guides.filter((guide) => guide !== 'docs/add-a-resource.md');
  const named = others.flatMap((guide) =>
    [...prose(read(guide)).matchAll(/`((?:src|test|scripts|deploy|seeders)\/[\w./-]*\w)`/g)].map(([, file]) => file!),
  );
  expect(named.length).toBeGreaterThan(40);
  expect([...new Set(named)].filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('every guide is found from the README', () => {
  const readme = read('README.md');
  expect(guides.filter((guide) => guide !== 'README.md' && !readme.includes(`](${guide})`))).toEqual([]);
});

test('the README stays short', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150);
});

test('every command is in the table', () => {
  const commands = [...read('src/cli/index.ts').matchAll(/program\s*\.command\('(\w+)'/g)].map(([, name]) => name!);
  for (const file of fs.readdirSync(path.join(ROOT, 'src/cli'))) {
    commands.push(...[...read(`src/cli/${file}`).matchAll(/new Command\('(\w+)'\)/g)].map(([, name]) => name!));
  }
  const documented = [...new Set([...read('docs/commands.md').matchAll(/^\| `(\w+)/gm)].map(([, name]) => name!))];
  expect(documented.sort()).toEqual(commands.filter((name) => name !== 'fitgraph').sort());
});
