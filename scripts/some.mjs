// Runs a selection of the tests: those of a folder in shared processes, single files each in a
// process of its own.
//   node scripts/some.mjs test/rest test/engine/sql/filters [options of Jest]
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const firstOption = process.argv.findIndex(
  (argument, index) => index > 1 && argument.startsWith('-'),
);
const names = process.argv.slice(2, firstOption < 0 ? undefined : firstOption);
const options = firstOption < 0 ? [] : process.argv.slice(firstOption);

const paths = names.map(
  (name) =>
    [name, `${name}.test.ts`, `test/${name}`, `test/${name}.test.ts`].find(existsSync) ?? name,
);
const missing = paths.filter((path) => !existsSync(path));

if (names.length === 0 || missing.length > 0) {
  console.error(
    missing.length > 0
      ? `no such test: ${missing.join(', ')}`
      : 'usage: npm run test:some -- FOLDER_OR_FILE … [options of Jest]',
  );
  process.exit(2);
}

const run = (...args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
const folders = paths.filter((path) => statSync(path).isDirectory());
const files = paths.filter((path) => !folders.includes(path));
const jest = ['node_modules/.bin/jest', ...options];
const together = () =>
  run(
    ...jest,
    '--config',
    'jest.together.config.js',
    '--testPathPatterns',
    ...folders.map((folder) => `${folder.replace(/\/$/, '')}/`),
  );
const alone = () => run(...jest, '--runTestsByPath', ...files);

// Single files also run if tests of folders have failed.
const tests = [...(folders.length > 0 ? [together] : []), ...(files.length > 0 ? [alone] : [])];

process.exitCode = run('scripts/build.mjs') || tests.reduce((status, step) => step() || status, 0);
