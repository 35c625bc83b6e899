/**
 * Request bodies are bounded before they are parsed: a few requests of one user do not affect other
 * clients.
 */
import { MEMORY_MB, send, Siege, type Reply } from '../availability/server-under-attack';
import { expectCanaryServed } from './regular-client';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

const MB = 1024 ** 2;
const TIMES = 4;
const QUERY = 'query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }';
const objectWithMembers = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"key${index}":1`).join()}}`;
const ids = (count: number) =>
  `[${Array.from({ length: count }, (_, index) => `"${index}"`).join()}]`;

const boundary = 'x';
const parts = (count: number) =>
  `${Array.from({ length: count }, (_, index) => `--${boundary}\r\nContent-Disposition: form-data; name="p${index}"\r\n\r\n1\r\n`).join('')}--${boundary}--\r\n`;

const JSON_TYPE = 'application/json';
const REST = '/api/v2/workout/';

const ATTACKS: [
  what: string,
  path: string,
  type: string,
  body: () => string,
  status: number,
  said: string,
][] = [
  [
    'a form of 450,000 fields',
    REST,
    'application/x-www-form-urlencoded',
    () => Array.from({ length: 450_000 }, (_, index) => `f${index}=1`).join('&'),
    400,
    'A form has at most 1000 fields.',
  ],
  [
    'JSON with 300,000 unknown keys',
    REST,
    JSON_TYPE,
    () => objectWithMembers(300_000),
    400,
    'More than 1000 members',
  ],
  [
    'JSON with 50,000 unknown keys',
    REST,
    JSON_TYPE,
    () => objectWithMembers(50_000),
    400,
    'More than 1000 members',
  ],
  [
    'JSON with a list of 50,000 lists',
    REST,
    JSON_TYPE,
    () => `{"day":[${Array<string>(50_000).fill('[]').join()}]}`,
    400,
    'More than 20000 values',
  ],
  [
    'deeply nested JSON',
    REST,
    JSON_TYPE,
    () => '['.repeat(MB),
    400,
    'Nested deeper than 100 levels',
  ],
  [
    'deeply nested JSON sent to GraphQL',
    '/graphql',
    JSON_TYPE,
    () => '['.repeat(MB),
    400,
    'Nested deeper than 100 levels',
  ],
  [
    'a filter with 100,000 ids',
    '/graphql',
    JSON_TYPE,
    () => `{"query":${JSON.stringify(QUERY)},"variables":{"where":{"id":{"in":${ids(100_000)}}}}}`,
    400,
    'More than 20000 values',
  ],
  [
    'a form of 60,000 parts',
    REST,
    `multipart/form-data; boundary=${boundary}`,
    () => parts(60_000),
    400,
    'A form has at most',
  ],
  [
    'a form of 60,000 parts sent to GraphQL',
    '/graphql',
    `multipart/form-data; boundary=${boundary}`,
    () => parts(60_000),
    413,
    'A form has at most',
  ],
];

test.each(ATTACKS)(
  'rejects %s and serves other clients',
  async (_what, path, type, body, status, expectedText) => {
    const text = body();
    const headers = {
      Authorization: `Token ${siege.token}`,
      'Content-Type': type,
      'Apollo-Require-Preflight': 'yes',
    };
    const replies = await expectCanaryServed(siege, () =>
      Promise.all(
        Array.from({ length: TIMES }, (): Promise<Reply> =>
          send(siege.base, { method: 'POST', path, headers, body: text }),
        ),
      ),
    );

    for (const reply of replies) {
      expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(expectedText)]);
      expect(reply.text.length).toBeLessThan(1_000);
    }
  },
);

test('answers a filter with 10,000 ids and serves other clients', async () => {
  const headers = { Authorization: `Token ${siege.token}`, 'Content-Type': JSON_TYPE };
  const body = `{"query":${JSON.stringify(QUERY)},"variables":{"where":{"id":{"in":${ids(10_000)}}}}}`;
  const reply = await expectCanaryServed(siege, () =>
    send(siege.base, { method: 'POST', path: '/graphql', headers, body }),
  );

  expect(JSON.parse(reply.text)).toEqual({
    data: { exercises: { totalCount: expect.any(Number) } },
  });
});

test('serves other clients while it validates 15 large bodies of one user', async () => {
  const notes = 'x'.repeat(300_000);
  const one = () =>
    send(siege.base, {
      method: 'POST',
      path: '/api/v2/workoutsession/',
      headers: { Authorization: `Token ${siege.token}`, 'Content-Type': JSON_TYPE },
      body: JSON.stringify({ notes, date: '2024-01-01', workout: 1 }),
    });
  const replies = await expectCanaryServed(siege, () =>
    Promise.all(Array.from({ length: 15 }, one)),
  );

  for (const { status, text } of replies) {
    expect([status, text]).toEqual([400, expect.stringContaining('no more than 10000 characters')]);
  }
});

test('has not exceeded its memory limit in these attacks', async () => {
  expect((await siege.measureDuring(() => Promise.resolve())).memoryMb).toBeLessThan(MEMORY_MB);
});
