/**
 * A Jest reporter that appends each failure and each passed file as a JSON line to $MUTANT_REPORT.
 * With $MUTANT_BAIL the first failure ends the run.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const {
  MUTANT_REPORT: report,
  MUTANT_BAIL: bail,
  MUTANT_CURRENT: current,
  MUTANT_IGNORED: ignored = '[]',
} = process.env;

/** Names of tests that fail without a mutant. */
const known = new Set(JSON.parse(ignored));

const append = (line) => appendFileSync(report, `${JSON.stringify(line)}\n`);

function reportFailure(path, name, messages) {
  if (known.has(name)) return;
  const message = stripVTControlCharacters(messages.join('\n')).slice(0, 1500);

  append({ failed: name, path, message });
  if (bail) process.exit(1);
}

export default class Reporter {
  onTestFileStart({ path }) {
    writeFileSync(current, path);
  }
  onTestCaseResult({ path }, { status, fullName, failureMessages }) {
    if (status === 'failed') reportFailure(path, fullName, failureMessages);
  }
  onTestResult({ path }, { testExecError, failureMessage, testResults }) {
    if (testExecError || (failureMessage && testResults.length === 0)) {
      reportFailure(path, '(file)', [failureMessage ?? String(testExecError?.message)]);
    }

    append({ ended: path });
  }
}
