/**
 * Runs all tests. The files of a folder with a `suite.ts` share one process; with jest.config.js
 * each file has a process of its own.
 */
const { maxWorkers, testTimeout, workerGracefulExitTimeout, ...project } = require('./jest.config');
const { runs } = require('./test/setup/test-files');

module.exports = {
  maxWorkers,
  // Jest accepts these settings for all projects together only.
  testTimeout,
  workerGracefulExitTimeout,
  testSequencer: '<rootDir>/test/setup/sequencer.js',
  // All projects name the same global setup. Jest runs it once, no matter how many projects are
  // selected.
  projects: Object.entries(runs).map(([name, files]) => ({
    ...project,
    displayName: name,
    testMatch: files.map((file) => `<rootDir>/test/${file}`),
  })),
};
