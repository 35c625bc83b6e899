/**
 * Requests that overlap a change of the password: they create no credentials that the change does
 * not revoke.
 */
import { setPassword } from '../../src/accounts/accounts';
import { Visitor } from '../setup/visitor';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import { holding, waitForLocks } from '../setup/locks';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
const NEXT = 'another good password';

let number = 0;

async function newUser(): Promise<{ person: Person; username: string }> {
  const username = `person${(number += 1)}`;

  return { person: await fitgraph.user(username), username };
}

const isAccepted = async (token: string) =>
  (await fitgraph.anonymous.withHeaders({ Authorization: `Token ${token}` }).get('/workout/'))
    .status === 200;
const isSignedIn = async (visitor: Visitor) =>
  (await visitor.get('/api/v2/workout/', { Accept: 'application/json' })).status === 200;

/**
 * Sends a request that adds an event to the audit log, and runs `other` while it waits to do so.
 */
async function whileWaitingToLog<T>(
  send: () => Promise<T>,
  other: () => Promise<unknown>,
): Promise<T> {
  let sent!: Promise<T>;
  let done!: Promise<unknown>;

  await holding(fitgraph, 'LOCK TABLE "security_event" IN SHARE MODE', [], async () => {
    sent = send();
    await waitForLocks(fitgraph, 1, sent);
    done = other();
    await waitForLocks(fitgraph, 2, done);
  });
  await done;
  return sent;
}

describe('a sign-in that overlaps a change of the password', () => {
  const changePassword = ({ id }: Person) =>
    setPassword(id, NEXT, fitgraph.database.createSession());

  test('returns no API key that is valid afterwards', async () => {
    const { person, username } = await newUser();
    const login = () => fitgraph.anonymous.post('/login/', { username, password: PASSWORD });
    const { status, body } = await whileWaitingToLog(login, () => changePassword(person));

    expect(status === 401 || (status === 200 && !(await isAccepted(body.token)))).toBe(true);
  });

  test('starts no session that is valid afterwards', async () => {
    const { person, username } = await newUser();
    const visitor = new Visitor(fitgraph.url);
    const { status } = await whileWaitingToLog(
      () => visitor.signIn(username),
      () => changePassword(person),
    );

    expect([303, 401]).toContain(status);
    expect(await isSignedIn(visitor)).toBe(false);
  });
});

describe.each<
  [string, (person: Person, username: string) => Promise<(query: string) => Promise<any>>]
>([
  ['the API key', async (person) => async (query) => (await person.query(query)).data],
  [
    'a browser session',
    async (_person, username) => {
      const visitor = new Visitor(fitgraph.url);

      await visitor.signIn(username);
      const headers = { 'X-CSRFToken': await visitor.csrfToken() };

      return async (query) =>
        JSON.parse((await visitor.json('POST', '/graphql', { query }, headers)).text).data;
    },
  ],
])(
  'when another client changes the password, a waiting request with %s',
  (_credentials, clientOf) => {
    const SET_PASSWORD_SQL =
      'UPDATE "user_account" SET "password" = "password" || $2 WHERE "id" = $1';

    test.each([
      [
        'access token',
        'mutation { answer: createAccessToken(name: "late", scopes: [READ]) { token } }',
      ],
      ['API key', 'mutation { answer: replaceToken { token } }'],
    ])('creates no %s', async (_kind, query) => {
      const { person, username } = await newUser();
      const ask = await clientOf(person, username);
      let answer!: Promise<any>;

      await holding(fitgraph, SET_PASSWORD_SQL, [person.id, 'x'], async () => {
        answer = ask(query);
        await waitForLocks(fitgraph, 1, answer);
      });
      expect(await answer).toEqual({ answer: null });
      const countCredentials =
        'SELECT FROM "token" WHERE "user_id" = $1 UNION ALL SELECT FROM "access_token" WHERE "user_id" = $1';

      expect(await fitgraph.sql(countCredentials, [person.id])).toEqual([]);
    });
  },
);

test('a browser that signs out while it changes the password is signed out', async () => {
  const { username } = await newUser();
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn(username);
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const csrfToken = await visitor.csrfToken();
  const query = `mutation { answer: changePassword(oldPassword: "${PASSWORD}", newPassword: "${NEXT}") { token } }`;
  const { status, text } = await whileWaitingToLog(
    () => visitor.json('POST', '/graphql', { query }, { 'X-CSRFToken': csrfToken }),
    () => visitor.post('/logout', { csrfToken }),
  );

  expect([status, JSON.parse(text).data.answer.token]).toEqual([200, expect.any(String)]);
  expect(await isSignedIn(new Visitor(fitgraph.url, { Cookie: cookie }))).toBe(false);
});
