/** A user changes their password and replaces their token, over GraphQL. */
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();
const NEXT = 'another good password';

const CHANGE =
  'mutation ($old: String!, $new: String!) { answer: changePassword(oldPassword: $old, newPassword: $new) { token errors { path message } } }';
const REPLACE = 'mutation { answer: replaceToken { token } }';
const WRONG_PASSWORD_ERROR = { path: ['oldPassword'], message: 'This is not your password.' };
const SHORT = { path: ['newPassword'], message: 'The password must have at least 8 characters.' };

let number = 0;
const newUser = () => fitgraph.user(`person${(number += 1)}`);
const name = () => `person${number}`;

const change = (person: Person, old: string, next: string) =>
  person.query(CHANGE, { old, new: next });
const signsIn = async (password: string) =>
  (await fitgraph.anonymous.post('/login/', { username: name(), password })).status === 200;
const isAccepted = async (token: string) =>
  (await fitgraph.anonymous.withHeaders({ Authorization: `Token ${token}` }).get('/workout/'))
    .status === 200;

const TOKEN = /^[0-9a-f]{40}$/;
const CHANGED = { token: expect.stringMatching(TOKEN), errors: [] };

describe('changePassword', () => {
  test('replaces the password and the token', async () => {
    const person = await newUser();
    const { answer } = (await change(person, PASSWORD, NEXT)).data;

    expect(answer).toEqual(CHANGED);
    expect([await signsIn(NEXT), await signsIn(PASSWORD)]).toEqual([true, false]);
    expect([await isAccepted(answer.token), await isAccepted(person.token)]).toEqual([true, false]);
    expect(
      (await fitgraph.anonymous.post('/login/', { username: name(), password: NEXT })).body,
    ).toEqual({ token: answer.token });
    const [row] = await fitgraph.sql('SELECT "password" FROM "user_account" WHERE "id" = $1', [
      person.id,
    ]);

    expect(row!.password).toMatch(/^\$argon2id\$/);
  });

  test('ignores surrounding blanks, like a login', async () => {
    const person = await newUser();

    expect((await change(person, ` ${PASSWORD}  `, `  ${NEXT} `)).data.answer.token).toMatch(TOKEN);
    expect([await signsIn(NEXT), await signsIn(` ${NEXT}`)]).toEqual([true, true]);
  });

  test.each([
    ['a wrong old password', 'wrong password', NEXT, [WRONG_PASSWORD_ERROR]],
    ['a short new password', PASSWORD, ' 1234567 ', [SHORT]],
    [
      'a new password of digits only',
      PASSWORD,
      '1234567890',
      [{ path: ['newPassword'], message: 'The password must not consist of digits alone.' }],
    ],
    [
      'a new password that is too long',
      PASSWORD,
      'x'.repeat(1001),
      [{ path: ['newPassword'], message: 'The password must have no more than 1000 characters.' }],
    ],
    [
      'a wrong old and a short new password',
      'wrong password',
      'short',
      [WRONG_PASSWORD_ERROR, SHORT],
    ],
    ['an empty old password', '', NEXT, [WRONG_PASSWORD_ERROR]],
    ['an old password with a NUL', 'a\0b', NEXT, [WRONG_PASSWORD_ERROR]],
  ])('reports %s and changes nothing', async (_what, old, next, errors) => {
    const person = await newUser();

    expect((await change(person, old, next)).data.answer).toEqual({ token: null, errors });
    expect([await signsIn(PASSWORD), await isAccepted(person.token)]).toEqual([true, true]);
  });

  test('rejects anonymous clients', async () => {
    expect((await change(fitgraph.anonymous, PASSWORD, NEXT)).code).toBe('UNAUTHENTICATED');
  });

  test('rejects an inactive user', async () => {
    const person = await newUser();

    await fitgraph.sql('UPDATE "user_account" SET "is_active" = false WHERE "id" = $1', [
      person.id,
    ]);
    expect((await change(person, PASSWORD, NEXT)).code).toBe('UNAUTHENTICATED');
  });

  test('accepts exactly one of two concurrent changes', async () => {
    const person = await newUser();
    const answers = await Promise.all(
      [`${NEXT} 1`, `${NEXT} 2`].map((next) => change(person, PASSWORD, next)),
    );

    // The other one finds the password changed, or its token replaced before it was authenticated.
    const tokens = answers.flatMap(({ data }) => data?.answer.token ?? []);

    expect([tokens.length, await isAccepted(tokens[0]), await isAccepted(person.token)]).toEqual([
      1,
      true,
      false,
    ]);
    const winner = answers.findIndex(({ data }) => data?.answer.token) + 1;

    expect(await signsIn(`${NEXT} ${winner}`)).toBe(true);
    const loser = answers[2 - winner]!;

    expect(loser.data ? loser.data.answer.errors : loser.code).toEqual(
      loser.data ? [WRONG_PASSWORD_ERROR] : 'UNAUTHENTICATED',
    );
  });

  test('is rejected when it occurs twice in an operation', async () => {
    const one = `changePassword(oldPassword: "a", newPassword: "b") { token }`;
    const { errors } = await (await newUser()).query(`mutation { a: ${one} b: ${one} }`);

    expect(errors![0]!.message).toContain('once in an operation');
  });
});

describe('browser sessions', () => {
  const signedIn = async () => {
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn(name());
    return visitor;
  };

  const isSignedIn = async (visitor: Visitor) =>
    (await visitor.get('/api/v2/workout/', { Accept: 'application/json' })).status === 200;
  const ask = async (
    visitor: Visitor,
    query: string,
    variables: object,
    headers: Record<string, string>,
  ) => visitor.json('POST', '/graphql', { query, variables }, headers);

  test('other than the current one end when a browser changes the password', async () => {
    const { token: old } = await newUser();
    const [here, there] = [await signedIn(), await signedIn()];
    const otherBrowser = new Visitor(fitgraph.url);

    await fitgraph.user('neighbour');
    await otherBrowser.signIn('neighbour');
    const variables = { old: PASSWORD, new: NEXT };
    const withoutToken = await ask(here, CHANGE, variables, {});

    expect([withoutToken.status, withoutToken.text]).toEqual([
      403,
      expect.stringContaining('CSRF'),
    ]);
    expect(await isSignedIn(there)).toBe(true);
    const answer = await ask(here, CHANGE, variables, { 'X-CSRFToken': await here.csrfToken() });
    const changed = JSON.parse(answer.text).data.answer;

    expect(changed).toEqual(CHANGED);
    expect([await isAccepted(changed.token), await isAccepted(old)]).toEqual([true, false]);
    expect([
      await isSignedIn(here),
      await isSignedIn(there),
      await isSignedIn(otherBrowser),
    ]).toEqual([true, false, true]);
  });

  test('stay signed in when the old password is wrong', async () => {
    await newUser();
    const [here, there] = [await signedIn(), await signedIn()];

    await ask(
      here,
      CHANGE,
      { old: 'wrong password', new: NEXT },
      { 'X-CSRFToken': await here.csrfToken() },
    );
    expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, true]);
  });

  test('all end when an API client changes the password', async () => {
    const person = await newUser();
    const here = await signedIn();

    await change(person, PASSWORD, NEXT);
    expect(await isSignedIn(here)).toBe(false);
  });

  test('stay signed in when the browser replaces the token', async () => {
    const { token: old } = await newUser();
    const here = await signedIn();

    expect((await ask(here, REPLACE, {}, {})).status).toBe(403);
    expect(await isAccepted(old)).toBe(true);
    const answer = await ask(here, REPLACE, {}, { 'X-CSRFToken': await here.csrfToken() });
    const { token } = JSON.parse(answer.text).data.answer;

    expect([await isAccepted(token), await isAccepted(old), await isSignedIn(here)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('too many failed attempts', () => {
  test('block even the right password, for changePassword and for logins', async () => {
    const person = await newUser();
    const withLoginLimit = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { LOGIN_RATE: '3/min' },
    });

    try {
      const throughLimited = withLoginLimit.anonymous.withHeaders({
        Authorization: `Token ${person.token}`,
      });

      for (let tries = 0; tries < 3; tries += 1) {
        expect((await change(throughLimited, 'wrong password', NEXT)).data.answer.errors).toEqual([
          WRONG_PASSWORD_ERROR,
        ]);
      }

      const { code, errors } = await change(throughLimited, PASSWORD, NEXT);

      expect([code, errors![0]!.extensions.retryAfter > 50]).toEqual(['TOO_MANY_REQUESTS', true]);
      expect(
        (await withLoginLimit.anonymous.post('/login/', { username: name(), password: PASSWORD }))
          .status,
      ).toBe(429);
    } finally {
      await withLoginLimit.stop();
    }

    expect(await signsIn(PASSWORD)).toBe(true);
  });
});

describe('replaceToken', () => {
  test('replaces the old token, also for the next login', async () => {
    const { token: old } = await newUser();
    const { token } = (
      await fitgraph.anonymous.withHeaders({ Authorization: `Token ${old}` }).ask(REPLACE)
    ).answer;

    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect([await isAccepted(token), await isAccepted(old)]).toEqual([true, false]);
    expect(
      (await fitgraph.anonymous.post('/login/', { username: name(), password: PASSWORD })).body,
    ).toEqual({ token });
  });

  test('rejects anonymous clients', async () =>
    expect((await fitgraph.anonymous.query(REPLACE)).code).toBe('UNAUTHENTICATED'));

  test('succeeds for exactly one of two concurrent requests', async () => {
    const person = await newUser();
    const answers = await Promise.all([person.query(REPLACE), person.query(REPLACE)]);
    const tokens = answers.flatMap(({ data }) => data?.answer?.token ?? []);

    expect(tokens).toHaveLength(1);
    expect(await isAccepted(tokens[0])).toBe(true);
  });
});

describe('the stored record of an Idempotency-Key', () => {
  const storedRecord = async (key: string) =>
    (await fitgraph.sql('SELECT * FROM "idempotency_key" WHERE "key" = $1', [key]))[0]!;
  const texts = (row: Record<string, any>) =>
    Object.values(row).map((value) =>
      Buffer.isBuffer(value)
        ? `${value.toString('latin1')} ${value.toString('hex')}`
        : JSON.stringify(value),
    );

  test('contains neither token nor password, and depends on SECRET_KEY', async () => {
    const person = await newUser();
    const withKey = person.withHeaders({ 'Idempotency-Key': 'secret-change' });

    expect((await change(withKey, PASSWORD, NEXT)).data.answer.token).toMatch(TOKEN);
    // The old token does not receive the response with the new one.
    expect((await change(withKey, PASSWORD, NEXT)).code).toBe('UNAUTHENTICATED');
    const { token } = (
      await fitgraph.anonymous.post('/login/', { username: name(), password: NEXT })
    ).body;
    // A retry with the new token receives the same response, although the password has changed.
    const renewed = fitgraph.anonymous.withHeaders({
      Authorization: `Token ${token}`,
      'Idempotency-Key': 'secret-change',
    });

    expect((await change(renewed, PASSWORD, NEXT)).data.answer).toEqual({ token, errors: [] });
    const row = await storedRecord('secret-change');

    for (const secret of [PASSWORD, NEXT, token, Buffer.from(token).toString('hex')]) {
      expect(texts(row).join(' ')).not.toContain(secret);
    }

    // Another SECRET_KEY gives the same request a different hash.
    const other = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { SECRET_KEY: 'another secret key, also long enough' },
    });

    try {
      const throughOther = other.anonymous.withHeaders({
        Authorization: `Token ${token}`,
        'Idempotency-Key': 'secret-there',
      });

      await change(throughOther, 'wrong password', NEXT);
      await change(
        renewed.withHeaders({ 'Idempotency-Key': 'secret-here' }),
        'wrong password',
        NEXT,
      );
      expect((await storedRecord('secret-there')).request).not.toEqual(
        (await storedRecord('secret-here')).request,
      );
    } finally {
      await other.stop();
    }
  });

  test('contains no token and is not returned to the old token', async () => {
    const { token: old } = await newUser();
    const withKey = fitgraph.anonymous.withHeaders({
      Authorization: `Token ${old}`,
      'Idempotency-Key': 'secret-token',
    });
    const { token } = (await withKey.ask(REPLACE)).answer;
    const row = await storedRecord('secret-token');

    for (const secret of [old, token, Buffer.from(token).toString('hex')]) {
      expect(texts(row).join(' ')).not.toContain(secret);
    }

    const repeated = await withKey.query(REPLACE);

    expect([repeated.code, repeated.text.includes(token)]).toEqual(['UNAUTHENTICATED', false]);
  });
});

test('logs neither passwords nor tokens', async () => {
  const person = await newUser();
  const { token: next } = (await change(person, PASSWORD, NEXT)).data.answer;
  const { token } = (
    await fitgraph.anonymous.withHeaders({ Authorization: `Token ${next}` }).ask(REPLACE)
  ).answer;

  for (const secret of [PASSWORD, NEXT, next, token]) {
    expect(fitgraph.logged.join('\n')).not.toContain(secret);
  }
});
