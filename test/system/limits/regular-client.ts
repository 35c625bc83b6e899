/**
 * A client that reads continuously during an attack: no read may be rejected, and nearly all must
 * be fast.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { send, type Reply, type Siege } from '../availability/server-under-attack';

const EVERY_MS = 200;

/** Limit for the 99th percentile of response times, without scheduling delays. */
const P99_MS = 1_000;

const PATHS = [
  '/api/v2/exercise/?limit=5',
  '/api/v2/exerciseinfo/1/',
  '/api/v2/ingredient/?limit=20',
];

/** Behind trusted proxies, the client is in another network than the attackers. */
const NETWORK = { 'X-Forwarded-For': '192.0.2.200' };

export interface CanaryResult<T> {
  result: T;

  /** Status and body of responses other than 200. */
  rejected: string[];
  p99: number;
}

/** Reads until the attack is over, and at least ten times. */
export async function withCanary<T>(
  siege: Siege,
  attack: () => Promise<T>,
): Promise<CanaryResult<T>> {
  const workers = siege.server.workers.join();
  const measureRequest = siege.timer();
  const replies: Reply[] = [];
  let isOver = false;
  const reading = (async () => {
    for (let run = 0; !isOver || run < 10; run += 1) {
      replies.push(
        await measureRequest(() =>
          send(siege.base, { path: PATHS[run % PATHS.length]!, headers: NETWORK }),
        ),
      );
      await sleep(EVERY_MS);
    }
  })();
  const result = await attack().finally(() => (isOver = true));

  await reading;
  expect(siege.server.workers.join()).toBe(workers);
  const times = replies.map(({ ms }) => ms).sort((a, b) => a - b);

  return {
    result,
    rejected: replies
      .filter(({ status }) => status !== 200)
      .map(({ status, text }) => `${status} ${text}`),
    p99: times[Math.ceil(times.length * 0.99) - 1]!,
  };
}

/** Runs an attack and checks that the reading client is unaffected. */
export async function expectCanaryServed<T>(siege: Siege, attack: () => Promise<T>): Promise<T> {
  const { result, rejected, p99 } = await withCanary(siege, attack);

  expect(rejected).toEqual([]);
  expect(p99).toBeLessThan(P99_MS);
  return result;
}
