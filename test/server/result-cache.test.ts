/**
 * The result cache: equal anonymous reads get the same response without a statement, and no
 * response is older than the writes before it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Fitgraph } from '../setup/fitgraph';
import type { Answer, Person } from '../setup/person';
import { randomFor, seeded } from '../setup/random';
import { LONG_TIMEOUT_MS, until } from '../setup/waits';

const PUBLIC_URL = 'http://fitgraph.test';
const METRICS_TOKEN = 'a token for metrics';

let first: Fitgraph;
let second: Fitgraph;
let uncached: Fitgraph;
let curator: Person;

beforeAll(async () => {
  first = await Fitgraph.start({ environment: { PUBLIC_URL, METRICS_TOKEN } });
  second = await Fitgraph.start({ sameDatabaseAs: first, environment: { PUBLIC_URL } });
  uncached = await Fitgraph.start({
    sameDatabaseAs: first,
    environment: { PUBLIC_URL, RESULT_CACHE: 'off' },
  });
  curator = await first.user('curator', { isCurator: true });
});
afterAll(async () => {
  await uncached.stop();
  await second.stop();
  await first.stop();
});

/** Headers that differ between equal requests, or with the transfer of the same bytes. */
const VARYING_HEADERS = [
  'date',
  'x-request-id',
  'ratelimit',
  'server-timing',
  'content-length',
  'transfer-encoding',
];

const compared = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !VARYING_HEADERS.includes(name)),
});

/** Sends a request twice, the second time after the first response is kept. */
async function sendTwice(person: Person, method: string, path: string): Promise<[Answer, Answer]> {
  return [await person.send(method, path), await person.send(method, path)];
}

const renameSquat = (name: string) =>
  curator.ask(
    'mutation ($id: ID!, $name: String!) { updateExerciseTranslation(id: $id, input: { name: $name }) { errors { message } } }',
    { id: '1', name },
  );

const nameOfSquat = async ({ anonymous }: Fitgraph): Promise<string> =>
  (await anonymous.get('/exercise/1/')).body.name;

describe('an equal request', () => {
  const PATHS = [
    '/api/v2/',
    '/api/v2/exercise/',
    '/api/v2/exerciseinfo/?limit=2&offset=1',
    '/api/v2/exercise/1/',
    '/api/v2/ingredient/?ordering=-energy',
    '/api/v2/ingredient/?format=json&name=Oats',
    '/api/v2/exercise/search/?term=press',
    '/api/v2/muscle/',
    '/api/v2/language/1/',
  ];
  const HEADERS: Record<string, string>[] = [
    {},
    { 'Accept-Encoding': 'gzip' },
    { 'Accept-Encoding': 'br;q=0.5, gzip' },
    { 'Accept-Encoding': 'gzip, deflate, br' },
    { 'Accept-Encoding': '' },
    { 'Accept-Encoding': 'nonsense' },
    { 'Accept-Encoding': 'deflate' },
    { 'Accept-Encoding': 'identity;q=0.5, *;q=0' },
    { Accept: 'application/json; indent=4' },
    { 'Accept-Language': 'de' },
    { Origin: 'http://other.test', Accept: '*/*' },
  ];

  it.each(PATHS)('gets the response of the regular way: %s', async (path) => {
    for (const headers of HEADERS) {
      for (const method of ['GET', 'HEAD']) {
        const [, kept] = await sendTwice(first.anonymous.withHeaders(headers), method, path);
        const regular = await uncached.anonymous.withHeaders(headers).send(method, path);

        expect(kept.statements).toBe(0);
        expect(compared(kept)).toEqual(compared(regular));
      }
    }
  });

  it(seeded('gets the response of the regular way for random lists'), async () => {
    const random = randomFor('random lists');
    const parameters = () => [
      `limit=${random.below(4)}`,
      `offset=${random.below(3)}`,
      `ordering=${random.pick(['id', '-id', 'name', 'nothing'])}`,
      `language=${random.below(3)}`,
      `format=${random.pick(['json', 'xml'])}`,
      `id=${random.below(3)}`,
    ];

    for (let count = 0; count < 200; count += 1) {
      const resource = random.pick(['exercise', 'exerciseinfo', 'ingredient', 'muscle', 'workout']);
      const path = `/api/v2/${resource}/?${random.some(parameters(), 3).join('&')}`;
      const headers = random.pick(HEADERS);
      const [, kept] = await sendTwice(first.anonymous.withHeaders(headers), 'GET', path);
      const regular = await uncached.anonymous.withHeaders(headers).send('GET', path);

      expect([path, compared(kept)]).toEqual([path, compared(regular)]);
    }
  });

  const OPERATIONS: [string, Record<string, unknown>][] = [
    [
      'rows',
      { query: '{ exercises(first: 2) { nodes { id translations { name } } totalCount } }' },
    ],
    [
      'a row',
      {
        query: 'query Food($id: ID!) { ingredient(id: $id) { name energy } }',
        variables: { id: 1 },
      },
    ],
    [
      'a search',
      { query: '{ ingredients(where: { name: { search: "oat" } }) { nodes { name } } }' },
    ],
    ['introspection', { query: '{ __schema { queryType { name } } __typename }' }],
  ];

  it.each(OPERATIONS)(
    'gets the response of the regular way over GraphQL: %s',
    async (_what, body) => {
      const parameters = new URLSearchParams(
        Object.entries(body).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      );

      const hitCount = await countHits();
      let comparedCount = 0;

      for (const others of [...HEADERS, { Accept: 'application/graphql-response+json' }]) {
        const headers = { 'Apollo-Require-Preflight': 'yes', ...others };

        for (const [method, path, posted] of [
          ['POST', '/graphql', body],
          ['GET', `/graphql?${parameters}`, undefined],
          ['HEAD', `/graphql?${parameters}`, undefined],
        ] as const) {
          const [client, regularClient] = [first, uncached].map(({ anonymous }) =>
            anonymous.withHeaders(headers),
          );

          await client!.send(method, path, posted);
          const kept = await client!.send(method, path, posted);
          const regular = await regularClient!.send(method, path, posted);

          comparedCount += 1;
          expect(compared(kept)).toEqual(compared(regular));
        }
      }

      expect((await countHits()) - hitCount).toBeGreaterThanOrEqual(comparedCount);
    },
  );

  it.each([
    ['rows of the client', '{ viewer { id } exercises { totalCount } }'],
    ['changes', '{ changes(since: null) { cursor } }'],
    ['the budget', '{ rateLimit { remaining } }'],
    ['a mutation', 'mutation { logout { errors { message } } }'],
    ['an error', '{ exercise(id: "999999") { id name } missing }'],
  ])('is not kept for %s', async (_what, query) => {
    const hitCount = await countHits();

    await first.anonymous.query(query);
    await first.anonymous.query(query);
    expect(await countHits()).toBe(hitCount);
  });

  it('of a GET operation may be kept by shared caches, and has an entity tag', async () => {
    const client = uncached.anonymous.withHeaders({ 'Apollo-Require-Preflight': 'yes' });
    const path = '/graphql?query={exercises{totalCount}}';
    const { headers } = await client.send('GET', path);
    const etag = headers.get('etag')!;

    expect(headers.get('cache-control')).toBe('public, no-cache');
    const conditional = { 'If-None-Match': etag, 'Apollo-Require-Preflight': 'yes' };

    for (const { anonymous } of [uncached, first, first]) {
      const answer = await anonymous.withHeaders(conditional).send('GET', path);

      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag]);
    }

    const own = await curator.withHeaders(conditional).send('GET', path);

    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  });

  it.each(['/api/v2/exercise/?limit=1', '/api/v2/exercise/1/', '/api/v2/exercise/'])(
    'gets 304 for the entity tag of any coding: %s',
    async (path) => {
      const [, kept] = await sendTwice(first.anonymous, 'GET', path);
      const etag = kept.headers.get('etag')!;

      for (const tag of [etag, etag.replace(/"$/, '-br"'), `"other", W/${etag}`, '*']) {
        const conditional = { 'If-None-Match': tag };
        const answer = await first.anonymous.withHeaders(conditional).send('GET', path);

        expect(answer.status).toBe(304);
        expect(compared(answer)).toEqual(
          compared(await uncached.anonymous.withHeaders(conditional).send('GET', path)),
        );
      }
    },
  );

  it.each<[string, string, Record<string, string>]>([
    ['with an invalid token', '/api/v2/exercise/?limit=1', { Authorization: 'Token no' }],
    ['with a cookie', '/api/v2/exercise/?limit=1', { Cookie: 'fitgraph=no' }],
    ['for a page', '/api/v2/exercise/?limit=1', { Accept: 'text/html' }],
    ['with an error', '/api/v2/exercise/999/', {}],
    ['for rows of users', '/api/v2/workout/', {}],
  ])('is answered in the regular way %s', async (_way, path, headers) => {
    const hitCount = await countHits();

    await sendTwice(first.anonymous.withHeaders(headers), 'GET', path);
    expect(await countHits()).toBe(hitCount);
  });
});

async function countHits(): Promise<number> {
  const { text } = await first.anonymous
    .withHeaders({ Authorization: `Bearer ${METRICS_TOKEN}` })
    .send('GET', '/metrics');

  return Number(/^fitgraph_response_cache_requests_total\{result="hit"\} (\d+)$/m.exec(text)![1]);
}

describe('a kept response', () => {
  beforeEach(() => renameSquat('Squat'));

  it('is forgotten when a curator writes', async () => {
    expect(await nameOfSquat(first)).toBe('Squat');
    expect(await nameOfSquat(first)).toBe('Squat');
    await renameSquat('Deep squat');
    expect(await nameOfSquat(first)).toBe('Deep squat');
  });

  it('is forgotten when somebody else writes', async () => {
    expect(await nameOfSquat(second)).toBe('Squat');
    await renameSquat('Deep squat');
    await until('the other instance knows', async () => (await nameOfSquat(second)) !== 'Squat');
    await first.sqlOfOthers(`UPDATE "exercise" SET "name" = 'Half squat' WHERE "id" = 1`);
    await until(
      'both instances know',
      async () =>
        [await nameOfSquat(first), await nameOfSquat(second)].join() === 'Half squat,Half squat',
    );
  });

  it('is kept when users write their rows', async () => {
    const ann = await first.user('ann');

    await nameOfSquat(first);
    expect((await ann.post('/weightentry/', { date: '2026-01-01', weight: 80 })).status).toBe(201);
    await ann.ask('mutation { createWorkout(input: { name: "Mine" }) { errors { message } } }');
    await sleep(100);
    expect((await first.anonymous.get('/exercise/1/')).statements).toBe(0);
  });

  it('counts towards the budget, and is refused without one', async () => {
    const poor = await Fitgraph.start({
      sameDatabaseAs: first,
      environment: { BUDGET_ANONYMOUS: '1' },
    });

    try {
      const costs: string[] = [];
      let answer: Answer;

      do {
        answer = await poor.anonymous.get('/exerciseinfo/');
        costs.push(/c=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1] ?? '');
      } while (answer.status === 200 && costs.length < 1_000);

      expect(answer.status).toBe(429);
      expect(costs.length).toBeGreaterThan(2);
    } finally {
      await poor.stop();
    }
  });
});

const STEPS = 20_000;
const CLIENTS = 8;
const MAX_AGE_MS = 100;

/**
 * Writes ever larger numbers to one food, at the first instance or by SQL, and reads it at both.
 * From time to time the connections that receive notifications are cut.
 */
test(
  seeded(`no read of ${STEPS} is older than the last write`),
  async () => {
    const random = randomFor('reads and writes');
    const loopDelay = monitorEventLoopDelay({ resolution: 1 });
    const acknowledged: { number: number; at: number; isOwn: boolean }[] = [];
    const outdated: string[] = [];
    const ways = { read: 0, kept: 0, written: 0, cut: 0 };
    let lastNumber = 0;
    let steps = 0;
    let isWriting = false;

    loopDelay.enable();

    /** The largest number that a read at an instance must not miss. */
    const expectedNumber = (isWriter: boolean): number =>
      Math.max(
        0,
        ...acknowledged
          .slice(-50)
          .filter(
            ({ at, isOwn }) =>
              (isOwn && isWriter) ||
              performance.now() - at > MAX_AGE_MS + loopDelay.max / 1_000_000,
          )
          .map(({ number }) => number),
      );

    const write = async () => {
      const number = (lastNumber += 1);
      const isOwn = random.chance(0.7);

      isWriting = true;

      if (isOwn) {
        await curator.ask(
          'mutation ($sugar: Decimal!) { updateIngredient(id: "1", input: { sugar: $sugar }) { errors { message } } }',
          { sugar: String(number / 1_000) },
        );
      } else {
        await first.sqlOfOthers(
          `UPDATE "ingredient" SET "carbohydrates_sugar" = $1::numeric / 1000 WHERE "id" = 1`,
          [number],
        );
      }

      acknowledged.push({ number, at: performance.now(), isOwn });
      ways.written += 1;
      isWriting = false;
    };

    const readNumber = async (client: Person): Promise<number> => {
      const path = random.pick(['/ingredient/1/', '/ingredient/?name=Oats', undefined]);
      const { body, statements } = path
        ? await client.get(path)
        : await client.query('{ ingredient(id: "1") { carbohydrates_sugar: sugar } }');
      const row = body.data?.ingredient ?? body.results?.[0] ?? body;

      if (statements === 0) ways.kept += 1;

      return Math.round(Number(row.carbohydrates_sugar) * 1_000);
    };

    const read = async () => {
      const instance = random.pick([first, second]);
      const expected = expectedNumber(instance === first);
      const found = await readNumber(instance.anonymous);

      ways.read += 1;
      if (found < expected) outdated.push(`${found} instead of ${expected}`);
    };

    const cut = async () => {
      ways.cut += 1;
      await first.sqlOfOthers(
        `SELECT pg_terminate_backend("pid") FROM pg_stat_activity
          WHERE "application_name" LIKE 'fitgraph listener%' AND "datname" = current_database()`,
      );
    };

    const runClient = async () => {
      while (steps < STEPS) {
        steps += 1;
        if (random.chance(1 / 2_000)) await cut();
        else if (!isWriting && random.chance(0.05)) await write();
        else await read();
      }
    };

    await Promise.all(Array.from({ length: CLIENTS }, runClient));
    loopDelay.disable();
    expect(outdated).toEqual([]);
    expect(ways.written).toBeGreaterThan(100);
    expect(ways.kept).toBeGreaterThan(ways.read / 10);
    expect(ways.cut).toBeGreaterThan(2);
  },
  LONG_TIMEOUT_MS,
);
