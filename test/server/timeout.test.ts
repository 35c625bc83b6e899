/** Requests whose statements take too long are told so, and leave the database to others. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile({ environment: { STATEMENT_TIMEOUT: '300ms' } });

/** Holds a lock that nobody can read exercises with until the work is done: only a timeout ends statements earlier. */
async function blocked(work: () => Promise<void>): Promise<void> {
  const blocker = await fitgraph.database.pool.connect();
  try {
    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "exercise" IN ACCESS EXCLUSIVE MODE');
    await work();
    await blocker.query('ROLLBACK');
  } finally {
    blocker.release(true);
  }
}

test('GraphQL says TIMEOUT, and the connections are free again', async () => {
  const count = '{ exercises { totalCount } }';
  await blocked(async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => fitgraph.anyone.query(count)));
    for (const { code, errors } of answers) {
      expect(code).toBe('TIMEOUT');
      expect(errors![0]!.message).toContain('takes too long');
    }
  });
  expect((await fitgraph.anyone.query(count)).data.exercises.totalCount).toBeGreaterThan(0);
});

test('REST answers 503, and is well once the way is free', async () => {
  await blocked(async () => {
    const { status, body } = await fitgraph.anyone.get('/exercise/');
    expect([status, Object.keys(body)]).toEqual([503, ['detail']]);
  });
  expect((await fitgraph.anyone.get('/exercise/')).status).toBe(200);
});
