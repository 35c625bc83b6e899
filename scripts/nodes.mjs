// Starts the built server on each major version of Node that is supported, and replays some 200 cases of the recorded REST contract, of every
// kind, where the contract lies beside the repository; elsewhere asks for a page of each kind. The npm package `node` brings the versions. Prints a
// line for each; exit code 1 when a case fails or a version cannot be tried. Arguments: major versions, if not all.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kit, withServer } from './contract-server.mjs';

const run = promisify(execFile);
const MAJORS = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const CASES = 200;
/** Of each phase that writes, where a case needs the rows of those before it. */
const FIRST = 8;
/** What everybody may read. */
const PAGES = [
  '/',
  '/login',
  '/playground',
  '/api/v2/',
  '/api/v2/exerciseinfo/?limit=5',
  '/api/v2/schema',
  '/static/images/muscles/body.svg?main=2',
];
const QUERY = '{ exercises(first: 5) { totalCount nodes { name category { name } } } }';
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

/** Of a clone that has no contract. */
function askedOn(node) {
  return withServer({ port: PORT, node, stdout: 'ignore' }, async ({ base }) => {
    const failures = [];
    for (const page of PAGES) {
      const { status } = await fetch(base + page);
      if (status !== 200) failures.push(`${page}: ${status}`);
    }
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${base}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query: QUERY }) });
    const { data } = await answer.json();
    if (data?.exercises.nodes.length !== 5) failures.push(`GraphQL: ${answer.status}`);
    const printed = failures.map((line) => `${line}\n`).join('');
    return { passed: PAGES.length + 1 - failures.length, failed: failures.length, printed };
  });
}

const isRecorded = existsSync(kit);
if (!isRecorded) console.log('There is no contract beside the repository: each version is asked for a page of each kind.');

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-nodes-'));
let exitCode = 0;
try {
  const cases = join(folder, 'cases');
  if (isRecorded) choose(cases);
  for (const major of MAJORS) {
    try {
      const { node, version } = await fetched(major, join(folder, major));
      const { passed, failed, printed } = await (isRecorded ? replayedOn(node, cases) : askedOn(node));
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
