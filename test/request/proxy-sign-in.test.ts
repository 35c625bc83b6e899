/** Sign-in by the header of a trusted proxy (AUTH_PROXY_HEADER). */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { ConfigError, readConfig } from '../../src/shared/config';
import { setUserActive } from '../../src/accounts/accounts';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import { alertOf, Visitor } from '../setup/visitor';

const HEADER = { AUTH_PROXY_HEADER: 'Remote-User' };
const fitgraph = fitgraphForThisFile({
  environment: { ...HEADER, TRUSTED_PROXIES: '127.0.0.1, ::1' },
});

const behindProxy = (user: string, url = fitgraph.url) =>
  new Visitor(url, { 'Remote-User': user, Accept: 'text/html' });
const accountsNamed = async (name: string) =>
  (await fitgraph.sql('SELECT "id" FROM "user_account" WHERE "username" = $1', [name])).length;

async function usernameOf(visitor: Visitor): Promise<string | undefined> {
  const { text } = await visitor.get('/graphql?query={viewer{username}}', {
    'Apollo-Require-Preflight': '1',
    Accept: 'application/json',
  });

  return JSON.parse(text).data.viewer?.username;
}

test.each(['/', '/user', '/api/v2/', '/playground', '/nothing'])(
  'signs in at the first page, makes the account, and keeps the session: %s',
  async (path) => {
    const name = `first${path.replaceAll('/', '-')}`;
    const visitor = behindProxy(name);
    const page = await visitor.get(path);

    expect(page.cookies).toEqual([expect.stringMatching(/^fitgraph=[\w-]{43};/)]);
    expect(page.text).toContain(`>${name}</a>`);
    expect((await visitor.get(path)).cookies).toEqual([]);
    expect(await usernameOf(visitor)).toBe(name);
    expect(await accountsNamed(name)).toBe(1);
  },
);

test('uses an existing account, and protects forms by its CSRF token', async () => {
  await fitgraph.user('ann');
  const visitor = behindProxy('ann');

  await visitor.get('/');
  expect((await visitor.post('/user', { action: 'end-sessions' })).status).toBe(403);
  expect(
    (
      await visitor.post('/user', {
        ...(await visitor.fieldsOf('/user', /end-sessions/)),
        action: 'end-sessions',
      })
    ).status,
  ).toBe(303);
  expect(await accountsNamed('ann')).toBe(1);
});

test('replaces the session of another user, also for a write', async () => {
  await fitgraph.user('bob');
  const visitor = behindProxy('bob');

  await visitor.get('/');
  const fields = await visitor.fieldsOf('/user', /save-profile/);
  const cookie = visitor.cookies.get('fitgraph')!;
  const next = behindProxy('cleo');

  next.cookies.set('fitgraph', cookie);
  const written = await next.post('/user', {
    ...fields,
    firstName: 'Changed',
    unitSystem: 'METRIC',
  });

  expect(written.status).toBe(403);
  expect(next.cookies.get('fitgraph')).not.toBe(cookie);
  expect(await usernameOf(next)).toBe('cleo');
  expect(await usernameOf(visitor)).toBeUndefined();
  expect(
    await fitgraph.sql(`SELECT "first_name" FROM "user_account" WHERE "username" = 'bob'`),
  ).toEqual([{ first_name: '' }]);
});

test('signs in with the Basic credentials of the proxy, and ignores an empty name', async () => {
  const visitor = behindProxy('basic');
  const page = await visitor.get('/user', { Authorization: 'Basic YmFzaWM6eA==' });

  expect([page.status, page.text.includes('Account of')]).toEqual([200, true]);
  const anonymous = behindProxy('');

  expect((await anonymous.get('/login')).status).toBe(200);
  expect((await anonymous.get('/user')).headers.get('location')).toBe('/login?next=%2Fuser');
  await fitgraph.user('known');
  expect((await anonymous.signIn('known')).status).toBe(303);
});

test('subscribes over WebSocket with the session of the page', async () => {
  const visitor = behindProxy('watcher');

  await visitor.get('/');
  const client = createClient({
    url: `${fitgraph.url.replace('http', 'ws')}/graphql`,
    retryAttempts: 0,
    connectionParams: { 'X-CSRFToken': await visitor.csrfToken() },
    webSocketImpl: class extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, {
          headers: {
            'Remote-User': 'watcher',
            Authorization: 'Basic eDp4',
            Cookie: `fitgraph=${visitor.cookies.get('fitgraph')}`,
          },
        });
      }
    },
  });
  const events = client.iterate({ query: 'subscription { changed { changes { type } } }' });

  expect((await events.next()).value).toEqual({ data: { changed: { changes: [] } } });
  const written = await visitor.json(
    'POST',
    '/graphql',
    {
      query:
        'mutation { createWeightEntry(input: { date: "2026-01-01", weight: "80" }) { errors { message } } }',
    },
    { 'X-CSRFToken': await visitor.csrfToken(), Accept: 'application/json' },
  );

  expect(JSON.parse(written.text)).toEqual({ data: { createWeightEntry: { errors: [] } } });
  expect((await events.next()).value).toEqual({
    data: { changed: { changes: [{ type: 'WEIGHT_ENTRY' }] } },
  });
  await client.dispose();
});

test('starts no session for requests of programs, and ignores the header with an Authorization', async () => {
  const dora = await fitgraph.user('dora');
  const program = dora.withHeaders({ 'Remote-User': 'eve' });

  expect((await program.ask('{ viewer { username } }')).viewer.username).toBe('dora');
  const anonymous = fitgraph.anonymous.withHeaders({ 'Remote-User': 'eve' });

  expect((await anonymous.query('{ viewer { username } }')).data.viewer).toBeNull();
  expect((await anonymous.get('/weightentry/')).status).toBe(403);
  expect(await accountsNamed('eve')).toBe(0);
});

test('ignores the header of other peers, and without the setting', async () => {
  for (const environment of [{ ...HEADER, TRUSTED_PROXIES: '192.0.2.1' }, {}]) {
    const other = await Fitgraph.start({ sameDatabaseAs: fitgraph, environment });

    try {
      const page = await behindProxy('mallory', other.url).get('/user');

      expect([page.status, page.headers.get('location')]).toEqual([303, '/login?next=%2Fuser']);
      expect(page.cookies).toEqual([]);
      // A proxy that the peer names is not the peer.
      const forged = new Visitor(other.url, {
        'Remote-User': 'mallory',
        'X-Forwarded-For': '192.0.2.1',
        Accept: 'text/html',
      });

      expect((await forged.get('/user')).status).toBe(303);
    } finally {
      await other.stop();
    }
  }

  expect(await accountsNamed('mallory')).toBe(0);
});

test('makes one account of many first pages at once', async () => {
  const pages = await Promise.all(
    Array.from({ length: 8 }, () => behindProxy('many').get('/user')),
  );

  expect(pages.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(await accountsNamed('many')).toBe(1);
});

test('rejects invalid names and locked accounts with a page', async () => {
  for (const name of ['a b', '<b>', 'x'.repeat(151), 'M\u00fcller']) {
    const page = await behindProxy(name).get('/user');

    expect([page.status, alertOf(page.text)]).toEqual([
      403,
      'A user name has 1 to 150 letters, digits and @ . + - _',
    ]);
  }

  const finn = await fitgraph.user('finn');

  await setUserActive(finn.id, false, fitgraph.database.createSession());
  const page = await behindProxy('finn').get('/user');

  expect([page.status, alertOf(page.text), page.cookies]).toEqual([
    403,
    'This account is deactivated. Ask the operator.',
    [],
  ]);
});

test('requires TRUSTED_PROXIES and a valid name', () => {
  expect(() => readConfig(HEADER)).toThrow(
    new ConfigError('TRUSTED_PROXIES is missing: AUTH_PROXY_HEADER requires it'),
  );
  expect(() => readConfig({ AUTH_PROXY_HEADER: 'a b', TRUSTED_PROXIES: '::1' })).toThrow(
    /AUTH_PROXY_HEADER must be the name of a header/,
  );
  expect(() => readConfig({ OIDC_ISSUER: 'https://id.example.com' })).toThrow(
    /OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is missing: OIDC_ISSUER requires it/,
  );
});
