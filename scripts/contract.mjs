// Replays the recorded REST contract against a server of its own, where the contract lies beside the repository.
// Then holds every answer against the OpenAPI document. Prints the report of the replay and "N passed, N failed"; exit code 1 when a case
// fails or an answer is not as the document says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { kit, withServer } from './contract-server.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
if (!existsSync(kit)) {
  console.log('There is no contract beside the repository; nothing to replay.');
  process.exit(0);
}

const firstPort = Number(process.env.CONTRACT_PORT ?? 8190);

/** A server on a port of its own, replayed against: its address, what the replay prints and reports, and all JSON answers. `work` gets them first. */
const replayed = (port, settings, work = () => undefined) =>
  withServer({ port, settings }, async ({ base, folder, environment, reset }) => {
    const report = join(folder, 'report.json');
    const recorded = join(folder, 'answers.json');
    const recorder = pathToFileURL(join(root, 'scripts/contract-answers.mjs')).href;
    const args = ['--import', recorder, join(kit, 'replay.mjs'), '--base', base, '--reset', reset, '--report', report];
    const replay = spawn(process.execPath, args, {
      env: { ...environment, CONTRACT_ANSWERS: recorded },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    replay.stdout.on('data', (text) => (printed += text));
    const [status] = await once(replay, 'close');
    if (status === 2) throw new Error('the replay could not be run');
    const { passed, failures } = JSON.parse(readFileSync(report, 'utf8'));
    const found = { server: base, printed, passed, failures, answers: JSON.parse(readFileSync(recorded, 'utf8')) };
    return { ...found, differences: await work(found) };
  });

/** The tests' own check of an answer, compiled. */
async function conformance(server) {
  const outfile = join(root, 'node_modules/.cache/fitgraph/conformance.cjs');
  const entryPoints = [join(root, 'test/rest/conformance.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'cjs', packages: 'external', logLevel: 'error' });
  const { Conformance } = (await import(pathToFileURL(outfile))).default;
  const response = await fetch(`${server}/api/v2/schema.json`);
  return new Conformance(await response.json());
}

/** How answers of the API differ from the document, each difference once. */
async function differencesOf(server, answers) {
  const base = '/api/v2';
  const checked = await conformance(server);
  const found = answers.flatMap(({ method, url, status, text }) => {
    if (!url.startsWith(`${base}/`)) return [];
    return checked
      .problemsAt(method, url.slice(base.length), status, JSON.parse(text))
      .map((problem) => `${method} ${url} ${status}: ${problem}`);
  });
  return [...new Set(found)];
}

/** What is by chance, and differs between any two servers: ids of uploads, and what is added to a file name that is taken. */
const CHANCE = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|_[A-Za-z0-9]{7}(?=\.[a-z]+")/g;

/** Answers to reads by what was asked, with the server's own address left out. */
function reads(answers, server) {
  const port = new RegExp(`:${new URL(server).port}\\b`, 'g');
  const found = new Map();
  for (const { method, url, headers, status, text } of answers)
    if (['GET', 'HEAD', 'OPTIONS'].includes(method)) {
      const key = JSON.stringify([method, url, headers]);
      found.set(key, [...(found.get(key) ?? []), `${status} ${text.replace(port, '').replace(CHANCE, '')}`]);
    }
  return found;
}

let exitCode = 1;
try {
  // What REST asks of GraphQL runs compiled. By graphql-js itself each read must have the very same answer, and the cases must pass as well.
  const [compiled, interpreted] = await Promise.all([
    replayed(firstPort, {}, ({ server, answers }) => differencesOf(server, answers)),
    replayed(firstPort + 1, { COMPILE_OPERATIONS: 'off' }),
  ]);
  const { printed, passed, failures, answers, differences } = compiled;
  process.stdout.write(printed);
  for (const difference of differences.slice(0, 20)) console.log(difference);
  console.log(`${answers.length} JSON answers, ${differences.length} differences from the OpenAPI document`);
  if (interpreted.failures.length) process.stdout.write(interpreted.printed);
  const [answered, otherwise] = [compiled, interpreted].map((replay) => reads(replay.answers, replay.server));
  const others = [...otherwise].filter(([key, texts]) => JSON.stringify(texts) !== JSON.stringify(answered.get(key)));
  for (const [key] of others.slice(0, 20)) console.log(`compiled and interpreted answers differ: ${key}`);
  console.log(`${answered.size} reads, ${others.length} of them answered otherwise without compiling`);
  const failed = failures.length + differences.length + interpreted.failures.length + others.length;
  console.log(`contract: ${passed} passed, ${failed} failed`);
  exitCode = failed ? 1 : 0;
} catch (error) {
  console.error(`contract: ${error.message}`);
}
process.exitCode = exitCode;
