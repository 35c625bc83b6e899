/** Links by which users set their password: one use, expiry, replacement, rate limit, secrecy. */
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { alertOf, Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile({
  environment: { LOGIN_RATE_ADDRESS: '5/10s', TRUSTED_PROXIES: '127.0.0.1, ::1' },
});
let root: Person;
let addresses = 0;

beforeAll(async () => {
  root = await fitgraph.user('root', { isSuperuser: true });
});

/** A visitor with an address of its own, because failures are limited per address. */
const newVisitor = () =>
  new Visitor(fitgraph.url, { 'X-Forwarded-For': `203.0.113.${(addresses += 1)}` });

async function linkFor({ id }: Person): Promise<string> {
  const { createPasswordLink } = await root.ask(
    `mutation { createPasswordLink(id: ${id}) { url expiresAt } }`,
  );
  const hours = (Date.parse(createPasswordLink.expiresAt) - Date.now()) / 3_600_000;

  expect(hours).toBeGreaterThan(23.9);
  expect(hours).toBeLessThan(24.1);
  expect(createPasswordLink.url).toMatch(/^http:\/\/.*\/user\/set-password\?token=[\w-]{43}$/);
  return createPasswordLink.url.slice(fitgraph.url.length) as string;
}

const signInStatus = async (username: string, password: string) =>
  (await newVisitor().signIn(username, password)).status;

const usersWithLink = async (...ids: number[]) =>
  (await fitgraph.sql('SELECT "user_id" FROM "password_link" WHERE "user_id" = ANY($1)', [ids]))
    .length;

test('sets the password once, signs out all browsers and revokes all tokens', async () => {
  const ann = await fitgraph.user('ann');
  const browser = newVisitor();

  await browser.signIn('ann');
  const link = await linkFor(ann);
  const visitor = newVisitor();
  const { status, text, headers } = await visitor.get(link);

  expect([status, text.includes('autocomplete="new-password"')]).toEqual([200, true]);
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('cache-control')).toContain('no-store');
  const answer = await visitor.post(link, { password: ' chosen password ' });

  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/login']);
  expect((await browser.get('/user/api-key')).status).toBe(303);
  expect((await ann.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
  expect(await signInStatus('ann', PASSWORD)).toBe(401);
  expect(await signInStatus('ann', 'chosen password')).toBe(303);

  const again = await visitor.post(link, { password: 'another password' });

  expect([again.status, alertOf(again.text) ?? again.text]).toEqual([
    401,
    expect.stringContaining('invalid, expired or already used'),
  ]);
  expect(await signInStatus('ann', 'chosen password')).toBe(303);
  expect(
    await fitgraph.sql(
      `SELECT "kind", "operator" FROM "security_event" WHERE "user_id" = $1 AND "kind" LIKE 'PASSWORD%' ORDER BY "id"`,
      [ann.id],
    ),
  ).toEqual([
    { kind: 'PASSWORD_LINK_CREATED', operator: 'superuser root' },
    { kind: 'PASSWORD_CHANGED', operator: null },
  ]);
});

test('needs no session, and works in a browser in which somebody else is signed in', async () => {
  const bob = await fitgraph.user('bob');

  await fitgraph.user('other');
  const visitor = newVisitor();

  await visitor.signIn('other');
  expect((await visitor.post(await linkFor(bob), { password: 'chosen password' })).status).toBe(
    303,
  );
  expect(await signInStatus('bob', 'chosen password')).toBe(303);
});

test('sets one password when it is used several times at once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const name = `racer${round}`;
    const link = await linkFor(await fitgraph.user(name));
    const passwords = Array.from({ length: 4 }, (_, index) => `password number ${index}`);
    const answers = await Promise.all(
      passwords.map((password) => newVisitor().post(link, { password })),
    );
    const accepted = passwords.filter((_, index) => answers[index]!.status === 303);

    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401]);
    expect(await signInStatus(name, accepted[0]!)).toBe(303);
    expect(
      await fitgraph.sql(
        `SELECT FROM "security_event" e JOIN "user_account" u ON u."id" = e."user_id" WHERE u."username" = $1 AND e."kind" = 'PASSWORD_CHANGED'`,
        [name],
      ),
    ).toHaveLength(1);
  }
});

test('is replaced by a newer one, also when several are created at once', async () => {
  const carl = await fitgraph.user('carl');
  const old = await linkFor(carl);
  const links = await Promise.all(Array.from({ length: 4 }, () => linkFor(carl)));

  expect(await usersWithLink(carl.id)).toBe(1);
  expect((await newVisitor().post(old, { password: 'chosen password' })).status).toBe(401);
  const statuses = [];

  for (const link of links) {
    statuses.push((await newVisitor().post(link, { password: 'chosen password' })).status);
  }

  expect(statuses.sort()).toEqual([303, 401, 401, 401]);
});

test('expires after a day', async () => {
  const dora = await fitgraph.user('dora');
  const link = await linkFor(dora);

  await fitgraph.sql(
    `UPDATE "password_link" SET "expires_at" = now() - interval '1 second' WHERE "user_id" = $1`,
    [dora.id],
  );
  expect((await newVisitor().post(link, { password: 'chosen password' })).status).toBe(401);
  expect(await signInStatus('dora', PASSWORD)).toBe(303);
});

test('ends with a change of the password, and with the account', async () => {
  const [erik, fred] = [await fitgraph.user('erik'), await fitgraph.user('fred')];
  const link = await linkFor(erik);

  await linkFor(fred);
  await erik.ask(
    `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "another password") { token } }`,
  );
  await root.ask(`mutation { deleteUser(id: ${fred.id}) { id } }`);
  expect(await usersWithLink(erik.id, fred.id)).toBe(0);
  expect((await newVisitor().post(link, { password: 'chosen password' })).status).toBe(401);
});

test('requires a password that the policy accepts, and stays valid until then', async () => {
  const link = await linkFor(await fitgraph.user('gina'));
  const visitor = newVisitor();

  for (const password of ['', 'short', '123456789', 'x'.repeat(1001)]) {
    const { status, text } = await visitor.post(link, { password });

    expect([status, alertOf(text)]).toEqual([400, expect.stringContaining('The password must')]);
    // The form of the answer works.
    expect(text).toContain(`action="${link}"`);
  }

  expect((await visitor.post(link, { password: 'chosen password' })).status).toBe(303);
});

test('limits guesses per address, like sign-ins', async () => {
  const visitor = newVisitor();
  const statuses = [];

  for (let guess = 0; guess < 7; guess += 1) {
    const path = `/user/set-password?token=${'x'.repeat(42)}${guess}`;

    statuses.push((await visitor.post(path, { password: 'chosen password' })).status);
  }

  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const link = await linkFor(await fitgraph.user('patient'));
  const { text, headers } = await visitor.post(link, { password: 'chosen password' });

  expect([alertOf(text), Number(headers.get('retry-after'))]).toEqual([
    expect.stringContaining('throttled'),
    expect.any(Number),
  ]);
  expect(text).toContain(`action="${link}"`);
});

test('is stored as a digest only, and not logged', async () => {
  const hana = await fitgraph.user('hana');
  const link = await linkFor(hana);
  const token = link.split('=')[1]!;

  await newVisitor().get(link);
  expect(JSON.stringify(await fitgraph.sql('SELECT * FROM "password_link"'))).not.toContain(token);
  expect(JSON.stringify(await fitgraph.sql('SELECT * FROM "security_event"'))).not.toContain(token);
  await newVisitor().post(link, { password: 'chosen password' });
  const logged = fitgraph.logged.join('\n');

  expect(logged).toContain('/user/set-password');
  expect(logged).not.toContain(token);
});

test('escapes the token of a faulty link', async () => {
  const { text } = await newVisitor().get('/user/set-password?token=%22%3E%3Cscript%3E');

  expect(text).not.toContain('<script>');
});
