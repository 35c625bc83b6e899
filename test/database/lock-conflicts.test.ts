/** A row that is locked longer than writes wait for a lock. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile({ environment: { LOCK_TIMEOUT: '2s' } });

test('rejects the write that waits for it, but no other write to its table', async () => {
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  const { id } = (await ann.post('/weightentry/', { date: '2024-01-01', weight: '80' })).body;
  const locker = await fitgraph.database.pool.connect();

  try {
    await locker.query('BEGIN');
    await locker.query('SELECT FROM "weight_entry" WHERE "id" = $1 FOR UPDATE', [id]);
    const rejected = await ann.patch(`/weightentry/${id}/`, { weight: '81' });

    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await bob.post('/weightentry/', { date: '2024-01-01', weight: '70' })).status).toBe(
      201,
    );
    expect((await ann.post('/weightentry/', { date: '2024-01-02', weight: '80' })).status).toBe(
      201,
    );
  } finally {
    await locker.query('ROLLBACK');
    locker.release();
  }

  expect((await ann.patch(`/weightentry/${id}/`, { weight: '81' })).status).toBe(200);
});
