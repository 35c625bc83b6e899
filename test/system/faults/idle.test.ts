/** A transaction that is idle for too long, because the network delays its next statement. */
import type { PoolClient } from 'pg';
import { Scene } from './server-behind-proxy';
import { until } from '../../setup/waits';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open({ IDLE_TRANSACTION_TIMEOUT: '300ms', LOCK_TIMEOUT: '10s' });
});
afterAll(() => scene.close());

const waitingBackends = async () =>
  (
    await scene.database.pool.query(
      `SELECT "pid" FROM pg_stat_activity WHERE "datname" = current_database() AND "wait_event_type" = 'Lock' AND "query" LIKE '%"workout"%'`,
    )
  ).rows.map(({ pid }) => pid as number);
const isBackendAlive = async (pid: number) =>
  (await scene.database.pool.query('SELECT FROM pg_stat_activity WHERE "pid" = $1', [pid]))
    .rowCount === 1;

test('ends an idle transaction, releases its locks and returns 503 with Retry-After', async () => {
  const ann = scene.server.signedIn(scene.token);
  const { id } = (await ann.post('/workout/', { comment: 'before' })).body;
  const holder: PoolClient = await scene.database.pool.connect();

  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM "workout" WHERE "id" = $1 FOR UPDATE', [id]);
    const update = ann.patch(`/workout/${id}/`, { comment: 'lost' });
    let pid = 0;

    await until(
      'the update waits for the lock',
      async () => (pid = (await waitingBackends())[0] ?? 0) > 0,
    );
    scene.proxy.freeze();
    // The waiting statement proceeds, but PostgreSQL receives no further statement.
    await holder.query('COMMIT');
    await until('the idle transaction is ended', async () => !(await isBackendAlive(pid)));
    // The row lock has been released.
    await holder.query('UPDATE "workout" SET "comment" = $2 WHERE "id" = $1', [id, 'other']);
    scene.proxy.thaw();
    const { status, headers } = await update;

    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({
      status: 503,
      retryAfter: '2',
    });
  } finally {
    scene.proxy.thaw();
    holder.release();
  }

  expect((await ann.get(`/workout/${id}/`)).body.comment).toBe('other');
  await until(
    'the row can be updated',
    async () => (await ann.patch(`/workout/${id}/`, { comment: 'after' })).status === 200,
  );
});
