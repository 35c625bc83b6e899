/** Liveness and readiness probes while the database does not respond. */
import { send } from '../availability/server-under-attack';
import { build, Installation } from '../../setup/server-process';
import { delaysOf, until } from '../../setup/waits';

let installation: Installation;

beforeAll(async () => {
  build();
  installation = await Installation.started();
});
afterAll(() => installation.remove());

test('stays live and reports that it is not ready while the database is frozen, without waiting for it', async () => {
  const { url, workers } = await installation.start();
  const checkReadiness = () => send(url, { path: '/health/ready' });

  expect((await checkReadiness()).status).toBe(200);

  const frozen = installation.processes;

  for (const pid of frozen) process.kill(pid, 'SIGSTOP');

  try {
    await until('the server is not ready', async () => (await checkReadiness()).status === 503);

    for (let round = 0; round < 2; round += 1) {
      const delays = delaysOf(...workers);
      const readinessChecks = Array.from({ length: 30 }, checkReadiness);
      const liveness = await send(url, { path: '/health/live' });

      expect(liveness.status).toBe(200);
      expect(liveness.ms - delays()).toBeLessThan(500);
      const answers = await Promise.all(readinessChecks);
      const delayMs = delays();

      for (const { status, text, ms } of answers) {
        expect([status, JSON.parse(text)]).toEqual([
          503,
          {
            status: 'unavailable',
            reason: expect.stringMatching(/^the database does not respond/),
          },
        ]);
        // A probe does not wait for the database: it returns the result of the latest health check.
        expect(ms - delayMs).toBeLessThan(500);
      }
    }
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
  }

  await until('the server is ready again', async () => (await checkReadiness()).status === 200);
});
