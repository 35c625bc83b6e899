/** Connections through pgbouncer: suitable settings work like a direct connection, and others are rejected with advice. */
import { spawnSync } from 'node:child_process';
import { ConfigError } from '../../src/platform/config';
import { migrateUp } from '../../src/database/migrate';
import { createDatabase } from '../setup/databases';
import { Poolers } from './throughpooler';

let poolers: Poolers;
beforeAll(async () => {
  poolers = await Poolers.start();
});
afterAll(() => poolers.close());

const SESSION_SETTINGS = 'default_pool_size = 40\nignore_startup_parameters = options';
const TRANSACTION_SETTINGS =
  'pool_mode = transaction\ndefault_pool_size = 4\nignore_startup_parameters = options';
const SETTINGS_QUERY = `SELECT current_setting('TimeZone') AS "zone", current_setting('statement_timeout') AS "timeout", current_setting('DateStyle') AS "style"`;

test.each([
  ['session', `pool_mode = session\n${SESSION_SETTINGS}`, false],
  ['transaction', TRANSACTION_SETTINGS, true],
])(
  'applies time zone and timeouts to every session in %s mode',
  async (_mode, settings, bypass) => {
    const url = await poolers.through(settings);
    const { database, close } = await poolers.open(
      url,
      bypass ? { DATABASE_LISTEN_URL: poolers.directDatabase.url } : {},
    );
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
        const [rows] = await database.sequelize.query(settingsQuery, {
          bind: ['idle_in_transaction_session_timeout'],
          transaction,
        });
        return rows[0];
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
  },
);

test.each([
  [
    'transaction mode without DATABASE_LISTEN_URL',
    TRANSACTION_SETTINGS,
    {},
    /DATABASE_LISTEN_URL.*pool_mode = session/,
  ],
  [
    'statement mode',
    `pool_mode = statement\n${SESSION_SETTINGS}`,
    {},
    /pool_mode = transaction or session/,
  ],
  [
    'a pooler that accepts no startup options',
    'pool_mode = session',
    {},
    /ignore_startup_parameters = options/,
  ],
  [
    'a pooler without prepared statements',
    `${TRANSACTION_SETTINGS}\nmax_prepared_statements = 0`,
    'around',
    /1\.21.*max_prepared_statements/,
  ],
])('rejects %s and names the required setting', async (_what, settings, environment, message) => {
  const url = await poolers.through(settings);
  const opening = poolers.open(
    url,
    environment === 'around' ? { DATABASE_LISTEN_URL: poolers.directDatabase.url } : {},
  );
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(message);
});

test('rejects a DATABASE_LISTEN_URL that leads through a pooler or to another database', async () => {
  const url = await poolers.through(TRANSACTION_SETTINGS);
  await expect(poolers.open(url, { DATABASE_LISTEN_URL: url })).rejects.toThrow(
    /DATABASE_LISTEN_URL points to a pooler/,
  );
  const other = await createDatabase('nothing');
  try {
    await expect(poolers.open(url, { DATABASE_LISTEN_URL: other.url })).rejects.toThrow(
      /must refer to the same database/,
    );
  } finally {
    await other.drop();
  }
});

test('detects a direct connection to PostgreSQL, with and without DATABASE_LISTEN_URL', async () => {
  for (const environment of [undefined, { DATABASE_LISTEN_URL: poolers.directDatabase.url }]) {
    const { database, close } = await poolers.open(poolers.directDatabase.url, environment);
    expect(database.options.poolerMode).toBeUndefined();
    await close();
  }
});

test('runs against a genuine PgBouncer', () => {
  expect(spawnSync(process.env.PGBOUNCER!, ['--version'], { encoding: 'utf8' }).stdout).toMatch(
    /^PgBouncer \d/,
  );
});
