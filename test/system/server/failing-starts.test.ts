/**
 * Starts that fail: one line on standard error names the variable, the exit code is 1, and no
 * process remains.
 */
import fs from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { Client } from 'pg';
import { VERSION } from '../../../src/shared/version';
import { createDatabase } from '../../setup/databases';
import { createSchema02 } from '../../setup/previous-schema';
import { until } from '../../setup/waits';
import { build, Installation, run } from '../../setup/server-process';

const KEY = 'a secret key for the tests, long enough';

beforeAll(build);

const installation = new Installation();

afterAll(() => installation.remove());

const start = (environment: Record<string, string>) =>
  run('server', { DATA_DIR: installation.dataDir, ...environment });

test.each([
  ['PORT', { PORT: 'http' }],
  ['TIME_ZONE', { TIME_ZONE: 'Mars/Olympus' }],
  ['TRUSTED_PROXIES', { TRUSTED_PROXIES: 'everybody' }],
  ['DATA_DIR', { DATA_DIR: '/proc/fitgraph' }],
  ['DATA_DIR', { DATA_DIR: '/proc/fitgraph/data' }],
  ['HOST', { HOST: '203.0.113.1' }],
  ['SECRET_KEY', { NODE_ENV: 'production' }],
  ['DATABASE_URL', { DATABASE_URL: 'postgres://nobody@localhost:1/nothing', SECRET_KEY: KEY }],
])('exits with status 1 and one line about %s for %j', async (name, environment) => {
  const { status, stdout, stderr } = await start(environment);

  expect(stderr).toMatch(new RegExp(`^fitgraph: ${name}\\b[^\\n]*\\n$`));
  expect([status, stdout]).toEqual([1, '']);
  await until('no process remains', () => installation.processes.length === 0);
});

test('exits with status 1 when PORT is in use, without creating DATA_DIR', async () => {
  const portHolder = createServer();

  await new Promise<void>((resolve) => portHolder.listen(0, '0.0.0.0', resolve));
  const { port } = portHolder.address() as AddressInfo;
  const { status, stderr } = await start({ PORT: String(port), LOG_LEVEL: 'silent' });

  expect(stderr).toMatch(/^fitgraph: PORT: [^\n]*EADDRINUSE[^\n]*\n$/);
  expect(status).toBe(1);
  await new Promise((resolve) => portHolder.close(resolve));
  // Because DATA_DIR does not exist, the next start counts as the first one and prints the demo
  // account.
  expect(fs.existsSync(installation.dataDir)).toBe(false);
});

test('exits with status 1 when METRICS_PORT is in use', async () => {
  const portHolder = createServer();

  await new Promise<void>((resolve) => portHolder.listen(0, '127.0.0.1', resolve));
  const { port } = portHolder.address() as AddressInfo;

  try {
    const { status, stdout, stderr } = await start({
      METRICS_PORT: String(port),
      LOG_LEVEL: 'silent',
    });

    expect(stderr).toMatch(/^fitgraph: METRICS_PORT: [^\n]*EADDRINUSE[^\n]*\n$/);
    expect([status, stdout]).toEqual([1, '']);
    await until('no process remains', () => installation.processes.length === 0);
  } finally {
    await new Promise((resolve) => portHolder.close(resolve));
  }
});

describe('a DATA_DIR with foreign content', () => {
  const place = path.join(installation.folder, 'not ours');

  afterEach(() => fs.rmSync(place, { recursive: true, force: true }));

  async function expectRefused(problem: RegExp): Promise<void> {
    const statOfPlace = () => [
      fs.statSync(place).mode,
      fs.statSync(place).ctimeMs,
      fs.readdirSync(fs.statSync(place).isFile() ? '/' : place),
    ];
    const before = statOfPlace();
    const database = { DATABASE_URL: 'postgres://nobody@localhost:1/nothing', SECRET_KEY: KEY };
    const answers = [
      await run('server', { DATA_DIR: place }),
      await run('server', { DATA_DIR: place, ...database }),
      await run('command', { DATA_DIR: place }, ['user', 'token', 'demo']),
    ];

    for (const { status, stdout, stderr } of answers) {
      expect(stderr).toMatch(/^fitgraph: DATA_DIR: [^\n]*\n$/);
      expect(stderr).toMatch(problem);
      expect([status, stdout]).toEqual([1, '']);
    }

    expect(statOfPlace()).toEqual(before);
  }

  test('is rejected and left unchanged when it is a file', async () => {
    fs.writeFileSync(place, 'something', { mode: 0o644 });
    await expectRefused(/not ours is not a folder/);
  });

  test('is rejected and left unchanged when it is a folder with other files', async () => {
    fs.mkdirSync(place, { mode: 0o755 });
    fs.writeFileSync(path.join(place, 'thesis.tex'), '');
    fs.mkdirSync(path.join(place, 'media'));
    await expectRefused(/not ours contains other files \(thesis\.tex/);
  });
});

test('refuses to create an account when the secret key is empty, short or missing', async () => {
  const own = new Installation();
  const file = path.join(own.dataDir, 'secret-key');
  const create = (name: string) =>
    own.command('user', 'create', name, '--password', 'a good password');

  try {
    expect((await own.command('seed', '--demo')).status).toBe(0);
    const key = fs.readFileSync(file, 'utf8');

    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    const wrong: [string | undefined, RegExp][] = [
      ['\n', /secret-key is empty/],
      ['short\n', /secret-key has 5 characters instead of 32 or more/],
      [undefined, /secret-key is missing, but the database has accounts/],
    ];

    for (const [content, problem] of wrong) {
      if (content === undefined) fs.rmSync(file);
      else fs.writeFileSync(file, content);
      const { status, stdout, stderr } = await create('berta');

      expect(stderr).toMatch(/^fitgraph: SECRET_KEY: [^\n]*\n$/);
      expect(stderr).toMatch(problem);
      expect([status, stdout]).toEqual([1, '']);
      expect(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined).toBe(content);
    }

    fs.writeFileSync(file, key);
    expect((await create('berta')).status).toBe(0);
    expect(fs.readdirSync(own.dataDir).filter((name) => name.startsWith('secret-key'))).toEqual([
      'secret-key',
    ]);
  } finally {
    await own.remove();
  }
});

test('rejects a database of a newer version in the server and in commands', async () => {
  const { url, connection, drop } = await createDatabase('tables');
  const client = new Client(connection);

  await client.connect();

  try {
    const { rows } = await client.query('SELECT DISTINCT "version" FROM "migration"');

    expect(rows).toEqual([{ version: VERSION }]);
    await client.query(
      `INSERT INTO "migration" ("name", "version") VALUES ('9999-from-tomorrow', '99.1.0')`,
    );
    const environment = {
      DATA_DIR: installation.dataDir,
      DATABASE_URL: url,
      SECRET_KEY: KEY,
      LOG_LEVEL: 'silent',
    };
    const answers = [
      await run('server', environment),
      await run('command', environment, ['migrate', '--down']),
      await run('command', environment, ['seed']),
    ];

    for (const { status, stdout, stderr } of answers) {
      expect(stderr).toMatch(
        /^fitgraph: [^\n]*the schema of Fitgraph 99\.1\.0 \(9999-from-tomorrow\), but Fitgraph \d[^\n]*\n$/,
      );
      expect(stderr).toContain(VERSION);
      expect([status, stdout]).toEqual([1, '']);
    }

    expect((await client.query('SELECT count(*)::int AS n FROM "language"')).rows).toEqual([
      { n: 0 },
    ]);
  } finally {
    await client.end();
    await drop();
  }
});

test('rejects what would remove the migrations of a newer version that supports this one', async () => {
  const { url, connection, drop } = await createDatabase('tables');
  const client = new Client(connection);

  await client.connect();
  const archive = path.join(installation.folder, 'newer.tar.gz');

  try {
    await client.query(
      `INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ('9999-from-tomorrow', '99.1.0', '0.3.0')`,
    );
    const environment = {
      DATA_DIR: installation.dataDir,
      DATABASE_URL: url,
      SECRET_KEY: KEY,
      LOG_LEVEL: 'silent',
    };
    const command = (...args: string[]) => run('command', environment, args);
    const refusal = {
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^fitgraph: The migration 9999-from-tomorrow is of a newer version/,
      ),
    };

    expect(await command('migrate', '--down', '--yes')).toMatchObject(refusal);
    await client.query(`DELETE FROM "migration" WHERE "name" = '9999-from-tomorrow'`);
    expect((await command('backup', archive)).status).toBe(0);
    await client.query(
      `INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ('9999-from-tomorrow', '99.1.0', '0.3.0')`,
    );
    expect((await command('restore', archive, '--replace')).stderr).toBe(
      'fitgraph: The database has the migration 9999-from-tomorrow of a newer version: restore the backup with that version.\n',
    );
  } finally {
    await client.end();
    await drop();
  }
});

test('rejects a database from before version 0.2 in the server and in commands', async () => {
  const { url, connection, drop } = await createDatabase('nothing');
  const client = new Client(connection);

  await client.connect();

  try {
    await createSchema02(client);
    await client.query(`DELETE FROM "migration" WHERE "name" = '0064-owners-of-parents'`);
    const environment = {
      DATA_DIR: installation.dataDir,
      DATABASE_URL: url,
      SECRET_KEY: KEY,
      LOG_LEVEL: 'silent',
    };
    const answers = [
      await run('server', environment),
      await run('command', environment, ['migrate']),
      await run('command', environment, ['migrate', '--down']),
    ];

    for (const { status, stdout, stderr } of answers) {
      expect(stderr).toMatch(
        /^fitgraph: The database schema is older than that of Fitgraph 0\.2 [^\n]*: start Fitgraph 0\.2 first[^\n]*\n$/,
      );
      expect([status, stdout]).toEqual([1, '']);
    }

    expect((await client.query('SELECT count(*)::int AS n FROM "migration"')).rows).toEqual([
      { n: 37 },
    ]);
  } finally {
    await client.end();
    await drop();
  }
});

test('rejects an invalid trusted document at start', async () => {
  const file = path.join(installation.folder, 'operations.json');

  fs.writeFileSync(file, JSON.stringify({ abc: '{ nothing }' }));
  const { status, stdout, stderr } = await start({
    PERSISTED_OPERATIONS: installation.folder,
    LOG_LEVEL: 'silent',
  });

  expect(stderr).toMatch(
    /^fitgraph: PERSISTED_OPERATIONS: [^\n]*operations\.json: operation "abc": Cannot query field[^\n]*\n$/,
  );
  expect([status, stdout]).toEqual([1, '']);
  await until('no process remains', () => installation.processes.length === 0);
});

test('creates no demo account in production, and prints nothing but log lines', async () => {
  const production = new Installation({ NODE_ENV: 'production', SECRET_KEY: KEY });

  try {
    const server = await production.start();

    for (const line of server.stdout.trimEnd().split('\n')) {
      expect(JSON.parse(line)).toHaveProperty('level');
    }

    // Log lines (JSON) are removed because they contain the names of migrations.
    expect(server.stdout.replace(/^\{.*\}$/gm, '')).not.toMatch(/demo|password/i);
    expect((await server.anonymous.get('/exercise/')).body.count).toBeGreaterThan(20);
    expect((await server.anonymous.get('/exercise/')).headers.get('server-timing')).toBeNull();
    const seed = await production.command('seed', '--demo');

    expect(seed).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^fitgraph: [^\n]*NODE_ENV=production\n$/),
    });
  } finally {
    await production.remove();
  }
});
