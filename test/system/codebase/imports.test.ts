/** Imports point one way: from what is put together to what it is made of. */
import fs from 'node:fs';
import path from 'node:path';

const src = path.join(__dirname, '../../../src');

/** From the top to the bottom. A file imports its own room and those below; rooms of one floor may know each other. */
const ROOMS = [
  ['index', 'cli'],
  ['server'],
  ['graphql'],
  // One request, whatever it asks for, and what is told of it.
  ['exchange', 'telemetry'],
  ['pages'],
  // Questions over rows of several resources.
  ['analysis'],
  ['rest', 'resources', 'auth', 'transfer'],
  // What resources are made of beside their fields: pure arithmetic and texts, and the storage of files.
  ['nutrition', 'training', 'files'],
  ['core'],
  ['database'],
  ['platform'],
  // Private interfaces of dependencies, one file per library.
  ['internals'],
  ['contract'],
];

/** Of `core`, from the top to the bottom. */
const WINGS = ['schema', 'grouping', 'operation', 'cache', 'changes', 'write', 'read', 'sql', 'access', 'model'];

/** What may be imported beside one's own folder, where the floors alone would allow more. */
const ONLY: Record<string, string[]> = {
  // Translation only: it is given a schema and a function that runs operations.
  rest: ['platform', 'contract'],
  platform: ['contract'],
  internals: [],
  contract: [],
};

const floorOf = (part: string) => ROOMS.findIndex((parts) => parts.includes(part));
const partOf = (file: string) =>
  path
    .relative(src, file)
    .split(path.sep)[0]!
    .replace(/\.d$|(\.d)?\.tsx?$/, '');

const files = (fs.readdirSync(src, { recursive: true }) as string[])
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => path.join(src, file));

interface Import {
  file: string;
  from: string;
  to: string;
}

const imports: Import[] = files.flatMap((file) => {
  const text = fs.readFileSync(file, 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^'";]*?from '(\.[^']*)'|\bimport\('(\.[^']*)'\)|^import '(\.[^']*)'/gm)];
  return specifiers
    .map(([, a, b, c]) => path.resolve(path.dirname(file), (a ?? b ?? c)!))
    .filter((target) => target.startsWith(src + path.sep))
    .map((target) => ({ file: path.relative(src, file), from: partOf(file), to: partOf(target) }));
});

test('every folder and file of src has a floor', () => {
  expect(files.map(partOf).filter((part) => floorOf(part) < 0)).toEqual([]);
  expect(imports.length).toBeGreaterThan(200);
});

test('nothing imports a floor above its own', () => {
  const upwards = imports.filter(({ from, to }) => floorOf(to) < floorOf(from));
  expect(upwards).toEqual([]);
});

test.each(Object.entries(ONLY))('%s imports nothing but %j and itself', (part, allowed) => {
  const others = imports.filter(({ from, to }) => from === part && to !== part && !allowed.includes(to));
  expect(others).toEqual([]);
});

/** `core/<wing>/…` of each import within core; `context.ts` names what a request carries, from all wings, and is known by its types alone. */
const CONTEXT = path.join(src, 'core/context.ts');
const wingOf = (target: string) => path.relative(path.join(src, 'core'), target).split(path.sep)[0]!;
const inCore = (target: string) => target.startsWith(path.join(src, 'core') + path.sep);
const withinCore = files.filter(inCore).flatMap((file) => {
  const text = fs.readFileSync(file, 'utf8');
  return [...text.matchAll(/^import (type )?[^'";]*?from '(\.[^']*)'/gm)]
    .map(([, type, specifier]) => ({ file, isType: type !== undefined, target: path.resolve(path.dirname(file), specifier!) }))
    .filter(({ target }) => inCore(target));
});

test('a wing of core imports wings below it', () => {
  expect(
    [
      ...new Set(
        files
          .filter(inCore)
          .filter((file) => file !== CONTEXT)
          .map(wingOf),
      ),
    ].sort(),
  ).toEqual([...WINGS].sort());
  expect(withinCore.length).toBeGreaterThan(100);
  const upwards = withinCore
    .filter(({ file, target }) => file !== CONTEXT && `${target}.ts` !== CONTEXT)
    .map(({ file, target }) => [wingOf(file), wingOf(target)] as const)
    .filter(([from, to]) => WINGS.indexOf(to) < WINGS.indexOf(from));
  expect(upwards).toEqual([]);
});

test('the context of a request is known by its types alone', () => {
  const known = withinCore.filter(({ file, target }) => file === CONTEXT || `${target}.ts` === CONTEXT);
  expect(known.filter(({ isType }) => !isType).map(({ file }) => path.relative(src, file))).toEqual([]);
});

/** Resources name each other, inside of thunks. */
const NAME_EACH_OTHER = `resources${path.sep}`;

test('no file needs itself, however long the way', () => {
  const needs = new Map<string, string[]>();
  for (const file of files) {
    const text = fs.readFileSync(file, 'utf8');
    const values = [...text.matchAll(/^(?:import|export) (?!type )([^'";]*?)from '(\.[^']*)'/gm)]
      .filter(([, names]) => !/^\{[^}]*\}\s*$/.test(names!) || names!.split(',').some((name) => !/^[\s{]*(type |\}|$)/.test(name)))
      .map(([, , specifier]) => path.resolve(path.dirname(file), specifier!))
      .flatMap((target) => ['.ts', '.tsx', `${path.sep}index.ts`, `${path.sep}index.tsx`].map((end) => target + end))
      .filter((target) => files.includes(target));
    needs.set(file, values);
  }
  const reached = (from: string): Set<string> => {
    const found = new Set<string>();
    const open = [...needs.get(from)!];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      if (!found.has(next) && found.add(next)) open.push(...needs.get(next)!);
    return found;
  };
  const circular = files.filter((file) => reached(file).has(file)).map((file) => path.relative(src, file));
  expect(circular.filter((file) => !file.startsWith(NAME_EACH_OTHER))).toEqual([]);
  // That it finds those that there are.
  expect(circular.length).toBeGreaterThan(10);
});

test('the environment is read in one place', () => {
  const readers = files.filter((file) => fs.readFileSync(file, 'utf8').includes('process.env')).map((file) => path.relative(src, file));
  expect(readers).toEqual(['platform/config.ts']);
});

/** Methods and instances of other classes by their prototypes, undocumented members, and deep imports. */
const PRIVATE_INTERFACES = [
  /\.prototype\.\w+\.(?:call|apply)\b/,
  /\bObject\.(?:create\((?!null\))|setPrototypeOf\()/,
  /\.(?:queryGenerator|connectionManager|destroySoon|parsedStatements|shouldKeepAlive)\b/,
  /\bclient\._\w/,
  /\b(?:from|import|require)\b[ (]'(?:@[\w-]+\/)?[\w-]+\/(?:lib|src)\//,
];

test('private interfaces of dependencies are used in internals only', () => {
  const users = files.filter((file) => {
    const text = fs.readFileSync(file, 'utf8');
    return PRIVATE_INTERFACES.some((pattern) => pattern.test(text));
  });
  expect(users.length).toBeGreaterThan(2);
  expect(users.filter((file) => partOf(file) !== 'internals').map((file) => path.relative(src, file))).toEqual([]);
});
