/** The concurrency limiter: shares of clients, their order, limits and deadlines. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientLimiters, ConcurrencyLimiter, OverloadedError } from '../../src/shared/limiter';

/**
 * Returns a function that submits work by name (its first letter is the client), and lists of the
 * work that was started and rejected.
 */
function createOffer(limiter: ConcurrencyLimiter<string>) {
  const startedNames: string[] = [];
  const rejected: string[] = [];

  const offer = (name: string, isResumed = false) => {
    try {
      const start = () => void startedNames.push(name);
      const queued = limiter.acquireOrQueue(name[0]!, isResumed, start, () => rejected.push(name));

      if (!queued) start();

      return queued;
    } catch (error) {
      expect(error).toBeInstanceOf(OverloadedError);
      rejected.push(name);
      return undefined;
    }
  };

  return { startedNames, rejected, offer };
}

test('serves clients in turn, and the work of each client in order', () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 1 });
  const { startedNames, offer } = createOffer(limiter);

  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) offer(name);
  for (let turn = 0; turn < 5; turn += 1) limiter.release(startedNames.at(-1)![0]!);
  expect(startedNames).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('leaves slots to others when one client has its share', () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 3, slotsPerClient: 2 });
  const { startedNames, offer } = createOffer(limiter);

  for (const name of ['a1', 'a2', 'a3', 'b1']) offer(name);
  expect(startedNames).toEqual(['a1', 'a2', 'b1']);
  limiter.release('b');
  expect(startedNames).toEqual(['a1', 'a2', 'b1']);
  limiter.release('a');
  expect(startedNames).toEqual(['a1', 'a2', 'b1', 'a3']);
  expect(limiter.usage).toEqual({ slots: 3, busy: 2, queued: 0, rejected: 0 });
});

test('sheds the newest work of the longest queue for a client with less', () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 1, maxQueued: 4 });
  const { rejected, offer } = createOffer(limiter);

  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4', 'a5']) offer(name);
  expect(rejected).toEqual(['a5']);
  for (const name of ['b1', 'b2', 'b3', 'c1']) offer(name);
  expect(rejected).toEqual(['a5', 'a4', 'a3', 'b3', 'a2']);
  expect(limiter.usage).toEqual({ slots: 1, busy: 1, queued: 4, rejected: 5 });
});

test('bounds the queue of each client', () => {
  const { rejected, offer } = createOffer(
    new ConcurrencyLimiter<string>({ slots: 2, slotsPerClient: 1, maxQueuedPerClient: 1 }),
  );

  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) offer(name);
  expect(rejected).toEqual(['a3', 'b3']);
});

test('starts resumed work first and without a bound', () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 1, maxQueued: 1 });
  const { startedNames, rejected, offer } = createOffer(limiter);

  offer('a1');
  offer('b1');
  for (const name of ['c1', 'c2']) offer(name, true);
  for (let turn = 0; turn < 3; turn += 1) limiter.release(startedNames.at(-1)![0]!);
  expect([startedNames, rejected]).toEqual([['a1', 'c1', 'c2', 'b1'], []]);
});

test('rejects work that waited too long, and cancelled work once', async () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 1, maxWaitMs: 5 });
  const rejections: unknown[] = [];
  const first = limiter.run('a', () => sleep(200));
  const queued = limiter.acquireOrQueue('b', true, fail, (why) => rejections.push(why));

  await expect(limiter.run('b', () => Promise.resolve())).rejects.toThrow(OverloadedError);
  const gone = new Error('gone');

  limiter.cancel(queued!, gone);
  limiter.cancel(queued!, gone);
  await first;
  expect(rejections).toEqual([gone]);
  expect(limiter.usage).toEqual({ slots: 1, busy: 0, queued: 0, rejected: 1 });
});

function fail(): never {
  throw new Error('this must not start');
}

test('releases the slot when the work fails', async () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 1 });

  await expect(limiter.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow(
    'failed',
  );
  expect(limiter.tryAcquire('a')).toBe(true);
  expect(limiter.tryAcquire('b')).toBe(false);
});

test('serves the client with the fewest busy slots first, even before resumed work of others', () => {
  const limiter = new ConcurrencyLimiter<string>({ slots: 3 });
  const { startedNames, offer } = createOffer(limiter);

  for (const name of ['a1', 'a2', 'a3']) offer(name);
  offer('a4', true);
  offer('b1');
  offer('c1', true);
  for (let turn = 0; turn < 3; turn += 1) limiter.release('a');
  expect(startedNames.slice(3)).toEqual(['c1', 'b1', 'a4']);
});

test('limits users and anonymous clients separately, and a network to a third', () => {
  const limiters = new ClientLimiters({ slots: 6, anonymousSlots: 5 });
  const acquire = (client: string | number, count: number) =>
    Array.from({ length: count }, () => limiters.forClient(client).tryAcquire(client)).filter(
      Boolean,
    ).length;

  expect(acquire('one network', 10)).toBe(1);
  expect(['b', 'c', 'd', 'e', 'f'].map((network) => acquire(network, 10))).toEqual([1, 1, 1, 1, 0]);
  expect([acquire(1, 10), acquire(2, 10)]).toEqual([5, 1]);
});
