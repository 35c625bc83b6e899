/**
 * A limit that is reached stops the work: the answer comes at once, the process is idle and its
 * memory is free soon after.
 */
import { Client } from 'pg';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { graphql, Siege } from '../availability/server-under-attack';
import { expectCanaryServed } from './regular-client';

/** Size of the heap of the worker, which ends if an answer needs more memory. */
const HEAP_MB = 400;

/** Size of a group of variations, each of which refers to all of them. */
const GROUP_SIZE = 8;

let siege: Siege;
let exerciseId: number;

beforeAll(async () => {
  // The cost limit is high, because estimates depend on whether PostgreSQL has analysed the
  // catalogue yet. Database time, and with it the budget, depends on other tests.
  siege = await Siege.start({
    BUDGET: 'off',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    MAX_COST: '1000000000',
  });
  const { connection, release } = await openEmbeddedDatabase({ dataDir: siege.dataDir });
  const client = new Client(connection);

  await client.connect();

  try {
    const { rows } = await client.query<{ id: number }>(
      `WITH bases AS (SELECT DISTINCT "exercise_base_id" AS "id" FROM "exercise" WHERE "language_id" = 2 AND "status" = '2' ORDER BY 1 LIMIT ${GROUP_SIZE}),
         variation AS (INSERT INTO "variation" DEFAULT VALUES RETURNING "id"),
         changed AS (UPDATE "exercise_base" SET "variation_id" = (SELECT "id" FROM variation) WHERE "id" IN (SELECT "id" FROM bases) RETURNING "id")
       SELECT e."id" FROM "exercise" e JOIN changed c ON e."exercise_base_id" = c."id" WHERE e."language_id" = 2 ORDER BY e."id" LIMIT 1`,
    );

    exerciseId = rows[0]!.id;
    await client.query('ANALYZE');
  } finally {
    await client.end();
    await release();
  }
});
afterAll(() => siege.end());

const nestedVariations = (depth: number) =>
  `{ exerciseTranslation(id: ${exerciseId}) { ${'variations { '.repeat(depth)} id ${'} '.repeat(depth)} } }`;

test.each([6, 7, 8, 9])(
  'answers variations nested %i levels deep without blocking other clients',
  async (depth) => {
    const reply = await expectCanaryServed(siege, () =>
      graphql(siege.base, nestedVariations(depth)),
    );
    const { data, errors } = JSON.parse(reply.text);

    if (errors) {
      expect([reply.status, errors[0].extensions.code]).toEqual([400, 'RESULT_TOO_LARGE']);
    } else expect(data.exerciseTranslation.variations).not.toEqual([]);
  },
);

test('serves other clients while several ask for deeply nested variations and leave', async () => {
  await expectCanaryServed(siege, () =>
    Promise.all([7, 7, 7, 7, 8, 9].map((depth) => graphql(siege.base, nestedVariations(depth)))),
  );
});
