/** The connection on which a server listens for changes. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  LISTENER_APPLICATION_NAME_PREFIX,
  NotificationListener,
} from '../../../src/engine/changes/listener';
import { createLogger } from '../../../src/shared/logging';
import { createDatabase, open } from '../../setup/databases';
import { until } from '../../setup/waits';

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
        [`${LISTENER_APPLICATION_NAME_PREFIX}%`],
      );

      return rows.length === 0;
    });
  } finally {
    await database.close();
    await drop();
  }
});

test('repeats after a failed handler until all that may have been missed is read', async () => {
  const { connection, drop } = await createDatabase('tables');
  const database = open(connection);
  const listener = new NotificationListener(database, createLogger('silent'));
  let calls = 0;

  const fail = async () => {
    calls += 1;
    if (calls < 3) throw new Error('what is in memory cannot be read');
  };

  listener.registerHandler('something', { onNotification: fail, onMissedNotifications: fail });

  try {
    await listener.start();
    await database.pool.query('NOTIFY something');
    await until('the handler has succeeded', () => calls === 3);
  } finally {
    await listener.stop();
    await database.close();
    await drop();
  }
});

test('reconnects once if the connection is lost while missed notifications are handled', async () => {
  const { connection, drop } = await createDatabase('tables');
  const database = open(connection);
  const listener = new NotificationListener(database, createLogger('silent'));
  const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '${LISTENER_APPLICATION_NAME_PREFIX}%'`;

  const terminate = async () => {
    await database.pool.query(`SELECT pg_terminate_backend("pid") ${listeners}`);
    await until('the connection is lost', () => !listener.isConnected);
  };

  let calls = 0;

  listener.registerHandler('nothing', {
    onNotification: () => undefined,
    async onMissedNotifications() {
      calls += 1;
      if (calls > 1) return;
      await terminate();
      throw new Error('what is in memory cannot be read');
    },
  });

  try {
    await listener.start();
    await terminate();
    await until('it has caught up', () => calls > 1);
    // A second attempt would follow the first one after half a second.
    await sleep(1_500);
    expect([
      listener.lostConnectionCount,
      (await database.pool.query(`SELECT ${listeners}`)).rows.length,
    ]).toEqual([2, 1]);
  } finally {
    await listener.stop();
    await database.close();
    await drop();
  }
});
