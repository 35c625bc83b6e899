/** Tests run on real PostgreSQL; global setup starts the embedded one, each worker gets databases of its own. */
module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: {
    '\\.(tsx?|mjs)$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true, tsx: true },
          transform: { legacyDecorator: true, decoratorMetadata: false, react: { runtime: 'automatic', importSource: 'preact' } },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Preact comes as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!preact/)'],
  globalSetup: '<rootDir>/test/setup/start.ts',
  globalTeardown: '<rootDir>/test/setup/stop.ts',
  testTimeout: 120_000,
  maxWorkers: 2,
};
