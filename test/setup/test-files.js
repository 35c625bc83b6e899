/** The two runs: `npm run test:system` runs `test/system/`, `npm test` all other tests. */
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { dirname, join, posix, sep } = require('node:path');

const TESTS = join(__dirname, '..');
const ENDING = '.test.ts';

/**
 * In the first comment of a test file: it runs in a process of its own although its folder has a
 * `suite.ts`.
 */
const ALONE_PATTERN = /^\/\*\*(?:(?!\*\/)[^])*@alone\b/;
const RANDOM_MODULE = join(__dirname, 'random');

/** Test files without their suffix, as in `engine/sql/filters`. */
const tests = readdirSync(TESTS, { recursive: true })
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length).split(sep).join('/'))
  .sort();
const textOf = (test) => readFileSync(join(TESTS, `${test}${ENDING}`), 'utf8');

/** Whether a file imports `random.ts`, itself or through other files of `test/`. */
function importsRandom(file, visitedFiles = new Set()) {
  if (visitedFiles.has(file) || !existsSync(file)) return false;
  visitedFiles.add(file);
  const modules = [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, name]) =>
    join(dirname(file), name),
  );

  return modules.some(
    (name) =>
      name === RANDOM_MODULE ||
      (name.startsWith(TESTS) && importsRandom(`${name}.ts`, visitedFiles)),
  );
}

const isSystemTest = (test) => test.startsWith('system/');

/** Returns the nearest folder of a test that has a `suite.ts`. */
function suiteFolderOf(test) {
  for (let folder = posix.dirname(test); folder !== '.'; folder = posix.dirname(folder)) {
    if (existsSync(join(TESTS, folder, 'suite.ts'))) return folder;
  }

  return undefined;
}

const alone = new Set(
  tests.filter((test) => isSystemTest(test) || ALONE_PATTERN.test(textOf(test))),
);
const suiteFolders = new Map(
  tests.filter((test) => !alone.has(test)).map((test) => [test, suiteFolderOf(test)]),
);

/** Returns the test files that the `suite.ts` of a folder runs in one process. */
module.exports.togetherIn = (folder) => tests.filter((test) => suiteFolders.get(test) === folder);

/** Tests that are also run with other seeds: `npm run explore` takes them from the clock. */
module.exports.random = tests.filter((test) => importsRandom(join(TESTS, `${test}${ENDING}`)));

/** The files that Jest runs, relative to `test/`. */
module.exports.runs = {
  service: [
    ...new Set(
      tests
        .filter((test) => !isSystemTest(test))
        .map((test) =>
          suiteFolders.get(test) ? `${suiteFolders.get(test)}/suite.ts` : `${test}${ENDING}`,
        ),
    ),
  ],
  system: tests.filter(isSystemTest).map((test) => `${test}${ENDING}`),
};
