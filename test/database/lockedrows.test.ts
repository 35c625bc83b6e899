/** A row, or a table, that is locked longer than writes wait for a lock. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { until } from '../setup/waits';

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
    expect((await bob.post('/weightentry/', { date: '2024-01-01', weight: '70' })).status).toBe(201);
    expect((await ann.post('/weightentry/', { date: '2024-01-02', weight: '80' })).status).toBe(201);
  } finally {
    await locker.query('ROLLBACK');
    locker.release();
  }
  expect((await ann.patch(`/weightentry/${id}/`, { weight: '81' })).status).toBe(200);
});

test('rejects writes to a table at once while another session waits to lock it', async () => {
  const [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  const [reader, locker] = [await fitgraph.database.pool.connect(), await fitgraph.database.pool.connect()];
  try {
    await reader.query('BEGIN; SELECT FROM "weight_entry"');
    // PostgreSQL queues the writes behind this statement, which waits for the reader.
    const locking = locker.query('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; LOCK TABLE "weight_entry"');
    await until('the statement waits', async () => {
      const [{ waiting }] = (await fitgraph.sql(`SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted) AS "waiting"`)) as [
        { waiting: boolean },
      ];
      return waiting;
    });
    const add = () => bob.post('/weightentry/', { date: '2024-02-01', weight: '70' });
    const first = await add();
    const second = await add();
    expect([first.status, second.status]).toEqual([503, 503]);
    expect(second.statements).toBeLessThan(first.statements);
    expect((await ann.post('/workout/', {})).status).toBe(201);
    await reader.query('ROLLBACK');
    await locking;
  } finally {
    await reader.query('ROLLBACK');
    await locker.query('ROLLBACK');
    reader.release();
    locker.release();
  }
});
