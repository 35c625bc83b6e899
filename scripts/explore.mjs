// Searches for failures that the fixed seeds and the current date of the tests hide: runs `npm
// test` with shifted clocks of Node.js and PostgreSQL, then misbehaving clients of all kinds for
// ten minutes, then costly requests, then all randomized tests with new seeds until the time is
// over. Prints for each failure the command that reproduces it; exit code 1 if there was one.
//   node scripts/explore.mjs [--minutes 60] [--only clocks|seeds] [--seed N]       N: the first seed; by default the current time
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));

process.chdir(root);
const { random } = createRequire(import.meta.url)('../test/setup/test-files.js');
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
    seed: { type: 'string' },
  },
});
const deadline = Date.now() + Number(options.minutes) * 60_000;

/**
 * Times that are difficult for calendars. The tests run in Europe/Berlin; each change of date or
 * offset happens during the run.
 */
const CLOCKS = [
  ['the leap day', '2028-02-29T11:00:00Z'],
  ['the end of the year', '2026-12-31T22:58:00Z'],
  ['the begin of summer time', '2027-03-28T00:58:00Z'],
  ['the end of summer time', '2027-10-31T00:58:00Z'],
];
const folder = mkdtempSync(join(tmpdir(), 'fitgraph-explore-'));
let failures = 0;

/** Number of costly requests, which take about two hours. */
const COSTLY_REQUESTS = 20_000;

/** Maximum length of a printed failure message. */
const MAX_MESSAGE = 1_000;

/**
 * Runs Jest until it ends or the time is over. Returns the failed tests as [[file, name, message]],
 * or undefined if the time did not suffice.
 */
async function jest(args, environment) {
  const report = join(folder, 'report.json');

  rmSync(report, { force: true });
  const child = spawn(
    process.execPath,
    ['node_modules/.bin/jest', ...args, '--json', `--outputFile=${report}`, '--silent'],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  );
  const timer = setTimeout(() => child.kill('SIGTERM'), deadline - Date.now());

  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  if (Date.now() >= deadline) return undefined;
  if (!existsSync(report)) return [['', 'Jest ended without a report', '']];
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));

  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const named = failed.map(({ fullName, failureMessages }) => [
      relative(root, name),
      fullName,
      failureMessages.join('\n').slice(0, MAX_MESSAGE),
    ]);

    return named.length > 0 || status !== 'failed'
      ? named
      : [[relative(root, name), 'no test ran', message.slice(0, MAX_MESSAGE)]];
  });
}

function reportFailure(title, found, repeat) {
  if (!found) return;
  console.log(`${title}: ${found.length === 0 ? 'passed' : `${found.length} failed`}`);

  for (const [file, name, message] of found) {
    console.log(
      `  ${file}  ${name}\n    ${repeat(file)}\n${stripVTControlCharacters(message).replace(/^/gm, '    ')}`,
    );
  }

  failures += found.length;
}

/**
 * Runs the tests while Jest and the embedded PostgreSQL see a clock that is ahead of the real one
 * and runs at the same speed.
 */
async function exploreClocks() {
  const library = join(folder, 'clock.so');

  chmodSync(folder, 0o755);
  const compiler = spawnSync(
    'cc',
    ['-O2', '-shared', '-fPIC', '-o', library, 'scripts/explore/clock.c'],
    { stdio: 'inherit' },
  );

  if (compiler.status !== 0) {
    throw new Error(
      'moving the clocks needs a C compiler: apt-get install gcc libc6-dev, or --only seeds',
    );
  }

  for (const [title, instant] of CLOCKS) {
    if (Date.now() >= deadline) return;
    const environment = {
      LD_PRELOAD: library,
      CLOCK_OFFSET: String(Math.round((Date.parse(instant) - Date.now()) / 1000)),
    };
    const found = await jest(
      ['--config', 'jest.together.config.js', '--selectProjects', 'service'],
      environment,
    );

    reportFailure(`${title} (${instant})`, found, () => 'npm run explore -- --only clocks');
  }
}

/**
 * Runs misbehaving clients of all kinds for ten minutes, or a third of the remaining time.
 * Afterwards the server must be in the same state as before.
 */
async function exploreSoak() {
  const seed = Number(options.seed ?? Date.now());
  const seconds = Math.round(Math.min(600, (deadline - Date.now()) / 3000));
  const environment = { SEED: String(seed), SOAK_SECONDS: String(Math.round(seconds / 3)) };
  const found = await jest(
    ['--runTestsByPath', 'test/system/server/misbehaving-clients.test.ts'],
    environment,
  );

  reportFailure(
    `bad clients for ${seconds} s`,
    found,
    (file) => `SEED=${seed} SOAK_SECONDS=${environment.SOAK_SECONDS} npx jest ${file}`,
  );
}

/**
 * Sends random requests, each of which must stay within the limits of CPU time, memory and
 * event-loop stops, for up to half of the remaining time.
 */
async function exploreCostlyRequests() {
  const seed = Number(options.seed ?? Date.now());
  const seconds = Math.round((deadline - Date.now()) / 2000);
  const environment = {
    SEED: String(seed),
    PROPERTY_REQUESTS: String(COSTLY_REQUESTS),
    PROPERTY_SECONDS: String(seconds),
  };
  const found = await jest(
    ['--runTestsByPath', 'test/system/limits/property.test.ts'],
    environment,
  );

  reportFailure(
    `up to ${COSTLY_REQUESTS} costly requests`,
    found,
    (file) => `SEED=${seed} PROPERTY_REQUESTS=${COSTLY_REQUESTS} npx jest ${file}`,
  );
}

async function exploreSeeds() {
  const files = random.map((test) => join('test', `${test}.test.ts`));

  for (let seed = Number(options.seed ?? Date.now()); Date.now() < deadline; seed += 1) {
    const found = await jest(['--runTestsByPath', ...files], { SEED: String(seed) });

    reportFailure(`seed ${seed}`, found, (file) => `SEED=${seed} npx jest ${file}`);
  }
}

try {
  if (
    spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] })
      .status !== 0
  ) {
    throw new Error('the build failed');
  }

  if (options.only !== 'seeds') await exploreClocks();

  if (options.only !== 'clocks') {
    await exploreSoak();
    await exploreCostlyRequests();
    await exploreSeeds();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

console.log(`${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
