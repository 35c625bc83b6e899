// Sends recorded cases to a running server and compares the responses with the recorded ones.

const { checkAnswer } = require('./check');
const { Client } = require('./client');
const { RowIds } = require('./ids');

/**
 * Runs one case. A transport failure is a failed case, not a failed run. `base` is the origin of
 * expected URLs; `text` is the body of the response.
 */
async function runCase(testCase, client, ids) {
  try {
    const answer = await client.send(testCase.request, ids);

    return {
      testCase,
      answer,
      problems: checkAnswer(answer, testCase.expect, { base: client.base, ids }),
    };
  } catch (error) {
    return {
      testCase,
      problems: [
        { at: 'transport', expected: 'a response', actual: String(error.message ?? error) },
      ],
    };
  }
}

/**
 * Runs the cases of one phase. Returns [{ testCase, answer?, problems }] in the order of the cases.
 * Cases of the phase `read` are independent, and `concurrency` of them run at a time; in every
 * other phase a case may need the rows of its predecessors.
 */
async function replayPhase({ name, cases }, { base, concurrency = 1 }) {
  const lanes = name === 'read' ? concurrency : 1;
  const client = new Client(base, lanes);
  const ids = new RowIds();
  const results = [];
  let next = 0;

  const lane = async () => {
    while (next < cases.length) {
      const index = next++;

      results[index] = await runCase(cases[index], client, ids);
    }
  };

  await Promise.all(Array.from({ length: lanes }, lane));
  client.close();
  return results;
}

const DIFFERENCES_SHOWN = 8;

function short(value) {
  const text = value === undefined ? '(none)' : JSON.stringify(value);

  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Describes a failed case: the request and its first differences. */
function describeFailure({ testCase: { id, name, deviation, request }, problems }) {
  const lines = problems
    .slice(0, DIFFERENCES_SHOWN)
    .map(
      ({ at, expected, actual }) =>
        `  ${at}\n    - expected ${short(expected)}\n    + actual   ${short(actual)}`,
    );

  if (problems.length > lines.length) {
    lines.push(`  ... ${problems.length - lines.length} more differences`);
  }

  return [
    `${id}  ${name}${deviation ? `  (${deviation})` : ''}`,
    `  ${request.method} ${request.path}`,
    ...lines,
  ].join('\n');
}

module.exports = { replayPhase, describeFailure };
