/** Imports point one way: from what is put together to what it is made of. */
import fs from 'node:fs';
import path from 'node:path';

const src = path.join(__dirname, '../../src');

/** From the top to the bottom. A file imports its own layer and those below. */
const LAYERS = [
  [
    'app',
    'bodies',
    'bounds',
    'budget',
    'cli',
    'connections',
    'draining',
    'ending',
    'exchange',
    'exposure',
    'graphql',
    'idempotency',
    'index',
    'interfaces',
    'live',
    'origin',
    'gate',
    'pressure',
    'readiness',
    'schema',
    'securitytxt',
    'serve',
    'services',
    'shownerrors',
    'site',
    'supervisor',
    'target',
    'telemetry',
    'tls',
    'trusted',
    'unreadable',
    'uploads',
    'worker',
  ],
  ['rest', 'pages', 'resources', 'auth', 'transfer'],
  // What resources are made of beside their fields: pure arithmetic and texts, and the storage of files.
  ['nutrition', 'training', 'files'],
  ['core'],
  ['database'],
  ['compression', 'config', 'extensions', 'idempotencykey', 'logging', 'multipart', 'reading', 'trace', 'turns', 'version'],
];

/** What may be imported beside one's own folder, where the layers alone would allow more. */
const ONLY: Record<string, string[]> = {
  // Translation only: it is given a schema and a function that runs operations.
  rest: ['compression', 'extensions', 'idempotencykey', 'multipart', 'reading'],
  multipart: ['extensions'],
  extensions: [],
  config: [],
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
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^'";]*?from '(\.[^']*)'|\bimport\('(\.[^']*)'\)|^import '(\.[^']*)'/gm)];
  return specifiers
    .map(([, a, b, c]) => path.resolve(path.dirname(file), (a ?? b ?? c)!))
    .filter((target) => target.startsWith(src + path.sep))
    .map((target) => ({ file: path.relative(src, file), from: partOf(file), to: partOf(target) }));
});

test('every folder and file of src has a layer', () => {
  expect(files.map(partOf).filter((part) => layerOf(part) < 0)).toEqual([]);
  expect(imports.length).toBeGreaterThan(200);
});

test('nothing imports a layer above its own', () => {
  const upwards = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
  expect(upwards).toEqual([]);
});

test.each(Object.entries(ONLY))('%s imports nothing but %j and itself', (part, allowed) => {
  const others = imports.filter(({ from, to }) => from === part && to !== part && !allowed.includes(to));
  expect(others).toEqual([]);
});

test('the environment is read in one place', () => {
  const readers = files.filter((file) => fs.readFileSync(file, 'utf8').includes('process.env')).map((file) => path.relative(src, file));
  expect(readers).toEqual(['config.ts']);
});
