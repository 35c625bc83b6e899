/** Tokens: storage, change of SECRET_KEY and the Authorization header. */
import { TokenVault } from '../../src/accounts/tokens';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const login = (username: string, password: string) =>
  fitgraph.anonymous.post('/login/', { username, password });

test('returns the same token at every login', async () => {
  const ann = await fitgraph.user('ann');
  const answers = await Promise.all([login('ann', PASSWORD), login('ann', PASSWORD)]);

  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 200, body: { token: ann.token } });
  }

  expect(ann.token).toMatch(/^[0-9a-f]{40}$/);
});

test('returns the same token to two concurrent first logins', async () => {
  await fitgraph.user('twin');
  await fitgraph.sql(
    `DELETE FROM "token" WHERE "user_id" = (SELECT "id" FROM "user_account" WHERE "username" = 'twin')`,
  );
  const [one, two] = await Promise.all([login('twin', PASSWORD), login('twin', PASSWORD)]);

  expect(one.body.token).toMatch(/^[0-9a-f]{40}$/);
  expect(two.body).toEqual(one.body);
});

test('stores neither token nor password in plain text', async () => {
  const ann = await fitgraph.user('ann');
  const [row] = await fitgraph.sql(
    `SELECT t.*, u.* FROM "token" t JOIN "user_account" u ON u."id" = t."user_id" WHERE u."id" = $1`,
    [ann.id],
  );
  const storedValues = Object.values(row!).map((value) =>
    Buffer.isBuffer(value) ? `${value.toString('latin1')} ${value.toString('hex')}` : String(value),
  );

  for (const secret of [ann.token, Buffer.from(ann.token).toString('hex'), PASSWORD]) {
    expect(storedValues.join(' ')).not.toContain(secret);
  }
});

test('opens a sealed token only with its own key and only if it is unmodified', () => {
  const tokenVault = new TokenVault('one key, long enough for the purpose');
  const sealed = tokenVault.encrypt('0123456789');

  expect(tokenVault.decrypt(sealed)).toBe('0123456789');
  expect(
    new TokenVault('another key, long enough for the purpose').decrypt(sealed),
  ).toBeUndefined();

  for (const index of [0, 12, sealed.length - 1]) {
    const changed = Buffer.from(sealed);

    changed[index]! ^= 1;
    expect(tokenVault.decrypt(changed)).toBeUndefined();
  }

  expect(tokenVault.decrypt(sealed.subarray(0, 5))).toBeUndefined();
  expect(tokenVault.encrypt('0123456789')).not.toEqual(sealed);
});

test('never replaces a token that another SECRET_KEY has encrypted', async () => {
  const cleo = await fitgraph.user('cleo');
  const other = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { SECRET_KEY: 'another secret key, also long enough' },
  });

  try {
    const old = other.anonymous.withHeaders({ Authorization: `Token ${cleo.token}` });

    expect((await old.get('/workout/')).status).toBe(200);
    expect(
      await other.anonymous.post('/login/', { username: 'cleo', password: PASSWORD }),
    ).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringMatching(
          /^The token was encrypted with another SECRET_KEY and cannot be shown\. It remains valid/,
        ),
      },
    });
    const signIn = `mutation { login(username: "cleo", password: "${PASSWORD}") { token } }`;

    expect(await other.anonymous.query(signIn)).toMatchObject({ code: 'CONFLICT' });
    expect((await old.get('/workout/')).status).toBe(200);
    expect(await login('cleo', PASSWORD)).toMatchObject({
      status: 200,
      body: { token: cleo.token },
    });
    // The owner can replace the token, which then is encrypted with the new key.
    const { replaceToken } = await old.ask('mutation { replaceToken { token } }');

    expect(await old.get('/workout/')).toMatchObject({
      status: 403,
      body: { detail: 'Invalid token.' },
    });
    expect(
      await other.anonymous.post('/login/', { username: 'cleo', password: PASSWORD }),
    ).toMatchObject({
      status: 200,
      body: replaceToken,
    });
  } finally {
    await other.stop();
  }
});

describe('the Authorization header', () => {
  const withHeader = (header: string, path = '/workout/') =>
    fitgraph.anonymous.withHeaders({ Authorization: header }).get(path);
  const MISSING = 'Authentication credentials were not provided.';

  test.each([
    ['Token', 'Invalid token header. No credentials provided.'],
    ['Token a b', 'Invalid token header. Token string should not contain spaces.'],
    [
      'Token \u00ff\u00fe',
      'Invalid token header. Token string should not contain invalid characters.',
    ],
    ['Token 0123456789012345678901234567890123456789', 'Invalid token.'],
    ['Bearer 0123456789012345678901234567890123456789', MISSING],
    ['Basic YW5uOnBhc3N3b3Jk', MISSING],
    ['0123456789012345678901234567890123456789', MISSING],
  ])('is rejected with 403 when it is %j: %s', async (header, detail) => {
    const answer = await withHeader(header);

    expect(answer).toMatchObject({ status: 403, body: { detail } });
    expect(answer.headers.get('www-authenticate')).toBeNull();
    // An invalid token is rejected on public endpoints, too; another scheme counts as anonymous.
    expect((await withHeader(header, '/language/')).status).toBe(detail === MISSING ? 200 : 403);
    expect((await withHeader(header, '/')).status).toBe(detail === MISSING ? 200 : 403);
  });

  test('is accepted with a scheme in any case and with surrounding blanks', async () => {
    const { token } = await fitgraph.user('ann');

    for (const header of [`token ${token}`, `TOKEN   ${token}`, ` Token ${token} `]) {
      expect((await withHeader(header)).status).toBe(200);
    }
  });

  test('is rejected for an inactive user, as a login is', async () => {
    const { token, id } = await fitgraph.user('ina');

    await fitgraph.sql('UPDATE "user_account" SET "is_active" = false WHERE "id" = $1', [id]);
    expect(await withHeader(`Token ${token}`)).toMatchObject({
      status: 403,
      body: { detail: 'User inactive or deleted.' },
    });
    expect(await login('ina', PASSWORD)).toMatchObject({
      status: 401,
      body: { detail: 'Username or password unknown' },
    });
  });
});
