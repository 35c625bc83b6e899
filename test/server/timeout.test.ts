/** Requests whose statements take too long are told so, and leave the database to others. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile({ environment: { STATEMENT_TIMEOUT: '300ms' } });

const LEAF = '{ name: { contains: "zzzz" } }';
const nested = (levels: number): string =>
  levels === 0 ? LEAF : `{ or: [${LEAF}, { category: { exercises: { some: ${nested(levels - 1)} } } }] }`;

/** Work that would take hours: all exercises of a category below each of them, and again below each of those. */
const ENDLESS = `{ exercises(where: ${nested(3)}) { totalCount } }`;

beforeAll(() =>
  fitgraph.sql(
    `INSERT INTO "exercise" ("name", "status", "description", "creation_date", "language_id", "license_id", "exercise_base_id", "uuid", "license_author", "name_original")
     SELECT 'Exercise ' || n, '2', repeat('Lift it. ', 10), '2021-01-01', 2, 2, 1, gen_random_uuid(), '', '' FROM generate_series(1, 300) n`,
  ),
);

test('GraphQL says TIMEOUT, and the connection is free again', async () => {
  const began = Date.now();
  const answers = await Promise.all(Array.from({ length: 8 }, () => fitgraph.anyone.query(ENDLESS)));
  for (const { code, errors } of answers) {
    expect(code).toBe('TIMEOUT');
    expect(errors![0]!.message).toContain('takes too long');
  }
  expect(Date.now() - began).toBeLessThan(10_000);
  expect((await fitgraph.anyone.query('{ exercises { totalCount } }')).data.exercises.totalCount).toBeGreaterThan(300);
});

test('REST answers 503, and is well once the way is free', async () => {
  const blocker = await fitgraph.database.pool.connect();
  try {
    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "exercise" IN ACCESS EXCLUSIVE MODE');
    const { status, body } = await fitgraph.anyone.get('/exercise/');
    expect([status, Object.keys(body)]).toEqual([503, ['detail']]);
    await blocker.query('ROLLBACK');
    expect((await fitgraph.anyone.get('/exercise/')).status).toBe(200);
  } finally {
    blocker.release(true);
  }
});
