/** How long a wrong password takes tells nothing about the name. */
import { pbkdf2Sync } from 'node:crypto';
import { setActive } from '../../src/auth/accounts';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const ROUNDS = 15;
const ATTEMPTS = 10;
const ALIKE = 1.5;
/** As a reference service of that time made them. */
const ITERATIONS = 260_000;
const HASH = pbkdf2Sync(PASSWORD, 'salt', ITERATIONS, 32, 'sha256').toString('base64');

/** What else a machine does makes some of them longer and none of them shorter. */
const quartile = (numbers: number[]) => numbers.sort((a, b) => a - b)[numbers.length >> 2]!;
const setHash = (username: string, hash: string) =>
  fitgraph.sql('UPDATE "user_account" SET "password" = $2 WHERE "username" = $1', [username, hash]);

/** Tries each name once more, in turn, so that what else the machine does meets all alike. */
async function measure(times: ReadonlyMap<string, number[]>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, of] of times) {
      const began = performance.now();
      const { status } = await fitgraph.anyone.post('/login/', { username: name, password: 'a wrong password' });
      of.push(performance.now() - began);
      expect(status).toBe(401);
    }
}

/** On a busy machine it takes more tries until the quartiles tell; what makes a difference makes one however often it is tried. */
async function expectAlike(names: readonly string[]) {
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const ratio = () => {
    const found = [...times.values()].map(quartile);
    return Math.max(...found) / Math.min(...found);
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await measure(times);
    if (ratio() < ALIKE) return;
  }
  expect(Object.fromEntries([...times].map(([name, all]) => [name, quartile(all)]))).toBe(`alike within ${ALIKE}`);
}

test('a name that exists, one that does not, one that is locked', async () => {
  await fitgraph.user('ann');
  await fitgraph.user('inactive');
  await setActive((await fitgraph.user('inactive')).id, false, fitgraph.database.session());
  await expectAlike(['ann', 'inactive', 'nobody']);
});

test('beside imported accounts too, whatever their hashes', async () => {
  for (const name of ['ann', 'imported', 'cheap', 'unusable', 'broken']) await fitgraph.user(name);
  await setHash('imported', `pbkdf2_sha256$${ITERATIONS}$salt$${HASH}`);
  await setHash('cheap', `pbkdf2_sha256$${ITERATIONS / 10}$salt$${HASH}`);
  await setHash('unusable', '!Qc0TVx5R');
  await setHash('broken', '$argon2id$v=19$broken');
  await expectAlike(['ann', 'imported', 'cheap', 'unusable', 'broken', 'nobody']);
  // And the imported one still fits.
  expect((await fitgraph.anyone.post('/login/', { username: 'imported', password: PASSWORD })).status).toBe(200);
});
