// Replays the recorded REST contract against a server of its own, where the contract lies beside the repository.
// Then holds every answer against the OpenAPI document. Prints the report of the replay and "N passed, N failed"; exit code 1 when a case
// fails or an answer is not as the document says.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

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

async function ready() {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (server.exitCode !== null) throw new Error('the server did not start');
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('the server did not become ready');
}

/** The tests' own check of an answer, compiled. */
async function conformance() {
  const outfile = join(root, 'node_modules/.cache/fitgraph/conformance.cjs');
  const entryPoints = [join(root, 'test/rest/conformance.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'cjs', packages: 'external', logLevel: 'error' });
  const { Conformance } = (await import(pathToFileURL(outfile))).default;
  const response = await fetch(`http://127.0.0.1:${port}/api/v2/schema.json`);
  return new Conformance(await response.json());
}

/** How answers of the API differ from the document, each difference once. */
async function differencesOf(answers) {
  const base = '/api/v2';
  const checked = await conformance();
  const found = answers.flatMap(({ method, url, status, body }) => {
    if (!url.startsWith(`${base}/`)) return [];
    return checked.problemsAt(method, url.slice(base.length), status, body).map((problem) => `${method} ${url} ${status}: ${problem}`);
  });
  return [...new Set(found)];
}

let exitCode = 1;
try {
  await ready();
  const report = join(folder, 'report.json');
  const reset = `node ${join(root, 'dist/src/cli/index.js')} import ${kit}/dataset.json --media ${kit}/media --replace >/dev/null`;
  const recorded = join(folder, 'answers.json');
  const recorder = pathToFileURL(join(root, 'scripts/contract-answers.mjs')).href;
  const args = ['--import', recorder, join(kit, 'replay.mjs'), '--base', `http://127.0.0.1:${port}`, '--reset', reset, '--report', report];
  const { status } = spawnSync(process.execPath, args, { env: { ...environment, CONTRACT_ANSWERS: recorded }, stdio: 'inherit' });
  if (status === 2) throw new Error('the replay could not be run');
  const { passed, failures } = JSON.parse(readFileSync(report, 'utf8'));
  const answers = JSON.parse(readFileSync(recorded, 'utf8'));
  const differences = await differencesOf(answers);
  for (const difference of differences.slice(0, 20)) console.log(difference);
  console.log(`${answers.length} JSON answers, ${differences.length} differences from the OpenAPI document`);
  const failed = failures.length + differences.length;
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
