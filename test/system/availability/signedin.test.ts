/** What somebody who is signed in may do, as much of it as is allowed: nobody else has to wait for it. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALIVE_MS, graphql, MEMORY_MB, p95, send, Siege, type Damage, type Reply } from './siege';
import { until } from '../../setup/waits';

const ROUNDS = 10;
const OTHERS_MS = 1_000;
/** Where the machine has other things to do, so many times as long as without the attack. */
const BUSY_TIMES = 10;

let siege: Siege;
let bea: string;
beforeAll(async () => {
  siege = await Siege.start({ TRUSTED_PROXIES: '127.0.0.1, ::1' });
  bea = await siege.user('bea');
});
afterAll(() => siege.end());

const from = (network: string) => ({ 'X-Forwarded-For': network });
const attacker = () => ({ Authorization: `Token ${siege.token}`, ...from('203.0.113.1') });

interface Others {
  reads: Reply[];
  writes: Reply[];
}

/** What a stranger and another user do meanwhile, one after the other. */
async function others(): Promise<Others> {
  const reads: Reply[] = [];
  const writes: Reply[] = [];
  const stranger = from('192.0.2.1');
  const user = { Authorization: `Token ${bea}`, ...from('192.0.2.2') };
  const timed = siege.timer();
  for (let run = 0; run < ROUNDS; run += 1) {
    reads.push(await timed(() => send(siege.base, { path: '/api/v2/exercise/?limit=5', headers: stranger })));
    reads.push(
      await timed(() =>
        graphql(siege.base, '{ exercises(first: 5) { totalCount nodes { name category { name } } } }', undefined, stranger),
      ),
    );
    reads.push(await timed(() => send(siege.base, { path: '/api/v2/weightentry/?limit=5', headers: user })));
    reads.push(await timed(() => graphql(siege.base, '{ workouts { nodes { name days { name } } } }', undefined, user)));
    const [headers, body] = [{ ...user, 'Content-Type': 'application/json' }, JSON.stringify({ comment: `Run ${run}` })];
    writes.push(await timed(() => send(siege.base, { method: 'POST', path: '/api/v2/workout/', headers, body })));
  }
  return { reads, writes };
}

/** Others do what they do while the attack goes on until they are done. */
async function unharmed(attack: (isOver: () => boolean) => Promise<void>): Promise<void> {
  const usual = await siege.under(others);
  const attacked = await siege.under(async () => {
    let over = false;
    const attacking = attack(() => over);
    await sleep(1_000);
    const found = await others();
    over = true;
    await attacking;
    return found;
  });
  const { reads, writes } = attacked.result;
  // Where the process is late all the same, some are told to come again; most are not.
  for (const { status, headers } of reads) expect([200, headers['retry-after'] ? 503 : 200]).toContain(status);
  expect(reads.filter(({ status }) => status === 200).length).toBeGreaterThan(0.75 * reads.length);
  for (const { status, headers } of writes) expect([201, headers['retry-after'] ? 503 : 201]).toContain(status);
  expect(writes.filter(({ status }) => status === 201).length).toBeGreaterThan(0.75 * writes.length);
  const within = (most: number, time: (damage: Damage<Others>) => number) =>
    expect(time(attacked)).toBeLessThan(Math.max(most, BUSY_TIMES * time(usual)));
  within(OTHERS_MS, ({ result }) => p95(result.reads));
  within(2 * OTHERS_MS, ({ result }) => p95(result.writes));
  within(ALIVE_MS, ({ aliveMs }) => aliveMs);
  expect(attacked.memoryMb).toBeLessThan(MEMORY_MB);
}

/** Each field is a transaction with as many rows as one may have. */
const bulk = (fields: number) => {
  const aliases = Array.from(
    { length: fields },
    (_, index) => `a${index}: createWorkout(input: $input) { workout { id days { id name } } }`,
  );
  return `mutation ($input: WorkoutInput!) { ${aliases.join(' ')} }`;
};
const input = { days: Array.from({ length: 499 }, (_, index) => ({ name: `Of many ${index}`, weekdays: ['MONDAY'] })) };

test('large writes, several at a time', async () => {
  const replies: Reply[] = [];
  await unharmed(async (isOver) => {
    const writer = async () => {
      while (!isOver()) replies.push(await graphql(siege.base, bulk(4), { input }, attacker()));
    };
    await Promise.all(Array.from({ length: 10 }, writer));
  });
  for (const { status } of replies) expect([200, 429, 503]).toContain(status);
  expect(replies.some(({ status }) => status === 200)).toBe(true);
});

const CHANGED = `subscription ($types: [RowType!]) { changed(types: $types) { cursor changes { operation occurredAt rowNodeId
  node { nodeId ... on Workout { id name days { name } logs(first: 5) { nodes { reps exercise { name } } } } } } } }`;

/** A stream of events; what it has told so far, and how to end it. */
function subscription(who: http.OutgoingHttpHeaders, type: string): { told: () => string; end(): void } {
  let text = '';
  const headers = { ...who, 'Content-Type': 'application/json', Accept: 'text/event-stream' };
  const request = http.request(`${siege.base}/graphql/stream`, { method: 'POST', agent: false, headers }, (response) =>
    response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => undefined),
  );
  request.on('error', () => undefined);
  request.end(JSON.stringify({ query: CHANGED, variables: { types: [type] } }));
  return { told: () => text, end: () => request.destroy() };
}

const events = (text: string): number => text.split('event: next').length - 1;

const isRefused = ({ told }: { told(): string }): boolean => told().includes('TOO_MANY_SUBSCRIPTIONS');

test('the subscriptions of one stranger leave room for others', async () => {
  const streams: ReturnType<typeof subscription>[] = [];
  try {
    for (let begun = 0; begun < 105; begun += 1) {
      streams.push(subscription(from('203.0.113.2'), 'EXERCISE'));
      await sleep(20);
    }
    const other = subscription(from('192.0.2.3'), 'EXERCISE');
    streams.push(other);
    await until('all are told where they begin, or why not', () => streams.every(({ told }) => events(told()) > 0));
    expect(streams.filter(isRefused)).toHaveLength(5);
    expect(isRefused(other)).toBe(false);
  } finally {
    for (const { end } of streams) end();
  }
});

test('as many subscriptions as there may be, each told of large writes', async () => {
  const streams: ReturnType<typeof subscription>[] = [];
  try {
    for (let begun = 0; begun < 105; begun += 1) {
      streams.push(subscription(attacker(), 'TRAINING_DAY'));
      await sleep(20);
    }
    await until('all are told where they begin, or why not', () => streams.every(({ told }) => events(told()) > 0));
    expect(streams.filter(isRefused)).toHaveLength(5);
    const before = streams.reduce((sum, { told }) => sum + events(told()), 0);
    await unharmed(async (isOver) => {
      while (!isOver()) {
        await graphql(siege.base, bulk(1), { input }, attacker());
        await sleep(100);
      }
    });
    await until('they are told of some', () => streams.reduce((sum, { told }) => sum + events(told()), 0) > before);
  } finally {
    for (const { end } of streams) end();
  }
});
