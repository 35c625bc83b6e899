/** Liveness and readiness probes while the database does not respond. */
import { send } from '../system/availability/siege';
import { build, Installation } from './running';
import { delaysOf, until } from '../setup/waits';

let installation: Installation;

beforeAll(async () => {
  build();
  installation = await Installation.started();
});
afterAll(() => installation.remove());

test('stays live but reports within a second that it is not ready while the database is frozen', async () => {
  const { url, workers } = await installation.start();
  const ready = () => send(url, { path: '/health/ready' });
  expect((await ready()).status).toBe(200);

  const frozen = installation.processes;
  for (const pid of frozen) process.kill(pid, 'SIGSTOP');
  try {
    for (let round = 0; round < 2; round += 1) {
      const delays = delaysOf(...workers);
      const asked = Array.from({ length: 30 }, ready);
      const lives = await send(url, { path: '/health/live' });
      expect(lives.status).toBe(200);
      expect(lives.ms - delays()).toBeLessThan(500);
      const answers = await Promise.all(asked);
      const delayMs = delays();
      for (const { status, text, ms } of answers) {
        expect([status, JSON.parse(text)]).toEqual([
          503,
          { status: 'unavailable', reason: expect.stringMatching(/^the database does not respond/) },
        ]);
        // 1 s for the decision and 0.5 s for the request and its response.
        expect(ms - delayMs).toBeLessThan(1_500);
      }
    }
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  }
  await until('it is ready again', async () => (await ready()).status === 200);
});
