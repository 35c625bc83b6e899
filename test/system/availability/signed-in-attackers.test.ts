/** Signed-in users at their limits: other clients stay served. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  LIVENESS_LIMIT_MS,
  graphql,
  MEMORY_MB,
  p95,
  send,
  Siege,
  type Measurement,
  type Reply,
} from './server-under-attack';
import { until } from '../../setup/waits';

const ROUNDS = 10;
const MAX_P95_MS = 1_000;

/** On a busy machine latency may grow by this factor over that without the attack. */
const MAX_GROWTH = 10;

/** Writes until one must have succeeded. */
const MAX_WRITES = 20;

let siege: Siege;
let bea: string;

/** A user whose budget the earlier attacks have not spent. */
let cy: string;

beforeAll(async () => {
  siege = await Siege.start({ TRUSTED_PROXIES: '127.0.0.1, ::1' });
  bea = await siege.user('bea');
  cy = await siege.user('cy');
});
afterAll(() => siege.end());

const networkHeaders = (network: string) => ({ 'X-Forwarded-For': network });
const attacker = (token = siege.token) => ({
  Authorization: `Token ${token}`,
  ...networkHeaders('203.0.113.1'),
});

interface OtherReplies {
  reads: Reply[];
  writes: Reply[];
}

/** Sends requests of an anonymous client and of another user, one after the other. */
async function sendOtherRequests(): Promise<OtherReplies> {
  const reads: Reply[] = [];
  const writes: Reply[] = [];
  const anonymous = networkHeaders('192.0.2.1');
  const user = { Authorization: `Token ${bea}`, ...networkHeaders('192.0.2.2') };
  const measureRequest = siege.timer();

  for (let run = 0; run < ROUNDS; run += 1) {
    reads.push(
      await measureRequest(() =>
        send(siege.base, { path: '/api/v2/exercise/?limit=5', headers: anonymous }),
      ),
    );
    reads.push(
      await measureRequest(() =>
        graphql(
          siege.base,
          '{ exercises(first: 5) { totalCount nodes { name category { name } } } }',
          undefined,
          anonymous,
        ),
      ),
    );
    reads.push(
      await measureRequest(() =>
        send(siege.base, { path: '/api/v2/weightentry/?limit=5', headers: user }),
      ),
    );
    reads.push(
      await measureRequest(() =>
        graphql(siege.base, '{ workouts { nodes { name days { name } } } }', undefined, user),
      ),
    );
    const [headers, body] = [
      { ...user, 'Content-Type': 'application/json' },
      JSON.stringify({ comment: `Run ${run}` }),
    ];

    writes.push(
      await measureRequest(() =>
        send(siege.base, { method: 'POST', path: '/api/v2/workout/', headers, body }),
      ),
    );
  }

  return { reads, writes };
}

/** Checks that other clients are served during the attack. */
async function expectOthersServed(attack: (isOver: () => boolean) => Promise<void>): Promise<void> {
  const usual = await siege.measureDuring(sendOtherRequests);
  const attacked = await siege.measureDuring(async () => {
    let hasEnded = false;
    const attacking = attack(() => hasEnded);

    await sleep(1_000);
    const found = await sendOtherRequests();

    hasEnded = true;
    await attacking;
    return found;
  });
  const { reads, writes } = attacked.result;

  // A busy server may shed some requests with Retry-After, but not most of them.
  for (const { status, headers } of reads) {
    expect([200, headers['retry-after'] ? 503 : 200]).toContain(status);
  }

  expect(reads.filter(({ status }) => status === 200).length).toBeGreaterThan(0.75 * reads.length);

  for (const { status, headers } of writes) {
    expect([201, headers['retry-after'] ? 503 : 201]).toContain(status);
  }

  expect(writes.filter(({ status }) => status === 201).length).toBeGreaterThan(
    0.75 * writes.length,
  );
  const expectBelow = (most: number, time: (damage: Measurement<OtherReplies>) => number) =>
    expect(time(attacked)).toBeLessThan(Math.max(most, MAX_GROWTH * time(usual)));

  expectBelow(MAX_P95_MS, ({ result }) => p95(result.reads));
  expectBelow(2 * MAX_P95_MS, ({ result }) => p95(result.writes));
  expectBelow(LIVENESS_LIMIT_MS, ({ aliveMs }) => aliveMs);
  expect(attacked.memoryMb).toBeLessThan(MEMORY_MB);
}

/** Each field is a transaction with the largest allowed number of rows. */
const bulk = (fields: number) => {
  const aliases = Array.from(
    { length: fields },
    (_, index) => `a${index}: createWorkout(input: $input) { workout { id days { id name } } }`,
  );

  return `mutation ($input: WorkoutInput!) { ${aliases.join(' ')} }`;
};

const input = {
  days: Array.from({ length: 499 }, (_, index) => ({
    name: `Of many ${index}`,
    weekdays: ['MONDAY'],
  })),
};

test('serves other clients during concurrent large writes of one user', async () => {
  const replies: Reply[] = [];

  await expectOthersServed(async (isOver) => {
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

/** Opens a stream of server-sent events; `received` returns its text so far. */
function subscription(
  who: http.OutgoingHttpHeaders,
  type: string,
): { received: () => string; end(): void } {
  let text = '';
  const headers = { ...who, 'Content-Type': 'application/json', Accept: 'text/event-stream' };
  const request = http.request(
    `${siege.base}/graphql/stream`,
    { method: 'POST', agent: false, headers },
    (response) =>
      response
        .on('data', (chunk: Buffer) => (text += chunk.toString()))
        .on('error', () => undefined),
  );

  request.on('error', () => undefined);
  request.end(JSON.stringify({ query: CHANGED, variables: { types: [type] } }));
  return { received: () => text, end: () => request.destroy() };
}

const events = (text: string): number => text.split('event: next').length - 1;

const isRejected = ({ received }: { received(): string }): boolean =>
  received().includes('TOO_MANY_SUBSCRIPTIONS');

test('rejects subscriptions of a network beyond 100 and accepts one of another network', async () => {
  const streams: ReturnType<typeof subscription>[] = [];

  try {
    for (let begun = 0; begun < 105; begun += 1) {
      streams.push(subscription(networkHeaders('203.0.113.2'), 'EXERCISE'));
      await sleep(20);
    }

    const other = subscription(networkHeaders('192.0.2.3'), 'EXERCISE');

    streams.push(other);
    await until('each stream has received its first event or its rejection', () =>
      streams.every(({ received }) => events(received()) > 0),
    );
    expect(streams.filter(isRejected)).toHaveLength(5);
    expect(isRejected(other)).toBe(false);
  } finally {
    for (const { end } of streams) end();
  }
});

test('serves other clients while 100 subscriptions of a user receive large writes', async () => {
  const streams: ReturnType<typeof subscription>[] = [];

  try {
    for (let begun = 0; begun < 105; begun += 1) {
      streams.push(subscription(attacker(cy), 'TRAINING_DAY'));
      await sleep(20);
    }

    await until('each stream has received its first event or its rejection', () =>
      streams.every(({ received }) => events(received()) > 0),
    );
    expect(streams.filter(isRejected)).toHaveLength(5);
    const before = streams.reduce((sum, { received }) => sum + events(received()), 0);
    const replies: Reply[] = [];
    const write = async () =>
      replies.push(await graphql(siege.base, bulk(1), { input }, attacker(cy)));
    const hasWritten = () => replies.some(({ status }) => status === 200);

    await expectOthersServed(async (isOver) => {
      while (!isOver()) {
        await write();
        await sleep(100);
      }
    });

    // A busy server may have shed all writes of the short attack.
    while (!hasWritten() && replies.length < MAX_WRITES) {
      await sleep(1_000);
      await write();
    }

    for (const { status } of replies) expect([200, 429, 503]).toContain(status);
    expect(hasWritten()).toBe(true);
    await until(
      'the streams receive changes',
      () => streams.reduce((sum, { received }) => sum + events(received()), 0) > before,
    );
  } finally {
    for (const { end } of streams) end();
  }
});
