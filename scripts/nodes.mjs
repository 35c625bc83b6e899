// Starts the built server on each major version of Node that is supported, and replays some 200 cases of the recorded REST contract, of every
// kind, where the contract lies beside the repository. The npm package `node` brings the versions. Prints a line for each; exit code 1 when a
// case fails or a version cannot be tried. Arguments: major versions, if not all.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kit, withServer } from './contract-server.mjs';

if (!existsSync(kit)) {
  console.log('There is no contract beside the repository; nothing to replay.');
  process.exit(0);
}

const run = promisify(execFile);
const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const CASES = 200;
/** Of each phase that writes, where a case needs the rows of those before it. */
const FIRST = 8;
const PORT = Number(process.env.CONTRACT_PORT ?? 8192);

/** The same for all versions: of the reads every so many, of all else the first. */
function choose(folder) {
  mkdirSync(folder);
  const lines = new Map(
    readdirSync(join(kit, 'cases'))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => [
        name,
        readFileSync(join(kit, 'cases', name), 'utf8')
          .split('\n')
          .filter(Boolean),
      ]),
  );
  const isRead = (name) => JSON.parse(lines.get(name)[0]).phase === 'read';
  const chosen = new Map([...lines].filter(([name]) => !isRead(name)).map(([name, all]) => [name, all.slice(0, FIRST)]));
  const left = CASES - [...chosen.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [name, all] of lines)
    if (isRead(name))
      chosen.set(
        name,
        Array.from({ length: left }, (_none, index) => all[Math.floor((index * all.length) / left)]),
      );
  for (const [name, some] of chosen) writeFileSync(join(folder, name), some.join('\n'));
}

/** Where npm puts the program of the newest release of a major version. */
async function fetched(major, folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', `node@${major}`], { cwd: folder });
  const node = join(folder, 'node_modules/node/bin/node');
  const { stdout } = await run(node, ['--version']);
  if (!stdout.startsWith(`v${major}.`)) throw new Error(`npm brought Node ${stdout.trim()}`);
  return { node, version: stdout.trim() };
}

async function replayedOn(node, cases) {
  return withServer({ port: PORT, node, stdout: 'ignore' }, async ({ base, folder, environment, reset }) => {
    const report = join(folder, 'report.json');
    const args = [join(kit, 'replay.mjs'), '--base', base, '--reset', reset, '--report', report, '--cases', cases];
    const replay = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    replay.stdout.on('data', (text) => (printed += text));
    const [status] = await once(replay, 'close');
    if (status === 2) throw new Error('the replay could not be run');
    const { passed, failures } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed, failed: failures.length, printed };
  });
}

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-nodes-'));
let exitCode = 0;
try {
  const cases = join(folder, 'cases');
  choose(cases);
  for (const major of MAJORS) {
    try {
      const { node, version } = await fetched(major, join(folder, major));
      const { passed, failed, printed } = await replayedOn(node, cases);
      if (failed) process.stdout.write(printed);
      console.log(`Node ${version}: ${passed} passed, ${failed} failed`);
      if (failed) exitCode = 1;
    } catch (error) {
      console.log(`Node ${major}: ${error.message}`);
      exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = exitCode;
