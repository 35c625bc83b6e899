// Replays the recorded REST contract against a new server and checks every response against the
// OpenAPI document. Prints the cases that fail and "contract: N passed, N failed"; exit code 1 if a
// case fails or a response differs from the document.
//   node scripts/contract.mjs [--contract DIR] [--only REGEX]     REGEX: against "id group name"
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { loadPhases } from '../test/system/contract/replay/cases.js';
import { describeFailure, replayPhase } from '../test/system/contract/replay/replay.js';
import { contract, withServer } from './contract-server.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    contract: { type: 'string', default: contract },
    only: { type: 'string', default: '' },
  },
});
const kit = resolve(options.contract);
const phases = loadPhases(join(kit, 'cases'));
const pattern = new RegExp(options.only);
const isWanted = ({ testCase: { id, group, name } }) => pattern.test(`${id} ${group} ${name}`);

const firstPort = Number(process.env.CONTRACT_PORT ?? 8190);
const CONCURRENCY = 4;

/**
 * Runs all cases on a new server and returns { results, checked }: `check` receives the results
 * while the server still runs.
 */
const replayCases = (port, settings, check = () => undefined) =>
  withServer({ kit, port, settings }, async ({ base, reset }) => {
    const results = [];

    for (const phase of phases) {
      await reset();
      results.push(
        ...(await replayPhase(phase, { base, concurrency: CONCURRENCY })).filter(isWanted),
      );
    }

    return { results, base, checked: await check(base, results) };
  });

const isJson = ({ answer }) =>
  Boolean(answer?.text) && /json/.test(answer.headers['content-type'] ?? '');

/** Compiles the OpenAPI check of the tests and returns it with the document of the server. */
async function conformance(server) {
  const outfile = join(root, 'node_modules/.cache/fitgraph/conformance.cjs');
  const entryPoints = [join(root, 'test/rest/conformance.ts')];

  await build({
    entryPoints,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    logLevel: 'error',
  });
  const { Conformance } = (await import(pathToFileURL(outfile))).default;
  const response = await fetch(`${server}/api/v2/schema.json`);

  return new Conformance(await response.json());
}

/** Returns the differences between responses of the API and the document, without duplicates. */
async function differencesOf(server, results) {
  const base = '/api/v2';
  const checker = await conformance(server);
  const found = results.filter(isJson).flatMap(({ testCase: { request }, answer }) => {
    if (!answer.path.startsWith(`${base}/`)) return [];

    return checker
      .problemsAt(
        request.method,
        answer.path.slice(base.length),
        answer.status,
        JSON.parse(answer.text),
      )
      .map((problem) => `${request.method} ${answer.path} ${answer.status}: ${problem}`);
  });

  return [...new Set(found)];
}

/**
 * Values that differ between any two servers: ids of uploads, and the suffix of a file name that
 * already existed.
 */
const RANDOM = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|_[A-Za-z0-9]{7}(?=\.[a-z]+")/g;

/** Returns the JSON responses to reads by case id, without the port of the server. */
function readResponses({ results, base }) {
  const port = new RegExp(`:${new URL(base).port}\\b`, 'g');

  return new Map(
    results
      .filter(
        (result) =>
          isJson(result) && ['GET', 'HEAD', 'OPTIONS'].includes(result.testCase.request.method),
      )
      .map(({ testCase: { id }, answer }) => [
        id,
        `${answer.status} ${answer.text.replace(port, '').replace(RANDOM, '')}`,
      ]),
  );
}

let exitCode = 1;

try {
  // REST operations are compiled by default. A second server interprets them with graphql-js: its
  // responses to reads must be the same, and the cases must pass as well.
  const [compiled, interpreted] = await Promise.all([
    replayCases(firstPort, {}, differencesOf),
    replayCases(firstPort + 1, { COMPILE_OPERATIONS: 'off' }),
  ]);
  const differences = compiled.checked;
  const failures = [compiled, interpreted].map(({ results }) =>
    results.filter(({ problems }) => problems.length > 0),
  );

  for (const failure of failures.flat().slice(0, 20)) console.log(`${describeFailure(failure)}\n`);
  for (const difference of differences.slice(0, 20)) console.log(difference);
  console.log(
    `${compiled.results.filter(isJson).length} JSON responses, ${differences.length} differences from the OpenAPI document`,
  );
  const [compiledResponses, interpretedResponses] = [compiled, interpreted].map(readResponses);
  const different = [...interpretedResponses].filter(
    ([id, text]) => text !== compiledResponses.get(id),
  );

  for (const [id] of different.slice(0, 20)) {
    console.log(`compiled and interpreted responses differ: ${id}`);
  }

  console.log(
    `${compiledResponses.size} reads, ${different.length} of them with another response without compiling`,
  );
  const failed = failures.flat().length + differences.length + different.length;

  console.log(`contract: ${compiled.results.length - failures[0].length} passed, ${failed} failed`);
  exitCode = failed ? 1 : 0;
} catch (error) {
  console.error(`contract: ${error.message}`);
}

process.exitCode = exitCode;
