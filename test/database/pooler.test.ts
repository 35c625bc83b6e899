/** Behind a real pgbouncer: sessions are as good as PostgreSQL's own, and what would not be is refused with what to set. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, readConfig } from '../../src/config';
import { migrateUp } from '../../src/database/migrate';
import { openDatabase } from '../../src/database/open';
import { models } from '../../src/schema';
import { createDatabase, SECRET_KEY } from '../setup/databases';
import { until } from './processes';

let own: Awaited<ReturnType<typeof createDatabase>>;
let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  own = await createDatabase('catalogue');
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-pgbouncer-'));
  fs.chmodSync(folder, 0o755);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await own.drop();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A URL that leads through a pgbouncer with these settings. */
async function through(settings: string): Promise<string> {
  const { host, port, user, password, database } = own.connection;
  const listening = await freePort();
  const file = path.join(folder, `${listening}.ini`);
  const to = Object.entries({ host, port, user, password, dbname: database }).flatMap(([name, value]) =>
    value ? [`${name}=${String(value)}`] : [],
  );
  const lines = ['[databases]', `fit = ${to.join(' ')}`, '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${listening}`];
  fs.writeFileSync(file, [...lines, 'unix_socket_dir =', 'auth_type = any', 'default_pool_size = 40', settings, ''].join('\n'));
  // It does not run as root, and must reach the socket.
  const { uid, gid } = fs.statSync(host!);
  const child = spawn(process.env.PGBOUNCER!, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(process.getuid!() === 0 && { uid, gid }),
  });
  children.push(child);
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until('pgbouncer listens', () => {
    if (child.exitCode !== null) throw new Error(said);
    return said.includes('process up');
  });
  return `postgres://anybody@127.0.0.1:${listening}/fit`;
}

const open = (url: string) =>
  openDatabase(
    readConfig({ DATABASE_URL: url, SECRET_KEY, DATA_DIR: path.join(folder, 'data'), TIME_ZONE: 'Asia/Tokyo', STATEMENT_TIMEOUT: '7s' }),
    models,
    () => undefined,
  );

test('in session mode time zone and timeouts are those that were set, on every connection', async () => {
  const { database, close } = await open(await through('pool_mode = session\nignore_startup_parameters = options'));
  try {
    const asked = `SELECT current_setting('TimeZone') AS "zone", current_setting('statement_timeout') AS "timeout", current_setting('DateStyle') AS "style"`;
    const users = database.session();
    users.asks('users', 1);
    const strangers = database.session();
    strangers.asks('strangers', 'somebody');
    for (let times = 0; times < 4; times += 1) {
      const parallel = await Promise.all([users.query(asked), users.query(asked), strangers.query(asked)]);
      expect(parallel.map(([row]) => row)).toEqual([
        { zone: 'Asia/Tokyo', timeout: '7s', style: 'ISO, YMD' },
        { zone: 'Asia/Tokyo', timeout: '7s', style: 'ISO, YMD' },
        { zone: 'Asia/Tokyo', timeout: '3s', style: 'ISO, YMD' },
      ]);
    }
    const timeout = await users.transaction(async (transaction) => {
      const [rows] = await database.sequelize.query(`SELECT current_setting('statement_timeout') AS "timeout"`, { transaction });
      return (rows as { timeout: string }[])[0]!.timeout;
    });
    expect(timeout).toBe('7s');
    expect(await migrateUp(database)).toEqual([]);
  } finally {
    await close();
  }
});

test.each([
  ['transaction', /pool_mode = session/],
  ['statement', /DATABASE_URL/],
])('in %s mode the start is refused, with what to set', async (mode, message) => {
  const opening = open(await through(`pool_mode = ${mode}\nignore_startup_parameters = options`));
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(message);
});

test('and so is one that takes no settings at all', async () => {
  const opening = open(await through('pool_mode = session'));
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toThrow(/ignore_startup_parameters = options/);
});

test('PostgreSQL itself is taken for what it is', async () => {
  const { close } = await open(own.url);
  await close();
});

test('the pgbouncer is a real one', () => {
  expect(spawnSync(process.env.PGBOUNCER!, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/^PgBouncer \d/);
});
