// Starts the built server on each supported major version of Node.js and replays about 200 cases of
// the recorded REST contract, of every kind. The npm package `node` provides the versions. Prints
// one line per version; exit code 1 if a case fails or a version cannot be tested.
//   node scripts/nodes.mjs [MAJOR …]
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadPhases } from '../test/system/contract/replay/cases.js';
import { describeFailure, replayPhase } from '../test/system/contract/replay/replay.js';
import { contract, withServer } from './contract-server.mjs';

const run = promisify(execFile);
const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const CASES = 200;

/**
 * Number of cases of each phase that writes: the first ones, because a case may need the rows of
 * those before it.
 */
const FIRST = 8;
const PORT = Number(process.env.CONTRACT_PORT ?? 8192);

/**
 * Returns the same cases for all versions: the first ones of each phase that writes, and an even
 * selection of the reads.
 */
function chosenPhases() {
  const phases = loadPhases(join(contract, 'cases'));
  const writes = phases
    .filter(({ name }) => name !== 'read')
    .map(({ name, cases }) => ({ name, cases: cases.slice(0, FIRST) }));
  const count = CASES - writes.reduce((sum, { cases }) => sum + cases.length, 0);
  const { cases } = phases.find(({ name }) => name === 'read');
  const reads = Array.from(
    { length: count },
    (_none, index) => cases[Math.floor((index * cases.length) / count)],
  );

  return [{ name: 'read', cases: reads }, ...writes];
}

/** Installs the newest release of a major version. */
async function install(major, folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', `node@${major}`], {
    cwd: folder,
  });
  const node = join(folder, 'node_modules/node/bin/node');
  const { stdout } = await run(node, ['--version']);

  if (!stdout.startsWith(`v${major}.`)) throw new Error(`npm brought Node ${stdout.trim()}`);

  return { node, version: stdout.trim() };
}

function replayOn(node, phases) {
  return withServer({ port: PORT, node, stdout: 'ignore' }, async ({ base, reset }) => {
    const results = [];

    for (const phase of phases) {
      await reset();
      results.push(...(await replayPhase(phase, { base })));
    }

    return results;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-nodes-'));
let exitCode = 0;

try {
  const phases = chosenPhases();

  for (const major of MAJORS) {
    try {
      const { node, version } = await install(major, join(folder, major));
      const results = await replayOn(node, phases);
      const failures = results.filter(({ problems }) => problems.length > 0);

      for (const failure of failures) console.log(`${describeFailure(failure)}\n`);
      console.log(
        `Node ${version}: ${results.length - failures.length} passed, ${failures.length} failed`,
      );
      if (failures.length > 0) exitCode = 1;
    } catch (error) {
      console.log(`Node ${major}: ${error.message}`);
      exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

process.exitCode = exitCode;
