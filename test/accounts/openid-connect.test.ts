/** Sign-in at a real OpenID Connect provider: accounts, roles, rejections and failures. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fitgraph, PASSWORD } from '../setup/fitgraph';
import { holding, waitForLocks } from '../setup/locks';
import type { Person } from '../setup/person';
import { revokeCredentials, setPassword, setUserActive } from '../../src/accounts/accounts';
import { findOrCreateProviderAccount } from '../../src/accounts/identities';
import { alertOf, Visitor } from '../setup/visitor';
import { until } from '../setup/waits';
import { OpenIdProvider, type Claims } from '../setup/openid-provider';

let provider: OpenIdProvider;
let fitgraph: Fitgraph;

beforeAll(async () => {
  provider = await OpenIdProvider.start();
  fitgraph = await Fitgraph.start({
    environment: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'fitgraph',
      OIDC_CLIENT_SECRET: 'a secret of the client',
      OIDC_LABEL: 'Example Ltd',
      OIDC_CURATOR_GROUP: 'dietitians',
      OIDC_SUPERUSER_GROUP: 'admins',
    },
  });
  await provider.register(fitgraph.url);
});
afterAll(async () => {
  await fitgraph?.stop();
  await provider?.stop();
});

const newVisitor = () => new Visitor(fitgraph.url, { Accept: 'text/html' });

async function viewerOf(visitor: Visitor): Promise<Record<string, unknown> | null> {
  const { text } = await visitor.get(
    '/graphql?query={viewer{id username email isSuperuser isCurator}}',
    { 'Apollo-Require-Preflight': '1', Accept: 'application/json' },
  );

  return JSON.parse(text).data.viewer;
}

async function signIn(subject: string, claims: Claims) {
  const visitor = newVisitor();

  provider.setUser(subject, claims);
  const page = await provider.signInVisitor(visitor, subject);

  return { visitor, page, viewer: page.status === 303 ? await viewerOf(visitor) : null };
}

const accountsWith = async (email: string) =>
  (await fitgraph.sql('SELECT "id" FROM "user_account" WHERE lower("email") = lower($1)', [email]))
    .length;

test('creates an account at the first sign-in, and opens the data or the requested page', async () => {
  const claims = { email: 'ann@example.com', email_verified: true, preferred_username: 'ann' };
  const first = await signIn('ann', claims);

  expect(first.page.headers.get('location')).toBe('/api/v2/');
  expect(first.viewer).toMatchObject({
    username: 'ann',
    email: 'ann@example.com',
    isSuperuser: false,
    isCurator: false,
  });
  expect([...first.visitor.cookies.keys()]).toEqual(['fitgraph']);
  const visitor = newVisitor();
  const page = await provider.signInVisitor(visitor, 'ann', '/playground?a=b');

  expect(page.headers.get('location')).toBe('/playground?a=b');
  expect(await viewerOf(visitor)).toEqual(first.viewer);
  expect(
    (
      await fitgraph.sql(
        `SELECT "kind", "detail" FROM "security_event" WHERE "user_id" = $1 ORDER BY "id"`,
        [first.viewer!.id],
      )
    ).map(({ kind, detail }) => [kind, detail]),
  ).toEqual([
    ['ACCOUNT_CREATED', provider.issuer],
    ['IDENTITY_CONNECTED', provider.issuer],
    ['SIGNED_IN', provider.issuer],
    ['SIGNED_IN', provider.issuer],
  ]);
});

test('offers the provider on the sign-in page and keeps the page to return to', async () => {
  const { text } = await newVisitor().get('/login?next=/playground');

  expect(text).toMatch(
    /href="\/login\/provider\?next=%2Fplayground">\s*Sign in with (<!-- -->)?Example Ltd/,
  );
  expect((await newVisitor().get('/login/provider?next=https://evil.example')).status).toBe(303);
  const visitor = newVisitor();

  provider.setUser('next', {});
  expect(
    (await provider.signInVisitor(visitor, 'next', 'https://evil.example')).headers.get('location'),
  ).toBe('/api/v2/');
});

test('keeps the cookie of a started sign-in unreadable, HttpOnly and short-lived', async () => {
  const { cookies } = await newVisitor().get('/login/provider?next=/playground');

  expect(cookies).toEqual([
    expect.stringMatching(
      /^fitgraph-provider=[\w-]{200,}; Max-Age=600; Path=\/login\/provider; HttpOnly; SameSite=Lax$/,
    ),
  ]);
});

test.each([
  ['Jürgen Müller', 'JurgenMuller'],
  ['ann', 'ann-2'],
  ['<b>"\u0000', 'b'],
  ['李', 'user'],
  ['x'.repeat(300), 'x'.repeat(140)],
])('makes the user name of %j valid and unique', async (preferred_username, expectedName) => {
  const { viewer } = await signIn(`name ${expectedName.slice(0, 20)}`, { preferred_username });

  expect(viewer!.username).toBe(expectedName);
});

test('creates one account when one person signs in many times at once', async () => {
  provider.setUser('many', {
    email: 'many@example.com',
    email_verified: true,
    preferred_username: 'many',
  });
  const viewers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const visitor = newVisitor();

      expect((await provider.signInVisitor(visitor, 'many')).status).toBe(303);
      return viewerOf(visitor);
    }),
  );

  expect(new Set(viewers.map((viewer) => viewer!.id)).size).toBe(1);
  expect(await accountsWith('many@example.com')).toBe(1);
});

test('creates one account when several servers create it at once, and none twice by its name', async () => {
  const user = (subject: string, email: string) => ({
    issuer: provider.issuer,
    subject,
    username: 'parallel',
    email,
    isEmailVerified: true,
    roles: {},
  });
  const create = (subject: string) =>
    findOrCreateProviderAccount(
      user(subject, `${subject}@example.com`),
      fitgraph.database.createSession(),
    );
  const same = await Promise.all(Array.from({ length: 8 }, () => create('same')));

  expect(new Set(same).size).toBe(1);
  expect(await accountsWith('same@example.com')).toBe(1);
  const different = await Promise.all(['p1', 'p2', 'p3', 'p4'].map(create));

  expect(new Set(different).size).toBe(4);
  expect(
    (
      await fitgraph.sql(
        `SELECT "username" FROM "user_account" WHERE "username" LIKE 'parallel%' ORDER BY 1`,
      )
    ).map(({ username }) => username),
  ).toEqual(['parallel', 'parallel-2', 'parallel-3', 'parallel-4', 'parallel-5']);
});

describe('an account with the same e-mail address', () => {
  async function accountWith(username: string, email: string, isVerified: boolean) {
    const person = await fitgraph.user(username);

    await fitgraph.sql('UPDATE "user_account" SET "email" = $2 WHERE "id" = $1', [
      person.id,
      email,
    ]);
    await fitgraph.sql('UPDATE "user_account" SET "email_verified" = $2 WHERE "id" = $1', [
      person.id,
      isVerified,
    ]);

    return person;
  }

  test('is used if both sides have verified the address, whatever its case', async () => {
    const person = await accountWith('trusted', 'Trusted@Example.com', true);
    const { viewer } = await signIn('trusted', {
      email: 'trusted@example.com',
      email_verified: true,
    });

    expect(viewer!.id).toBe(String(person.id));
  });

  test.each([
    ['the provider has not verified the address', 'unverified', true, false],
    ['a user has entered it', 'hijack', false, true],
  ])('is not used if %s', async (_why, name, isVerified, isVerifiedByProvider) => {
    const email = `${name}@example.com`;

    await accountWith(name, email, isVerified);
    const { page, visitor } = await signIn(name, { email, email_verified: isVerifiedByProvider });

    expect(page.status).toBe(403);
    expect(alertOf(page.text)).toContain('Sign in to it with its password');
    expect(visitor.cookies.has('fitgraph')).toBe(false);
    expect(await accountsWith(email)).toBe(1);
  });

  test('is no longer trusted after its user has changed the address', async () => {
    const person = await accountWith('mover', 'mover@example.com', true);

    await person.ask(
      'mutation { updateUser(input: { email: "victim@example.com" }) { errors { message } } }',
    );
    expect(
      (await signIn('victim', { email: 'victim@example.com', email_verified: true })).page.status,
    ).toBe(403);
    expect(
      await fitgraph.sql('SELECT "email_verified" FROM "user_account" WHERE "id" = $1', [
        person.id,
      ]),
    ).toEqual([{ email_verified: false }]);
    // Nor is the first address when it is entered again.
    await person.ask(
      'mutation { updateUser(input: { email: "mover@example.com" }) { errors { message } } }',
    );
    expect(
      (await signIn('mover', { email: 'mover@example.com', email_verified: true })).page.status,
    ).toBe(403);
  });

  test('is not used if it belongs to another user of the provider, or if there are two', async () => {
    const claims = { email: 'reused@example.com', email_verified: true };

    expect((await signIn('reused-1', claims)).page.status).toBe(303);
    expect((await signIn('reused-2', claims)).page.status).toBe(403);
    await accountWith('twin-1', 'twin@example.com', true);
    await accountWith('twin-2', 'twin@example.com', true);
    expect(
      (await signIn('twin', { email: 'twin@example.com', email_verified: true })).page.status,
    ).toBe(403);
  });

  test('can be connected on the account page by its user', async () => {
    const person = await accountWith('connect', 'connect@example.com', false);
    const visitor = newVisitor();

    await visitor.signIn('connect');
    provider.setUser('connect', { email: 'connect@example.com', email_verified: true });
    const fields = await visitor.fieldsOf('/user', /Connect/);
    const page = await visitor.post('/login/provider', fields);
    const [, url] = /class="button" href="([^"]+)"/.exec(page.text)!;
    const connected = await visitor.get(
      await provider.signIn('connect', url!.replaceAll('&amp;', '&')),
    );

    expect([connected.status, connected.headers.get('location')]).toEqual([303, '/user']);
    expect((await visitor.get('/user')).text).toContain(provider.issuer);
    expect((await signIn('connect', {})).viewer!.id).toBe(String(person.id));
  });
});

test('rejects a connection without the CSRF token, with an access token, and by another user', async () => {
  const visitor = newVisitor();

  await fitgraph.user('eve');
  await visitor.signIn('eve');
  expect((await visitor.post('/login/provider', {})).status).toBe(403);
  expect((await newVisitor().post('/login/provider', {})).status).toBe(401);
  const page = await visitor.post('/login/provider', await visitor.fieldsOf('/user', /Connect/));
  const [, url] = /class="button" href="([^"]+)"/.exec(page.text)!;

  provider.setUser('eve', {});
  const callback = await provider.signIn('eve', url!.replaceAll('&amp;', '&'));
  const other = newVisitor();

  await fitgraph.user('mallory');
  await other.signIn('mallory');
  other.cookies.set('fitgraph-provider', visitor.cookies.get('fitgraph-provider')!);
  expect((await other.get(callback)).status).toBe(401);
  expect(await fitgraph.sql(`SELECT FROM "identity" WHERE "subject" = 'eve'`)).toHaveLength(0);
});

test('sets the roles by the groups at each sign-in', async () => {
  const roles = async (groups?: string[]) => {
    const { viewer } = await signIn('roles', { groups });

    return [viewer!.isCurator, viewer!.isSuperuser];
  };

  expect(await roles()).toEqual([false, false]);
  expect(await roles(['dietitians', 'others'])).toEqual([true, false]);
  expect(await roles(['admins'])).toEqual([false, true]);
  expect(await roles(['others'])).toEqual([false, false]);
});

const DEACTIVATED = 'This account is deactivated. Ask the operator.';

test('rejects a deactivated account and grants it no roles', async () => {
  const { viewer } = await signIn('deactivated', {});

  await setUserActive(Number(viewer!.id), false, fitgraph.database.createSession());
  const { page, visitor } = await signIn('deactivated', { groups: ['admins'] });

  expect([page.status, alertOf(page.text)]).toEqual([403, DEACTIVATED]);
  expect(visitor.cookies.has('fitgraph')).toBe(false);
  expect(
    await fitgraph.sql('SELECT "is_superuser" FROM "user_account" WHERE "id" = $1', [viewer!.id]),
  ).toEqual([{ is_superuser: false }]);
});

test('connects no sign-in to a deactivated account', async () => {
  const { id } = await fitgraph.user('resting');

  await fitgraph.sql(
    `UPDATE "user_account" SET "email" = 'resting@example.com', "is_active" = false WHERE "id" = ${id};
      UPDATE "user_account" SET "email_verified" = true WHERE "id" = ${id}`,
  );
  const { page } = await signIn('resting', { email: 'resting@example.com', email_verified: true });

  expect([page.status, alertOf(page.text)]).toEqual([403, DEACTIVATED]);
  expect(await connectionsOf(id)).toBe(0);
});

const connectionsOf = async (id: unknown) =>
  (await fitgraph.sql('SELECT FROM "identity" WHERE "user_id" = $1', [id])).length;
const connect = (id: number, subject: string) =>
  fitgraph.sql('INSERT INTO "identity" ("issuer", "subject", "user_id") VALUES ($1, $2, $3)', [
    provider.issuer,
    subject,
    id,
  ]);
const byServer = () => fitgraph.database.createSession();
const NEXT = 'another good password';

/** Sets the password by a link, without a session. */
async function useLink({ id }: { id: number }): Promise<void> {
  const root = await fitgraph.user('root', { isSuperuser: true });
  const { createPasswordLink } = await root.ask(
    `mutation { createPasswordLink(id: ${id}) { url } }`,
  );

  expect(
    (
      await newVisitor().submit(createPasswordLink.url.slice(fitgraph.url.length), {
        password: NEXT,
      })
    ).location,
  ).toBe('/login');
}

describe('a connected sign-in', () => {
  test.each<[string, (person: Person & { id: number }) => Promise<unknown>]>([
    [
      'by the user',
      (person) =>
        person.ask(
          `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "${NEXT}") { token } }`,
        ),
    ],
    ['by a link', (person) => useLink(person)],
    ['by an operator', ({ id }) => setPassword(id, NEXT, byServer())],
    ['(signed out by an operator)', ({ id }) => revokeCredentials(id, byServer())],
  ])('ends with a change of the password %s', async (way, change) => {
    const name = `ended${way.replaceAll(/\W/g, '')}`;
    const person = await fitgraph.user(name);

    await connect(person.id, name);
    await change(person);
    expect(await connectionsOf(person.id)).toBe(0);
  });

  test('stays if the account has no password, and with the first password', async () => {
    const { viewer } = await signIn('sole', { preferred_username: 'sole' });
    const id = Number(viewer!.id);

    await revokeCredentials(id, byServer());
    expect(await connectionsOf(id)).toBe(1);
    await useLink({ id });
    expect(await connectionsOf(id)).toBe(1);
  });

  test('stays when a sign-in renews the hash of an imported password', async () => {
    const { id } = await fitgraph.user('imported');

    await connect(id, 'imported');
    await fitgraph.sql(
      `BEGIN; SET LOCAL fitgraph.same_password = 'on';
        UPDATE "user_account" SET "password" = 'x' WHERE "id" = ${id}; COMMIT`,
    );
    expect(await connectionsOf(id)).toBe(1);
  });

  test('is not made with a session that a change of the password ends meanwhile', async () => {
    const { id } = await fitgraph.user('robbed');
    const thief = newVisitor();

    await thief.signIn('robbed');
    provider.setUser('thief', {});
    const page = await thief.post('/login/provider', await thief.fieldsOf('/user', /Connect/));
    const [, url] = /class="button" href="([^"]+)"/.exec(page.text)!;
    const callback = await provider.signIn('thief', url!.replaceAll('&amp;', '&'));
    let answer!: ReturnType<Visitor['get']>;

    await holding(
      fitgraph,
      'UPDATE "user_account" SET "password" = $2 WHERE "id" = $1',
      [id, 'x'],
      async () => {
        answer = thief.get(callback);
        await waitForLocks(fitgraph, 1, answer);
      },
    );
    expect((await answer).status).toBe(401);
    expect(await connectionsOf(id)).toBe(0);
  });

  test('starts no session if a change of the password ends it meanwhile', async () => {
    const { id } = await fitgraph.user('regained');

    await connect(id, 'regained');
    provider.setUser('regained', {});
    const thief = newVisitor();
    const { headers } = await thief.get('/login/provider');
    const callback = await provider.signIn('regained', headers.get('location')!);
    let answer!: ReturnType<Visitor['get']>;

    await holding(
      fitgraph,
      'UPDATE "user_account" SET "password" = $2 WHERE "id" = $1',
      [id, 'x'],
      async () => {
        answer = thief.get(callback);
        await waitForLocks(fitgraph, 1, answer);
      },
    );
    expect((await answer).status).toBe(401);
    expect(await viewerOf(thief)).toBeNull();
  });

  test('is removed on the account page, if a password remains', async () => {
    const { id } = await fitgraph.user('leaver');
    const visitor = newVisitor();

    await connect(id, 'leaver');
    await visitor.signIn('leaver');
    const fields = await visitor.fieldsOf('/user', /Disconnect/);

    expect((await visitor.post('/user', { action: 'disconnect' })).status).toBe(403);
    expect(await connectionsOf(id)).toBe(1);
    expect((await visitor.post('/user', fields)).text).toMatch(/>Connect (<!-- -->)?Example Ltd/);
    expect(await connectionsOf(id)).toBe(0);
    expect(
      await fitgraph.sql(
        'SELECT "kind", "detail" FROM "security_event" WHERE "user_id" = $1 ORDER BY "id" DESC LIMIT 1',
        [id],
      ),
    ).toEqual([{ kind: 'IDENTITY_DISCONNECTED', detail: provider.issuer }]);

    const { visitor: sole, viewer } = await signIn('sole-sign-in', {});
    const { text } = await sole.get('/user');

    expect(text).not.toContain('Disconnect');
    await sole.post('/user', { csrfToken: await sole.csrfToken(), action: 'disconnect' });
    expect(await connectionsOf(viewer!.id)).toBe(1);
  });

  test('is removed by a superuser, also if it is the only one', async () => {
    const root = await fitgraph.user('root', { isSuperuser: true });
    const { viewer } = await signIn('fired', {});

    expect(await root.ask(`mutation { disconnectUser(id: ${viewer!.id}) { username } }`)).toEqual({
      disconnectUser: { username: viewer!.username },
    });
    expect(await connectionsOf(viewer!.id)).toBe(0);
  });
});

test('does not accept a password for an account without one', async () => {
  const { viewer } = await signIn('no-password', { preferred_username: 'no-password' });

  for (const password of ['', ' ', 'a good password']) {
    expect((await newVisitor().signIn(String(viewer!.username), password)).status).toBe(401);
  }
});

describe('a redirect of the provider', () => {
  async function started(subject: string) {
    const visitor = newVisitor();

    provider.setUser(subject, {});
    const { headers } = await visitor.get('/login/provider');

    return { visitor, callback: await provider.signIn(subject, headers.get('location')!) };
  }

  const EXPIRED = 'This sign-in has expired, or was started in another browser.';

  test('is rejected in another browser, and with another state', async () => {
    const { visitor, callback } = await started('state');
    const other = await newVisitor().get(callback);

    expect([other.status, alertOf(other.text)]).toEqual([401, EXPIRED]);
    expect(other.text).toContain('href="/login"');
    const changed = await visitor.get(callback.replace(/state=[^&]+/, 'state=x'));

    expect([changed.status, alertOf(changed.text)]).toEqual([401, EXPIRED]);
    visitor.cookies.set('fitgraph-provider', 'x'.repeat(300));
    expect((await visitor.get(callback)).status).toBe(401);
    expect((await visitor.get('/login/provider/callback')).status).toBe(401);
  });

  test('is rejected if its code was used before or is wrong', async () => {
    const { visitor, callback } = await started('code');
    const cookie = visitor.cookies.get('fitgraph-provider')!;

    expect((await visitor.get(callback)).status).toBe(303);
    const replay = newVisitor();

    replay.cookies.set('fitgraph-provider', cookie);
    const repeated = await replay.get(callback);

    expect([repeated.status, alertOf(repeated.text)]).toEqual([
      401,
      'Example Ltd has rejected the sign-in.',
    ]);
    const second = await started('code');
    const wrong = await second.visitor.get(second.callback.replace(/code=[^&]+/, 'code=x'));

    expect(wrong.status).toBe(401);
  });

  test('is rejected if the provider reports an error', async () => {
    const { visitor, callback } = await started('denied');
    const denied = callback.replace(/code=[^&]+/, 'error=access_denied');
    const page = await visitor.get(denied);

    expect([page.status, alertOf(page.text)]).toEqual([
      401,
      'Example Ltd has rejected the sign-in.',
    ]);
  });
});

test('shows a page if the provider is down, and works when it is back', async () => {
  const otherProvider = await OpenIdProvider.start();
  const other = await Fitgraph.start({
    environment: {
      OIDC_ISSUER: otherProvider.issuer,
      OIDC_CLIENT_ID: 'fitgraph',
      OIDC_CLIENT_SECRET: 'a secret of the client',
      LOGIN_RATE: '3/min',
    },
  });

  try {
    const visitor = new Visitor(other.url, { Accept: 'text/html' });

    // It does not answer yet.
    const unavailable = await visitor.get('/login/provider');

    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '10']);
    expect(alertOf(unavailable.text)).toContain('sign in with your password');
    expect((await visitor.get('/login')).status).toBe(200);
    await otherProvider.register(other.url);
    otherProvider.setUser('back', {});
    expect((await otherProvider.signInVisitor(visitor, 'back')).status).toBe(303);

    const started = await visitor.get('/login/provider');
    const callback = await otherProvider.signIn('back', started.headers.get('location')!);

    await otherProvider.stop();
    expect((await visitor.get(callback)).status).toBe(503);
  } finally {
    await other.stop();
    await otherProvider.stop();
  }
});

describe('limits', () => {
  let limited: Fitgraph;
  let otherProvider: OpenIdProvider;

  beforeAll(async () => {
    otherProvider = await OpenIdProvider.start();
    limited = await Fitgraph.start({
      environment: {
        OIDC_ISSUER: otherProvider.issuer,
        OIDC_CLIENT_ID: 'fitgraph',
        OIDC_CLIENT_SECRET: 'a secret of the client',
        LOGIN_RATE: '3/min',
        LOGIN_RATE_ADDRESS: '4/min',
      },
    });
    await otherProvider.register(limited.url);
  });
  afterAll(async () => {
    await limited?.stop();
    await otherProvider?.stop();
  });

  const statusesOf = async (visitor: Visitor, path: string, count: number) => {
    const statuses: number[] = [];

    for (let attempt = 0; attempt < count; attempt += 1) {
      statuses.push((await visitor.get(path)).status);
    }

    return statuses;
  };

  const browser = () => new Visitor(limited.url, { Accept: 'text/html' });

  async function startedSignIn(visitor: Visitor, subject: string): Promise<string> {
    otherProvider.setUser(subject, {});
    const { headers } = await visitor.get('/login/provider');

    return otherProvider.signIn(subject, headers.get('location')!);
  }

  test('do not count redirects that do not reach the provider', async () => {
    const visitor = browser();
    const callback = await startedSignIn(visitor, 'patient');

    // Without a cookie, with that of another sign-in, and cancelled ones.
    expect(await statusesOf(browser(), callback, 6)).toEqual(Array(6).fill(401));
    expect(await statusesOf(visitor, '/login/provider/callback?code=x&state=y', 6)).toEqual(
      Array(6).fill(401),
    );
    const cancelled = callback.replace(/code=[^&]+/, 'error=access_denied');

    expect(await statusesOf(visitor, cancelled, 6)).toEqual(Array(6).fill(401));
    expect((await visitor.get(callback)).status).toBe(303);
  });

  test('count rejected codes of one started sign-in, and not together with passwords', async () => {
    const visitor = browser();
    const callback = await startedSignIn(visitor, 'guesser');
    const wrong = callback.replace(/code=[^&]+/, 'code=x');

    expect(await statusesOf(visitor, wrong, 5)).toEqual([401, 401, 401, 429, 429]);
    const other = browser();

    expect((await other.get(await startedSignIn(other, 'colleague'))).status).toBe(303);
    await limited.user('ann');
    expect((await browser().signIn('ann')).status).toBe(303);
  });
});

test('signs others in while the provider does not answer', async () => {
  const unanswered: http.ServerResponse[] = [];
  const hanging = http.createServer((request, response) => {
    const issuer = `http://localhost:${(hanging.address() as AddressInfo).port}`;

    if (request.method === 'POST') return unanswered.push(response);
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      }),
    );
  });

  await new Promise<void>((resolve) => hanging.listen(0, 'localhost', resolve));
  const other = await Fitgraph.start({
    environment: {
      OIDC_ISSUER: `http://localhost:${(hanging.address() as AddressInfo).port}`,
      OIDC_CLIENT_ID: 'fitgraph',
      OIDC_CLIENT_SECRET: 'a secret of the client',
      LOGIN_RATE_ADDRESS: '4/min',
    },
  });

  try {
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const visitor = new Visitor(other.url, { Accept: 'text/html' });
        const { headers } = await visitor.get('/login/provider');
        const state = new URL(headers.get('location')!).searchParams.get('state')!;

        return { answer: visitor.get(`/login/provider/callback?code=x&state=${state}`) };
      }),
    );

    await until('all sign-ins wait for the provider', () => unanswered.length === 4);
    await other.user('ann');
    expect((await new Visitor(other.url).signIn('ann')).status).toBe(303);
    for (const response of unanswered) response.destroy();
    for (const { answer } of answers) expect((await answer).status).toBe(503);
  } finally {
    await other.stop();
    hanging.closeAllConnections();
    hanging.close();
  }
});
