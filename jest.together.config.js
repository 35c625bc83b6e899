/** All tests, those of a folder with a `suite.ts` in one process; jest.config.js runs each file in one of its own. */
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const config = require('./jest.config');
const ALONE = require('./test/setup/alone.json');

const folders = readdirSync(join(__dirname, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && readdirSync(join(__dirname, 'test', entry.name)).includes('suite.ts'))
  .map(({ name }) => name);

for (const file of ALONE) if (!existsSync(join(__dirname, 'test', `${file}.test.ts`))) throw new Error(`alone.json names no test: ${file}`);
const alone = ALONE.map((file) => `${file}\\.`).join('|');

module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/*/suite.ts', ...config.testMatch],
  testSequencer: '<rootDir>/test/setup/sequencer.js',
  testPathIgnorePatterns: [
    ...config.testPathIgnorePatterns,
    // They are part of the suite of their folder.
    ...folders.map((folder) => `<rootDir>/test/(?!${alone})${folder}/[^/]+\\.test\\.ts$`),
  ],
};
