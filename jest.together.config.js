/** All tests, those of a folder with a `suite.ts` in one process; jest.config.js runs each file in one of its own. */
const { maxWorkers, testTimeout, ...project } = require('./jest.config');
const { runs } = require('./test/setup/runs');

module.exports = {
  maxWorkers,
  // Jest knows one for all projects only.
  testTimeout,
  testSequencer: '<rootDir>/test/setup/sequencer.js',
  // Global setup is that of both, and is done once however many of them run.
  projects: Object.entries(runs).map(([name, files]) => ({
    ...project,
    displayName: name,
    testMatch: files.map((file) => `<rootDir>/test/${file}`),
  })),
};
