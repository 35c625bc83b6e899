/**
 * The size of responses is bounded: small requests with long responses neither block a worker nor
 * exhaust its memory.
 */
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { graphql, MEMORY_MB, send, Siege, type Reply } from '../availability/server-under-attack';
import { expectCanaryServed } from './regular-client';

const MAX_RESPONSE = 16 * 1024 ** 2;

/** A worker that needs more ends, which fails the test. */
const HEAP_MB = 800;

let siege: Siege;

beforeAll(async () => {
  // With a limit of the heap, the peak memory does not depend on how soon V8 collects garbage,
  // which is later on a busy machine.
  siege = await Siege.start({
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    TRUSTED_PROXIES: '127.0.0.1, ::1',
  });
  const { connection, release } = await openEmbeddedDatabase({ dataDir: siege.dataDir });
  const client = new Client(connection);

  await client.connect();

  try {
    await client.query(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
       SELECT 'Food ' || n, '2024-01-01', '2024-01-01', 100, 1, 2, 3, 2, '2' FROM generate_series(1, 12000) AS n`,
    );
    await client.query(
      `INSERT INTO "workout_session" ("user_id", "workout_id", "date", "notes", "impression")
       SELECT "user_id", "id", date '2000-01-01' + n, repeat('note ', 960000), '3' FROM generate_series(1, 30) AS n,
         (SELECT "id", "user_id" FROM "workout" WHERE "user_id" = 1 ORDER BY "id" LIMIT 1) AS w`,
    );
    await client.query(
      `INSERT INTO "workout_log" ("user_id", "exercise_id", "repetition_unit_id", "weight_unit_id", "workout_id", "reps", "weight", "date")
       SELECT "user_id", "exercise_id", "repetition_unit_id", "weight_unit_id", "workout_id", 5, 50, date '1970-01-01' + n FROM generate_series(1, 10000) AS n,
         (SELECT * FROM "workout_log" WHERE "user_id" = 1 ORDER BY "id" LIMIT 1) AS l`,
    );
    await client.query('ANALYZE');
  } finally {
    await client.end();
    await release();
  }
});
afterAll(() => siege.end());

/** A network whose budget the earlier attacks have not spent. */
const OTHER_NETWORK = { 'X-Forwarded-For': '192.0.2.201' };

const userHeaders = () => ({ Authorization: `Token ${siege.token}` });
const joinRepeated = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Sends a request three times. Other clients must stay served, and responses must be bounded. */
async function expectBoundedResponse(request: () => Promise<Reply>): Promise<Reply> {
  const replies = await expectCanaryServed(siege, async () => {
    const all: Reply[] = [];

    for (let run = 0; run < 3; run += 1) all.push(await request());

    return all;
  });

  for (const { text } of replies) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_RESPONSE);

  return replies[0]!;
}

const codeOf = ({ text }: Reply) => JSON.parse(text).errors?.[0]?.extensions?.code;

test('rejects hundreds of long aliases per row at validation', async () => {
  const aliases = joinRepeated(490, (index) => `${'a'.repeat(190)}${index}: id`);

  expect(
    codeOf(
      await expectBoundedResponse(() =>
        graphql(siege.base, `{ ingredients(first: 9900) { nodes { ${aliases} } } }`),
      ),
    ),
  ).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('returns RESULT_TOO_LARGE for the largest allowed number of aliases and rows', async () => {
  const aliases = joinRepeated(50, (index) => `${'a'.repeat(60)}${index}: id`);
  const reply = await expectBoundedResponse(() =>
    graphql(siege.base, `{ ingredients(first: 9900) { nodes { ${aliases} } } }`),
  );

  expect([reply.status, codeOf(reply)]).toEqual([400, 'RESULT_TOO_LARGE']);
  expect(reply.text).toContain('Request fewer rows');
});

test('serves other clients while it sends a response of several megabytes', async () => {
  const aliases = joinRepeated(50, (index) => `b${index}: id`);
  const reply = await expectBoundedResponse(() =>
    graphql(siege.base, `{ ingredients(first: 9900) { nodes { ${aliases} } } }`),
  );

  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.text).data.ingredients.nodes).toHaveLength(9900);
  expect(reply.text.length).toBeGreaterThan(5_000_000);
});

test('bounds a response that repeats one related row', async () => {
  const aliases = joinRepeated(50, (index) => `c${index}: fullName`);
  const reply = await expectBoundedResponse(() =>
    graphql(siege.base, `{ ingredients(first: 9900) { nodes { language { ${aliases} } } } }`),
  );

  expect(['RESULT_TOO_LARGE', undefined]).toContain(codeOf(reply));
});

test('rejects repeated introspection at validation', async () => {
  const aliases = joinRepeated(30, (index) => `s${index}: __schema { types { name description } }`);

  expect(codeOf(await expectBoundedResponse(() => graphql(siege.base, `{ ${aliases} }`)))).toBe(
    'GRAPHQL_VALIDATION_FAILED',
  );
});

test('bounds responses with stored texts that exceed the current length limit', async () => {
  const list = await expectBoundedResponse(() =>
    send(siege.base, { path: '/api/v2/workoutsession/?limit=100', headers: userHeaders() }),
  );

  expect([list.status, JSON.parse(list.text)]).toEqual([
    400,
    { detail: expect.stringContaining('Request fewer rows') },
  ]);
  const one = await expectBoundedResponse(() =>
    send(siege.base, { path: '/api/v2/workoutsession/?limit=1', headers: userHeaders() }),
  );

  expect([one.status, JSON.parse(one.text).results[0].notes.length]).toEqual([200, 4_800_000]);
  const aliases = joinRepeated(50, (index) => `n${index}: notes`);
  const reply = await expectBoundedResponse(() =>
    graphql(
      siege.base,
      `{ workoutSessions(first: 1) { nodes { ${aliases} } } }`,
      undefined,
      userHeaders(),
    ),
  );

  expect([reply.status, codeOf(reply)]).toEqual([400, 'RESULT_TOO_LARGE']);
});

test('has not exceeded its memory limit in these attacks', async () => {
  expect((await siege.measureDuring(() => Promise.resolve())).memoryMb).toBeLessThan(MEMORY_MB);
});

test('serves other clients while a dozen clients ask for as many objects as the cost allows', async () => {
  const aliases = joinRepeated(19, (index) => `d${index}: language { id }`);
  const query = `{ ingredients(first: 9900) { nodes { ${aliases} } } }`;
  const { result: replies, memoryMb } = await siege.measureDuring(() =>
    expectCanaryServed(siege, () =>
      Promise.all(Array.from({ length: 12 }, () => graphql(siege.base, query))),
    ),
  );

  for (const { status, text } of replies) {
    expect([200, 400, 429, 503]).toContain(status);

    if (status !== 200) {
      expect(['RESULT_TOO_LARGE', 'RATE_LIMITED', 'OVERLOADED']).toContain(
        JSON.parse(text).errors[0].extensions.code,
      );
    }
  }

  expect(memoryMb).toBeLessThan(1.5 * MEMORY_MB);
});

test('serves other clients while more than a hundred thousand fields wait for the same row', async () => {
  const aliases = joinRepeated(13, (index) => `e${index}: exercise { id }`);
  const query = `{ workoutLogs(first: 9900) { nodes { ${aliases} } } }`;
  const { result: reply, memoryMb } = await siege.measureDuring(() =>
    expectCanaryServed(siege, () => graphql(siege.base, query, {}, userHeaders())),
  );

  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.text).data.workoutLogs.nodes).toHaveLength(9900);
  expect(memoryMb).toBeLessThan(2 * MEMORY_MB);
});

test('aborts an operation with more objects than an answer may have', async () => {
  const aliases = joinRepeated(38, (index) => `g${index}: exercise { id }`);
  const reply = await expectBoundedResponse(() =>
    graphql(siege.base, `{ workoutLogs(first: 9900) { nodes { ${aliases} } } }`, {}, userHeaders()),
  );

  expect([reply.status, codeOf(reply)]).toEqual([400, 'RESULT_TOO_LARGE']);
  expect(reply.text).toMatch(/200000 objects|1000000 values/);
});

test('counts the fields of the node of an edge', async () => {
  const aliases = (field: string) => joinRepeated(50, (index) => `n${index}: ${field}`);
  const query = `{ ingredients(first: 9900) { edges { node { ${aliases('id')} language { ${aliases('fullName')} } } } } }`;
  const reply = await expectBoundedResponse(() => graphql(siege.base, query, {}, OTHER_NETWORK));

  expect([reply.status, codeOf(reply)]).toEqual([400, 'RESULT_TOO_LARGE']);
  expect(reply.text).toContain('1000000 values');
});

test('serves other clients while a hundred thousand fields fail', async () => {
  const aliases = joinRepeated(40, (index) => `f${index}: diaryEntries(first: 1) { nodes { id } }`);
  const { result: reply, memoryMb } = await siege.measureDuring(() =>
    expectCanaryServed(siege, () =>
      graphql(
        siege.base,
        `{ ingredients(first: 2300) { nodes { ${aliases} } } }`,
        undefined,
        OTHER_NETWORK,
      ),
    ),
  );
  const { errors } = JSON.parse(reply.text);

  expect(errors).toHaveLength(20);
  expect(errors[0].extensions.code).toBe('UNAUTHENTICATED');
  expect(errors[19].extensions.code).toBe('TOO_MANY_ERRORS');
  expect(memoryMb).toBeLessThan(2 * MEMORY_MB);
});
