/** Account page: profile, preferences, password, sessions and deletion, by plain HTML forms. */
import { fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { holding, waitForLocks } from '../../setup/locks';
import { createOwnedRows } from '../../setup/owned-rows';
import { alertOf, Visitor, type Page } from '../../setup/visitor';

const fitgraph = fitgraphForThisFile();
const PATH = '/user';

async function signedIn(username: string): Promise<Visitor> {
  await fitgraph.user(username);
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  expect((await visitor.signIn(username)).headers.get('location')).toBe('/api/v2/');
  return visitor;
}

async function send(
  visitor: Visitor,
  button: RegExp,
  fields: Record<string, string>,
  path = PATH,
): Promise<Page> {
  const hiddenFields = await visitor.fieldsOf(path, button);

  expect(hiddenFields.csrfToken).toBeDefined();
  return visitor.post(path, { ...hiddenFields, ...fields });
}

const PROFILE = {
  firstName: 'Ann',
  lastName: 'Lee',
  email: 'ann@example.com',
  unitSystem: 'IMPERIAL',
  preferredLanguageId: '',
  timeZone: 'Asia/Tokyo',
};
const PROFILE_QUERY =
  '{ viewer { firstName lastName email profile { unitSystem timeZone preferredLanguageId } } }';

it('leads anonymous visitors to the login page and back', async () => {
  const { status, headers } = await new Visitor(fitgraph.url).get(PATH);

  expect([status, headers.get('location')]).toEqual([303, '/login?next=%2Fuser']);
});

it('saves names, e-mail address, unit, language and time zone', async () => {
  const visitor = await signedIn('ann');
  const [{ id }] = (await fitgraph.sql(
    `SELECT "id" FROM "language" WHERE "short_name" = 'de'`,
  )) as [{ id: number }];
  const page = await send(visitor, /save-profile/, { ...PROFILE, preferredLanguageId: String(id) });

  expect([page.status, page.headers.get('location')]).toEqual([303, '/user?saved']);
  const saved = (await visitor.get('/user?saved')).text;

  expect(saved).toContain('Saved.');
  expect(saved).toContain('Asia/Tokyo</span>');
  expect((await (await fitgraph.user('ann')).ask(PROFILE_QUERY)).viewer).toEqual({
    firstName: 'Ann',
    lastName: 'Lee',
    email: 'ann@example.com',
    profile: { unitSystem: 'IMPERIAL', timeZone: 'Asia/Tokyo', preferredLanguageId: String(id) },
  });

  const shown = (await visitor.get(PATH)).text;

  expect(shown).toContain('value="ann@example.com"');
  expect(shown).toMatch(/<option value="Asia\/Tokyo" selected>/);
  expect(shown).toMatch(/<option value="IMPERIAL" selected>/);
  await send(visitor, /save-profile/, { ...PROFILE, timeZone: '', unitSystem: 'METRIC' });
  expect((await (await fitgraph.user('ann')).ask(PROFILE_QUERY)).viewer.profile).toEqual({
    unitSystem: 'METRIC',
    timeZone: null,
    preferredLanguageId: null,
  });
});

it.each([
  [{ email: 'nonsense' }, 'Email: Enter a valid e-mail address.'],
  [{ timeZone: 'Mars/Olympus' }, 'Time zone: Ensure that this is a zone'],
  [{ preferredLanguageId: '999999' }, 'Preferred language'],
  [{ unitSystem: 'STONES' }, 'STONES'],
  [{ firstName: 'x'.repeat(151) }, 'First name: '],
])('saves nothing and keeps the values with %j', async (invalid, message) => {
  const visitor = await signedIn('bob');
  const page = await send(visitor, /save-profile/, { ...PROFILE, lastName: 'Kept', ...invalid });

  expect(page.status).toBe(400);
  expect(alertOf(page.text)).toContain(message);
  expect(page.text).toContain('value="Kept"');
  expect((await (await fitgraph.user('bob')).ask(PROFILE_QUERY)).viewer.lastName).toBe('');
});

it('changes the password, and signs out other browsers', async () => {
  const visitor = await signedIn('cleo');
  const other = await signedIn('cleo');
  const wrong = await send(visitor, /change-password/, {
    oldPassword: 'wrong password',
    newPassword: '12345678',
  });

  expect(wrong.status).toBe(400);
  expect(alertOf(wrong.text)).toContain('Old password: This is not your password.');
  expect(wrong.text).toContain('New password: The password must not consist of digits');
  const changed = await send(visitor, /change-password/, {
    oldPassword: PASSWORD,
    newPassword: 'another good password',
  });

  expect([changed.status, changed.text.includes('Your password was changed.')]).toEqual([
    200,
    true,
  ]);
  expect((await visitor.get(PATH)).status).toBe(200);
  expect((await other.get(PATH)).status).toBe(303);
  expect((await new Visitor(fitgraph.url).signIn('cleo', 'another good password')).status).toBe(
    303,
  );
});

it('lists the sessions, and ends one of another browser or all', async () => {
  const visitor = await signedIn('dora');
  const other = await signedIn('dora');
  const stranger = await signedIn('eve');

  expect((await visitor.get(PATH)).text).toContain('this browser');
  const fields = await visitor.fieldsOf(PATH, /name="id"/);

  // The session of another user stays.
  await stranger.post(PATH, {
    ...(await stranger.fieldsOf(PATH, /save-profile/)),
    ...fields,
    csrfToken: await stranger.csrfToken(),
  });
  expect((await other.get(PATH)).status).toBe(200);

  for (const id of ['', 'x', '\0']) {
    expect((await visitor.post(PATH, { ...fields, id })).status).toBe(200);
  }

  expect((await other.get(PATH)).status).toBe(200);
  await visitor.post(PATH, fields);
  expect((await other.get(PATH)).status).toBe(303);
  expect((await visitor.get(PATH)).status).toBe(200);
  const ended = await send(visitor, /end-sessions/, {});

  expect([ended.status, ended.headers.get('location')]).toEqual([303, '/login']);
  expect((await visitor.get(PATH)).status).toBe(303);
});

it('rejects each action without the CSRF token', async () => {
  const visitor = await signedIn('finn');

  for (const action of ['save-profile', 'change-password', 'end-session', 'end-sessions']) {
    expect((await visitor.post(PATH, { action })).status).toBe(403);
  }

  expect((await visitor.post(`${PATH}/delete`, { username: 'finn' })).status).toBe(403);
});

it('deletes the account and all its data after the user name is typed', async () => {
  const person = await fitgraph.user('gone');

  await createOwnedRows(person);
  const visitor = await signedIn('gone');
  const path = `${PATH}/delete`;
  const { text } = await visitor.get(path);

  expect(text).toMatch(/<li>Workouts: (<!-- -->)?[1-9]/);
  expect(text).toMatch(/<li>Weight entries: (<!-- -->)?[1-9]/);
  const refused = await send(visitor, /Delete the account/, { username: 'someone' }, path);

  expect([refused.status, alertOf(refused.text)]).toEqual([400, expect.any(String)]);
  expect((await visitor.get(PATH)).status).toBe(200);
  const deleted = await send(visitor, /Delete the account/, { username: ' gone ' }, path);

  expect([deleted.status, deleted.headers.get('location')]).toEqual([303, '/']);
  expect((await visitor.get(PATH)).status).toBe(303);
  expect(await fitgraph.sql('SELECT FROM "user_account" WHERE "id" = $1', [person.id])).toEqual([]);
  expect(await fitgraph.sql('SELECT FROM "workout" WHERE "user_id" = $1', [person.id])).toEqual([]);
  expect(
    await fitgraph.sql(
      `SELECT FROM "security_event" WHERE "user_id" = $1 AND "kind" = 'ACCOUNT_DELETED'`,
      [person.id],
    ),
  ).toHaveLength(1);
});

it('keeps the account of a superuser, and of a session that has ended meanwhile', async () => {
  const chief = await fitgraph.user('chief', { isSuperuser: true });
  const visitor = new Visitor(fitgraph.url, { Accept: 'text/html' });

  await visitor.signIn('chief');
  const refused = await send(
    visitor,
    /Delete the account/,
    { username: 'chief' },
    `${PATH}/delete`,
  );

  expect([refused.status, alertOf(refused.text)]).toEqual([
    403,
    expect.stringContaining('Superusers cannot delete themselves'),
  ]);
  expect((await chief.ask('{ viewer { username } }')).viewer.username).toBe('chief');

  const person = await fitgraph.user('robbed');
  const thief = await signedIn('robbed');
  const fields = await thief.fieldsOf(`${PATH}/delete`, /Delete the account/);
  let answer!: Promise<Page>;

  await holding(
    fitgraph,
    'UPDATE "user_account" SET "password" = $2 WHERE "id" = $1',
    [person.id, 'x'],
    async () => {
      answer = thief.post(`${PATH}/delete`, { ...fields, username: 'robbed' });
      await waitForLocks(fitgraph, 1, answer);
    },
  );
  expect((await answer).status).toBe(401);
  expect(
    await fitgraph.sql('SELECT FROM "user_account" WHERE "id" = $1', [person.id]),
  ).toHaveLength(1);
});

it('shows the page of an account without a profile', async () => {
  const { id } = await fitgraph.user('bare');
  const visitor = await signedIn('bare');

  await fitgraph.sql('DELETE FROM "user_profile" WHERE "user_id" = $1', [id]);
  expect((await visitor.get(PATH)).status).toBe(200);
  const page = await send(visitor, /save-profile/, PROFILE);

  expect([page.status, alertOf(page.text)]).toEqual([400, expect.any(String)]);
});

it('links the account page from the user name, and the API key from the account page', async () => {
  const visitor = await signedIn('hana');

  expect((await visitor.get('/')).text).toContain('<a href="/user">hana</a>');
  expect((await visitor.get(PATH)).text).toContain('href="/user/api-key"');
  expect((await visitor.get('/login')).headers.get('location')).toBe('/api/v2/');
});

it('needs the same number of statements however much data there is', async () => {
  const person = await fitgraph.user('iris');
  const visitor = await signedIn('iris');
  const statements = async (path: string) =>
    /"(\d+) statements"/.exec((await visitor.get(path)).headers.get('server-timing') ?? '')?.[1];
  const before = [await statements(PATH), await statements(`${PATH}/delete`)];

  await createOwnedRows(person);
  await signedIn('iris');
  expect([await statements(PATH), await statements(`${PATH}/delete`)]).toEqual(before);
});
