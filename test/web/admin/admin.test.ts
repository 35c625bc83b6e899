/** The pages of superusers. */
import { DateTime } from 'luxon';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const PATHS = ['/admin', '/admin/accounts', '/admin/audit', '/admin/health', '/admin/load'];
let root: Visitor;

beforeAll(async () => {
  await fitgraph.user('root', { isSuperuser: true });
  await fitgraph.user('ann');
  root = await signedIn('root');
});

async function signedIn(username: string): Promise<Visitor> {
  const visitor = new Visitor(fitgraph.url);

  await visitor.signIn(username);
  return visitor;
}

const accountPath = async (username: string) =>
  `/admin/accounts/${(await fitgraph.user(username)).id}`;

/** Sends the form of an account's page with this button. */
async function act(
  username: string,
  action: string,
  fields: Record<string, string> = {},
  visitor = root,
) {
  const path = await accountPath(username);

  return visitor.post(path, { csrfToken: await visitor.csrfToken(), action, ...fields });
}

const stateOf = async (username: string) =>
  (
    await fitgraph.sql(
      'SELECT "is_active", "is_curator", "is_superuser" FROM "user_account" WHERE "username" = $1',
      [username],
    )
  )[0];

const textOf = (html: string) =>
  html
    .replace(/^.*<main/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('access', () => {
  it('shows the pages and the link to them only to superusers with a session', async () => {
    const paths = [...PATHS, await accountPath('ann')];
    const ann = await signedIn('ann');
    const anonymous = new Visitor(fitgraph.url);
    const { token } = await fitgraph.user('root');

    for (const path of paths) {
      const { status, text } = await root.get(path);

      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('<a href="/admin">Administration</a>');
      const { status: denied, text: page } = await ann.get(path);

      expect([path, denied, page.includes('>root<')]).toEqual([path, 404, false]);
      const redirected = await anonymous.get(path);

      expect([redirected.status, redirected.headers.get('location')]).toEqual([
        303,
        `/login?next=${encodeURIComponent(path)}`,
      ]);
      expect((await anonymous.get(path, { Authorization: `Token ${token}` })).status).toBe(404);
    }

    expect((await ann.get('/')).text).not.toContain('"/admin"');
    expect((await anonymous.get('/')).text).not.toContain('"/admin"');
  });

  it('rejects forms of others and without the CSRF token', async () => {
    const ann = await signedIn('ann');
    const before = await fitgraph.sql('SELECT * FROM "user_account" ORDER BY "id"');

    for (const action of ['deactivate', 'grant-superuser', 'create-link', 'delete', 'sign-out']) {
      const fields = { confirmation: 'ann' };

      expect((await act('ann', action, fields, ann)).status).toBe(404);
      expect((await act('ann', action, { ...fields, csrfToken: 'x' })).status).toBe(403);
      expect(
        (await new Visitor(fitgraph.url).post(await accountPath('ann'), { action, ...fields }))
          .status,
      ).toBe(303);
    }

    for (const visitor of [ann, root]) {
      const { status } = await visitor.post('/admin/accounts', { username: 'intruder' });

      expect(status).toBe(403);
    }

    expect(await fitgraph.sql('SELECT * FROM "user_account" ORDER BY "id"')).toEqual(before);
    expect(await fitgraph.sql('SELECT * FROM "password_link"')).toEqual([]);
  });

  it('no longer shows the pages to a superuser who was demoted', async () => {
    await fitgraph.user('deposed', { isSuperuser: true });
    const deposed = await signedIn('deposed');

    await act('deposed', 'revoke-superuser');
    expect((await deposed.get('/admin/accounts')).status).toBe(404);
  });
});

describe('accounts', () => {
  it('creates an account and a link with which its user sets a password', async () => {
    const created = await root.submit('/admin/accounts', {
      csrfToken: await root.csrfToken(),
      username: 'bob',
      email: 'bob@mail.example',
    });

    expect(textOf(created.text)).toContain('bob@mail.example');
    const linked = await root.post(created.location, {
      csrfToken: await root.csrfToken(),
      action: 'create-link',
    });
    const link = /<code id="link">http:\/\/[^/]*([^<]*)<\/code>/.exec(linked.text)![1]!;

    expect((await root.get(created.location)).text).not.toContain(link);
    const bob = new Visitor(fitgraph.url);

    expect((await bob.post(link, { password: 'chosen password' })).status).toBe(303);
    await bob.signIn('bob', 'chosen password');
    expect((await bob.get('/user/api-key')).status).toBe(200);
  });

  it('explains why an account cannot be created', async () => {
    const { status, text } = await root.post('/admin/accounts', {
      csrfToken: await root.csrfToken(),
      username: 'a b',
      email: '',
    });

    expect([status, textOf(text)]).toEqual([400, expect.stringContaining('A user name has')]);
  });

  it('deactivates, activates, signs out, and grants and revokes roles', async () => {
    await fitgraph.user('carl');
    const carl = await signedIn('carl');

    for (const [action, state] of [
      ['deactivate', { is_active: false }],
      ['activate', { is_active: true }],
      ['grant-curator', { is_curator: true }],
      ['grant-superuser', { is_superuser: true }],
      ['revoke-curator', { is_curator: false }],
      ['revoke-superuser', { is_superuser: false }],
    ] as const) {
      const page = await root.get(await accountPath('carl'));

      expect(page.text).toContain(`value="${action}"`);
      expect((await act('carl', action)).status).toBe(303);
      expect([action, await stateOf('carl')]).toEqual([action, expect.objectContaining(state)]);
    }

    await carl.signIn('carl');
    expect((await carl.get('/user/api-key')).status).toBe(200);
    await act('carl', 'sign-out');
    expect((await carl.get('/user/api-key')).status).toBe(303);
    const events = textOf((await root.get('/admin/audit?user=carl')).text);

    for (const kind of ['ACCOUNT_DEACTIVATED', 'ROLE_GRANTED', 'CREDENTIALS_REVOKED']) {
      expect(events).toMatch(new RegExp(`${kind} carl superuser root`));
    }
  });

  it('lists sessions and access tokens, and ends and revokes single ones', async () => {
    const erna = await fitgraph.user('erna');
    const [first, second] = [await signedIn('erna'), await signedIn('erna')];
    const create = (name: string) =>
      erna.ask(
        `mutation { createAccessToken(name: "${name}", scopes: [READ_BODY]) { accessToken { id } } }`,
      );

    await create('watch');
    await create('backup');
    const path = await accountPath('erna');

    expect(textOf((await root.get(path)).text)).toMatch(
      /watch READ_BODY .* never Revoke backup READ_BODY/,
    );
    expect((await root.submit(path, await root.fieldsOf(path, /Revoke watch/))).location).toBe(
      path,
    );
    await root.submit(path, await root.fieldsOf(path, /end-session/));
    expect([(await first.get('/user')).status, (await second.get('/user')).status].sort()).toEqual([
      200, 303,
    ]);
    expect((await erna.ask('{ viewer { accessTokens { name } } }')).viewer.accessTokens).toEqual([
      { name: 'backup' },
    ]);

    // Invalid ids end and revoke nothing.
    for (const id of ['', 'x', '\0', '-1', '99999999999']) {
      await act('erna', 'end-session', { id });
      await act('erna', 'revoke-token', { id });
    }

    const text = textOf((await root.get(path)).text);

    expect(text).toMatch(/Sign out \d{4}-\d\d-\d\d \d\d:\d\d .* Sign out Access tokens/);
    expect(text).toContain('backup READ_BODY');
    expect(text).toMatch(/SESSIONS_ENDED erna superuser root .* ACCESS_TOKEN_REVOKED erna/);
  });

  it('deletes an account only when its name is confirmed', async () => {
    await fitgraph.user('dora');
    const path = await accountPath('dora');

    expect((await act('dora', 'delete', { confirmation: 'dorothy' })).status).toBe(400);
    expect((await root.get(path)).status).toBe(200);
    const { status, headers } = await act('dora', 'delete', { confirmation: 'dora' });

    expect([status, headers.get('location')]).toEqual([303, '/admin/accounts']);
    expect((await root.get(path)).status).toBe(404);
  });

  it('rejects changes of a superuser to their own account', async () => {
    for (const action of ['deactivate', 'revoke-superuser']) {
      const { status, text } = await act('root', action);

      expect([status, textOf(text)]).toEqual([403, expect.stringContaining('Superusers cannot')]);
    }

    expect((await act('root', 'delete', { confirmation: 'root' })).status).toBe(403);
    expect(await stateOf('root')).toMatchObject({ is_active: true, is_superuser: true });
  });

  it('searches, filters and pages', async () => {
    await fitgraph.sql(
      `INSERT INTO "user_account" ("username", "password", "is_active")
        SELECT 'many' || i, '', i <> 7 FROM generate_series(1, 60) AS i`,
    );
    const first = (await root.get('/admin/accounts?search=MANY&show=all')).text;
    const older = /<a href="(\?[^"]*)">Older/.exec(first)![1]!.replaceAll('&amp;', '&');
    const second = (await root.get(`/admin/accounts${older}`)).text;

    expect([...first.matchAll(/>many\d+</g)]).toHaveLength(50);
    expect([...second.matchAll(/>many\d+</g)]).toHaveLength(10);
    expect(second).not.toContain('>Older<');
    const deactivated = (await root.get('/admin/accounts?search=many&show=deactivated')).text;

    expect([...deactivated.matchAll(/>many\d+</g)].map(([text]) => text)).toEqual(['>many7<']);
  });

  it.each(['/admin/accounts/0', '/admin/accounts/x', '/admin/accounts/99999999999'])(
    'returns 404 for %s',
    async (path) => expect((await root.get(path)).status).toBe(404),
  );

  it('escapes what users enter', async () => {
    const markup = '<b>"&amp;';

    await fitgraph.sql(
      `INSERT INTO "user_account" ("username", "email", "password") VALUES ('marked', $1, '')`,
      [markup],
    );

    for (const path of ['/admin/accounts?search=', '/admin/audit?user=']) {
      expect((await root.get(path + encodeURIComponent(markup))).text).not.toContain('<b>');
    }
  });
});

describe('the audit log', () => {
  it('has the filters of the command', async () => {
    await fitgraph.user('frida');
    await new Visitor(fitgraph.url).signIn('frida', 'a wrong password');
    await signedIn('frida');
    const kindsOf = async (query: string) =>
      [
        ...(await root.get(`/admin/audit?${query}`)).text.matchAll(/<td>(SIGN\w+|\w+_\w+)<\/td>/g),
      ].map(([, kind]) => kind);

    expect(await kindsOf('user=frida')).toEqual(['SIGNED_IN', 'SIGN_IN_FAILED']);
    expect(await kindsOf('user=frida&kind=SIGN_IN_FAILED')).toEqual(['SIGN_IN_FAILED']);
    expect(await kindsOf('user=frida&since=1h&until=')).toHaveLength(2);
    expect(await kindsOf('user=frida&until=1h')).toEqual([]);
    expect((await root.get('/admin/audit?user=frida&until=1h')).text).toContain('<p>None.</p>');
    expect(await kindsOf('user=frida&address=192.0.2.1')).toEqual([]);
    expect(await kindsOf('user=frida&kind=unknown')).toHaveLength(2);
  });

  it('names and applies the time zone of the superuser', async () => {
    await fitgraph.user('traveller', { isSuperuser: true });
    const traveller = await signedIn('traveller');

    await fitgraph.sql(
      `UPDATE "user_profile" SET "time_zone" = 'Asia/Tokyo'
        WHERE "user_id" = ${(await fitgraph.user('traveller')).id}`,
    );
    const tokyo = DateTime.now().setZone('Asia/Tokyo');
    const page = async (since: DateTime) =>
      textOf(
        (
          await traveller.get(
            `/admin/audit?user=traveller&since=${since.toFormat("yyyy-MM-dd'T'HH:mm")}`,
          )
        ).text,
      );

    expect(await page(tokyo.minus({ minutes: 30 }))).toMatch(/SIGNED_IN .* time zone Asia\/Tokyo/);
    expect(await page(tokyo.plus({ minutes: 30 }))).not.toContain('SIGNED_IN traveller');
  });

  it.each(['since=yesterday', 'until=2026-02-31', 'user=%00', 'address=%00'])(
    'rejects %s and names the field',
    async (query) => {
      const { status, text } = await root.get(`/admin/audit?${query}`);

      expect([status, textOf(text)]).toEqual([
        400,
        expect.stringContaining(`${query.split('=')[0]}:`),
      ]);
    },
  );
});

it('shows what doctor finds', async () => {
  const text = textOf((await root.get('/admin/health')).text);

  expect(text).toMatch(/ok Database (embedded )?PostgreSQL \d+/);
  expect(text).toContain('ok Schema up to date');
  expect(text).toMatch(/WARN Files 1 of 1 images have no file restore them/);
});

it('runs the checks once for several visitors', async () => {
  const { healthReport } = fitgraph.services;
  const reports = await Promise.all([healthReport.read(), healthReport.read()]);

  expect(reports[0]).toBe(reports[1]);
});

it('shows budgets and slow requests', async () => {
  const { id } = await fitgraph.user('spender');

  await fitgraph.sql(
    `INSERT INTO "budget" ("key", "level", "rate", "at") VALUES ($1, 5000, 100, now() + interval '1 minute'), ('from 192.0.2.9', 9000, 100, now() + interval '1 minute'), ('from 192.0.2.8', 9000, 100, now() - interval '5 minutes')`,
    [`user ${id}`],
  );
  fitgraph.services.slowRequests.record({
    id: 'an-id',
    method: 'GET',
    path: '/slow',
    operation: undefined,
    ms: 1234,
    statements: 5,
  });
  const text = textOf((await root.get('/admin/load')).text);

  expect(text).toMatch(/ from 192.0.2.9 1\d\d % .* spender 1\d\d % .* from 192.0.2.8 0 % /);
  expect(text).toMatch(/1234 GET \/slow 5 an-id/);
});

it('keeps the latest slow requests only', async () => {
  const { slowRequests } = fitgraph.services;
  const request = { method: 'GET', path: '/', operation: undefined, statements: 1 };

  for (let index = 0; index < 60; index += 1) {
    slowRequests.record({ ...request, id: `slow${index}`, ms: 500 });
    slowRequests.record({ ...request, id: `fast${index}`, ms: 499 });
  }

  expect(slowRequests.latest).toHaveLength(50);
  expect(slowRequests.latest[0]!.id).toBe('slow59');
  expect(slowRequests.latest.some(({ id }) => id.startsWith('fast'))).toBe(false);
});
