// Prints the durations of the steps of a CI run, of its test files and of its slowest tests, then the tests that failed.
//   node scripts/timings.mjs STEPS REPORT …     STEPS: lines of "name: N s"; REPORT: what `jest --json --outputFile` writes
import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const SLOWEST = 30;
const FAILURES = 10;
const LINE_CHARACTERS = 240;
const [steps, ...reports] = process.argv.slice(2);

const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`;

const print = (title, entries) => {
  console.log(`\n${title}`);

  for (const [ms, name] of entries.sort(([a], [b]) => b - a)) {
    console.log(`${seconds(ms)}  ${name}`);
  }
};

const suites = reports.flatMap((report) => JSON.parse(readFileSync(report, 'utf8')).testResults);
const pathOf = ({ name }) => relative('test', name);
const tests = suites.flatMap((suite) =>
  suite.assertionResults.map(({ duration, fullName }) => [
    duration ?? 0,
    // The title of a test in a suite begins with its file.
    basename(suite.name) === 'suite.ts' ? fullName : `${pathOf(suite)} ${fullName}`,
  ]),
);

console.log(`steps\n${readFileSync(steps, 'utf8').trimEnd()}`);
print(
  'test files',
  suites.map((suite) => [suite.endTime - suite.startTime, pathOf(suite)]),
);
print(
  `the slowest ${SLOWEST} of ${tests.length} tests`,
  tests.sort(([a], [b]) => b - a).slice(0, SLOWEST),
);

const failures = suites.flatMap(({ assertionResults, message, ...suite }) => {
  const failed = assertionResults.filter(({ status }) => status === 'failed');

  // A file that could not run has a message of its own and no results.
  if (!assertionResults.length && message) {
    failed.push({ fullName: '', failureMessages: [message] });
  }

  return failed.map((result) => ({ ...result, file: pathOf(suite) }));
});

console.log();

for (const { file, fullName, failureMessages } of failures.slice(0, FAILURES)) {
  const message = stripVTControlCharacters(failureMessages.join(' ')).replace(/\s+/g, ' ');

  console.log(`FAILED: ${file} ${fullName}: ${message}`.slice(0, LINE_CHARACTERS));
}
