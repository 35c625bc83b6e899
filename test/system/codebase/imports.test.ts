/** Imports follow the layers of the code: a file imports from its own layer and from lower ones. */
import fs from 'node:fs';
import path from 'node:path';

const src = path.join(__dirname, '../../../src');

/** Layers from top to bottom. Parts of one layer may import each other. */
const LAYERS = [
  ['index', 'cli'],
  ['server'],
  ['graphql', 'pages'],
  // The context of a request, and its observability.
  ['request', 'telemetry'],
  // Analyses over rows of several resources.
  ['analysis'],
  ['rest', 'resources', 'auth', 'transfer'],
  // Building blocks of resources: pure computations, and the storage of files.
  ['nutrition', 'training', 'files'],
  ['core'],
  ['database'],
  ['platform'],
  // Private interfaces of dependencies, one file per library.
  ['internals'],
  ['contract'],
];

/** Folders of `core` from top to bottom. */
const CORE_LAYERS = [
  'schema',
  'grouping',
  'operation',
  'cache',
  'changes',
  'write',
  'read',
  'sql',
  'access',
  'model',
];

/** Allowed imports from other parts, where the layers alone would allow more. */
const ALLOWED_IMPORTS: Record<string, string[]> = {
  // REST is a pure translation: it receives a schema and a function that executes operations.
  rest: ['platform', 'contract'],
  platform: ['contract'],
  internals: [],
  contract: [],
};

const layerOf = (part: string) => LAYERS.findIndex((parts) => parts.includes(part));
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
  const specifiers = [
    ...text.matchAll(
      /^(?:import|export)\b[^'";]*?from '(\.[^']*)'|\bimport\('(\.[^']*)'\)|^import '(\.[^']*)'/gm,
    ),
  ];
  return specifiers
    .map(([, a, b, c]) => path.resolve(path.dirname(file), (a ?? b ?? c)!))
    .filter((target) => target.startsWith(src + path.sep))
    .map((target) => ({ file: path.relative(src, file), from: partOf(file), to: partOf(target) }));
});

test('every folder and file of src belongs to a layer', () => {
  expect(files.map(partOf).filter((part) => layerOf(part) < 0)).toEqual([]);
  expect(imports.length).toBeGreaterThan(200);
});

test('no file imports from a higher layer', () => {
  const upwards = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
  expect(upwards).toEqual([]);
});

test.each(Object.entries(ALLOWED_IMPORTS))(
  '%s imports only from itself and %j',
  (part, allowed) => {
    const forbiddenImports = imports.filter(
      ({ from, to }) => from === part && to !== part && !allowed.includes(to),
    );
    expect(forbiddenImports).toEqual([]);
  },
);

/** The context of a request refers to all folders of core. It is imported, and imports, for types only. */
const CONTEXT = path.join(src, 'core/context.ts');
const coreFolderOf = (target: string) =>
  path.relative(path.join(src, 'core'), target).split(path.sep)[0]!;
const inCore = (target: string) => target.startsWith(path.join(src, 'core') + path.sep);
const withinCore = files.filter(inCore).flatMap((file) => {
  const text = fs.readFileSync(file, 'utf8');
  return [...text.matchAll(/^import (type )?[^'";]*?from '(\.[^']*)'/gm)]
    .map(([, type, specifier]) => ({
      file,
      isType: type !== undefined,
      target: path.resolve(path.dirname(file), specifier!),
    }))
    .filter(({ target }) => inCore(target));
});

test('folders of core import only from lower folders of core', () => {
  expect(
    [
      ...new Set(
        files
          .filter(inCore)
          .filter((file) => file !== CONTEXT)
          .map(coreFolderOf),
      ),
    ].sort(),
  ).toEqual([...CORE_LAYERS].sort());
  expect(withinCore.length).toBeGreaterThan(100);
  const upwards = withinCore
    .filter(({ file, target }) => file !== CONTEXT && `${target}.ts` !== CONTEXT)
    .map(({ file, target }) => [coreFolderOf(file), coreFolderOf(target)] as const)
    .filter(([from, to]) => CORE_LAYERS.indexOf(to) < CORE_LAYERS.indexOf(from));
  expect(upwards).toEqual([]);
});

test('core/context.ts is imported, and imports, for types only', () => {
  const known = withinCore.filter(
    ({ file, target }) => file === CONTEXT || `${target}.ts` === CONTEXT,
  );
  expect(known.filter(({ isType }) => !isType).map(({ file }) => path.relative(src, file))).toEqual(
    [],
  );
});

/** Resources import each other, but access these imports lazily. */
const CIRCULAR_FOLDER = `resources${path.sep}`;

test('import cycles exist between resources only', () => {
  const needs = new Map<string, string[]>();
  for (const file of files) {
    const text = fs.readFileSync(file, 'utf8');
    const values = [...text.matchAll(/^(?:import|export) (?!type )([^'";]*?)from '(\.[^']*)'/gm)]
      .filter(
        ([, names]) =>
          !/^\{[^}]*\}\s*$/.test(names!) ||
          names!.split(',').some((name) => !/^[\s{]*(type |\}|$)/.test(name)),
      )
      .map(([, , specifier]) => path.resolve(path.dirname(file), specifier!))
      .flatMap((target) =>
        ['.ts', '.tsx', `${path.sep}index.ts`, `${path.sep}index.tsx`].map((end) => target + end),
      )
      .filter((target) => files.includes(target));
    needs.set(file, values);
  }
  const reachableFrom = (from: string): Set<string> => {
    const found = new Set<string>();
    const open = [...needs.get(from)!];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      if (!found.has(next) && found.add(next)) open.push(...needs.get(next)!);
    return found;
  };
  const circular = files
    .filter((file) => reachableFrom(file).has(file))
    .map((file) => path.relative(src, file));
  expect(circular.filter((file) => !file.startsWith(CIRCULAR_FOLDER))).toEqual([]);
  // Proves that cycles are detected.
  expect(circular.length).toBeGreaterThan(10);
});

test('only platform/config.ts reads the environment', () => {
  const readers = files
    .filter((file) => fs.readFileSync(file, 'utf8').includes('process.env'))
    .map((file) => path.relative(src, file));
  expect(readers).toEqual(['platform/config.ts']);
});

/** Uses of private interfaces: methods and instances of other classes by their prototypes, undocumented members, and deep imports. */
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
  expect(
    users.filter((file) => partOf(file) !== 'internals').map((file) => path.relative(src, file)),
  ).toEqual([]);
});
