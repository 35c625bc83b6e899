/** The age on a birthday, in a process whose time zone has no midnight on that day. */
import { Settings } from 'luxon';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

/** All timers but the clock. */
const REAL_TIMERS = [
  ...([
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['hrtime', 'nextTick', 'queueMicrotask', 'performance'] as const),
];
const formerZone = Settings.defaultZone;
afterEach(() => {
  Settings.defaultZone = formerZone;
  jest.useRealTimers();
});

test('counts the years although clocks were changed at midnight of the day of birth', async () => {
  const ann = await fitgraph.user('ann');
  const profile = `/userprofile/${(await ann.get('/userprofile/')).body.results[0].id}/`;
  // In Chile, 1990-09-16 began at 01:00.
  Settings.defaultZone = 'America/Santiago';
  jest.useFakeTimers({ now: new Date('2010-09-16T12:00:00Z'), doNotFake: REAL_TIMERS });
  expect((await ann.patch(profile, { age: null, birthdate: '1990-09-16' })).body).toMatchObject({
    age: 20,
    birthdate: '1990-09-16',
  });
  jest.useFakeTimers({ now: new Date('2000-09-16T12:00:00Z'), doNotFake: REAL_TIMERS });
  expect((await ann.patch(profile, { age: null, birthdate: '1990-09-16' })).body).toMatchObject({
    age: 10,
  });
});
