/**
 * Connections through pgbouncer work like a direct connection if DATABASE_LISTEN_URL leads around
 * it.
 */
import { spawnSync } from 'node:child_process';
import { ConfigError } from '../../../src/shared/config';
import { migrateUp } from '../../../src/database/migrate';
import { Poolers } from './through-pooler';

let poolers: Poolers;

beforeAll(async () => {
  poolers = await Poolers.start();
});
afterAll(() => poolers.close());

const SESSION_SETTINGS = 'pool_mode = session\ndefault_pool_size = 40';
const TRANSACTION_SETTINGS = 'pool_mode = transaction\ndefault_pool_size = 4';
const SETTINGS_QUERY = `SELECT current_setting('TimeZone') AS "zone", current_setting('statement_timeout') AS "timeout", current_setting('DateStyle') AS "style"`;

test.each([
  ['session', SESSION_SETTINGS],
  ['transaction', TRANSACTION_SETTINGS],
])('applies time zone and timeouts to every session in %s mode', async (_mode, settings) => {
  const url = await poolers.through(settings);
  const { database, close } = await poolers.open(url, {
    DATABASE_LISTEN_URL: poolers.directDatabase.url,
  });

  try {
    const users = database.createSession();

    users.setClient('users', 1);
    const anonymous = database.createSession();

    anonymous.setClient('anonymous', 'somebody');

    for (let times = 0; times < 4; times += 1) {
      const parallel = await Promise.all([
        users.query(SETTINGS_QUERY),
        users.query(SETTINGS_QUERY),
        anonymous.query(SETTINGS_QUERY),
        database.queryAsServer(SETTINGS_QUERY),
      ]);

      expect(parallel.map(([row]) => row)).toEqual([
        { zone: 'Asia/Tokyo', timeout: '7s', style: 'ISO, YMD' },
        { zone: 'Asia/Tokyo', timeout: '7s', style: 'ISO, YMD' },
        { zone: 'Asia/Tokyo', timeout: '3s', style: 'ISO, YMD' },
        { zone: 'Asia/Tokyo', timeout: '7s', style: 'ISO, YMD' },
      ]);
    }

    const inTransaction = await users.transaction(async (transaction) => {
      const settingsQuery = SETTINGS_QUERY.replace(
        'SELECT',
        `SELECT current_setting('lock_timeout') AS "lock", current_setting($1) AS "idle",`,
      );

      return (await transaction.query(settingsQuery, ['idle_in_transaction_session_timeout']))[0];
    });

    expect(inTransaction).toEqual({
      zone: 'Asia/Tokyo',
      timeout: '7s',
      style: 'ISO, YMD',
      lock: '2s',
      idle: '10s',
    });
    const unlimited = await database.withoutTimeouts((client) => client.query(SETTINGS_QUERY));

    expect(unlimited.rows).toEqual([{ zone: 'Asia/Tokyo', timeout: '0', style: 'ISO, YMD' }]);
    expect(await migrateUp(database)).toEqual([]);
  } finally {
    await close();
  }
});

test.each([SESSION_SETTINGS, TRANSACTION_SETTINGS])(
  'rejects a pooler without DATABASE_LISTEN_URL and names it: %s',
  async (settings) => {
    const opening = poolers.open(await poolers.through(settings));

    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(
      /DATABASE_URL leads to a connection pooler. Set DATABASE_LISTEN_URL/,
    );
  },
);

test('runs against a genuine PgBouncer', () => {
  expect(spawnSync(process.env.PGBOUNCER!, ['--version'], { encoding: 'utf8' }).stdout).toMatch(
    /^PgBouncer \d/,
  );
});
