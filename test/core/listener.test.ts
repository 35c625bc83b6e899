/** The connection on which a server listens for changes. */
import { LISTENER_NAME_PREFIX, NotificationListener } from '../../src/core/changes/listener';
import { createLogger } from '../../src/platform/logging';
import { createDatabase, open } from '../setup/databases';
import { until } from '../setup/waits';

test('leaves no connection behind when it is stopped while it connects', async () => {
  const { connection, drop } = await createDatabase('tables');
  const database = open(connection);
  try {
    const listener = new NotificationListener(database, createLogger('silent'));
    const starting = listener.start();
    await listener.stop();
    await expect(starting).rejects.toThrow('stopped');
    expect(listener.isConnected).toBe(false);
    await until('PostgreSQL has no connection of the listener', async () => {
      const { rows } = await database.pool.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE $1',
        [`${LISTENER_NAME_PREFIX}%`],
      );
      return rows.length === 0;
    });
  } finally {
    await database.close();
    await drop();
  }
});
