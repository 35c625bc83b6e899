/**
 * Replays the recorded REST contract against the built server: statuses, headers and bodies,
 * including key order and number formats.
 */
import path from 'node:path';
import { build, Installation, type Server } from '../../setup/server-process';
import { loadPhases } from './replay/cases';
import { describeFailure, replayPhase, type Result } from './replay/replay';

const phases = loadPhases(path.join(__dirname, 'cases'));
const installation = new Installation({
  TIME_ZONE: 'Europe/Berlin',
  LOGIN_RATE: '100000/min',
  BUDGET: 'off',
});
let server: Server;
const results: Result[] = [];

beforeAll(async () => {
  build();
  server = await installation.start({ WEB_CONCURRENCY: '0' });
});
afterAll(() => installation.remove());

test.each(phases.map((phase) => [phase.name, phase] as const))(
  'responses match the recorded cases of %s',
  async (_name, phase) => {
    const dataset = path.join(__dirname, 'dataset.json');
    const reset = await installation.command(
      'import',
      dataset,
      '--media',
      path.join(__dirname, 'media'),
      '--replace',
    );

    expect(reset).toMatchObject({ status: 0, stderr: '' });
    const found = await replayPhase(phase, { base: server.url, concurrency: 4 });

    results.push(...found);
    expect(found.filter(({ problems }) => problems.length > 0).map(describeFailure)).toEqual([]);
  },
);

test('all 3,159 cases were replayed', () => {
  expect(results.length).toBe(3_159);
});
