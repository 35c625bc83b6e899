/** Orders test files so that the run ends soonest: long ones start first. */
const { default: Sequencer } = require('@jest/test-sequencer');

/** The longest files, as measured. The others follow in Jest's own order: by their last duration or by size. */
const FIRST = [
  'server/primary',
  'system/browser/pages',
  'system/docs/addaresource',
  'server/commands',
  'system/attacks/injection',
  'system/codebase/suite',
  'core/suite',
  'graphql/fuzz',
  'graphql/suite',
  'core/groupingmodel',
  'server/suite',
  'auth/suite',
  'resources/suite',
  'pages/suite',
  'system/availability/patterns',
  'files/suite',
  'core/million',
  'database/suite',
  'transfer/suite',
];

const place = ({ path }) => {
  const index = FIRST.findIndex((name) => path.includes(`/test/${name}.`));
  return index < 0 ? FIRST.length : index;
};

module.exports = class extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((a, b) => place(a) - place(b));
  }
};
