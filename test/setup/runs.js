/** Assigns each test file to one of the two runs, `npm test` and `npm run test:system`. */
const { existsSync, readdirSync } = require('node:fs');
const { join, sep } = require('node:path');

const TESTS = join(__dirname, '..');
const ENDING = '.test.ts';

/**
 * Folders and files whose tests start the server, a browser, a proxy or a database as processes, wait for time to pass, or try so many cases that
 * they are too slow to run for every change.
 */
const SYSTEM = [
  'system/attacks/answers',
  'system/attacks/injection',
  'system/attacks/xss',
  'auth/timing',
  'system/availability',
  'system/browser',
  'system/contract',
  'core/groupingmodel',
  'core/million',
  'core/orders',
  'database/embedded',
  'database/embeddedowner',
  'database/failover',
  'database/pooler',
  'database/poolertransactions',
  'system/deploy',
  'system/docs/addaresource',
  'system/docs/examples',
  'system/faults',
  'files/bucket',
  'graphql/fuzz',
  'server/https',
  'system/limits/bodies',
  'system/limits/aborts',
  'system/limits/arguments',
  'system/limits/responses',
  'system/limits/separate',
  'system/limits/anonymous',
  'system/limits/idle',
  'system/limits/property',
  'system/upgrades',
  'graphql/live/instances',
  'server/commands',
  'server/containment',
  'server/descriptors',
  'server/doctor',
  'server/health',
  'server/life',
  'server/log',
  'server/refusal',
  'server/secretkey',
  'server/soak',
  'server/primary',
  'server/terminal',
  'telemetry',
  'transfer/hostilearchive',
  'transfer/keysaside',
  'transfer/restorekills',
];

/** Test files with a process of their own although their folder has a `suite.ts`. */
const ALONE = ['graphql/bounds', 'system/codebase/declarations', 'system/codebase/rowsecurity'];

/** Tests with inputs from `test/setup/random.ts`, which are also run with other seeds. */
const RANDOM = [
  'analysis/model',
  'core/cataloguechanges',
  'core/changes',
  'core/groupingmodel',
  'core/orders',
  'core/paging',
  'core/select',
  'core/where',
  'database/namedquery',
  'database/viewers',
  'files/incoming',
  'files/quota',
  'graphql/exportedrows',
  'graphql/fuzz',
  'graphql/knowncosts',
  'graphql/variables',
  'platform/charsets',
  'server/containment',
  'server/soak',
  'system/availability/prepared',
  'system/codebase/writeresponses',
  'system/limits/idle',
  'system/limits/jsonpieces',
  'system/limits/listsizes',
  'system/limits/property',
  'system/limits/screens',
  'system/limits/tenscreens',
  'transfer/keysaside',
];

for (const name of [...SYSTEM, ...ALONE, ...RANDOM])
  if (!existsSync(join(TESTS, name)) && !existsSync(join(TESTS, `${name}${ENDING}`)))
    throw new Error(`runs.js names no test: ${name}`);

const belongsTo = (names, test) =>
  names.some((name) => test === name || test.startsWith(`${name}/`));

/** Test files without their suffix, as in `core/filters`. */
const tests = readdirSync(TESTS, { recursive: true })
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length).split(sep).join('/'))
  .sort();
const system = tests.filter((test) => belongsTo(SYSTEM, test));
const service = tests.filter((test) => !belongsTo(SYSTEM, test));

const folderOf = (test) => test.split('/').slice(0, -1).join('/');
const suiteOf = (test) => `${folderOf(test)}/suite.ts`;
const isTogether = (test) => !ALONE.includes(test) && existsSync(join(TESTS, suiteOf(test)));

/** Returns the test files of a folder that its `suite.ts` runs in one process. */
module.exports.togetherIn = (folder) =>
  service.filter((test) => folderOf(test) === folder && isTogether(test));

/** `npm run explore` runs these with seeds from the clock. */
module.exports.random = RANDOM;

/** The files that Jest runs, relative to `test/`. */
module.exports.runs = {
  service: [
    ...new Set(service.map((test) => (isTogether(test) ? suiteOf(test) : `${test}${ENDING}`))),
  ],
  system: system.map((test) => `${test}${ENDING}`),
};
