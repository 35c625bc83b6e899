/** Cost budgets of users and networks, shared by GraphQL and REST and by all instances. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RateBudget } from '../../src/engine/context';
import { BYTES_PER_COST_UNIT } from '../../src/engine/execution/argument-cost';
import { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { lockIsAwaited, until } from '../setup/waits';

const running: Fitgraph[] = [];

async function startServer(
  environment: Record<string, string>,
  sameDatabaseAs?: Fitgraph,
): Promise<Fitgraph> {
  const one = await Fitgraph.start({ environment, sameDatabaseAs });

  running.push(one);
  return one;
}

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const SMALL = { BUDGET_USER: '10', BUDGET_ANONYMOUS: '10' };

/** Starts two instances on one database, and creates a user with a client of each. */
async function pair() {
  const one = await startServer(SMALL);
  const two = await startServer(SMALL, one);
  const ann = await one.user('ann');

  return { one, two, ann, there: ann.atInstance(two.url) };
}

/** A query that costs more than the whole budget of 1,000 units, which takes 100 s to replenish. */
const WHOLE_BUDGET = '{ __schema { types { name } } }';

/** A query that costs about 500 units. */
const EXPENSIVE = '{ __type(name: "Exercise") { fields { name type { name } } } }';
const PAGE = '{ exercises(first: 300) { nodes { id } } }';
const RATE_LIMIT = '{ rateLimit { cost limit remaining resetAt } }';
const rateLimitOf = async (person: Person) => (await person.ask(RATE_LIMIT)).rateLimit;

test('shows budgets beyond the range of Int', async () => {
  const server = await startServer({ BUDGET_USER: '30000000' });

  expect(await rateLimitOf(await server.user('ann'))).toMatchObject({ limit: 3_000_000_000 });
});

test('charges an operation for what it has read and refunds the rest of the estimate', async () => {
  const fitgraph = await startServer(SMALL);
  const ann = await fitgraph.user('ann');
  const before = await rateLimitOf(ann);

  expect(before).toMatchObject({
    limit: 1000,
    cost: expect.any(Number),
    resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  // The estimate is 337, and only three rows are read.
  for (let time = 0; time < 6; time += 1) expect((await ann.query(PAGE)).errors).toBeUndefined();
  const after = await rateLimitOf(ann);

  expect(before.remaining - after.remaining).toBeLessThan(120);
  expect(after.remaining).toBeLessThan(before.remaining);
});

test('charges each object of a response, also those of rows that it repeats', async () => {
  const fitgraph = await startServer({ BUDGET_USER: '100' });
  const ann = await fitgraph.user('ann');
  const before = await rateLimitOf(ann);
  const times = (count: number, field: string) =>
    Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ');
  const { exercises } = await ann.ask(
    `{ exercises { nodes { id } } ${times(9, `exercises { nodes { ${times(50, 'category { id }')} } }`)} }`,
  );

  expect(before.remaining - (await rateLimitOf(ann)).remaining).toBeGreaterThan(
    7 * 50 * exercises.nodes.length,
  );
});

test('charges the time that a statement takes in the database, including its wait for a lock', async () => {
  const fitgraph = await startServer({});
  const ann = await fitgraph.user('ann');
  const { limit } = await rateLimitOf(ann);
  const locker = await fitgraph.database.pool.connect();

  try {
    await locker.query('BEGIN; LOCK TABLE "exercise_base" IN ACCESS EXCLUSIVE MODE');
    const query = ann.query(PAGE);

    await lockIsAwaited(fitgraph);
    // A tenth of this time is charged at least, less 100 ms.
    await sleep(1_500);
    await locker.query('COMMIT');
    const answer = await query;

    expect(answer.errors).toBeUndefined();
    // A second of the database costs what leaks out of the bucket in two.
    expect(costOf(answer)).toBeGreaterThan(2 * (limit / 100) * (1.5 / 10 - 0.1));
  } finally {
    locker.release(true);
  }
});

test('does not charge the time that a statement waits for a connection', async () => {
  const fitgraph = await startServer({});
  const ann = await fitgraph.user('ann');

  const countLockWaits = async () => {
    const waiting = await fitgraph.sql(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );

    return waiting.length;
  };

  // The number of slots that one user can occupy: the last one is reserved for other clients.
  const slots = fitgraph.database.options.poolSize - 1;
  const locker = await fitgraph.database.pool.connect();

  try {
    await locker.query('BEGIN; LOCK TABLE "weight_entry" IN ACCESS EXCLUSIVE MODE');
    const blocked = Array.from({ length: slots }, () =>
      ann.query('{ weightEntries { nodes { id } } }'),
    );

    await until('all slots of ann are taken', async () => (await countLockWaits()) === slots);
    const queued = ann.query(PAGE);

    await sleep(2_000);
    await locker.query('COMMIT');
    const databaseMs = ({ headers }: { headers: Headers }) =>
      Number(/dur=([\d.]+)/.exec(headers.get('server-timing')!)![1]);

    for (const answer of await Promise.all(blocked)) {
      expect(databaseMs(answer)).toBeGreaterThan(2_000);
    }

    expect(databaseMs(await queued)).toBeLessThan(1_000);
  } finally {
    locker.release(true);
  }
});

test('rejects a user over budget on both interfaces with Retry-After, and still serves other clients', async () => {
  const fitgraph = await startServer(SMALL);
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];

  expect((await ann.query(WHOLE_BUDGET)).errors).toBeUndefined();
  const rejected = await ann.query(WHOLE_BUDGET);

  expect([rejected.status, rejected.code, rejected.data, rejected.statements]).toEqual([
    429,
    'RATE_LIMITED',
    undefined,
    1,
  ]);
  const { retryAfter } = rejected.errors![0]!.extensions;

  expect(rejected.headers.get('retry-after')).toBe(String(retryAfter));
  const rest = await ann.get('/exercise/search/?term=sq');

  expect(rest).toMatchObject({
    status: 429,
    body: { detail: expect.stringContaining('Expected available in') },
  });
  expect(Number(rest.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await bob.query(WHOLE_BUDGET)).errors).toBeUndefined();
  expect((await fitgraph.anonymous.get('/exerciseinfo/')).status).toBe(200);
});

test.each(['/exercise/search/?term=sq', '/ingredient/search/?term=oat'])(
  'rejects GET %s with 429 once a part of the budget is spent, but still serves a single row',
  async (search) => {
    const fitgraph = await startServer(SMALL);
    const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];

    // The estimate of a search exceeds the whole budget, so it reserves all of it and succeeds only
    // while nothing is spent.
    expect((await bob.get(search)).status).toBe(200);
    expect((await ann.query(EXPENSIVE)).errors).toBeUndefined();
    const rejected = await ann.get(search);

    expect(rejected).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('Expected available in') },
    });
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ann.get('/exercise/1/')).status).toBe(200);
  },
);

test('returns the remaining budget and the cost in RateLimit headers of both interfaces', async () => {
  const fitgraph = await startServer(SMALL);

  /**
   * Upper limit of the cost of the bytes of the first response, which is charged after the response
   * has been sent.
   */
  const BYTE_COST = 5;
  let spent = 0;

  for (const { headers } of [
    await fitgraph.anonymous.get('/exercise/'),
    await fitgraph.anonymous.query('{ exercise(id: 1) { id } }'),
  ]) {
    expect(headers.get('ratelimit-policy')).toBe('"cost";q=1000;w=100');
    const [, remaining, cost] = /^"cost";r=(\d+);t=\d+;c=(\d+)$/
      .exec(headers.get('ratelimit')!)!
      .map(Number);

    // The cost depends on the database time. The remaining budget is the full budget minus the
    // cost, plus what has been replenished.
    expect(cost).toBeGreaterThan(0);
    expect(remaining).toBeLessThan(1_000);
    spent += cost!;
    expect(remaining).toBeGreaterThanOrEqual(1_000 - spent - BYTE_COST);
  }
});

describe.each([
  ['a number', '/weightentry/', 'weight'],
  ['a text', '/workoutsession/', 'notes'],
])('a page that shows a rejected form with %s of four megabytes', (_what, path, field) => {
  const LENGTH = 4_500_000;
  const sendForm = (person: Person) =>
    person
      .withHeaders({ Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' })
      .post(path, new URLSearchParams({ [field]: 'x'.repeat(LENGTH) }).toString());

  test('is charged for its size in bytes and the time of its rendering', async () => {
    const fitgraph = await startServer({ BUDGET_USER: '1000' });
    const ann = await fitgraph.user('ann');
    const { status, text, headers } = await sendForm(ann);

    expect([status, text.length > LENGTH]).toEqual([400, true]);
    const [, cost] = /;c=(\d+)$/.exec(headers.get('ratelimit')!)!.map(Number);

    expect(cost).toBeGreaterThan(LENGTH / BYTES_PER_COST_UNIT + 5);
    // The budget grows by 1,000 per second.
    expect((await rateLimitOf(ann)).remaining).toBeLessThan(
      100_000 - LENGTH / BYTES_PER_COST_UNIT / 2,
    );
  });

  test('is rejected once the budget is spent', async () => {
    const fitgraph = await startServer(SMALL);
    const ann = await fitgraph.user('ann');

    expect((await sendForm(ann)).status).toBe(400);
    const { status, text, headers } = await sendForm(ann);

    expect([status, text.length < 100_000, Number(headers.get('retry-after')) > 0]).toEqual([
      429,
      true,
      true,
    ]);
  });
});

test('shares spent budget between instances', async () => {
  const { one, two, ann, there: annOnTwo } = await pair();
  const fresh = (await rateLimitOf(annOnTwo)).remaining;

  await ann.query(EXPENSIVE);
  const left = (await rateLimitOf(ann)).remaining;

  expect(left).toBeLessThan(fresh - 300);
  await one.services.costRateLimiter.shareSpentCost();
  // An instance takes part in an exchange only after spending a noticeable part of the budget
  // itself.
  await annOnTwo.query('{ exercises { totalCount nodes { id } } }');
  await two.services.costRateLimiter.shareSpentCost();
  expect(Math.abs((await rateLimitOf(annOnTwo)).remaining - left)).toBeLessThan(150);
});

test('refunds at most the reservation on its instance when the estimate exceeds the budget', async () => {
  const { one, two, ann, there: annOnTwo } = await pair();
  const fresh = (await rateLimitOf(ann)).remaining;

  await ann.query(EXPENSIVE);
  await one.services.costRateLimiter.shareSpentCost();
  // The estimate of the search is several times the whole budget.
  expect((await annOnTwo.get('/exercise/search/?term=sq')).status).toBe(200);
  await annOnTwo.query('{ __schema { directives { name } } }');
  await two.services.costRateLimiter.shareSpentCost();
  expect(fresh - (await rateLimitOf(annOnTwo)).remaining).toBeGreaterThan(300);
});

/** Returns the budget of a request that exists only in the test, which charges it directly. */
function spendingOf(fitgraph: Fitgraph, { id }: Person) {
  const context = { viewer: { id }, session: fitgraph.database.createSession() } as never;

  return fitgraph.services.costRateLimiter.budgetFor(context, '')!;
}

const estimated = (total: number) => ({ total, coordinate: 'Query' });

test('adds up what two instances share at the same moment', async () => {
  const { one, two, ann } = await pair();
  const spend = (instance: Fitgraph, cost: number) =>
    spendingOf(instance, ann).chargeResponseBytes(cost * BYTES_PER_COST_UNIT);

  spend(one, 100);
  await one.services.costRateLimiter.shareSpentCost();
  spend(one, 200);
  spend(two, 300);
  const locker = await one.database.pool.connect();
  let sharing: Promise<unknown>;

  try {
    await locker.query('BEGIN; SELECT FROM "budget" FOR UPDATE');
    sharing = Promise.all(
      [one, two].map(({ services }) => services.costRateLimiter.shareSpentCost()),
    );
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

    await until(
      'both instances wait for the row',
      async () => (await one.sql(waiting)).length === 2,
    );
    await locker.query('COMMIT');
  } finally {
    locker.release(true);
  }

  await sharing;
  // Ten units leak out per second.
  const [{ level }] = (await one.sql('SELECT "level" FROM "budget" WHERE "key" = $1', [
    `user ${ann.id}`,
  ])) as [{ level: number }];

  expect(level).toBeGreaterThan(450);
  expect(level).toBeLessThanOrEqual(601);
});

test('refunds the reservation of each operation when two operations of a request overlap', async () => {
  const fitgraph = await startServer(SMALL);
  const spending = spendingOf(fitgraph, await fitgraph.user('ann'));
  const reservations = [
    await spending.reserve(estimated(400)),
    await spending.reserve(estimated(100)),
  ];

  expect(spending.budgetState!.remaining).toBeLessThan(501);
  for (const reservation of reservations) reservation.settle();
  expect(spending.budgetState!.remaining).toBeGreaterThan(900);
});

test('refunds no more than was reserved when a request has already been charged', async () => {
  const fitgraph = await startServer(SMALL);
  const spending = spendingOf(fitgraph, await fitgraph.user('ann'));

  spending.chargeResponseBytes(1024 * 500);
  // The estimate exceeds the whole budget, so only what is left of it is reserved.
  (await spending.reserve(estimated(5_000))).settle();
  expect(spending.budgetState!.remaining).toBeLessThan(600);
});

test('makes operations wait for reservations of other requests, but not for those of their own request', async () => {
  const fitgraph = await startServer(SMALL);
  const ann = await fitgraph.user('ann');
  const [before, one, two] = [1, 2, 3].map(() => spendingOf(fitgraph, ann)) as [
    RateBudget,
    RateBudget,
    RateBudget,
  ];

  before.chargeResponseBytes(1024 * 100);
  const running = await one.reserve(estimated(700));

  await expect(one.reserve(estimated(300))).rejects.toMatchObject({
    extensions: { code: 'RATE_LIMITED', retryAfter: expect.any(Number) },
  });
  let isAdmitted = false;
  const waiting = two.reserve(estimated(300)).then((reservation) => {
    isAdmitted = true;
    return reservation;
  });

  two.requireRemainingBudget();
  await ann.query('{ __typename }');
  expect(isAdmitted).toBe(false);
  running.settle();
  (await waiting).settle();
  // Operations do not wait forever for the reservation of an operation that hangs.
  const blockedReservation = await one.reserve(estimated(700));

  jest.useFakeTimers();

  try {
    const rejection = expect(two.reserve(estimated(300))).rejects.toMatchObject({
      extensions: { code: 'RATE_LIMITED' },
    });

    await jest.advanceTimersByTimeAsync(5_000);
    await rejection;
  } finally {
    jest.useRealTimers();
  }

  blockedReservation.settle();
  // Unlike a reservation, a budget that has been spent makes all requests fail at once.
  one.chargeResponseBytes(1024 * 900);
  await expect(two.reserve(estimated(300))).rejects.toMatchObject({
    extensions: { code: 'RATE_LIMITED' },
  });
});

test('rejects none of twenty parallel reads behind one address that read little', async () => {
  const fitgraph = await startServer({ BUDGET_ANONYMOUS: '20' });
  // Each estimate is more than a sixth of the budget of 2,000 units, although only three rows are
  // read.
  const read = '{ exercises(first: 300) { nodes { id } } }';
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fitgraph.anonymous.query(read)),
  );

  expect(answers.map(({ status, errors }) => [status, errors])).toEqual(
    Array(20).fill([200, undefined]),
  );
});

test('charges operations that run while instances exchange their budget levels', async () => {
  const fitgraph = await startServer(SMALL);
  const ann = await fitgraph.user('ann');

  // An exchange takes place only once a noticeable part of the budget is spent.
  await ann.query('{ __schema { directives { name } } }');
  const locker = await fitgraph.database.pool.connect();

  try {
    await locker.query('BEGIN; LOCK TABLE "budget" IN ACCESS EXCLUSIVE MODE');
    const sharing = fitgraph.services.costRateLimiter.shareSpentCost();

    await lockIsAwaited(fitgraph);
    const before = (await rateLimitOf(ann)).remaining;

    await ann.query(EXPENSIVE);
    expect(before - (await rateLimitOf(ann)).remaining).toBeGreaterThan(300);
    await locker.query('COMMIT');
    await sharing;
    expect(before - (await rateLimitOf(ann)).remaining).toBeGreaterThan(250);
  } finally {
    locker.release(true);
  }
});

test('returns no RateLimit headers and rejects nothing when BUDGET is off', async () => {
  const fitgraph = await startServer({ ...SMALL, BUDGET: 'off' });
  const { headers } = await fitgraph.anonymous.get('/exercise/');

  expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);

  for (let time = 0; time < 5; time += 1) {
    expect(
      (await fitgraph.anonymous.query('{ __schema { types { name } } }')).errors,
    ).toBeUndefined();
  }

  expect(await rateLimitOf(fitgraph.anonymous)).toBeNull();
});

const costOf = ({ headers }: { headers: Headers }) =>
  Number(/c=(\d+)/.exec(headers.get('ratelimit')!)![1]);

test('charges an invalid document for its validation time and rejects it once the budget is spent', async () => {
  const fitgraph = await startServer({});
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  const wrong = `{ ${Array.from({ length: 90 }, (_, index) => `wrong${index}`).join(' ')} }`;
  const first = await ann.query(wrong);

  expect(first.code).toBe('GRAPHQL_VALIDATION_FAILED');
  // Each millisecond of validation costs 500 units.
  expect(costOf(first)).toBeGreaterThan(100);
  const spending = spendingOf(fitgraph, ann);

  spending.chargeResponseBytes(1024 * 11_000_000);
  expect(await ann.query(wrong)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect((await bob.query(wrong)).code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('charges GraphQL and REST responses by their size in bytes', async () => {
  const fitgraph = await startServer({ BUDGET_USER: '100' });
  const ann = await fitgraph.user('ann');
  const { body: workout } = await ann.post('/workout/', {});

  await ann.post('/workoutsession/', {
    workout: workout.id,
    date: '2024-01-01',
    notes: 'old',
    impression: '2',
  });
  await fitgraph.sql(`UPDATE "workout_session" SET "notes" = repeat('x', 200000)`);
  const documents = ['id', 'id notes'].map(
    (fields) => `{ workoutSessions { nodes { ${fields} } } }`,
  );

  // The first run is charged for parsing and validation as well.
  for (const document of documents) await ann.query(document);
  const [short, long] = [await ann.query(documents[0]!), await ann.query(documents[1]!)];

  expect(costOf(long) - costOf(short)).toBeGreaterThanOrEqual(194);
  expect(costOf(long) - costOf(short)).toBeLessThanOrEqual(197);
  const rest = await ann.get('/workoutsession/');

  expect(costOf(rest)).toBeGreaterThanOrEqual(195);
});
