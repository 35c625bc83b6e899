// Runs the tests that failed in a run of Jest once more, by themselves, and writes the results to the report of the run. A test that measures time
// fails without a fault when a virtual machine stops for a moment; a fault shows again.
//   node scripts/retry-failed.mjs REPORT COMMAND …     REPORT: what `jest --json --outputFile` has written; COMMAND: what has run the tests
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** More failures than this have a common cause, which a second attempt would only hide. */
const MAX_RETRIED = 10;
const [report, command, ...args] = process.argv.slice(2);

const failuresOf = ({ assertionResults }) =>
  assertionResults.filter(({ status }) => status === 'failed');

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const run = read(report);
const suites = run.testResults.filter((suite) => failuresOf(suite).length);
const failures = suites.flatMap(failuresOf);
const hasBrokenFile = run.numRuntimeErrorTestSuites > 0;

if (!failures.length || failures.length > MAX_RETRIED || hasBrokenFile) process.exit(1);

const escapeRegex = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const pattern = `^(${failures.map(({ fullName }) => escapeRegex(fullName)).join('|')})$`;
const again = `${report}.again`;

spawnSync(
  command,
  [
    ...args,
    '--json',
    `--outputFile=${again}`,
    `--testNamePattern=${pattern}`,
    '--runTestsByPath',
    ...suites.map(({ name }) => name),
  ],
  { stdio: 'inherit' },
);

const passed = new Set(
  read(again).testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ fullName }) => `${name} ${fullName}`),
  ),
);

for (const { name, assertionResults } of suites) {
  for (const result of assertionResults) {
    if (result.status !== 'failed' || !passed.has(`${name} ${result.fullName}`)) continue;
    Object.assign(result, { status: 'passed', isRetried: true });
    run.numFailedTests -= 1;
    run.numPassedTests += 1;
  }
}

writeFileSync(report, JSON.stringify(run));
process.exit(run.numFailedTests ? 1 : 0);
