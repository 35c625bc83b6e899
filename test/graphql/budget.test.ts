/** Everybody has a budget for operations, over both interfaces and all instances. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { lockIsAwaited } from '../setup/waits';

const running: Fitgraph[] = [];
async function started(environment: Record<string, string>, beside?: Fitgraph): Promise<Fitgraph> {
  const one = await Fitgraph.start({ environment, beside });
  running.push(one);
  return one;
}
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const SMALL = { BUDGET_USER: '10', BUDGET_ANONYMOUS: '10' };
/** Two instances of one database, and one user at each. */
async function pair() {
  const one = await started(SMALL);
  const two = await started(SMALL, one);
  const ann = await one.user('ann');
  return { one, two, ann, there: ann.at(two.url) };
}

/** Costs more than the whole budget, which takes 100 s to come back. */
const ALL_THERE_IS = '{ __schema { types { name } } }';
/** Costs some 400. */
const MUCH = '{ __type(name: "Exercise") { fields { name type { name ofType { name } } args { name type { name } } } } }';
const PAGE = '{ exercises(first: 300) { nodes { id } } }';
const STANDING = '{ rateLimit { cost limit remaining resetAt } }';
const standing = async (person: Person) => (await person.ask(STANDING)).rateLimit;

test('an operation is charged for what it has read, and the rest is given back', async () => {
  const fitgraph = await started(SMALL);
  const ann = await fitgraph.user('ann');
  const before = await standing(ann);
  expect(before).toMatchObject({ limit: 1000, cost: expect.any(Number), resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  // It might have been 337, and was three rows.
  for (let time = 0; time < 6; time += 1) expect((await ann.query(PAGE)).errors).toBeUndefined();
  const after = await standing(ann);
  expect(before.remaining - after.remaining).toBeLessThan(120);
  expect(after.remaining).toBeLessThan(before.remaining);
});

test('the time that it takes the database is charged, even if it reads nothing', async () => {
  const fitgraph = await started(SMALL);
  const ann = await fitgraph.user('ann');
  const before = await standing(ann);
  const locker = await fitgraph.database.pool.connect();
  try {
    await locker.query('BEGIN; LOCK TABLE "exercise" IN ACCESS EXCLUSIVE MODE');
    const asked = ann.query(PAGE);
    await lockIsAwaited(fitgraph);
    await sleep(1_000);
    await locker.query('COMMIT');
    expect((await asked).errors).toBeUndefined();
  } finally {
    locker.release(true);
  }
  expect(before.remaining - (await standing(ann)).remaining).toBeGreaterThan(250);
});

test('who has spent it is refused on both interfaces, with when to come back, and others are not', async () => {
  const fitgraph = await started(SMALL);
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  expect((await ann.query(ALL_THERE_IS)).errors).toBeUndefined();
  const refused = await ann.query(ALL_THERE_IS);
  expect([refused.status, refused.code, refused.data, refused.statements]).toEqual([429, 'RATE_LIMITED', undefined, 1]);
  const { retryAfter } = refused.errors![0]!.extensions;
  expect(refused.headers.get('retry-after')).toBe(String(retryAfter));
  const rest = await ann.get('/exercise/search/?term=sq');
  expect(rest).toMatchObject({ status: 429, body: { detail: expect.stringContaining('Expected available in') } });
  expect(Number(rest.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await bob.query(ALL_THERE_IS)).errors).toBeUndefined();
  expect((await fitgraph.anyone.get('/exerciseinfo/')).status).toBe(200);
});

test.each(['/exercise/search/?term=sq', '/ingredient/search/?term=oat'])(
  'GET %s is charged for as many hits as it may find',
  async (search) => {
    const fitgraph = await started(SMALL);
    const ann = await fitgraph.user('ann');
    // The estimate of a search exceeds the whole budget, so it reserves all of it and succeeds only while nothing is spent.
    expect((await ann.get(search)).status).toBe(200);
    await ann.query(ALL_THERE_IS);
    const refused = await ann.get(search);
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('Expected available in') } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ann.get('/exercise/1/')).status).toBe(200);
  },
);

test('answers say what is left', async () => {
  const fitgraph = await started(SMALL);
  /** Of the bytes of the first response, which are charged once it has been sent. */
  const OF_BYTES = 5;
  let spent = 0;
  for (const { headers } of [await fitgraph.anyone.get('/exercise/'), await fitgraph.anyone.query('{ exercise(id: 1) { id } }')]) {
    expect(headers.get('ratelimit-policy')).toBe('"cost";q=1000;w=100');
    const [, remaining, cost] = /^"cost";r=(\d+);t=\d+;c=(\d+)$/.exec(headers.get('ratelimit')!)!.map(Number);
    // How much it costs depends on the time that the database takes; what is left is the budget less that, and what has come back since.
    expect(cost).toBeGreaterThan(0);
    expect(remaining).toBeLessThan(1_000);
    spent += cost!;
    expect(remaining).toBeGreaterThanOrEqual(1_000 - spent - OF_BYTES);
  }
});

test('instances tell each other what was spent', async () => {
  const { one, two, ann, there } = await pair();
  const fresh = (await standing(there)).remaining;
  await ann.query(MUCH);
  const left = (await standing(ann)).remaining;
  expect(left).toBeLessThan(fresh - 300);
  await one.services.costLimiter.share();
  // Who has something to tell hears of the others.
  await there.query('{ a: exercises { totalCount nodes { id } } b: __type(name: "License") { fields { name } } }');
  await two.services.costLimiter.share();
  expect(Math.abs((await standing(there)).remaining - left)).toBeLessThan(150);
});

test('what an operation gives back on one instance is not more than it reserved there', async () => {
  const { one, two, ann, there } = await pair();
  const fresh = (await standing(ann)).remaining;
  await ann.query(MUCH);
  await one.services.costLimiter.share();
  // Its estimate is several times the whole budget.
  expect((await there.get('/exercise/search/?term=sq')).status).toBe(200);
  await there.query('{ __type(name: "License") { fields { name } } }');
  await two.services.costLimiter.share();
  expect(fresh - (await standing(there)).remaining).toBeGreaterThan(300);
});

test('operations of one request that run at the same time give back what each has reserved', async () => {
  const fitgraph = await started(SMALL);
  const ann = await fitgraph.user('ann');
  const { id } = (await ann.ask('{ viewer { id } }')).viewer;
  const spending = fitgraph.services.costLimiter.budgetFor(
    { viewer: { id: Number(id) }, session: fitgraph.database.session() } as never,
    '',
  )!;
  const costs = [400, 100].map((total) => ({ total, bytes: 0, coordinate: 'Query' }));
  for (const cost of costs) spending.reserve(cost);
  expect(spending.state!.remaining).toBeLessThan(501);
  for (const cost of costs) spending.settle(cost);
  expect(spending.state!.remaining).toBeGreaterThan(900);
});

test('charges what is spent while the levels of all instances are exchanged', async () => {
  const fitgraph = await started(SMALL);
  const ann = await fitgraph.user('ann');
  // An exchange takes place only once a noticeable part of the budget is spent.
  await ann.query('{ __type(name: "Exercise") { fields { name args { name } } } }');
  const locker = await fitgraph.database.pool.connect();
  try {
    await locker.query('BEGIN; LOCK TABLE "budget" IN ACCESS EXCLUSIVE MODE');
    const sharing = fitgraph.services.costLimiter.share();
    await lockIsAwaited(fitgraph);
    const before = (await standing(ann)).remaining;
    await ann.query(MUCH);
    expect(before - (await standing(ann)).remaining).toBeGreaterThan(300);
    await locker.query('COMMIT');
    await sharing;
    expect(before - (await standing(ann)).remaining).toBeGreaterThan(250);
  } finally {
    locker.release(true);
  }
});

test('it can be switched off', async () => {
  const fitgraph = await started({ ...SMALL, BUDGET: 'off' });
  const { headers } = await fitgraph.anyone.get('/exercise/');
  expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
  for (let time = 0; time < 5; time += 1) expect((await fitgraph.anyone.query('{ __schema { types { name } } }')).errors).toBeUndefined();
  expect(await standing(fitgraph.anyone)).toBeNull();
});

const paid = ({ headers }: { headers: Headers }) => Number(/c=(\d+)/.exec(headers.get('ratelimit')!)![1]);

test('a document that is not valid is paid for by the time that it took, and refused once all is spent', async () => {
  const fitgraph = await started({});
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  const wrong = `{ ${Array.from({ length: 90 }, (_, index) => `wrong${index}`).join(' ')} }`;
  const first = await ann.query(wrong);
  expect(first.code).toBe('GRAPHQL_VALIDATION_FAILED');
  // A millisecond is 500 units.
  expect(paid(first)).toBeGreaterThan(100);
  const { id } = (await ann.ask('{ viewer { id } }')).viewer;
  const spending = fitgraph.services.costLimiter.budgetFor(
    { viewer: { id: Number(id) }, session: fitgraph.database.session() } as never,
    '',
  )!;
  spending.chargeResponseBytes(1024 * 11_000_000);
  expect(await ann.query(wrong)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect((await bob.query(wrong)).code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('an answer is paid for by its bytes', async () => {
  const fitgraph = await started({ BUDGET_USER: '1000' });
  const ann = await fitgraph.user('ann');
  const { body: workout } = await ann.post('/workout/', {});
  await ann.post('/workoutsession/', { workout: workout.id, date: '2024-01-01', notes: 'old', impression: '2' });
  await fitgraph.sql(`UPDATE "workout_session" SET "notes" = repeat('x', 200000)`);
  const documents = ['id', 'id notes'].map((fields) => `{ workoutSessions { nodes { ${fields} } } }`);
  // What is parsed and validated once is paid for once.
  for (const document of documents) await ann.query(document);
  const [short, long] = [await ann.query(documents[0]!), await ann.query(documents[1]!)];
  expect(paid(long) - paid(short)).toBeGreaterThanOrEqual(194);
  expect(paid(long) - paid(short)).toBeLessThanOrEqual(197);
  const rest = await ann.get('/workoutsession/');
  expect(paid(rest)).toBeGreaterThanOrEqual(195);
});
