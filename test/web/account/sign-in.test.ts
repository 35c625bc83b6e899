/** Signing in and out with a browser: form, cookies, redirects and sessions. */
import { readConfig } from '../../../src/shared/config';
import { setUserActive, setPassword } from '../../../src/accounts/accounts';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { Visitor } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile({ environment: { LOGIN_RATE: '6/min' } });

const viewer = async (visitor: Visitor) =>
  JSON.parse(
    (await visitor.get('/graphql?query={viewer{username}}', { 'Apollo-Require-Preflight': '1' }))
      .text,
  ).data.viewer;

async function signedIn(username: string): Promise<Visitor> {
  await fitgraph.user(username);
  const visitor = new Visitor(fitgraph.url);

  expect((await visitor.signIn(username)).status).toBe(303);
  return visitor;
}

it('signs in for pages, REST and GraphQL, and signs out', async () => {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url);
  const answer = await visitor.signIn('ann', ` ${PASSWORD} `);

  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/api/v2/']);
  expect((await visitor.get('/')).text).toContain('>ann</a>');
  expect((await visitor.get('/api/v2/weightentry/')).status).toBe(200);
  const query = await visitor.json(
    'POST',
    '/graphql',
    { query: '{ viewer { username } }' },
    { 'X-CSRFToken': await visitor.csrfToken() },
  );

  expect(JSON.parse(query.text)).toEqual({ data: { viewer: { username: 'ann' } } });

  const before = new Map(visitor.cookies);
  const out = await visitor.post('/logout', { csrfToken: await visitor.csrfToken() });

  expect([out.status, out.headers.get('location'), visitor.cookies.size]).toEqual([303, '/', 0]);
  // The session is deleted on the server, not only the cookie in the browser.
  for (const [name, value] of before) visitor.cookies.set(name, value);
  expect((await visitor.get('/api/v2/weightentry/')).status).toBe(403);
});

it('sets cookies at sign-in only, as HttpOnly and SameSite', async () => {
  const person = await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url);

  expect((await visitor.get('/login')).cookies).toEqual([
    expect.stringMatching(
      /^fitgraph-login=[\w-]{43}; Max-Age=3600; Path=\/login; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  expect((await visitor.signIn('ann')).cookies).toEqual([
    expect.stringMatching(/^fitgraph=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/),
    'fitgraph-login=; Max-Age=0; Path=/login; HttpOnly; SameSite=Strict',
  ]);
  const otherRequests = [
    await fitgraph.anonymous.send('GET', '/'),
    await fitgraph.anonymous.send('GET', '/register'),
    await fitgraph.anonymous.send('GET', '/playground'),
    await fitgraph.anonymous.get('/exercise/'),
    await fitgraph.anonymous.post('/login/', { username: 'ann', password: PASSWORD }),
    await fitgraph.anonymous.query('{ viewer { username } }'),
    await person.get('/weightentry/'),
    await person.query('{ viewer { username } }'),
    await person.send('GET', '/user/api-key'),
    await visitor.get('/user/api-key'),
    await visitor.get('/api/v2/weightentry/'),
  ];

  for (const { headers } of otherRequests) expect(headers.getSetCookie()).toEqual([]);
});

it.each([
  ['https', {}],
  ['production', { NODE_ENV: 'production' }],
])('sets Secure cookies with %s', async (way, environment) => {
  const secure = await Fitgraph.start({
    environment: { ...environment, TRUSTED_PROXIES: '127.0.0.1, ::1' },
    sameDatabaseAs: fitgraph,
  });

  try {
    await fitgraph.user('ann');
    const visitor = new Visitor(
      secure.url,
      way === 'https' ? { 'X-Forwarded-Proto': 'https' } : {},
    );
    const { cookies } = await visitor.signIn('ann');

    expect(cookies[0]).toMatch(
      /^__Host-fitgraph=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await visitor.get('/api/v2/weightentry/')).status).toBe(200);
  } finally {
    await secure.stop();
  }
});

it('needs no additional statement for tokens, sessions and invalid cookies', async () => {
  const person = await fitgraph.user('ann');
  const visitor = await signedIn('ann');
  const { statements } = await person.get('/weightentry/');

  expect(
    (
      await person
        .withHeaders({ Cookie: `fitgraph=${visitor.cookies.get('fitgraph')}` })
        .get('/weightentry/')
    ).statements,
  ).toBe(statements);
  expect((await visitor.get('/api/v2/weightentry/')).headers.get('server-timing')).toContain(
    `"${statements} statements"`,
  );
  // The first response to an anonymous client is not one that is kept.
  const path = '/exercise/?limit=3';
  const anonymous = (await fitgraph.anonymous.get(path)).statements;

  expect(anonymous).toBeGreaterThan(0);
  expect(
    (await fitgraph.anonymous.withHeaders({ Cookie: 'fitgraph=nonsense; other=1' }).get(path))
      .statements,
  ).toBe(anonymous);
});

it('keeps the username but not the password in the form after a failed sign-in', async () => {
  await fitgraph.user('bob');
  const visitor = new Visitor(fitgraph.url);
  const name = `<script>alert(1)</script>"'&`;

  for (const [username, expectedUsername] of [
    ['bob', 'bob'],
    [name, "&lt;script>alert(1)&lt;/script>&quot;'&amp;"],
  ]) {
    const { status, text, cookies } = await visitor.signIn(
      username!,
      'a wrong password',
      '/playground',
    );

    expect([status, cookies]).toEqual([401, []]);
    expect(text).toContain('Username or password unknown.');
    expect(text).toContain(`value="${expectedUsername}"`);
    expect(text).toContain('name="next" value="/playground"');
    expect(text).not.toContain('a wrong password');
    expect(text).not.toContain('<script>');
  }
});

it('limits failed sign-ins together with those over REST', async () => {
  await fitgraph.user('carl');
  const visitor = new Visitor(fitgraph.url);

  for (let i = 0; i < 3; i += 1) {
    expect((await visitor.signIn('carl', 'a wrong password')).status).toBe(401);
    expect(
      (await fitgraph.anonymous.post('/login/', { username: 'carl', password: 'a wrong password' }))
        .status,
    ).toBe(401);
  }

  const { status, headers, text } = await visitor.signIn('carl');

  expect(status).toBe(429);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(text).toContain('throttled');
  expect(text).toContain('value="carl"');
});

it('rejects the form without the CSRF token of the same visitor', async () => {
  await fitgraph.user('ann');
  const visitor = new Visitor(fitgraph.url);
  const fields = await visitor.fieldsOf('/login');
  const credentials = { username: 'ann', password: PASSWORD };
  const otherVisitor = new Visitor(fitgraph.url);

  for (const answer of [
    await otherVisitor.post('/login', { ...credentials, ...fields }),
    await visitor.post('/login', credentials),
    await visitor.post('/login', { ...credentials, csrfToken: 'x'.repeat(43) }),
  ]) {
    expect([answer.status, answer.cookies]).toEqual([403, []]);
    expect(answer.text).toContain('The form has expired');
  }
});

describe('the link to sign in', () => {
  const links = ({ text }: { text: string }) =>
    [...text.matchAll(/href="([^"]+)">Sign in</gi)].map(([, href]) => href);

  it.each([
    '/',
    '/register',
    '/nothing?a=b',
    '/playground?question=weight',
    '/api/v2/',
    '/api/v2/schema/docs',
    '/api/v2/muscle/?ordering=-name&limit=2',
    '/api/v2/weightentry/?limit=1',
    '/api/v2/nothing/',
  ])('leads back to %s', async (path) => {
    const found = links(await new Visitor(fitgraph.url, { Accept: 'text/html' }).get(path));

    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set([`/login?next=${encodeURIComponent(path)}`]));
  });

  it('leads back to the page of a form, and to the page that led to the login page', async () => {
    const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });
    const tooLarge = 'x'.repeat(20_000);

    expect(links(await visitor.post('/user/api-key', { tooLarge }))).toEqual([
      `/login?next=${encodeURIComponent('/user/api-key')}`,
    ]);
    expect(links(await visitor.post('/logout', { tooLarge }))).toEqual([
      `/login?next=${encodeURIComponent('/')}`,
    ]);
    expect(links(await visitor.get('/login?next=/playground'))).toEqual([
      `/login?next=${encodeURIComponent('/playground')}`,
    ]);
    expect(links(await visitor.get('/login'))).toEqual(['/login']);
  });

  it('leaves out a query that would make the URL too long', async () => {
    const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

    expect(links(await visitor.get(`/playground?query=${'x'.repeat(3_000)}`))).toEqual([
      `/login?next=${encodeURIComponent('/playground')}`,
    ]);
  });
});

describe('the redirect after sign-in', () => {
  it.each(['/playground?query={viewer{id}}', '/api/v2/weightentry/?limit=1#x'])(
    'leads to %s',
    async (next) => {
      await fitgraph.user('dora');
      const visitor = new Visitor(fitgraph.url);

      expect((await visitor.signIn('dora', PASSWORD, next)).headers.get('location')).toBe(
        encodeURI(next),
      );
    },
  );

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    'javascript:alert(1)',
    'evil',
    '/\r\nSet-Cookie: a=b',
  ])('does not leave the site for %j', async (next) => {
    const name = `eve${Buffer.from(next).toString('hex')}`;

    await fitgraph.user(name);
    const visitor = new Visitor(fitgraph.url);
    const form = await visitor.fieldsOf('/login');
    const { headers, cookies } = await visitor.post('/login', {
      ...form,
      next,
      username: name,
      password: PASSWORD,
    });
    const location = headers.get('location')!;

    expect(new URL(location, fitgraph.url).origin).toBe(fitgraph.url);
    expect(location).toMatch(/^\/[^/\\]/);
    expect(cookies).toHaveLength(2);
    // A visitor who is already signed in is redirected to the same page.
    const locationForSignedIn = (
      await visitor.get(`/login?next=${encodeURIComponent(next)}`)
    ).headers.get('location')!;

    expect(locationForSignedIn).toBe(location);
  });
});

describe('a session', () => {
  it('gets a new id at every sign-in, which ends the old session', async () => {
    const visitor = await signedIn('fred');
    const first = visitor.cookies.get('fitgraph')!;
    const form = await new Visitor(fitgraph.url).fieldsOf('/login');

    visitor.cookies.set('fitgraph-login', form.csrfToken!);
    expect(
      (await visitor.post('/login', { ...form, username: 'fred', password: PASSWORD })).status,
    ).toBe(303);
    expect(visitor.cookies.get('fitgraph')).not.toBe(first);
    expect(await viewer(visitor)).toEqual({ username: 'fred' });
    visitor.cookies.set('fitgraph', first);
    expect(await viewer(visitor)).toBeNull();
  });

  it('does not adopt an id that the browser sent', async () => {
    await fitgraph.user('gil');
    const visitor = new Visitor(fitgraph.url);
    const planted = 'p'.repeat(43);

    visitor.cookies.set('fitgraph', planted);
    await visitor.signIn('gil');
    expect(visitor.cookies.get('fitgraph')).not.toBe(planted);
  });

  it.each<[string, (id: number) => Promise<unknown>]>([
    [
      'the password changes',
      (id) => setPassword(id, 'another password', fitgraph.database.createSession()),
    ],
    [
      'the account is deactivated',
      (id) => setUserActive(id, false, fitgraph.database.createSession()),
    ],
    [
      'the account is deleted',
      (id) => fitgraph.sql('DELETE FROM "user_account" WHERE "id" = $1', [id]),
    ],
  ])('ends in every browser when %s', async (why, change) => {
    const name = why.replaceAll(' ', '-');
    const visitors = [await signedIn(name), await signedIn(name)];
    const bystander = await signedIn('ida');

    await change((await fitgraph.user(name)).id);
    for (const visitor of visitors) expect(await viewer(visitor)).toBeNull();
    expect(await viewer(bystander)).toEqual({ username: 'ida' });
  });

  it('ends after 14 days and is deleted', async () => {
    const visitor = await signedIn('jo');
    const days = `extract(day from "expires" - "created")::int AS "days"`;
    const { id } = await fitgraph.user('jo');

    expect(await fitgraph.sql(`SELECT ${days} FROM "session" WHERE "user_id" = $1`, [id])).toEqual([
      { days: 14 },
    ]);
    await fitgraph.sql(
      `UPDATE "session" SET "expires" = now() - interval '1 second' WHERE "user_id" = $1`,
      [id],
    );
    expect(await viewer(visitor)).toBeNull();
    await signedIn('kim');
    expect(await fitgraph.sql('SELECT 1 FROM "session" WHERE "user_id" = $1', [id])).toEqual([]);
  });

  it('stores the time of its last use, and a digest instead of its id', async () => {
    const visitor = await signedIn('lea');
    const { id } = await fitgraph.user('lea');

    await fitgraph.sql(
      `UPDATE "session" SET "seen" = now() - interval '1 hour' WHERE "user_id" = $1`,
      [id],
    );
    await viewer(visitor);
    const [row] = await fitgraph.sql(
      `SELECT "seen" > now() - interval '1 minute' AS "fresh", "digest" FROM "session" WHERE "user_id" = $1`,
      [id],
    );

    expect(row!.fresh).toBe(true);
    expect(row!.digest.toString('latin1')).not.toContain(visitor.cookies.get('fitgraph'));
    expect(row!.digest).toHaveLength(32);
  });
});

it('escapes stored usernames on pages', async () => {
  const visitor = await signedIn('mia');
  const name = `<img src=x onerror=alert(1)>"'&`;

  await fitgraph.sql('UPDATE "user_account" SET "username" = $1 WHERE "username" = $2', [
    name,
    'mia',
  ]);

  for (const path of ['/', '/register', '/user/api-key', '/user/api-key/replace', '/playground']) {
    const { status, text } = await visitor.get(path);

    expect(status).toBeLessThan(400);
    expect(text).not.toContain('<img src=x');
  }
});

it('shows example requests with their actual responses on the start page', async () => {
  const { text } = await fitgraph.anonymous.send('GET', '/');
  const examples = [...text.matchAll(/<pre[^>]*>(?:<code[^>]*>)(.*?)<\/code>/gs)].map(([, code]) =>
    code!
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')
      .replaceAll('&gt;', '>'),
  );
  const [rest, answer, graphql, data] = examples;
  const url = /curl '([^']*)'/.exec(rest!)![1]!;

  expect(JSON.parse(answer!)).toEqual(await (await fetch(url)).json());
  const body = / -d '([^']*)'/.exec(graphql!)![1]!;

  expect(body).toContain('exercises(first: 2)');
  const sent = await fetch(`${fitgraph.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });

  expect(JSON.parse(data!)).toEqual(await sent.json());
  expect(text).toContain('src="/static/images/muscles/body.svg?main=1');
});

it('sends security headers with every page', async () => {
  for (const path of ['/', '/login', '/register', '/user', '/user/api-key', '/catalogue']) {
    const { headers } = await fitgraph.anonymous.send('GET', path);
    const policy = headers.get('content-security-policy')!;

    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('private, no-store');
  }
});

it('explains on the registration page that only the operator creates users', async () => {
  const { text } = await fitgraph.anonymous.send('GET', '/register');

  expect(text).toContain('This server has no self-registration.');
  expect(text).toContain('fitgraph user create');
});

it.each([
  ['in production', { NODE_ENV: 'production' }],
  ['with an external database', { DATABASE_URL: 'postgres://fitgraph@localhost/fitgraph' }],
])('mentions the demo account on the landing page, except %s', async (_case, environment) => {
  const other = await Fitgraph.start({ environment, sameDatabaseAs: fitgraph });

  try {
    const mentionsDemo = async ({ anonymous }: Fitgraph) =>
      (await anonymous.send('GET', '/')).text.includes('<code>demo</code>');

    expect(await Promise.all([fitgraph, other].map(mentionsDemo))).toEqual([true, false]);
  } finally {
    await other.stop();
  }
});

it.each([
  [{ TLS_CERT: 'a.pem' }, 'TLS_KEY is missing: it is required with TLS_CERT'],
  [{ TLS_KEY: 'a.pem' }, 'TLS_CERT is missing: it is required with TLS_KEY'],
  [
    { PUBLIC_URL: 'https://fit.example/?a=b' },
    'PUBLIC_URL must be a URL such as https://fit.example.com or https://example.com/fitness, not "https://fit.example/?a=b"',
  ],
  [
    { PUBLIC_URL: 'https://user:password@fit.example' },
    'PUBLIC_URL must be a URL such as https://fit.example.com or https://example.com/fitness, not "https://user:password@fit.example"',
  ],
])('rejects the configuration %j', (environment, message) =>
  expect(() => readConfig(environment)).toThrow(message),
);
