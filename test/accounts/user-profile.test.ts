/**
 * The age in a profile is computed for the current date in the server's time zone, which may differ
 * from that of the process.
 */
import { Settings } from 'luxon';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

const REAL = [
  ...([
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
];
const processZone = Settings.defaultZone;

afterEach(() => {
  Settings.defaultZone = processZone;
  jest.useRealTimers();
});

/** 00:30 on 29 March in Berlin. */
const NIGHT = '2026-03-28T23:30:00Z';

const profile = async (): Promise<string> =>
  (await ann.ask('{ viewer { profile { id } } }')).viewer.profile.id;
const patch = async (body: object) => ann.patch(`/userprofile/${await profile()}/`, body);

test('computes the age and its limits on a birthday by the date in the time zone of the server', async () => {
  jest.useFakeTimers({ now: Date.parse(NIGHT), doNotFake: REAL });
  expect(await patch({ birthdate: '1990-03-29', age: null })).toMatchObject({
    status: 200,
    body: { age: 36 },
  });
  expect(await patch({ birthdate: '2016-03-29', age: null })).toMatchObject({
    status: 200,
    body: { age: 10 },
  });
  expect(await patch({ birthdate: '2016-03-30' })).toMatchObject({
    status: 400,
    body: { birthdate: ['2016-03-30 is not a valid birthdate'] },
  });
  expect(await patch({ birthdate: '1925-03-28' })).toMatchObject({ status: 400 });
  const document = `mutation ($birthdate: Date!) {
    updateProfile(input: { birthdate: $birthdate }) { errors { path } }
  }`;
  const { data, errors } = await ann.query(document, { birthdate: '2016-03-29' });

  expect([errors, data?.updateProfile?.errors]).toEqual([undefined, []]);
});

test('counts the years although clocks were changed at midnight of the day of birth', async () => {
  // In Chile, 1990-09-16 began at 01:00.
  Settings.defaultZone = 'America/Santiago';
  jest.useFakeTimers({ now: new Date('2010-09-16T12:00:00Z'), doNotFake: REAL });
  expect((await patch({ age: null, birthdate: '1990-09-16' })).body).toMatchObject({
    age: 20,
    birthdate: '1990-09-16',
  });
  jest.useFakeTimers({ now: new Date('2000-09-16T12:00:00Z'), doNotFake: REAL });
  expect((await patch({ age: null, birthdate: '1990-09-16' })).body).toMatchObject({ age: 10 });
});
