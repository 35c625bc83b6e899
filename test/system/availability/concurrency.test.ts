/**
 * Concurrency limits: excess requests are rejected with Retry-After, and other clients stay served.
 */
import { Client } from 'pg';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { delaysOf, until } from '../../setup/waits';

const WAIT_MS = 1_500;
const QUEUE_LENGTH = 30;

/** Number of connections for the reads of users. */
const DATABASE_POOL = 10;
const BLOCKED_REQUESTS = 60;
const environment = {
  DATABASE_POOL: String(DATABASE_POOL),
  MAX_WAIT: `${WAIT_MS}ms`,
  MAX_WAITING: String(QUEUE_LENGTH),
  // Only the statement timeouts bound the time that statements wait for locks.
  LOCK_TIMEOUT: 'off',
  // A kept response would not wait for the lock.
  RESULT_CACHE: 'off',
  TRUSTED_PROXIES: '127.0.0.1, ::1',
};

/** Statements of the crowd wait for the lock until the test releases it. */
const fitgraph = fitgraphForThisFile({
  environment: { ...environment, ANONYMOUS_TIMEOUT: 'off', STATEMENT_TIMEOUT: 'off' },
});
const limited = fitgraphForThisFile(async () => ({
  sameDatabaseAs: fitgraph,
  environment: { ...environment, ANONYMOUS_TIMEOUT: '4s', STATEMENT_TIMEOUT: '6s' },
}));

let blocker: Client;

/** A connection of its own, because a transaction sees a snapshot of `pg_stat_activity`. */
let watcher: Client;
let ann: Person;
let bea: Person;

beforeAll(async () => {
  [blocker, watcher] = [
    new Client(fitgraph.database.options.connection),
    new Client(fitgraph.database.options.connection),
  ];
  // The database is stopped before these connections end.
  for (const client of [blocker, watcher]) await client.on('error', () => undefined).connect();
  [ann, bea] = [await fitgraph.user('ann'), await fitgraph.user('bea')];
});

/** Locks the table during `work`, so that statements on it wait. */
async function withLockedTable<T>(
  table: string,
  work: () => Promise<T>,
  mode = 'ACCESS EXCLUSIVE',
): Promise<T> {
  await blocker.query('BEGIN');

  try {
    await blocker.query(`LOCK TABLE "${table}" IN ${mode} MODE`);
    return await work();
  } finally {
    await blocker.query('ROLLBACK');
  }
}

const countLockWaits = async (): Promise<number> =>
  (
    await watcher.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
  ).rows.length;

/**
 * Measures a request, without the scheduling delays of this process, in which the server runs too.
 */
const measureRequest = async (ask: () => Promise<Answer>) => {
  const delays = delaysOf();
  const began = performance.now();
  const answer = await ask();

  return { answer, ms: performance.now() - began - delays() };
};

/**
 * Checks that others are answered while statements of a crowd block its connections. The rest of
 * the crowd is rejected, partly at once and partly after MAX_WAIT.
 */
async function expectOthersServed(
  table: string,
  sendBlocked: () => Promise<Answer>,
  others: (() => Promise<Answer>)[],
  mode?: string,
): Promise<Answer[]> {
  const rejected: { answer: Answer; ms: number }[] = [];
  const blockedRequests: Promise<unknown>[] = [];

  await withLockedTable(
    table,
    async () => {
      for (let number = 0; number < BLOCKED_REQUESTS; number += 1) {
        blockedRequests.push(
          measureRequest(sendBlocked).then(
            (reply) => reply.answer.status === 503 && rejected.push(reply),
          ),
        );
      }

      await until('requests wait for the lock', async () => (await countLockWaits()) >= 2);

      for (const other of others) {
        for (let time = 0; time < 5; time += 1) {
          const answer = await other();

          expect([answer.status, answer.body.errors]).toEqual([
            answer.status < 300 ? answer.status : 200,
            undefined,
          ]);
        }
      }

      await until(
        'excess requests are rejected',
        () => rejected.length > BLOCKED_REQUESTS - DATABASE_POOL,
      );
      // The running statements still hold their slots.
      expect(await countLockWaits()).toBeGreaterThanOrEqual(2);
    },
    mode,
  );
  await Promise.all(blockedRequests);

  for (const { answer } of rejected) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
  }

  expect(rejected.filter(({ ms }) => ms < WAIT_MS - 100).length).toBeGreaterThanOrEqual(
    BLOCKED_REQUESTS - QUEUE_LENGTH - DATABASE_POOL,
  );

  return rejected.map(({ answer }) => answer);
}

/** Liveness, because the server is not ready while a table is locked. */
const checkLiveness = () => fitgraph.anonymous.send('GET', '/health/live');

test('serves signed-in users while anonymous requests are blocked', async () => {
  const rejected = await expectOthersServed(
    'exercise',
    () => fitgraph.anonymous.get('/exercise/'),
    [
      () => ann.get('/weightentry/'),
      () =>
        ann.post('/weightentry/', {
          date: `2024-01-${String((day += 1)).padStart(2, '0')}`,
          weight: '70',
        }),
      () => ann.query('{ viewer { username } weightEntries { totalCount } }'),
      checkLiveness,
    ],
  );

  for (const { body } of rejected) {
    expect(body).toEqual({ detail: 'The server is overloaded. Try again in a moment.' });
  }
});
let day = 0;

test('serves anonymous clients and other users while requests of one user are blocked', async () => {
  // From another network: statements that verify tokens are queued per network, and those of the
  // blocked requests may fill the queue of theirs.
  const elsewhere = { 'X-Forwarded-For': '203.0.113.9' };

  await expectOthersServed('weight_entry', () => ann.get('/weightentry/'), [
    () => fitgraph.anonymous.get('/exercise/'),
    () => bea.withHeaders(elsewhere).get('/workout/'),
    () => fitgraph.anonymous.query('{ exerciseTranslations { totalCount } }'),
    checkLiveness,
  ]);
});

test('serves other networks while GraphQL requests of one are blocked or rejected as OVERLOADED', async () => {
  const fromOtherNetwork = fitgraph.anonymous.withHeaders({ 'X-Forwarded-For': '203.0.113.7' });
  const rejected = await expectOthersServed(
    'exercise',
    () => fitgraph.anonymous.query('{ exerciseTranslations { totalCount } }'),
    [
      () => fromOtherNetwork.get('/ingredient/'),
      () => fromOtherNetwork.query('{ ingredients { totalCount } }'),
    ],
  );

  for (const { body, headers } of rejected) {
    expect(body.errors[0].extensions).toMatchObject({ code: 'OVERLOADED' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

test('serves reads, and writes of other users, while writes of one user are blocked', async () => {
  const entry = () => ({
    date: `2023-${String(1 + ((day += 1) % 12)).padStart(2, '0')}-${String(1 + (day % 28)).padStart(2, '0')}`,
    weight: '70',
  });
  let blockedRequests: Promise<Answer>[] = [];

  await withLockedTable(
    'weight_entry',
    async () => {
      let rejected = 0;

      blockedRequests = Array.from({ length: BLOCKED_REQUESTS }, async () => {
        const answer = await ann.post('/weightentry/', entry());

        rejected += Number(answer.status === 503);
        return answer;
      });
      await until('requests wait for the lock', async () => (await countLockWaits()) >= 2);

      for (const other of [
        () => ann.get('/weightentry/'),
        () => fitgraph.anonymous.get('/exercise/'),
        () => bea.post('/workout/', { name: 'Mine' }),
      ]) {
        expect([200, 201]).toContain((await other()).status);
      }

      await until(
        'excess requests are rejected',
        () => rejected > BLOCKED_REQUESTS - DATABASE_POOL,
      );
      expect(await countLockWaits()).toBeGreaterThanOrEqual(2);
    },
    'SHARE',
  );
  // The running writes waited for the lock only.
  for (const { status } of await Promise.all(blockedRequests)) expect([201, 503]).toContain(status);
  expect((await ann.post('/weightentry/', { date: '2022-01-01', weight: '70' })).status).toBe(201);
});

test('ends statements of anonymous clients earlier than those of users', async () => {
  const order: string[] = [];
  const user = ann.atInstance(limited.url);

  await withLockedTable('exercise', async () => {
    const sendAs = async (name: string, person: Person) => {
      const began = performance.now();
      const { status } = await person.get('/exercise/');

      order.push(name);
      return { status, ms: performance.now() - began };
    };

    const [anonymous, users] = await Promise.all([
      sendAs('a stranger', limited.anonymous),
      sendAs('a user', user),
    ]);

    expect([anonymous.status, users.status]).toEqual([503, 503]);
    expect(anonymous.ms).toBeGreaterThan(2_900);
    expect(users.ms).toBeGreaterThan(4_900);
    expect(order).toEqual(['a stranger', 'a user']);
  });
});

test('ends an operation at the first timeout when all of its fields are blocked', async () => {
  const fields = Array.from(
    { length: 20 },
    (_, index) => `a${index}: exerciseTranslations(first: ${index + 1}) { totalCount }`,
  ).join(' ');
  const { answer, ms } = await withLockedTable('exercise', () =>
    measureRequest(() => limited.anonymous.query(`{ ${fields} }`)),
  );

  expect(answer.body.errors[0].extensions.code).toBe('TIMEOUT');
  expect(ms).toBeLessThan(2 * 4_000);
});

test('returns 503 with Retry-After when database connections are lost', async () => {
  const lost = withLockedTable('exercise', async () => {
    const requests = [
      limited.anonymous.get('/exercise/'),
      limited.anonymous.query('{ exerciseTranslations { totalCount } }'),
    ];

    await until('both requests wait for the lock', async () => (await countLockWaits()) >= 2);
    await blocker.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );

    return Promise.all(requests);
  });

  for (const { status, headers } of await lost) {
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
  }

  expect((await fitgraph.anonymous.get('/exercise/')).status).toBe(200);
});
