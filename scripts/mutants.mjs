// Mutation testing by sampling: draws mutants of src from a seed and prints the share that the
// tests detect, with its 95 % confidence interval.
//   node scripts/mutants.mjs run [--seed 20261124] [--count 200] [--revision HEAD] [--out .data/mutants] [--minutes 600]
//   node scripts/mutants.mjs run --ids 3,17        only these mutants, tested again
//   node scripts/mutants.mjs run --like DIR        the mutants of an earlier run (its --out) in this revision
//   node scripts/mutants.mjs report | show [id …]
// `run` continues where it stopped and works in a copy of the revision below --out. Mutants with
// type errors count as detected by the compiler. Each other mutant is tested with the tests of the
// same folder that reach it, or with --like by the test that detected it in the earlier run.
// Survivors are tested together: first with all service tests that reach them, then with all system
// tests.
import { existsSync, mkdirSync, readFileSync, writeFileSync, appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draw, relocate } from './mutants/draw.mjs';
import { Suites } from './mutants/suites.mjs';
import { copyTo, prepare } from './mutants/tree.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '20261124' },
    count: { type: 'string', default: '200' },
    revision: { type: 'string', default: 'HEAD' },
    out: { type: 'string', default: join(root, '.data/mutants') },
    minutes: { type: 'string', default: '600' },
    ids: { type: 'string' },
    like: { type: 'string' },
  },
});

const out = resolve(options.out);
const folder = join(out, 'tree');
const places = {
  active: join(out, 'active'),
  reached: join(out, 'reached'),
  current: join(out, 'current'),
};
const file = (name) => join(out, `${name}.json`);
const read = (name) => JSON.parse(readFileSync(file(name), 'utf8'));
const write = (name, value) => writeFileSync(file(name), JSON.stringify(value, null, 1));
const deadline = performance.now() + Number(options.minutes) * 60_000;

/** How many survivors are active at the same time when they are tested together. */
const MUTANTS_PER_RUN = 40;

/**
 * Time limit for the tests of a folder, which take about a minute. A mutant that exceeds it counts
 * as detected.
 */
const LIMIT_S = 240;

/** Test folders for folders of src with a different name. */
const RELATED = {
  request: ['server', 'rest', 'graphql'],
  platform: ['server', 'rest', 'files'],
  contract: ['rest', 'docs'],
  auth: ['auth', 'pages'],
  cli: ['transfer', 'server'],
};

// Results: the last line about a mutant is valid.

function verdicts(folder = out) {
  const results = join(folder, 'results.jsonl');
  const lines = existsSync(results)
    ? readFileSync(results, 'utf8').split('\n').filter(Boolean)
    : [];

  return new Map(lines.map((line) => JSON.parse(line)).map((line) => [line.id, line]));
}

function appendVerdict(id, verdict) {
  appendFileSync(join(out, 'results.jsonl'), `${JSON.stringify({ id, ...verdict })}\n`);
  console.log(`${id}: ${verdict.result} (${verdict.stage}) ${verdict.by ?? ''}`);
}

// Setup

function setUp() {
  mkdirSync(out, { recursive: true });
  for (const place of Object.values(places)) if (!existsSync(place)) writeFileSync(place, '');
  if (!existsSync(folder)) copyTo(folder, root, options.revision);
  if (existsSync(file('drawn'))) return;
  const mutants = options.like
    ? relocate(JSON.parse(readFileSync(join(options.like, 'drawn.json'), 'utf8')), folder)
    : draw(folder, Number(options.seed), Number(options.count));

  prepare(folder, mutants, places);
  write('drawn', mutants);
}

/**
 * Runs the service tests once without an active mutant, to record which tests reach each mutant and
 * which tests fail anyway.
 */
async function serviceSuites() {
  const suites = new Suites({
    folder,
    out,
    places,
    ignored: existsSync(file('ignored')) ? read('ignored') : [],
  });

  if (existsSync(file('ignored'))) return suites;
  const { failed, seconds, ended } = await suites.run({
    active: [],
    project: 'service',
    workers: 2,
    bail: false,
    seconds: 5400,
  });

  suites.ignored = failed.map(({ failed: name }) => name);
  console.log(
    `without mutants: ${ended.length} files in ${seconds.toFixed(0)} s, ${failed.length} failures`,
    suites.ignored,
  );
  write('ignored', suites.ignored);
  return suites;
}

// Running

const isDetected = ({ failed, expired, code, ended }, chosen) =>
  failed.length > 0 || expired || (code !== 0 && ended.length < chosen.size);
const reason = ({ failed: [first], expired }, suites) =>
  first
    ? { by: first.failed, suite: suites.suiteOf(first.path), message: first.message.slice(0, 400) }
    : { by: expired ? 'time' : 'no run' };

/**
 * Returns the suites of the corresponding test folder that reach the mutant; if there are none, the
 * suite with the most files that reach it.
 */
function related(mutant, suites) {
  const top = (suite) => suite.split('/')[0].replace(/\.test\.ts$/, '');
  const names = RELATED[mutant.folder] ?? [mutant.folder];
  const folderOfTests = names.find((name) =>
    [...suites.keys()].some((suite) => top(suite) === name),
  );
  const found = [...suites].filter(([suite]) => top(suite) === folderOfTests);

  return new Map(
    found.length > 0 ? found : [...suites].sort((a, b) => b[1].size - a[1].size).slice(0, 1),
  );
}

const mergeMaps = (maps) => {
  const all = new Map();

  for (const map of maps) {
    for (const [suite, files] of map) {
      all.set(suite, new Set([...(all.get(suite) ?? []), ...files]));
    }
  }

  return all;
};

/**
 * Finds by bisection one of the mutants that make this test fail. Returns undefined if it passes
 * with all of them or fails without any.
 */
async function findDetectedMutant(suites, project, ids, { path, failed: name }) {
  const chosen = new Map([[suites.suiteOf(path), new Set(suites.filesOf(suites.suiteOf(path)))]]);
  const failsWith = async (active) =>
    isDetected(
      await suites.run({ active, project, chosen, name: name === '(file)' ? undefined : name }),
      chosen,
    );

  if (!(await failsWith(ids))) return undefined;
  let remainingIds = ids;

  while (remainingIds.length > 1) {
    const half = remainingIds.slice(0, remainingIds.length >> 1);

    remainingIds = (await failsWith(half)) ? half : remainingIds.slice(half.length);
  }

  return (await failsWith(remainingIds)) && !(await failsWith([])) ? remainingIds[0] : undefined;
}

/**
 * Tests all these mutants at once, and again without the detected ones until the tests pass.
 * Without `reachedBy` all tests run.
 */
async function tryTogether(suites, project, ids, reachedBy) {
  let remainingIds = ids;
  const passing = new Set();

  while (remainingIds.length > 0 && performance.now() < deadline) {
    const chosen = reachedBy && mergeMaps(remainingIds.map((id) => reachedBy.get(id) ?? new Map()));

    if (chosen?.size === 0) break;
    const run = await suites.run({
      active: remainingIds,
      project,
      chosen,
      bail: false,
      workers: 2,
      seconds: 3600,
    });

    console.log(
      `${remainingIds.length} together, ${project}: ${run.seconds.toFixed(0)} s, ${run.failed.length} failures`,
    );
    const before = remainingIds;

    for (const failure of run.failed) {
      if (passing.has(failure.failed) || performance.now() > deadline) continue;
      const suite = suites.suiteOf(failure.path);
      const candidates = remainingIds.filter((id) => !reachedBy || reachedBy.get(id)?.has(suite));
      const id =
        candidates.length > 0
          ? await findDetectedMutant(suites, project, candidates, failure)
          : undefined;

      if (id === undefined) passing.add(failure.failed);
      else {
        appendVerdict(id, {
          result: 'noticed',
          stage: project,
          ...reason({ failed: [failure] }, suites),
        });
      }

      remainingIds = remainingIds.filter((one) => one !== id);
    }

    if (remainingIds.length === before.length) break;
  }

  if (performance.now() < deadline) {
    for (const id of remainingIds) appendVerdict(id, { result: 'survived', stage: project });
  }
}

/**
 * Checks whether the test that detected a mutant in an earlier revision detects it in this one, and
 * returns the reason.
 */
async function isDetectedAgain(suites, { id, by, suite }) {
  if (!suite || !suites.runs.service.includes(suite)) return false;
  const chosen = new Map([[suite, new Set(suites.filesOf(suite))]]);
  const run = await suites.run({
    active: [id],
    project: 'service',
    chosen,
    name: by === '(file)' ? undefined : by,
    seconds: LIMIT_S,
  });

  return isDetected(run, chosen) && reason(run, suites);
}

async function run() {
  setUp();
  const requestedIds = options.ids?.split(',').map(Number);
  const mutants = read('drawn').filter(({ id }) => !requestedIds || requestedIds.includes(id));
  const service = await serviceSuites();
  const byService = service.reached('service');
  const earlier = options.like ? verdicts(options.like) : new Map();

  for (const mutant of mutants) {
    if (performance.now() > deadline) return;
    const known = verdicts().get(mutant.id);

    if (mutant.typeError && known?.result !== 'noticed') {
      appendVerdict(mutant.id, {
        result: 'noticed',
        stage: 'compiler',
        by: mutant.typeError.slice(0, 200),
      });
    } else if (requestedIds || !known) {
      await tryOne(mutant, service, byService.get(mutant.id), earlier.get(mutant.id));
    }
  }

  await tryAll(mutants, 'related', 'service', service, byService);
  await tryAll(mutants, 'service', 'system', service);
  report();
}

/** Tests one mutant alone. `earlier` is its result in an earlier run. */
async function tryOne({ id, ...mutant }, suites, reachedBy, earlier) {
  const detectedAgain = earlier?.result === 'noticed' && (await isDetectedAgain(suites, earlier));

  if (detectedAgain) {
    return appendVerdict(id, { result: 'noticed', stage: 'related', ...detectedAgain });
  }

  const chosen = earlier?.result !== 'survived' && reachedBy && related(mutant, reachedBy);
  const one =
    chosen && (await suites.run({ active: [id], project: 'service', chosen, seconds: LIMIT_S }));

  if (one && isDetected(one, chosen)) {
    appendVerdict(id, { result: 'noticed', stage: 'related', ...reason(one, suites) });
  } else appendVerdict(id, { result: 'survived', stage: 'related' });
}

/** Tests the survivors of a stage with all tests of the next one. */
async function tryAll(mutants, stage, project, suites, reachedBy) {
  const survivors = mutants
    .map(({ id }) => id)
    .filter((id) => verdicts().get(id).result === 'survived' && verdicts().get(id).stage === stage);

  for (let at = 0; at < survivors.length && performance.now() < deadline; at += MUTANTS_PER_RUN) {
    await tryTogether(suites, project, survivors.slice(at, at + MUTANTS_PER_RUN), reachedBy);
  }
}

// Reporting

/** Formats a share with its 95 % Wilson interval. */
function share(part, all) {
  const z = 1.96;
  const p = part / all;
  const middle = (p + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((p * (1 - p)) / all + z ** 2 / (4 * all ** 2));
  const percent = (x) => `${(100 * Math.min(1, Math.max(0, x))).toFixed(0)} %`;

  return `${part} of ${all} = ${percent(p)} (95 %: ${percent(middle - half)} to ${percent(middle + half)})`;
}

function report() {
  const mutants = read('drawn');
  const known = verdicts();
  const tried = mutants.filter(({ id }) => known.has(id));
  const isNoticed = ({ id }) => known.get(id).result === 'noticed';
  const by = (...stages) =>
    tried.filter((mutant) => isNoticed(mutant) && stages.includes(known.get(mutant.id).stage))
      .length;

  console.log(
    `the compiler: ${by('compiler')}, npm test: ${by('related', 'service')}, system tests: ${by('system')}`,
  );
  console.log(
    `the compiler and npm test: ${share(by('compiler', 'related', 'service'), tried.length)}`,
  );
  console.log(`with the system tests: ${share(tried.filter(isNoticed).length, tried.length)}`);

  for (const name of [...new Set(tried.map((mutant) => mutant.folder))].sort()) {
    const some = tried.filter((mutant) => mutant.folder === name);

    console.log(`${name.padEnd(12)} ${some.filter(isNoticed).length} of ${some.length}`);
  }

  console.log(
    `survivors: ${tried
      .filter((mutant) => !isNoticed(mutant))
      .map(({ id }) => id)
      .join(' ')}`,
  );
}

function show() {
  const known = verdicts();
  const ids = positionals.slice(1).map(Number);

  for (const mutant of read('drawn').filter(({ id }) =>
    ids.length > 0 ? ids.includes(id) : known.get(id)?.result === 'survived',
  )) {
    const line = (text) => text.replaceAll(/\s+/g, ' ').slice(0, 160);
    const { result = 'not tried', stage = '', by = '' } = known.get(mutant.id) ?? {};

    console.log(
      `#${mutant.id} ${mutant.file}:${mutant.line}:${mutant.column} ${mutant.kind}: ${result} ${stage} ${by}`,
    );
    console.log(
      `  - ${line(mutant.before)}\n  + ${line(mutant.after)}${mutant.typeError ? `\n  the compiler: ${mutant.typeError.slice(0, 120)}` : ''}`,
    );
  }
}

const command = { run, report, show }[positionals[0]];

if (!command) {
  console.error('usage: node scripts/mutants.mjs run | report | show [id …]');
  process.exitCode = 2;
} else await command();
