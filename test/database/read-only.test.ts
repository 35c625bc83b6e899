/**
 * A read-only period: writes are answered with 503 and succeed again as soon as it is over,
 * although sessions keep their initial setting.
 */
import { fitgraphForThisFile } from '../setup/fitgraph';
import { asSuperuser, open } from '../setup/databases';

const fitgraph = fitgraphForThisFile();

test('writes work again right after a read-only period', async () => {
  const ann = await fitgraph.user('ann');
  const { connection } = fitgraph.database.options;
  const administrator = open(asSuperuser(connection));

  const change = async (setting: string) => {
    await administrator.pool.query(`ALTER DATABASE "${connection.database}" ${setting}`);
  };

  // Existing sessions keep their default, so they are terminated; the sessions that replace them
  // are read-only.
  const end = `SELECT pg_terminate_backend("pid") FROM pg_stat_activity WHERE "datname" = $1 AND "pid" <> pg_backend_pid() AND "application_name" = 'fitgraph' AND "usename" <> current_user`;
  const workout = (comment: string) =>
    ann.post('/workout/', { creation_date: '2026-01-01', comment });
  const writes = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => workout(`number ${index}`)));

  try {
    await change('SET default_transaction_read_only = on');
    await administrator.pool.query(end, [connection.database]);

    for (let round = 0; round < 3; round += 1) {
      for (const { status, headers } of await writes(10)) {
        expect([status, headers.has('retry-after')]).toEqual([503, true]);
      }
    }

    expect((await ann.get('/workout/')).status).toBe(200);
    await change('RESET default_transaction_read_only');

    for (let round = 0; round < 3; round += 1) {
      expect((await writes(10)).map(({ status }) => status)).toEqual(Array(10).fill(201));
    }
  } finally {
    await change('RESET default_transaction_read_only');
    await administrator.close();
  }
});
