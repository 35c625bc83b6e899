/**
 * Builds TypeScript to dist/src and dist/seeders, and code for browsers and guides to dist/browser. Steps with
 * unchanged inputs are skipped, so that every start can run this file. Arguments select steps by
 * name. Messages go to stderr, because stdout belongs to the program that starts next.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));

process.chdir(root);

/**
 * Entry points of code that runs in browsers only. It is type-checked with a configuration of its
 * own, src/web/browser/tsconfig.json.
 */
const PAGE_SCRIPTS = ['copy', 'suggest', 'times', 'reference'].map(
  (name) => `src/web/browser/${name}.ts`,
);
const PLAYGROUND = 'src/web/playground/browser/app.tsx';
const isMarkdown = (file) => file.endsWith('.md');
const isForBrowsers = (file) => file.split(sep).includes('browser');

/** Smaller files are not compressed, because they fit into one packet anyway. */
const MIN_BYTES = 1_400;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const steps = [
  {
    name: 'TypeScript',
    inputs: () => [...sources(), ...images(), 'tsconfig.json', 'tsconfig.build.json'],
    run: compile,
  },
  {
    name: 'Browser',
    inputs: () => [
      ...['csv', 'page-size'].map((name) => `src/shared/${name}.ts`),
      'src/fitness/mass-units.ts',
      ...['src/web/browser', 'src/web/playground']
        .flatMap(filesBelow)
        .filter((file) => /\.\w+$/.test(file)),
    ],
    run: bundle,
  },
  {
    name: 'Guides',
    inputs: () => [
      'scripts/guides.mjs',
      ...filesBelow('docs'),
      ...readdirSync('.').filter(isMarkdown),
    ],
    run: buildGuides,
  },
];

const requestedSteps = process.argv.slice(2);

if (outdated().length > 0) {
  if (!existsSync('node_modules/esbuild')) {
    console.error(
      'The build needs the development dependencies, which npm omits with NODE_ENV=production. Run `npm ci --include=dev`.',
    );
    process.exit(1);
  }

  mkdirSync('dist', { recursive: true });
  const unlock = await lock('dist/.lock');
  // Checks again, because another build may have done the work in the meantime.
  const succeeded = await Promise.all(outdated().map(build));

  unlock();
  if (succeeded.includes(false)) process.exitCode = 1;
}

// Up-to-date check: for each step, dist/.stamp stores the digest of the inputs and the outputs of
// its last success.

function outdated() {
  const stamp = readStamp();
  const chosen = steps.filter(
    ({ name }) => requestedSteps.length === 0 || requestedSteps.includes(name),
  );

  return chosen.filter(
    ({ name, inputs }) =>
      stamp[name]?.digest !== digest(inputs()) ||
      !stamp[name].outputs.every((file) => existsSync(file)),
  );
}

async function build({ name, inputs, run }) {
  const started = performance.now();
  const before = readStamp()[name]?.outputs;
  // Computed before the step: if a file is edited during the build, the next build runs the step
  // again.
  const found = digest(inputs());

  // An interrupted build must not look like a success, even if the inputs return to their earlier
  // state.
  if (before) writeStamp(name, { digest: null, outputs: before });

  try {
    const outputs = await run(before);

    for (const file of before ?? []) if (!outputs.includes(file)) remove(file);
    writeStamp(name, { digest: found, outputs });
    console.error(`${name} built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return true;
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    return false;
  }
}

function digest(files) {
  const hash = createHash('sha256');

  for (const file of [...files, 'package-lock.json', 'scripts/build.mjs']) {
    hash.update(`\0${file}\0`).update(existsSync(file) ? readFileSync(file) : '');
  }

  return hash.digest('hex');
}

function readStamp() {
  try {
    return JSON.parse(readFileSync('dist/.stamp', 'utf8'));
  } catch {
    return {};
  }
}

function writeStamp(name, entry) {
  replace('dist/.stamp', JSON.stringify({ ...readStamp(), [name]: entry }));
}

// TypeScript

function filesBelow(folder) {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true }).map((file) => join(folder, file))
    : [];
}

function sources() {
  return ['src', 'seeders']
    .flatMap(filesBelow)
    .filter((file) => /\.(tsx?|json)$/.test(file) && !isForBrowsers(file))
    .sort();
}

function images() {
  return filesBelow('seeders').filter((file) => file.endsWith('.png'));
}

async function compile() {
  const tsc = join(root, 'node_modules/typescript7/bin/tsc');
  const child = spawn(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--pretty', String(Boolean(process.stderr.isTTY))],
    {
      stdio: ['ignore', 2, 2],
    },
  );
  const stop = () => child.kill();

  process.once('exit', stop);
  const code = await new Promise((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );

  process.off('exit', stop);
  if (code !== 0) throw new Error('the compiler found errors');

  for (const image of images()) {
    mkdirSync(join('dist', dirname(image)), { recursive: true });
    replace(join('dist', image), readFileSync(image));
  }

  const scripts = sources().filter((file) => /(?<!\.d|\.test)\.tsx?$/.test(file));

  return [...scripts.map((file) => file.replace(/\.tsx?$/, '.js')), ...images()].map((file) =>
    join('dist', file),
  );
}

// Code for browsers

async function bundle() {
  const esbuild = await import('esbuild');
  const common = { minify: true, write: false, logLevel: 'silent', target: 'es2022' };
  const scripts = await esbuild.build({
    ...common,
    entryPoints: PAGE_SCRIPTS,
    outdir: 'dist/browser',
  });
  const options = {
    ...common,
    bundle: true,
    metafile: true,
    outdir: 'dist/browser/playground/assets',
    // Names contain a hash of the content, so browsers may cache the files forever.
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  };
  const workers = await esbuild.build({
    ...options,
    entryPoints: {
      editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
      json: 'monaco-editor/esm/vs/language/json/json.worker.js',
      graphql: 'monaco-graphql/esm/graphql.worker.js',
    },
  });
  const addresses = workers.outputFiles.map((file) => [
    basename(file.path).split('-')[0],
    basename(file.path),
  ]);
  const page = await esbuild.build({
    ...options,
    entryPoints: { playground: PLAYGROUND },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    // GraphiQL uses React. The JSX settings of tsconfig.json are for the pages of the server.
    tsconfigRaw: {},
    define: {
      PLAYGROUND_WORKERS: JSON.stringify(Object.fromEntries(addresses)),
      'process.env.NODE_ENV': '"production"',
    },
    // These names resolve to UMD files, whose exports are lost in a split bundle: the prettify
    // button would fail.
    alias: {
      'prettier/parser-graphql': 'prettier/plugins/graphql',
      'prettier/parser-babel': 'prettier/plugins/babel',
    },
    // GraphiQL loads it only for subscriptions over WebSocket, which the playground does not use.
    external: ['graphql-ws'],
    plugins: [{ name: 'lighter-styles', setup: lighterStyles }],
  });
  const files = [...workers.outputFiles, ...page.outputFiles];

  mkdirSync(options.outdir, { recursive: true });
  for (const file of [...scripts.outputFiles, ...files]) replace(file.path, file.contents);
  // The manifest is written last: until then the page uses the files of the previous build.
  const [script, { cssBundle, imports }] = Object.entries(page.metafile.outputs).find(
    ([, { entryPoint }]) => entryPoint === PLAYGROUND,
  );
  const needed = imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => basename(path));
  const short = await Promise.all(files.map(compressedCopies));
  const manifest = 'dist/browser/playground/manifest.json';

  replace(
    manifest,
    JSON.stringify({ script: basename(script), style: basename(cssBundle), needed }),
  );

  return [
    manifest,
    ...[...scripts.outputFiles, ...files].map((file) => relative(root, file.path)),
    ...short.flat(),
  ];
}

/**
 * Writes compressed versions next to the file. They are created once, so a high compression level
 * is affordable.
 */
async function compressedCopies({ path, contents }) {
  if (contents.length < MIN_BYTES) return [];
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(contents, BROTLI),
    promisify(gzip)(contents, { level: 9 }),
  ]);

  replace(`${path}.br`, br);
  replace(`${path}.gz`, gz);
  return [`${path}.br`, `${path}.gz`].map((file) => relative(root, file));
}

/**
 * Reduces the styles. graphiql/style.css already contains those of monaco, so the single files
 * would only be copied into chunks that are never loaded. Its fonts are removed, because they are
 * half of the download before the first paint and system fonts suffice.
 */
function lighterStyles({ onLoad }) {
  onLoad({ filter: /[\\/]monaco-editor[\\/].*\.css$/ }, () => ({ contents: '', loader: 'empty' }));
  onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(
      /@font-face\s*\{[^}]*data:font\/woff[^}]*\}/g,
      '',
    ),
    loader: 'css',
  }));
}

// Guides

async function buildGuides() {
  const { renderGuides, guideImages } = await import('./guides.mjs');
  const folder = 'dist/browser/guides';
  const file = join(folder, 'guides.json');

  mkdirSync(folder, { recursive: true });
  replace(file, JSON.stringify(renderGuides()));
  const copies = guideImages().map((image) => [image, join(folder, basename(image))]);

  for (const [image, copy] of copies) replace(copy, readFileSync(image));

  return [file, ...copies.map(([, copy]) => copy)];
}

// Files

/** Replaces a file atomically: readers see the old file or the new one. */
function replace(path, contents) {
  const temporary = `${path}.${process.pid}.tmp`;

  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/**
 * Removes an output whose source no longer exists, and folders left empty, because some code loads
 * every file of a folder.
 */
function remove(file) {
  rmSync(file, { force: true });

  for (let folder = dirname(file); folder !== 'dist'; folder = dirname(folder)) {
    if (!existsSync(folder)) continue;
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/**
 * Waits until no other build is running. The holder of the lock touches the file repeatedly; a file
 * that stays untouched was left by a killed build. (A process id would not help: containers that
 * share the folder number their processes separately.)
 */
async function lock(file) {
  for (let seen, since = performance.now(); ; await setTimeout(50)) {
    try {
      closeSync(openSync(file, 'wx'));
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }

    const touched = statSync(file, { throwIfNoEntry: false })?.mtimeMs;

    if (touched !== seen) [seen, since] = [touched, performance.now()];
    else if (performance.now() - since > 5000) rmSync(file, { force: true });
  }

  const touch = setInterval(
    () => existsSync(file) && utimesSync(file, new Date(), new Date()),
    500,
  );

  const unlock = () => {
    clearInterval(touch);
    rmSync(file, { force: true });
  };

  process.once('exit', unlock);

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ]) {
    process.once(signal, () => process.exit(code));
  }

  return () => {
    process.off('exit', unlock);
    unlock();
  };
}
