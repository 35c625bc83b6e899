/**
 * Creates a copy of the checkout that contains every drawn mutant, each behind a condition that
 * reads the ids of the active ones from a file. Therefore one compilation and one transform cache
 * serve all mutants. The condition also records which code was reached.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns code to append to each file with mutants. Files of the server also run in browsers, which
 * have no `process`. Code in a process that a test has started is attributed to the test file that
 * is running at the time.
 */
const condition = ({ active, reached, current }) => `
function __mutant(id: number): boolean {
  const shared = globalThis as any;
  if (!shared.process?.versions?.node) return false;
  const fs = require('node:fs');
  const state = (shared.__mutants ??= { active: fs.readFileSync(${JSON.stringify(active)}, 'utf8').split(' ').map(Number), seen: new Set(), current: fs.readFileSync(${JSON.stringify(current)}, 'utf8') });
  const { testPath = state.current, currentTestName = '' } = shared.expect?.getState?.() ?? {};
  const key = JSON.stringify([id, testPath, currentTestName.split(' ')[0]]);
  if (!state.seen.has(key)) {
    state.seen.add(key);
    fs.appendFileSync(${JSON.stringify(reached)}, key + '\\n');
  }
  return state.active.includes(id);
}
`;

/** Returns the source with all its mutants behind conditions. Mutants may be nested. */
function instrumented(text, mutants) {
  const inserted = mutants.flatMap(({ id, start, end, after, form }) => {
    const size = end - start;
    const [open, close] =
      form === 'statement'
        ? [`{ if (!__mutant(${id})) { `, ' } }']
        : [`(__mutant(${id}) ? (${after}) : (`, '))'];

    return [
      { at: start, opens: true, size, text: open },
      { at: end, opens: false, size, text: close },
    ];
  });

  // Inserts from the end to the start. At the same position, inner mutants close first and open
  // last, and closing precedes opening.
  inserted.sort((a, b) => {
    if (a.at !== b.at) return b.at - a.at;
    if (a.opens !== b.opens) return a.opens ? -1 : 1;

    return a.opens ? a.size - b.size : b.size - a.size;
  });

  return inserted.reduce(
    (result, { at, text: part }) => result.slice(0, at) + part + result.slice(at),
    text,
  );
}

/** Copies `revision` of the repository at `root` to `folder` and links the installed packages. */
export function copyTo(folder, root, revision) {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], {
    input: execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 2 ** 30 }),
  });
  // Hard links are safe, because nothing writes into packages.
  execFileSync('cp', ['-al', join(root, 'node_modules'), join(folder, 'node_modules')]);
}

/** Builds the copy, inserts the mutants into its sources and compiles these without type checks. */
export function prepare(folder, mutants, places) {
  execFileSync(process.execPath, ['scripts/build.mjs'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const files = byFile(mutants);

  for (const [file, list] of files) {
    const name = join(folder, file);

    writeFileSync(name, instrumented(readFileSync(name, 'utf8'), list) + condition(places));
  }

  const tsc = existsSync(join(folder, 'node_modules/typescript7')) ? 'typescript7' : 'typescript';

  spawnSync(
    process.execPath,
    [
      join(folder, 'node_modules', tsc, 'bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--noEmitOnError',
      'false',
    ],
    {
      cwd: folder,
    },
  );
  // Disables later builds: the copy is already built.
  writeFileSync(join(folder, 'scripts/build.mjs'), '');

  for (const file of files.keys()) {
    if (
      !readFileSync(join(folder, 'dist', file.replace(/\.ts$/, '.js')), 'utf8').includes('__mutant')
    ) {
      throw new Error(`${file} was not compiled`);
    }
  }
}

function byFile(mutants) {
  const files = new Map();

  for (const mutant of mutants) files.set(mutant.file, [...(files.get(mutant.file) ?? []), mutant]);

  return files;
}
