/** Requests that exceed STATEMENT_TIMEOUT. */
import { fitgraphForThisFile } from '../setup/fitgraph';

// Without kept responses, which need no statement.
const fitgraph = fitgraphForThisFile({
  environment: { STATEMENT_TIMEOUT: '300ms', RESULT_CACHE: 'off' },
});

/** Runs `work` while the table "exercise_base" is locked, so that only a timeout ends reads of it. */
async function withExercisesLocked(work: () => Promise<void>): Promise<void> {
  const blocker = await fitgraph.database.pool.connect();

  try {
    await blocker.query('SET statement_timeout = 0');
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE "exercise_base" IN ACCESS EXCLUSIVE MODE');
    await work();
    await blocker.query('ROLLBACK');
  } finally {
    blocker.release(true);
  }
}

test('returns the GraphQL error code TIMEOUT and releases the connections', async () => {
  const count = '{ exercises { totalCount } }';

  await withExercisesLocked(async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fitgraph.anonymous.query(count)),
    );

    for (const { code, errors } of answers) {
      expect(code).toBe('TIMEOUT');
      expect(errors![0]!.message).toContain('took too long');
    }
  });
  expect((await fitgraph.anonymous.query(count)).data.exercises.totalCount).toBeGreaterThan(0);
});

test('logs the reason under the id that the client receives', async () => {
  await withExercisesLocked(async () => {
    const { errors } = await fitgraph.anonymous.query('{ exercises { totalCount } }');
    const { id } = errors![0]!.extensions as { id: string };

    expect(errors![0]!.message).toContain(`(id ${id})`);
    const line = fitgraph.logged
      .map((text) => JSON.parse(text))
      .find((one) => one.id === id && one.level === 50);

    expect(line).toMatchObject({ msg: 'a statement took too long', err: { code: '57014' } });
  });
});

test('returns 503 over REST, and 200 once the lock is released', async () => {
  await withExercisesLocked(async () => {
    const { status, body } = await fitgraph.anonymous.get('/exercise/');

    expect([status, Object.keys(body)]).toEqual([503, ['detail']]);
  });
  expect((await fitgraph.anonymous.get('/exercise/')).status).toBe(200);
});
