/** Login: validation, errors and rate limits. */
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile({
  environment: { LOGIN_RATE: '5/min', TRUSTED_PROXIES: '127.0.0.1,::1' },
});
const UNKNOWN = { status: 401, body: { detail: 'Username or password unknown' } };

/** Each test has its own address, so that tests do not share rate limits. */
let address = 0;
let somebody: Person;

beforeEach(() => {
  somebody = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': `10.0.0.${(address += 1)}` });
});

const login = (username: unknown, password: unknown, from = somebody) =>
  from.post('/login/', { username, password });

test('returns the same 401 for a wrong name and a wrong password', async () => {
  await fitgraph.user('ann');
  expect(await login('nobody', PASSWORD)).toMatchObject(UNKNOWN);
  const wrong = await login('ann', `${PASSWORD}!`);

  expect(wrong).toMatchObject(UNKNOWN);
  expect(wrong.headers.get('www-authenticate')).toBeNull();
  expect(await login('Ann', PASSWORD)).toMatchObject(UNKNOWN);
});

test('ignores blanks around the password', async () => {
  const { token } = await fitgraph.user('ann');

  expect(await login('ann', `  ${PASSWORD} `)).toMatchObject({ status: 200, body: { token } });
});

test('reports missing and invalid fields by name', async () => {
  const required = ['This field is required.'];

  expect(await somebody.post('/login/', {})).toMatchObject({
    status: 400,
    body: { username: required, password: required },
  });
  expect(await login(null, '')).toMatchObject({
    status: 400,
    body: { username: ['This field may not be null.'], password: ['This field may not be blank.'] },
  });
  expect((await login(['ann'], PASSWORD)).body).toEqual({ username: ['Not a valid string.'] });
  expect((await login('ann', 'short')).body).toEqual({
    password: ['Ensure this field has at least 8 characters.'],
  });
});

test('signs in and reports wrong passwords although the attempt cannot be removed from the counters', async () => {
  const { token } = await fitgraph.user('ann');

  await fitgraph.sql(`CREATE FUNCTION "full"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER "full" BEFORE UPDATE ON "login_attempt" FOR EACH ROW WHEN (NEW."points" < OLD."points") EXECUTE FUNCTION "full"()`);

  try {
    expect(await login('ann', PASSWORD)).toMatchObject({ status: 200, body: { token } });
    expect(await login('ann', `${PASSWORD}!`)).toMatchObject(UNKNOWN);
  } finally {
    await fitgraph.sql('DROP FUNCTION "full"() CASCADE');
  }
});

test('accepts a form-encoded login', async () => {
  const { token } = await fitgraph.user('ann');
  const form = new URLSearchParams({ username: 'ann', password: PASSWORD }).toString();
  const answer = await somebody
    .withHeaders({ 'Content-Type': 'application/x-www-form-urlencoded' })
    .post('/login/', form);

  expect(answer).toMatchObject({ status: 200, body: { token } });
});

test('signs in and reports errors over GraphQL', async () => {
  const { token } = await fitgraph.user('ann');
  const document =
    'mutation ($password: String!) { login(username: "ann", password: $password) { token errors { path code message } } }';

  expect(await somebody.ask(document, { password: PASSWORD })).toEqual({
    login: { token, errors: [] },
  });
  const loginError = async (password: string) => (await somebody.ask(document, { password })).login;

  for (const password of ['wrong password', 'short', '']) {
    expect(await loginError(password)).toEqual({
      token: null,
      errors: [{ path: [], code: 'WRONG_CREDENTIALS', message: 'Username or password unknown' }],
    });
  }
});

test('does not count logins that the database cannot complete', async () => {
  const { token } = await fitgraph.user('ann');

  await fitgraph.sql(`CREATE FUNCTION "locked"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'locked' USING ERRCODE = '55P03'; END $$;
    CREATE TRIGGER "locked" BEFORE UPDATE ON "user_account" FOR EACH ROW EXECUTE FUNCTION "locked"()`);

  try {
    for (let run = 0; run < 6; run += 1) expect((await login('ann', PASSWORD)).status).toBe(503);
  } finally {
    await fitgraph.sql('DROP FUNCTION "locked"() CASCADE');
  }

  expect(await login('ann', PASSWORD)).toMatchObject({ status: 200, body: { token } });
});

test('does not count successful logins as attempts', async () => {
  await fitgraph.user('ann');
  for (let run = 0; run < 14; run += 1) expect((await login('ann', PASSWORD)).status).toBe(200);
});

describe('many logins at once', () => {
  const atOnce = async (count: number, password: string) =>
    (await Promise.all(Array.from({ length: count }, () => login('ann', password)))).map(
      ({ status }) => status,
    );

  test.each([11, 30])('all succeed with the right password, %i of them', async (count) => {
    const { token } = await fitgraph.user('ann');

    expect(new Set(await atOnce(count, PASSWORD))).toEqual(new Set([200]));
    const document = `mutation { login(username: "ann", password: "${PASSWORD}") { token } }`;
    const answers = await Promise.all(Array.from({ length: count }, () => somebody.ask(document)));

    expect(new Set(answers.map((answer) => answer.login.token))).toEqual(new Set([token]));
  });

  test('check no more wrong passwords than the limit', async () => {
    await fitgraph.user('ann');
    const statuses = await atOnce(30, 'wrong password');

    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(25);
  });
});

describe('too many failed logins', () => {
  const exhaust = async (username: string, from: Person) => {
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await login(username, 'wrong password', from)).status).toBe(401);
    }
  };

  test('block even the right password, with 429 and Retry-After', async () => {
    await fitgraph.user('ann');
    await exhaust('ann', somebody);
    const answer = await login('ann', PASSWORD);
    const seconds = Number(answer.headers.get('retry-after'));

    expect(answer).toMatchObject({
      status: 429,
      body: { detail: `Request was throttled. Expected available in ${seconds} seconds.` },
    });
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    const graphql = await somebody.query(
      `mutation { login(username: "ann", password: "${PASSWORD}") { token } }`,
    );

    expect(graphql.code).toBe('TOO_MANY_REQUESTS');
    expect(graphql.errors![0]!.extensions.retryAfter).toBeGreaterThan(50);
  });

  test('block neither other names from the address nor the name from other addresses', async () => {
    await fitgraph.user('ann');
    await fitgraph.user('bob');
    await exhaust('ann', somebody);
    expect((await login('bob', PASSWORD)).status).toBe(200);
    const fromOtherAddress = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': '10.9.9.9' });

    expect((await login('ann', PASSWORD, fromOtherAddress)).status).toBe(200);
  });

  test('are counted across all instances on a database', async () => {
    await fitgraph.user('ann');
    const other = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: { LOGIN_RATE: '5/min', TRUSTED_PROXIES: '127.0.0.1,::1' },
    });

    try {
      const throughOther = other.anonymous.withHeaders({ 'X-Forwarded-For': `10.0.0.${address}` });

      for (const from of [somebody, throughOther, somebody, throughOther, somebody]) {
        expect((await login('ann', 'wrong password', from)).status).toBe(401);
      }

      expect((await login('ann', PASSWORD)).status).toBe(429);
      expect((await login('ann', PASSWORD, throughOther)).status).toBe(429);
    } finally {
      await other.stop();
    }
  });
});

describe('failed logins with many names', () => {
  const spray = async (addresses: (index: number) => string) => {
    for (let index = 0; index < 60; index += 1) {
      const from = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': addresses(index) });
      const { status, headers } = await login(`name${index}`, 'wrong password', from);

      if (status === 429) return { guesses: index, retryAfter: Number(headers.get('retry-after')) };
      expect(status).toBe(401);
    }

    return { guesses: 60 };
  };

  test('are limited per address to ten times as many in ten times as long', async () => {
    const { guesses, retryAfter } = await spray(() => '10.3.0.1');

    expect(guesses).toBe(50);
    expect(retryAfter).toBeGreaterThan(500);
  });

  test('are counted together for all addresses of an IPv6 /64 network', async () => {
    expect((await spray((index) => `2001:db8:1:2:${index.toString(16)}::${index}`)).guesses).toBe(
      50,
    );
    const other = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': '2001:db8:1:3::1' });

    expect((await login('name', 'wrong password', other)).status).toBe(401);
  });

  test('do not include successful logins', async () => {
    await fitgraph.user('ann');
    const from = (index: number) =>
      fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': `2001:db8:2:2::${index}` });

    for (let index = 0; index < 60; index += 1) {
      const name = `pupil${index}`;

      await fitgraph.sql(
        `INSERT INTO "user_account" ("username", "password", "email", "is_superuser")
         SELECT $1, "password", '', false FROM "user_account" WHERE "username" = 'ann'`,
        [name],
      );
      expect((await login(name, PASSWORD, from(index))).status).toBe(200);
    }
  });

  test('are limited in total when they come from many addresses', async () => {
    const withLowLimit = await Fitgraph.start({
      sameDatabaseAs: fitgraph,
      environment: {
        LOGIN_RATE: '5/min',
        LOGIN_RATE_TOTAL: '8/min',
        TRUSTED_PROXIES: '127.0.0.1,::1',
      },
    });

    try {
      await fitgraph.sql('DELETE FROM "login_attempt"');
      const statuses: number[] = [];

      for (let index = 0; index < 10; index += 1) {
        statuses.push(
          (
            await login(
              `name${index}`,
              'wrong password',
              withLowLimit.anonymous.withHeaders({ 'X-Forwarded-For': `10.4.0.${index}` }),
            )
          ).status,
        );
      }

      expect(statuses).toEqual([...Array(8).fill(401), 429, 429]);
      // What the total rejects does not count against the name.
      const ann = withLowLimit.anonymous.withHeaders({ 'X-Forwarded-For': '10.5.0.1' });

      for (let index = 0; index < 6; index += 1) {
        expect((await login('ann', PASSWORD, ann)).status).toBe(429);
      }

      await fitgraph.sql(`DELETE FROM "login_attempt" WHERE "key" LIKE 'login-total%'`);
      expect((await login('ann', PASSWORD, ann)).status).toBe(200);
    } finally {
      await withLowLimit.stop();
    }
  });
});

test('ignores X-Forwarded-For when no proxy is trusted', async () => {
  const withoutTrustedProxy = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { LOGIN_RATE: '2/min' },
  });

  try {
    const statuses: number[] = [];

    for (const one of ['10.1.0.1', '10.1.0.2', '10.1.0.3']) {
      statuses.push(
        (
          await login(
            'someone',
            'wrong password',
            withoutTrustedProxy.anonymous.withHeaders({ 'X-Forwarded-For': one }),
          )
        ).status,
      );
    }

    expect(statuses).toEqual([401, 401, 429]);
  } finally {
    await withoutTrustedProxy.stop();
  }
});

test('does not count logins that are rejected because too many others are running', async () => {
  const LOGINS = 120;

  await fitgraph.user('ann');
  const withHighLimit = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { LOGIN_RATE: '1000000/min', LOGIN_RATE_ADDRESS: `${LOGINS + 10}/10min` },
  });
  const loginAtOnce = async () =>
    (
      await Promise.all(
        Array.from({ length: LOGINS }, () => login('ann', PASSWORD, withHighLimit.anonymous)),
      )
    ).map(({ status }) => status);

  try {
    const statuses = await loginAtOnce();

    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(20);
    expect(new Set([...statuses, ...(await loginAtOnce())])).toEqual(new Set([200, 503]));
  } finally {
    await withHighLimit.stop();
  }
});
