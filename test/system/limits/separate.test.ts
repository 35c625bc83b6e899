/**
 * Anonymous clients with large requests and slow statements delay neither users nor honest clients
 * of other networks.
 */
import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { graphql, send, Siege } from '../availability/server-under-attack';
import { expectCanaryServed } from './regular-client';

const FOODS = 100_000;

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start({ TRUSTED_PROXIES: '127.0.0.1, ::1' });
  const { connection, release } = await openEmbeddedDatabase({ dataDir: siege.dataDir });
  const client = new Client(connection);

  await client.connect();

  try {
    await client.query('ALTER TABLE "ingredient" DISABLE TRIGGER USER');
    await client.query(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
         SELECT md5(n::text), current_date, current_date, n % 900, n % 100, n % 100, n % 100, 2, '2' FROM generate_series(1, ${FOODS}) n`,
    );
    await client.query('ALTER TABLE "ingredient" ENABLE TRIGGER USER');
    await client.query('VACUUM ANALYZE "ingredient"');
  } finally {
    await client.end();
    await release();
  }
});
afterAll(() => siege.end());

const from = (network: string) => ({ 'X-Forwarded-For': network });
const aliases = (count: number, field: (index: number) => string) =>
  `{ ${Array.from({ length: count }, (_, n) => `a${n}: ${field(n)}`).join(' ')} }`;

/** More than 100,000 objects. */
const LARGE = aliases(12, (n) => `ingredients(first: 9000, offset: ${n}) { nodes { id } }`);

test("answers a user's large request while twelve anonymous clients send one each", async () => {
  const headers = { Authorization: `Token ${siege.token}` };
  const strangers = Array.from({ length: 12 }, (_, n) =>
    graphql(siege.base, LARGE, undefined, from(`203.0.113.${n}`)),
  );

  await sleep(100);
  const { status, text, ms } = await siege.timer()(() =>
    graphql(siege.base, LARGE, undefined, headers),
  );

  expect([status, JSON.parse(text).errors]).toEqual([200, undefined]);
  expect(ms).toBeLessThan(5_000);
  await Promise.all(strangers);
});

/** Statements that sort the whole table. */
const SLOW = aliases(
  20,
  (n) =>
    `ingredients(first: 1, offset: ${FOODS - 1_000 - n}, orderBy: [{ protein: ASC }, { name: DESC }]) { nodes { id } }`,
);

test('answers honest anonymous reads while eight networks send slow statements', async () => {
  const attackers = Array.from({ length: 8 }, (_, n) => from(`203.0.113.${n}`));
  const replies = await expectCanaryServed(siege, async () => {
    let isOver = false;
    const attack = Promise.all(
      attackers.flatMap((headers) =>
        Array.from({ length: 4 }, async () => {
          while (!isOver) await graphql(siege.base, SLOW, undefined, headers);
        }),
      ),
    );
    const honest = [];

    for (let run = 0; run < 27; run += 1) {
      honest.push(
        await send(siege.base, {
          path: `/api/v2/exercise/?limit=5&offset=${run}`,
          headers: from(`192.0.2.${run}`),
        }),
      );
      await sleep(200);
    }

    isOver = true;
    await attack;
    return honest;
  });

  expect(replies.map(({ status }) => status)).toEqual(Array(27).fill(200));
});

test('charges deep offsets for their database time', async () => {
  const began = performance.now();
  const { headers } = await graphql(siege.base, SLOW, undefined, from('198.51.100.1'));
  const seconds = (performance.now() - began) / 1_000;
  const charged = Number(/c=(\d+)/.exec(String(headers.ratelimit))![1]);

  // A network has a budget of 20,000 per second. A second of database time beyond 20 ms a statement
  // costs twice as much.
  expect(charged).toBeGreaterThan(10_000 * seconds);
});
