/**
 * Tests run on real PostgreSQL. Global setup starts an embedded server, and each worker has
 * databases of its own.
 */
const { canMount, chromium, nginx, pgbouncer, systemdAnalyze } = require('./test/setup/machine');

// The workers inherit the paths of the programs through the environment.
const browser = chromium();

if (browser) process.env.CHROMIUM = browser;
else {
  console.warn(
    'No Chromium was found, so the tests in test/system/browser do not run. CHROMIUM may say where one is.',
  );
}

const pooler = pgbouncer();

if (pooler) process.env.PGBOUNCER = pooler;
else {
  console.warn(
    'No pgbouncer of 1.21 or newer was found, so its tests do not run: scripts/pgbouncer.sh brings one, PGBOUNCER may say where one is.',
  );
}

const proxy = nginx();

if (proxy) process.env.NGINX = proxy;
else {
  console.warn(
    'No nginx was found, so the test of deploy/nginx.conf does not run. NGINX may say where one is.',
  );
}

const analyze = systemdAnalyze();

if (analyze) process.env.SYSTEMD_ANALYZE = analyze;
else console.warn('No systemd-analyze was found, so nobody looks at deploy/fitgraph.service.');
const mounts = canMount();

if (!mounts) {
  console.warn(
    'Only who may mount a small file system can fill it, so the test of a full disk does not run.',
  );
}

/**
 * Timeout of a test or hook, for a machine that is several times slower than usual. System tests
 * have `LONG_TIMEOUT_MS` of `test/setup/waits.ts`, and others that need longer say so.
 */
const TEST_TIMEOUT_MS = 300_000;

/**
 * The end of a worker process takes up to a second, because it frees the memory of a whole schema;
 * Jest would wait for half a second only.
 */
const WORKER_EXIT_MS = 10_000;

module.exports = {
  testEnvironment: 'node',
  // Without this, each access to a global is a slow lookup in the global object of a vm context.
  sandboxInjectedGlobals: [
    'Array',
    'Error',
    'Map',
    'Math',
    'Number',
    'Object',
    'Promise',
    'Reflect',
    'Set',
    'String',
    'Symbol',
    'WeakMap',
  ],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(browser ? [] : ['<rootDir>/test/system/browser/']),
    ...(pooler ? [] : ['<rootDir>/test/system/database/pooler']),
    ...(proxy ? [] : ['<rootDir>/test/system/deploy/nginx.test.ts']),
    ...(analyze ? [] : ['<rootDir>/test/system/deploy/systemd.test.ts']),
    ...(mounts ? [] : ['<rootDir>/test/system/faults/disk.test.ts']),
  ],
  transform: {
    '\\.(tsx?|mjs)$|/node_modules/(?:d3-[a-z-]+|internmap|openid-client|oauth4webapi|jose)/': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true, tsx: true },
          transform: {
            legacyDecorator: true,
            decoratorMetadata: false,
            react: { runtime: 'automatic', importSource: 'preact' },
          },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // These are ES modules, which Jest must transform.
  transformIgnorePatterns: [
    '/node_modules/(?!(?:preact|d3-[a-z-]+|internmap|openid-client|oauth4webapi|jose)/)',
  ],
  globalSetup: '<rootDir>/test/setup/global-setup.ts',
  globalTeardown: '<rootDir>/test/setup/global-teardown.ts',
  setupFiles: ['<rootDir>/test/setup/graphql.js'],
  setupFilesAfterEnv: ['<rootDir>/test/setup/system-timeout.ts'],
  testTimeout: TEST_TIMEOUT_MS,
  workerGracefulExitTimeout: WORKER_EXIT_MS,
  // More than two processors need, because tests spend a third of their time waiting. Fewer for tests
  // that start many processes themselves.
  maxWorkers: Number(process.env.TEST_WORKERS ?? 3),
};
