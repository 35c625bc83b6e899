/** The recorded REST contract, replayed against the built server: statuses, headers and bodies, with the order of keys and the spelling of numbers. */
import path from 'node:path';
import { build, Installation, type Server } from '../server/running';
import { loadKnown, loadPhases } from './replay/cases';
import { describeFailure, replayPhase, type Result } from './replay/replay';

/** How many cases may be known to fail. The number only ever falls. */
const MAX_KNOWN = 40;

const phases = loadPhases(path.join(__dirname, 'cases'));
const known = loadKnown(path.join(__dirname, 'known.json'));
const installation = new Installation({ TIME_ZONE: 'Europe/Berlin', LOGIN_RATE: '100000/min', BUDGET: 'off', MAX_LAG: 'off' });
let server: Server;
const results: Result[] = [];

beforeAll(async () => {
  build();
  server = await installation.start({ WEB_CONCURRENCY: '0' });
});
afterAll(() => installation.remove());

test.each(phases.map((phase) => [phase.name, phase] as const))('%s', async (_name, phase) => {
  const dataset = path.join(__dirname, 'dataset.json');
  const reset = await installation.command('import', dataset, '--media', path.join(__dirname, 'media'), '--replace');
  expect(reset).toMatchObject({ status: 0, stderr: '' });
  const found = await replayPhase(phase, { base: server.url, known, concurrency: 4 });
  results.push(...found);
  expect(found.filter(({ problems }) => problems.length > 0).map(describeFailure)).toEqual([]);
});

test('every case was replayed', () => {
  expect(results.length).toBe(3_159);
});

test('the list of known failures names cases of the contract, and gets no longer', () => {
  const ids = phases.flatMap(({ cases }) => cases.map(({ id }) => id));
  expect([...known.keys()].filter((id) => !ids.includes(id))).toEqual([]);
  expect(known.size).toBeLessThanOrEqual(MAX_KNOWN);
  expect(results.filter(({ rule }) => rule).length).toBe(known.size);
});
