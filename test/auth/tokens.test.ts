/** Tokens: what the database holds of them, and what becomes of them under another key. */
import { TokenVault } from '../../src/auth/tokens';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const login = (username: string, password: string) => fitgraph.anyone.post('/login/', { username, password });

test('a login answers the same token every time', async () => {
  const ann = await fitgraph.user('ann');
  const answers = await Promise.all([login('ann', PASSWORD), login('ann', PASSWORD)]);
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { token: ann.token } });
  expect(ann.token).toMatch(/^[0-9a-f]{40}$/);
});

test('two first logins at once get the same token', async () => {
  await fitgraph.user('twin');
  await fitgraph.sql(`DELETE FROM "token" WHERE "user_id" = (SELECT "id" FROM "user_account" WHERE "username" = 'twin')`);
  const [one, two] = await Promise.all([login('twin', PASSWORD), login('twin', PASSWORD)]);
  expect(one.body.token).toMatch(/^[0-9a-f]{40}$/);
  expect(two.body).toEqual(one.body);
});

test('the database holds neither token nor password in plain', async () => {
  const ann = await fitgraph.user('ann');
  const [row] = await fitgraph.sql(`SELECT t.*, u.* FROM "token" t JOIN "user_account" u ON u."id" = t."user_id" WHERE u."id" = $1`, [
    ann.id,
  ]);
  const held = Object.values(row!).map((value) =>
    Buffer.isBuffer(value) ? `${value.toString('latin1')} ${value.toString('hex')}` : String(value),
  );
  for (const secret of [ann.token, Buffer.from(ann.token).toString('hex'), PASSWORD]) expect(held.join(' ')).not.toContain(secret);
});

test('a sealed token opens with its own key only, and not when it was changed', () => {
  const vault = new TokenVault('one key, long enough for the purpose');
  const sealed = vault.seal('0123456789');
  expect(vault.open(sealed)).toBe('0123456789');
  expect(new TokenVault('another key, long enough for the purpose').open(sealed)).toBeUndefined();
  for (const index of [0, 12, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(vault.open(changed)).toBeUndefined();
  }
  expect(vault.open(sealed.subarray(0, 5))).toBeUndefined();
  expect(vault.seal('0123456789')).not.toEqual(sealed);
});

test('under another SECRET_KEY the old token works until a login makes a new one', async () => {
  const cleo = await fitgraph.user('cleo');
  const other = await Fitgraph.start({ beside: fitgraph, environment: { SECRET_KEY: 'another secret key, also long enough' } });
  try {
    const old = other.anyone.sending({ Authorization: `Token ${cleo.token}` });
    expect((await old.get('/workout/')).status).toBe(200);
    const { body } = await other.anyone.post('/login/', { username: 'cleo', password: PASSWORD });
    expect(body.token).not.toBe(cleo.token);
    expect(await old.get('/workout/')).toMatchObject({ status: 403, body: { detail: 'Invalid token.' } });
    const fresh = other.anyone.sending({ Authorization: `Token ${body.token}` });
    expect((await fresh.get('/workout/')).status).toBe(200);
  } finally {
    await other.stop();
  }
});

describe('the Authorization header', () => {
  const withHeader = (header: string, path = '/workout/') => fitgraph.anyone.sending({ Authorization: header }).get(path);
  const MISSING = 'Authentication credentials were not provided.';

  test.each([
    ['Token', 'Invalid token header. No credentials provided.'],
    ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
    ['Token \u00ff\u00fe', 'Invalid token header. Token string should not contain invalid characters.'],
    ['Token 0123456789012345678901234567890123456789', 'Invalid token.'],
    ['Bearer 0123456789012345678901234567890123456789', MISSING],
    ['Basic YW5uOnBhc3N3b3Jk', MISSING],
    ['0123456789012345678901234567890123456789', MISSING],
  ])('%j is refused with 403: %s', async (header, detail) => {
    const answer = await withHeader(header);
    expect(answer).toMatchObject({ status: 403, body: { detail } });
    expect(answer.headers.get('www-authenticate')).toBeNull();
    // A bad token is refused where none is needed, too; another scheme counts as nobody's.
    expect((await withHeader(header, '/language/')).status).toBe(detail === MISSING ? 200 : 403);
    expect((await withHeader(header, '/')).status).toBe(detail === MISSING ? 200 : 403);
  });

  test('the scheme is read in any case, with blanks around', async () => {
    const { token } = await fitgraph.user('ann');
    for (const header of [`token ${token}`, `TOKEN   ${token}`, ` Token ${token} `]) expect((await withHeader(header)).status).toBe(200);
  });

  test('an inactive user is refused, by token and by password', async () => {
    const { token, id } = await fitgraph.user('ina');
    await fitgraph.sql('UPDATE "user_account" SET "is_active" = false WHERE "id" = $1', [id]);
    expect(await withHeader(`Token ${token}`)).toMatchObject({ status: 403, body: { detail: 'User inactive or deleted.' } });
    expect(await login('ina', PASSWORD)).toMatchObject({ status: 401, body: { detail: 'Username or password unknown' } });
  });
});
