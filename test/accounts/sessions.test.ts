/**
 * A new password revokes the token and all browser sessions; renewing a hash at login revokes
 * nothing.
 */
import { pbkdf2Sync } from 'node:crypto';
import { setPassword, getOrCreateApiKey } from '../../src/accounts/accounts';
import { BrowserSessions } from '../../src/accounts/sessions';
import { Visitor } from '../setup/visitor';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
const NEXT = 'another good password';

const importedHash = (password: string) =>
  `pbkdf2_sha256$1000$abcdefgh$${pbkdf2Sync(password, 'abcdefgh', 1000, 32, 'sha256').toString('base64')}`;

const login = (username: string, password: string) =>
  fitgraph.anonymous.post('/login/', { username, password });
const isAccepted = async (token: string) =>
  (await fitgraph.anonymous.withHeaders({ Authorization: `Token ${token}` }).get('/workout/'))
    .status === 200;
const hashOf = async ({ id }: Person) =>
  (await fitgraph.sql('SELECT "password" FROM "user_account" WHERE "id" = $1', [id]))[0]!.password;
const setHash = (person: Person, hash: string) =>
  fitgraph.sql('UPDATE "user_account" SET "password" = $2 WHERE "id" = $1', [person.id, hash]);

/**
 * Starts a browser session without a password; the returned function checks whether it is still
 * signed in.
 */
async function browserOf({ id }: Person): Promise<() => Promise<boolean>> {
  const session = await new BrowserSessions(fitgraph.tokenVault, '').start(
    id,
    fitgraph.database.createSession(),
  );
  const visitor = new Visitor(fitgraph.url, { Cookie: `fitgraph=${session}` });

  return async () =>
    (await visitor.get('/api/v2/workout/', { Accept: 'application/json' })).status === 200;
}

let number = 0;

async function newUser(): Promise<{ person: Person; username: string }> {
  const username = `person${(number += 1)}`;

  return { person: await fitgraph.user(username), username };
}

/**
 * Creates a user as an import does, with a hash of another kind, and gives them a token and a
 * browser session.
 */
async function importedPerson() {
  const { person, username } = await newUser();

  await setHash(person, importedHash(PASSWORD));
  const token = await getOrCreateApiKey(
    person.id,
    fitgraph.database.createSession(),
    fitgraph.tokenVault,
  );

  return { person, username, token, isSignedIn: await browserOf(person) };
}

describe('the token and browser sessions of a user', () => {
  test.each<[string, (person: Person) => Promise<unknown>]>([
    ['set by an operator', ({ id }) => setPassword(id, NEXT, fitgraph.database.createSession())],
    ['written into the database', (person) => setHash(person, importedHash(NEXT))],
    [
      'changed over GraphQL with the token',
      (person) =>
        person.ask(
          `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "${NEXT}") { token } }`,
        ),
    ],
  ])('are revoked when the password is %s', async (_way, set) => {
    const { person, username } = await newUser();
    const isSignedIn = await browserOf(person);
    const { person: other } = await newUser();
    const isOtherSignedIn = await browserOf(other);

    expect([await isAccepted(person.token), await isSignedIn()]).toEqual([true, true]);
    await set(person);
    expect([await isAccepted(person.token), await isSignedIn()]).toEqual([false, false]);
    expect([await isAccepted(other.token), await isOtherSignedIn()]).toEqual([true, true]);
    const { body } = await login(username, NEXT);

    expect([body.token === person.token, await isAccepted(body.token)]).toEqual([false, true]);
  });

  test('are revoked when an imported password is changed', async () => {
    const { person, token, isSignedIn } = await importedPerson();
    const withToken = fitgraph.anonymous.withHeaders({ Authorization: `Token ${token}` });

    await withToken.ask(
      `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "${NEXT}") { token } }`,
    );
    expect([await isAccepted(token), await isSignedIn()]).toEqual([false, false]);
    expect(await hashOf(person)).toMatch(/^\$argon2id\$/);
  });

  test('are invalid while the account is locked; only the token works afterwards', async () => {
    const { person } = await newUser();
    const isSignedIn = await browserOf(person);
    const lock = (active: boolean) =>
      fitgraph.sql('UPDATE "user_account" SET "is_active" = $2 WHERE "id" = $1', [
        person.id,
        active,
      ]);

    await lock(false);
    expect([await isAccepted(person.token), await isSignedIn()]).toEqual([false, false]);
    await lock(true);
    expect([await isAccepted(person.token), await isSignedIn()]).toEqual([true, false]);
  });
});

describe('a login that renews an imported hash', () => {
  test('over REST revokes nothing', async () => {
    const { person, username, token, isSignedIn } = await importedPerson();

    expect(await login(username, PASSWORD)).toMatchObject({ status: 200, body: { token } });
    expect(await hashOf(person)).toMatch(/^\$argon2id\$/);
    expect([await isAccepted(token), await isSignedIn()]).toEqual([true, true]);
    // Only the UPDATE of a login is exempt: any later change of the hash revokes everything.
    await setHash(person, importedHash(NEXT));
    expect([await isAccepted(token), await isSignedIn()]).toEqual([false, false]);
  });

  test('in a browser revokes nothing', async () => {
    const { username, token, isSignedIn } = await importedPerson();
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn(username);
    expect((await visitor.get('/api/v2/workout/', { Accept: 'application/json' })).status).toBe(
      200,
    );
    expect([await isAccepted(token), await isSignedIn()]).toEqual([true, true]);
  });

  test('succeeds several times concurrently', async () => {
    const { username, token, isSignedIn } = await importedPerson();
    const answers = await Promise.all(Array.from({ length: 4 }, () => login(username, PASSWORD)));

    expect(answers.map(({ body }) => body)).toEqual(Array<object>(4).fill({ token }));
    expect(await isSignedIn()).toBe(true);
  });
});

test.each([
  ['argon2id hash', (person: Person) => hashOf(person)],
  ['imported hash', async () => importedHash(PASSWORD)],
])(
  'rejects a login with the old password when the password changes meanwhile (%s)',
  async (_kind, hash) => {
    const { person, username } = await newUser();

    await setHash(person, await hash(person));
    const changing = await fitgraph.database.pool.connect();
    let answer: ReturnType<typeof login>;

    try {
      await changing.query('BEGIN');
      await changing.query('UPDATE "user_account" SET "password" = $2 WHERE "id" = $1', [
        person.id,
        importedHash(NEXT),
      ]);
      answer = login(username, PASSWORD);
      const waiting = `SELECT count(*)::integer AS "count" FROM pg_stat_activity WHERE "wait_event_type" = 'Lock' AND "datname" = current_database()`;

      while ((await changing.query(waiting)).rows[0].count === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }

      await changing.query('COMMIT');
    } finally {
      changing.release();
    }

    expect((await answer).status).toBe(401);
    expect((await login(username, NEXT)).status).toBe(200);
  },
);
