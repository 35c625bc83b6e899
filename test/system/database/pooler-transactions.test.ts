/** A server behind pgbouncer in transaction mode, where all requests share a few sessions. */
import { createClient } from 'graphql-sse';
import { createUser, getOrCreateApiKey } from '../../../src/accounts/accounts';
import { TokenVault } from '../../../src/accounts/tokens';
import { isLockTimeout, isTimeout } from '../../../src/database/errors';
import { build, Installation, type Server } from '../../setup/server-process';
import { open, SECRET_KEY } from '../../setup/databases';
import type { Person } from '../../setup/person';
import { Poolers } from './through-pooler';
import { delaysOf, until } from '../../setup/waits';

/**
 * Settings of pgbouncer. It keeps fewer prepared statements than the server uses, so that it must
 * evict some.
 */
const SETTINGS =
  'pool_mode = transaction\ndefault_pool_size = 3\nmax_prepared_statements = 5\nverbose = 0';

const STATEMENT_TIMEOUT_MS = 5_000;

let poolers: Poolers;
let installation: Installation;
let servers: Server[];
let ann: Person;
let token: string;

beforeAll(async () => {
  build();
  poolers = await Poolers.start();
  const database = open(poolers.directDatabase.connection);
  const id = await createUser(
    { username: 'ann', password: 'a good password' },
    database.createSession(),
  );

  token = await getOrCreateApiKey(id, database.createSession(), new TokenVault(SECRET_KEY));
  await database.close();
  const url = await poolers.through(SETTINGS);

  installation = new Installation({
    DATABASE_URL: url,
    DATABASE_LISTEN_URL: poolers.directDatabase.url,
    SECRET_KEY,
    TIME_ZONE: 'Asia/Tokyo',
    STATEMENT_TIMEOUT: `${STATEMENT_TIMEOUT_MS}ms`,
    BUDGET: 'off',
  });
  servers = [await installation.start(), await installation.start()];
  ann = servers[0]!.signedIn(token);
});
afterAll(async () => {
  await installation.remove();
  await poolers.close();
});

test('doctor does not compare the connections of the workers with those that PostgreSQL allows', async () => {
  const { stdout } = await installation.command('doctor');

  expect(stdout).toMatch(/^ok {4}Connections: the workers share those of a pooler$/m);
});

test('answers concurrent reads and writes of two instances correctly', async () => {
  const paths = [
    '/exercise/',
    '/exerciseinfo/',
    '/muscle/',
    '/ingredient/',
    '/workout/',
    '/weightentry/',
    '/userprofile/',
    '/nutritionplan/',
  ];
  const answers = await Promise.all(paths.map((path) => ann.get(path)));

  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  const withoutPort = (text: string) => text.replaceAll(/localhost:\d+/g, 'here');
  let written = 0;

  const work = async (worker: number) => {
    const person = ann.atInstance(servers[worker % 2]!.url);

    for (let times = 0; times < 12; times += 1) {
      const which = (worker + times) % 4;

      expect(withoutPort((await person.get(paths[which]!)).text)).toBe(
        withoutPort(answers[which]!.text),
      );
      const { status, body } = await person.post('/workout/', { comment: `${worker} ${times}` });

      expect(status).toBe(201);
      written += 1;
      expect(
        (await person.patch(`/workout/${body.id}/`, { comment: `again ${worker} ${times}` })).body
          .comment,
      ).toBe(`again ${worker} ${times}`);
      expect(
        (await person.get(`/workout/?ordering=-id&limit=1&comment=again ${worker} ${times}`)).body
          .count,
      ).toBe(1);
    }
  };

  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
  expect((await ann.get('/workout/?limit=1')).body.count).toBe(written);
  const bad = await ann.post('/workout/', { comment: 'x'.repeat(10_000) });

  expect(bad.status).toBe(400);
});

test('delivers the changes of another instance to a subscriber', async () => {
  const client = createClient({
    url: `${servers[1]!.url}/graphql/stream`,
    headers: { Authorization: `Token ${token}` },
  });
  const receivedChanges: string[] = [];
  let isSubscribed = false;
  const subscription = (async () => {
    for await (const { data } of client.iterate({
      query: 'subscription { changed { changes { type operation } } }',
    })) {
      isSubscribed = true;
      const { changed } = data as { changed: { changes: { type: string; operation: string }[] } };

      receivedChanges.push(...changed.changes.map(({ type, operation }) => `${type} ${operation}`));
    }
  })();

  await until('the subscription is active', () => isSubscribed);
  await ann.post('/weightentry/', { date: '2026-01-01', weight: '80' });
  await until('the change is received', () => receivedChanges.includes('WEIGHT_ENTRY CREATED'));
  client.dispose();
  await subscription.catch(() => undefined);
});

test('ends slow statements of all clients and lock waits at their timeouts', async () => {
  const { database, close } = await poolers.open(await poolers.through(SETTINGS), {
    DATABASE_LISTEN_URL: poolers.directDatabase.url,
    STATEMENT_TIMEOUT: '1s',
    ANONYMOUS_TIMEOUT: '300ms',
    LOCK_TIMEOUT: '200ms',
  });
  const errorKind = (error: unknown) => ({
    timeout: isTimeout(error),
    locked: isLockTimeout(error),
  });

  try {
    for (const pool of ['users', 'anonymous'] as const) {
      const session = database.createSession();

      session.setClient(pool, 1);
      // Longer than the time limit of a test, so that only the statement timeout can end it in
      // time.
      expect(await session.query('SELECT pg_sleep(3600)').catch(errorKind)).toEqual({
        timeout: true,
        locked: false,
      });
    }

    const session = database.createSession();

    session.setClient('users', 1);
    const blocker = await database.withoutTimeouts(async (client) => {
      await client.query('BEGIN; LOCK TABLE "workout"');
      const waiting = await session.query('SELECT 1 FROM "workout"').catch(errorKind);

      await client.query('ROLLBACK');
      return waiting;
    });

    expect(blocker).toEqual({ timeout: false, locked: true });
    const writing = await database
      .createSession()
      .transaction((transaction) => transaction.query('SELECT pg_sleep(3600)'))
      .catch(errorKind);

    expect(writing).toEqual({ timeout: true, locked: false });
    // The timeouts do not leak to other sessions.
    const leakedTimeouts = await Promise.all(
      Array.from({ length: 10 }, () =>
        database.pool.query(`SELECT current_setting('statement_timeout') AS "timeout"`),
      ),
    );

    expect(leakedTimeouts.map(({ rows }) => rows[0].timeout)).toEqual(
      leakedTimeouts.map(() => '0'),
    );
  } finally {
    await close();
  }
});

test('answers correctly after failures of prepared and new statements', async () => {
  const { database, close } = await poolers.open(await poolers.through(SETTINGS), {
    DATABASE_LISTEN_URL: poolers.directDatabase.url,
  });
  const session = database.createSession();

  session.setClient('users', 1);
  const texts = Array.from(
    { length: 12 },
    (_, number) => `SELECT 60 / $1::int AS "quotient", ${number} AS "number"`,
  );

  try {
    for (let times = 0; times < 6; times += 1) {
      await Promise.all(
        texts.map(async (text, number) => {
          expect(await session.query(text, [2])).toEqual([{ quotient: 30, number }]);
          await expect(session.query(text, [0])).rejects.toThrow('division by zero');
          await expect(session.query(text, ['x'])).rejects.toThrow('invalid input');
          await expect(session.query(`${text} FROM nowhere`, [2])).rejects.toThrow('nowhere');
          expect(await session.query(text, [3])).toEqual([{ quotient: 20, number }]);
        }),
      );
    }
  } finally {
    await close();
  }
});

test('cancels the running statement of a client that has disconnected', async () => {
  const { database, close } = await poolers.open(await poolers.through(SETTINGS), {
    DATABASE_LISTEN_URL: poolers.directDatabase.url,
  });

  try {
    const countRunning = async () =>
      Number(
        (
          await database.withoutTimeouts((client) =>
            client.query(
              `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%1234.5%' AND state = 'active' AND pid <> pg_backend_pid()`,
            ),
          )
        ).rows[0].count,
      );
    const session = database.createSession();

    session.setClient('users', 1);
    const query = session.query('SELECT pg_sleep(1234.5)').catch((error: Error) => error.message);

    await until('the statement runs', async () => (await countRunning()) === 1);
    session.cancelReads();
    expect(await query).toBe('the client has disconnected');
    await until('the statement is cancelled', async () => (await countRunning()) === 0);
  } finally {
    await close();
  }
});

test('returns 503 with Retry-After while the pooler is frozen, and recovers afterwards', async () => {
  const delays = delaysOf();
  const began = performance.now();

  poolers.signal(0, 'SIGSTOP');

  try {
    const answers = await Promise.all([
      ann.post('/workout/', { comment: 'silence' }),
      ann.get('/workout/?limit=1'),
    ]);

    for (const { status, headers } of answers) {
      expect({ status, retryAfter: headers.get('retry-after') }).toEqual({
        status: 503,
        retryAfter: expect.any(String),
      });
    }

    expect(performance.now() - began - delays()).toBeLessThan(STATEMENT_TIMEOUT_MS + 3_000);
  } finally {
    poolers.signal(0, 'SIGCONT');
  }

  await until(
    'the server answers again',
    async () => (await ann.get('/workout/?limit=1')).status === 200,
  );
});
