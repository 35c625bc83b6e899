/** Orders test files so that the run ends soonest: long ones start first. */
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The longest files, as measured. The others follow in Jest's own order: by their last duration or
 * by size.
 */
const FIRST = [
  'system/server/primary',
  'system/browser/pages',
  'system/docs/add-a-resource',
  'system/server/commands',
  'system/attacks/injection',
  'engine/suite',
  'engine/access/suite',
  'request/suite',
  'system/graphql/fuzz',
  'graphql/suite',
  'system/engine/grouping-model',
  'server/suite',
  'accounts/suite',
  'fitness/suite',
  'web/suite',
  'system/availability/patterns',
  'files/suite',
  'system/engine/million',
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
