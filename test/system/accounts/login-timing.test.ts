/** The time of a failed login does not reveal whether the name exists. */
import { pbkdf2Sync } from 'node:crypto';
import { setUserActive } from '../../../src/accounts/accounts';
import { fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const ROUNDS = 15;
const ATTEMPTS = 10;
const MAX_RATIO = 1.5;

/** PBKDF2 iterations of the reference service. */
const ITERATIONS = 260_000;
const HASH = pbkdf2Sync(PASSWORD, 'salt', ITERATIONS, 32, 'sha256').toString('base64');

/** Returns the lower quartile, because other load makes measurements longer, but never shorter. */
const quartile = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 2]!;
const setHash = (username: string, hash: string) =>
  fitgraph.sql('UPDATE "user_account" SET "password" = $2 WHERE "username" = $1', [username, hash]);

/** Measures failed logins of all names in turn, so that other load affects all alike. */
async function measure(times: ReadonlyMap<string, number[]>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, of] of times) {
      const began = performance.now();
      const { status } = await fitgraph.anonymous.post('/login/', {
        username: name,
        password: 'a wrong password',
      });

      of.push(performance.now() - began);
      expect(status).toBe(401);
    }
  }
}

/**
 * Measures again if the times differ, because the machine may be busy. A real difference persists
 * in all attempts.
 */
async function expectAlike(names: readonly string[]) {
  const times = new Map(names.map((name) => [name, [] as number[]]));

  const ratio = () => {
    const found = [...times.values()].map(quartile);

    return Math.max(...found) / Math.min(...found);
  };

  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await measure(times);
    if (ratio() < MAX_RATIO) return;
  }

  expect(Object.fromEntries([...times].map(([name, all]) => [name, quartile(all)]))).toBe(
    `alike within ${MAX_RATIO}`,
  );
}

test('takes equally long for existing, unknown and inactive names', async () => {
  await fitgraph.user('ann');
  await setUserActive(
    (await fitgraph.user('inactive')).id,
    false,
    fitgraph.database.createSession(),
  );
  await expectAlike(['ann', 'inactive', 'nobody']);
});

test('takes equally long for imported accounts with any kind of hash', async () => {
  for (const name of ['ann', 'imported', 'cheap', 'unusable', 'broken']) await fitgraph.user(name);
  await setHash('imported', `pbkdf2_sha256$${ITERATIONS}$salt$${HASH}`);
  await setHash('cheap', `pbkdf2_sha256$${ITERATIONS / 10}$salt$${HASH}`);
  await setHash('unusable', '!Qc0TVx5R');
  await setHash('broken', '$argon2id$v=19$broken');
  await expectAlike(['ann', 'imported', 'cheap', 'unusable', 'broken', 'nobody']);
  // The imported hash still verifies.
  expect(
    (await fitgraph.anonymous.post('/login/', { username: 'imported', password: PASSWORD })).status,
  ).toBe(200);
});
