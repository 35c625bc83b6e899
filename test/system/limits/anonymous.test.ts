/**
 * Many anonymous requests do not affect other clients: health checks, invalid documents, passwords,
 * charts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { graphql, send, Siege, type Reply } from '../availability/server-under-attack';
import { expectCanaryServed } from './regular-client';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start({ TRUSTED_PROXIES: '127.0.0.1, ::1' });
});
afterAll(() => siege.end());

const from = (network: string) => ({ 'X-Forwarded-For': network });
const ATTACKER = from('203.0.113.1');

/** Runs concurrent senders for some seconds, each of which sends one request after the other. */
async function flood(
  senders: number,
  seconds: number,
  one: (sender: number) => Promise<Reply>,
): Promise<Reply[]> {
  const replies: Reply[] = [];
  const until = performance.now() + seconds * 1_000;

  await Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      while (performance.now() < until) replies.push(await one(sender));
    }),
  );

  return replies;
}

test('serves other clients during a flood of requests for unknown paths below /health', async () => {
  const replies = await expectCanaryServed(siege, () =>
    flood(200, 5, () =>
      send(siege.base, {
        path: '/health/anything',
        headers: { ...ATTACKER, Cookie: 'fitgraph_session=x', Accept: 'text/html' },
      }),
    ),
  );

  for (const { status } of replies) expect([404, 503]).toContain(status);
});

test('answers health checks', async () => {
  for (const path of [
    '/health/live',
    '/health',
    '/healthz',
    '/health/ready',
    '/health/live?from=a',
  ]) {
    expect(JSON.parse((await send(siege.base, { path })).text)).toEqual({ status: 'ok' });
  }
});

test('serves other clients during a flood of invalid documents', async () => {
  const document = (run: number) =>
    `{ ${Array.from({ length: 90 }, (_, index) => `wrong${run}_${index}`).join(' ')} ... on Query { ${Array.from({ length: 400 }, (_, index) => `other${index}`).join(' ')} } }`;
  let run = 0;
  const replies = await expectCanaryServed(siege, () =>
    flood(10, 5, () => graphql(siege.base, document((run += 1)), undefined, ATTACKER)),
  );

  for (const { status, text } of replies) {
    expect([200, 400, 429, 503]).toContain(status);
    expect(text).toMatch(/GRAPHQL_VALIDATION_FAILED|RATE_LIMITED|OVERLOADED/);
  }
});

describe('password checks', () => {
  const login = (username: string, password: string, network: string) =>
    send(siege.base, {
      method: 'POST',
      path: '/api/v2/login/',
      headers: { 'Content-Type': 'application/json', ...from(network) },
      body: JSON.stringify({ username, password }),
    });

  test('accept twenty concurrent logins from one network', async () => {
    const names = ['ann', 'bea', 'cy', 'dan'];

    for (const name of names) await siege.user(name);
    // Five logins per user.
    const people = Array.from({ length: 20 }, (_, index) => names[index % names.length]!);
    const replies = await expectCanaryServed(siege, () =>
      Promise.all(people.map((name) => login(name, `password of ${name}`, '198.51.100.7'))),
    );

    expect(replies.map(({ status }) => status)).toEqual(people.map(() => 200));
  });

  test('accept logins of other networks while thirteen networks guess passwords', async () => {
    const name = 'honest';

    await siege.user(name);
    let guesses = 0;
    const [replies] = await expectCanaryServed(siege, async () => {
      let isOver = false;
      const guessing = (async () => {
        const sent: Promise<Reply>[] = [];

        while (!isOver) {
          guesses += 1;
          sent.push(login(`nobody${guesses}`, 'a wrong password', `203.0.113.${guesses % 13}`));
          await sleep(1_000 / 22);
        }

        return Promise.all(sent);
      })();
      const regular: Reply[] = [];

      for (let run = 0; run < 12; run += 1) {
        regular.push(await login(name, `password of ${name}`, `192.0.2.${run}`));
        await sleep(300);
      }

      isOver = true;
      return [regular, await guessing] as const;
    });

    expect(guesses).toBeGreaterThan(50);
    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

test('serves other clients while it renders the first chart', async () => {
  const headers = { Authorization: `Token ${siege.token}`, Accept: 'text/html' };
  const { status, text } = await expectCanaryServed(siege, () =>
    send(siege.base, { path: '/api/v2/weightentry/', headers }),
  );

  expect(status).toBe(200);
  expect(text).toContain('<svg');
});
