/**
 * The build: TypeScript to dist/src and dist/seeders, the playground's bundle to dist/playground. A step whose inputs are as they were
 * is skipped, so that every start can afford to run this file. Arguments name the steps, if not all. Messages go to stderr: stdout belongs to
 * the program that starts next.
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
import { basename, dirname, join, relative } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

/** What runs in browsers only: TypeScript looks at it with a configuration of its own, and the bundle is made of it. */
const BROWSER = join('src/pages/playground/browser');

/** Smaller files are not compressed: they fit into one packet anyway. */
const MIN_BYTES = 1_400;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const steps = [
  { name: 'TypeScript', inputs: () => [...sources(), ...images(), 'tsconfig.json', 'tsconfig.build.json'], run: compile },
  {
    name: 'Playground',
    inputs: () => ['src/platform/csv.ts', ...under('src/pages/playground').filter((file) => /\.\w+$/.test(file))],
    run: bundle,
  },
];

const wanted = process.argv.slice(2);

if (outdated().length > 0) {
  mkdirSync('dist', { recursive: true });
  const unlock = await lock('dist/.lock');
  // Asked again: another build may have done the work meanwhile.
  const succeeded = await Promise.all(outdated().map(build));
  unlock();
  if (succeeded.includes(false)) process.exitCode = 1;
}

// What is up to date: dist/.stamp holds, for each step, the digest of the inputs and the outputs of its last success.

function outdated() {
  const stamp = readStamp();
  const chosen = steps.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  return chosen.filter(
    ({ name, inputs }) => stamp[name]?.digest !== digest(inputs()) || !stamp[name].outputs.every((file) => existsSync(file)),
  );
}

async function build({ name, inputs, run }) {
  const started = performance.now();
  const before = readStamp()[name]?.outputs;
  // The digest is of the inputs as the step finds them; who edits a file during the build gets another build next time.
  const found = digest(inputs());
  // A build that is stopped in the middle must not look like a success, whatever the inputs become.
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
  const hash = createHash('sha256').update(process.version);
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

function under(folder) {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).map((file) => join(folder, file)) : [];
}

function sources() {
  return ['src', 'seeders']
    .flatMap(under)
    .filter((file) => /\.(tsx?|json)$/.test(file) && !file.startsWith(BROWSER))
    .sort();
}

function images() {
  return under('seeders').filter((file) => file.endsWith('.png'));
}

async function compile() {
  const tsc = join(root, 'node_modules/typescript7/bin/tsc');
  const child = spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--pretty', String(Boolean(process.stderr.isTTY))], {
    stdio: ['ignore', 2, 2],
  });
  const stop = () => child.kill();
  process.once('exit', stop);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  process.off('exit', stop);
  if (code !== 0) throw new Error('the compiler found errors');
  for (const image of images()) {
    mkdirSync(join('dist', dirname(image)), { recursive: true });
    replace(join('dist', image), readFileSync(image));
  }
  const scripts = sources().filter((file) => /(?<!\.d|\.test)\.tsx?$/.test(file));
  return [...scripts.map((file) => file.replace(/\.tsx?$/, '.js')), ...images()].map((file) => join('dist', file));
}

// The playground

async function bundle() {
  const esbuild = await import('esbuild');
  const options = {
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    target: 'es2022',
    outdir: 'dist/playground/assets',
    // Names with a hash of the content: browsers may keep the files for ever.
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
  const addresses = workers.outputFiles.map((file) => [basename(file.path).split('-')[0], `/playground/assets/${basename(file.path)}`]);
  const page = await esbuild.build({
    ...options,
    entryPoints: { playground: `${BROWSER}/app.tsx` },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    // GraphiQL is made with React; what tsconfig.json says of JSX is for the pages of the server.
    tsconfigRaw: {},
    define: { PLAYGROUND_WORKERS: JSON.stringify(Object.fromEntries(addresses)), 'process.env.NODE_ENV': '"production"' },
    // These two names lead to the UMD files, whose exports a split bundle loses: the prettify button would fail.
    alias: { 'prettier/parser-graphql': 'prettier/plugins/graphql', 'prettier/parser-babel': 'prettier/plugins/babel' },
    // Only for subscriptions over a web socket, which we don't have.
    external: ['graphql-ws'],
    plugins: [{ name: 'lighter-styles', setup: lighterStyles }],
  });
  const files = [...workers.outputFiles, ...page.outputFiles];
  mkdirSync(options.outdir, { recursive: true });
  for (const file of files) replace(file.path, file.contents);
  // The manifest last: until then the page goes on with the files of the build before.
  const [script, { cssBundle, imports }] = Object.entries(page.metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('/app.tsx'),
  );
  const needed = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  const short = await Promise.all(files.map(shortened));
  replace('dist/playground/manifest.json', JSON.stringify({ script: basename(script), style: basename(cssBundle), needed }));
  return ['dist/playground/manifest.json', ...files.map((file) => relative(root, file.path)), ...short.flat()];
}

/** Compressed once, and well, beside the file itself. */
async function shortened({ path, contents }) {
  if (contents.length < MIN_BYTES) return [];
  const [br, gz] = await Promise.all([promisify(brotliCompress)(contents, BROTLI), promisify(gzip)(contents, { level: 9 })]);
  replace(`${path}.br`, br);
  replace(`${path}.gz`, gz);
  return [`${path}.br`, `${path}.gz`].map((file) => relative(root, file));
}

/**
 * graphiql/style.css holds monaco's styles already; the single files would only be copied into chunks that nobody loads. Its fonts are half of
 * what is to be loaded before anything is to be seen, and the system has good ones.
 */
function lighterStyles({ onLoad }) {
  onLoad({ filter: /[\\/]monaco-editor[\\/].*\.css$/ }, () => ({ contents: '', loader: 'empty' }));
  onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll(/@font-face\s*\{[^}]*data:font\/woff[^}]*\}/g, ''),
    loader: 'css',
  }));
}

// Files

/** A reader sees the old file or the new one, never half of it. */
function replace(path, contents) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}

/** Removes an output whose source is gone, and folders left empty: what loads every file of a folder must not find them. */
function remove(file) {
  rmSync(file, { force: true });
  for (let folder = dirname(file); folder !== 'dist'; folder = dirname(folder)) {
    if (!existsSync(folder)) continue;
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/**
 * Waits until no other build is at work. The holder touches the file again and again; one that stays untouched was left by a build that
 * was killed. (A process id would not do: in containers that share the folder it says nothing.)
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
  const touch = setInterval(() => existsSync(file) && utimesSync(file, new Date(), new Date()), 500);
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
