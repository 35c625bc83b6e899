/** The operator's commands, run beside a server. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { openEmbeddedDatabase } from '../../../src/database/embedded';
import { plain } from '../../files/pictures';
import { open } from '../../setup/databases';
import { build, Installation, run, type Server } from '../../setup/server-process';
import { Visitor } from '../../setup/visitor';
import { until } from '../../setup/waits';

const installation = new Installation();
let server: Server;

beforeAll(async () => {
  build();
  server = await installation.start();
});
afterAll(() => installation.remove());

const fitgraph = (...args: string[]) => installation.command(...args);

const tokenIn = (stdout: string) => /[0-9a-f]{40}/.exec(stdout)![0];
const login = (username: string, password: string) =>
  server.anonymous.post('/login/', { username, password });
const workoutsWith = (token: string) => server.signedIn(token).get('/workout/');

const COMMANDS = [
  [],
  ['serve'],
  ['migrate'],
  ['seed'],
  ['import'],
  ['backup'],
  ['restore'],
  ['rotate-key'],
  ['doctor'],
  ['audit'],
  ['schema'],
  ['explain'],
  ['user'],
  ['user', 'create'],
  ['user', 'password'],
  ['user', 'token'],
  ['user', 'deactivate'],
  ['user', 'activate'],
  ['user', 'sign-out'],
  ['user', 'sessions'],
  ['user', 'access-tokens'],
  ['user', 'grant'],
  ['user', 'revoke'],
  ['user', 'delete'],
  ['user', 'list'],
];

test.each(COMMANDS.map((names): [string, string[]] => [['fitgraph', ...names].join(' '), names]))(
  'prints the usage for %s --help',
  async (_name, names) => {
    const { status, stdout, stderr } = await fitgraph(...names, '--help');

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: fitgraph ${names.join(' ')}`));
  },
);

test('rejects unknown commands and options and missing arguments with a hint', async () => {
  const hints: [string[], string][] = [
    [['frobnicate'], 'fitgraph --help lists the commands'],
    [['import'], 'fitgraph import --help tells more'],
    [['user', 'create'], 'fitgraph user create --help tells more'],
    [['user', 'frobnicate'], 'fitgraph user --help lists the commands'],
    [['migrate', '--sideways'], 'fitgraph migrate --help tells more'],
  ];

  for (const [args, hint] of hints) {
    const { status, stdout, stderr } = await fitgraph(...args);

    expect(status).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(`(${hint})`);
  }
});

test('records commands and logins in the audit log and filters its events', async () => {
  for (const args of [
    ['user', 'create', 'audrey', '--password', 'first password', '--superuser'],
    ['user', 'password', 'audrey', '--password', 'second password'],
    ['user', 'token', 'audrey'],
    ['user', 'token', 'audrey', '--new'],
    ['user', 'deactivate', 'audrey'],
    ['user', 'activate', 'audrey'],
  ]) {
    expect((await fitgraph(...args)).status).toBe(0);
  }

  expect((await login('audrey', 'not the password')).status).toBe(401);
  expect((await login('audrey', 'second password')).status).toBe(200);
  const audit = async (...args: string[]) =>
    (await fitgraph('audit', ...args)).stdout.trimEnd().split('\n');
  const events = (await audit('--user', 'audrey', '--json')).map(
    (line) => JSON.parse(line) as Record<string, unknown>,
  );

  expect(events.map(({ kind }) => kind)).toEqual([
    'SIGNED_IN',
    'SIGN_IN_FAILED',
    'ACCOUNT_ACTIVATED',
    'ACCOUNT_DEACTIVATED',
    'API_KEY_REPLACED',
    'API_KEY_SHOWN',
    'PASSWORD_CHANGED',
    'ACCOUNT_CREATED',
  ]);

  for (const [index, { username, operator, address }] of events.entries()) {
    const byOperator = index > 1;

    expect([username, operator !== null, address !== null]).toEqual([
      'audrey',
      byOperator,
      !byOperator,
    ]);
  }

  expect(
    await audit(
      '--user',
      'audrey',
      '--kind',
      'account-deactivated',
      '--kind',
      'ACCOUNT_CREATED',
      '--limit',
      '1',
    ),
  ).toEqual([
    expect.stringMatching(/^\d{4}-\S+ {2}ACCOUNT_DEACTIVATED {2}audrey {2}operator \S+$/),
  ]);
  expect(await audit('--user', 'audrey', '--since', '1h', '--until', '2999-01-01')).toHaveLength(8);
  expect(await audit('--user', 'audrey', '--until', '1h')).toEqual(['']);
  expect(await audit('--address', String(events[0]!.address), '--user', 'audrey')).toHaveLength(2);

  for (const args of [
    ['--kind', 'nothing'],
    ['--since', 'yesterday'],
    ['--limit', '0'],
  ]) {
    expect(await fitgraph('audit', ...args)).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/^error: option/),
    });
  }
});

test('creates an account, replaces its password and token, and deactivates and activates it', async () => {
  const created = await fitgraph(
    'user',
    'create',
    'carla',
    '--password',
    'first password',
    '--email',
    'carla@example.com',
  );

  expect(created).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Created user carla\. Token: [0-9a-f]{40}\n$/),
    stderr: '',
  });
  const token = tokenIn(created.stdout);

  expect((await workoutsWith(token)).status).toBe(200);
  expect(await login('carla', 'first password')).toMatchObject({ status: 200, body: { token } });

  const changed = await fitgraph('user', 'password', 'carla', '--password', 'second password');

  expect(changed.status).toBe(0);
  const second = tokenIn(changed.stdout);

  expect([(await workoutsWith(token)).status, (await workoutsWith(second)).status]).toEqual([
    403, 200,
  ]);
  expect((await login('carla', 'first password')).status).toBe(401);
  expect(await login('carla', 'second password')).toMatchObject({
    status: 200,
    body: { token: second },
  });

  expect((await fitgraph('user', 'token', 'carla')).stdout).toBe(`${second}\n`);
  const fresh = tokenIn((await fitgraph('user', 'token', 'carla', '--new')).stdout);

  expect(fresh).not.toBe(token);
  expect((await workoutsWith(token)).body).toEqual({ detail: 'Invalid token.' });
  expect((await workoutsWith(fresh)).status).toBe(200);

  expect((await fitgraph('user', 'deactivate', 'carla')).status).toBe(0);
  expect((await workoutsWith(fresh)).body).toEqual({ detail: 'User inactive or deleted.' });
  expect((await fitgraph('user', 'activate', 'carla')).status).toBe(0);
  expect((await workoutsWith(fresh)).status).toBe(200);
});

test('grants and revokes roles, shows them and records them in the audit log', async () => {
  const { stdout } = await fitgraph('user', 'create', 'curt', '--password', 'some password');
  const curt = server.signedIn(tokenIn(stdout));
  const isCurator = async () => (await curt.ask('{ viewer { isCurator } }')).viewer.isCurator;
  const line = async () =>
    (await fitgraph('user', 'list')).stdout.split('\n').find((text) => text.startsWith('curt '));

  expect(await isCurator()).toBe(false);
  expect(await fitgraph('user', 'grant', 'curt', 'curator')).toMatchObject({
    status: 0,
    stdout: 'User curt is now a curator.\n',
  });
  expect(await isCurator()).toBe(true);
  expect((await fitgraph('user', 'grant', 'curt', 'superuser')).status).toBe(0);
  expect(await line()).toMatch(/ superuser, curator$/);
  expect((await fitgraph('user', 'revoke', 'curt', 'superuser')).status).toBe(0);
  expect(await line()).toMatch(/signed in {2}curator$/);
  expect((await fitgraph('user', 'revoke', 'curt', 'curator')).status).toBe(0);
  expect(await isCurator()).toBe(false);

  expect((await fitgraph('user', 'grant', 'curt', 'emperor')).stderr).toMatch(
    /^error: .*curator, superuser/,
  );
  expect((await fitgraph('user', 'grant', 'nobody', 'curator')).stderr).toBe(
    'fitgraph: There is no user named nobody.\n',
  );
  const events = (await fitgraph('audit', '--user', 'curt', '--json')).stdout.trimEnd().split('\n');

  expect(events.map((event) => (JSON.parse(event) as { kind: string }).kind)).toEqual([
    'ROLE_REVOKED',
    'ROLE_REVOKED',
    'ROLE_GRANTED',
    'ROLE_GRANTED',
    'ACCOUNT_CREATED',
  ]);
});

test('prints a link by which a user sets a password once, and signs users out', async () => {
  await fitgraph('user', 'create', 'linda', '--password', 'first password');
  const { status, stdout, stderr } = await fitgraph('user', 'password', 'linda', '--link');
  const setPassword = () =>
    fetch(server.url + stdout.trim(), {
      method: 'POST',
      body: new URLSearchParams({ password: 'second password' }),
      redirect: 'manual',
    });

  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/^\/user\/set-password\?token=\S+\n$/),
  ]);
  expect(stderr).toMatch(
    /^The link is valid once, until \d{4}-\S+\.\nPut the address of the server before it, because PUBLIC_URL is not set\.\n$/,
  );
  expect((await login('linda', 'first password')).status).toBe(200);
  expect([(await setPassword()).status, (await setPassword()).status]).toEqual([303, 401]);
  const { token } = (await login('linda', 'second password')).body;

  expect((await workoutsWith(token)).status).toBe(200);
  expect((await fitgraph('user', 'sign-out', 'linda')).stdout).toBe(
    'Ended all sessions of linda and revoked all tokens.\n',
  );
  expect((await workoutsWith(token)).body).toEqual({ detail: 'Invalid token.' });
  expect(
    (await fitgraph('audit', '--user', 'linda', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).kind),
  ).toEqual([
    'CREDENTIALS_REVOKED',
    'SIGNED_IN',
    'PASSWORD_CHANGED',
    'SIGNED_IN',
    'PASSWORD_LINK_CREATED',
    'ACCOUNT_CREATED',
  ]);
});

test('creates an account whose user sets the first password by a link', async () => {
  const { status, stdout } = await fitgraph('user', 'create', 'lars', '--link');

  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/^\/user\/set-password\?token=\S+\n$/),
  ]);
  const body = new URLSearchParams({ password: 'first password' });

  await fetch(server.url + stdout.trim(), { method: 'POST', body, redirect: 'manual' });
  expect((await login('lars', 'first password')).status).toBe(200);
  expect((await fitgraph('user', 'disconnect', 'lars')).stdout).toBe(
    'Disconnected the sign-ins of lars.\n',
  );
});

test('lists sessions and access tokens, and ends them one by one', async () => {
  const { stdout } = await fitgraph('user', 'create', 'sven', '--password', 'some password');
  const { createAccessToken } = await server
    .signedIn(tokenIn(stdout))
    .ask('mutation { createAccessToken(name: "watch", scopes: [READ]) { token } }');

  await new Visitor(server.url).signIn('sven', 'some password');
  const { stdout: sessions } = await fitgraph('user', 'sessions', 'sven');
  const { stdout: tokens } = await fitgraph('user', 'access-tokens', 'sven');

  expect(sessions).toMatch(
    /^[0-9a-f]{64} {2}signed in \d{4}-\d\d-\d\d {2}last used \d{4}-\d\d-\d\d\n$/,
  );
  expect(tokens).toMatch(/^\d+ {2}watch {2}created \d{4}-\d\d-\d\d {2}never used\n$/);
  const headers = { Authorization: `Bearer ${createAccessToken.token}` };
  const request = () => fetch(`${server.url}/api/v2/workout/`, { headers });
  const end = () => fitgraph('user', 'sessions', 'sven', '--end', sessions.slice(0, 64));
  const revoke = (id: string) => fitgraph('user', 'access-tokens', 'sven', '--revoke', id);

  expect((await revoke('all')).stderr).toBe('fitgraph: sven has no access token all.\n');
  expect((await request()).status).toBe(200);
  expect((await revoke(tokens.split(' ')[0]!)).stdout).toBe('Revoked an access token of sven.\n');
  expect((await request()).status).toBe(403);
  expect((await end()).stdout).toBe('Ended a session of sven.\n');
  expect((await end()).status).toBe(1);
  expect((await fitgraph('user', 'sessions', 'sven')).stdout).toBe('');
});

test('deletes a user with all rows and images only after the name is confirmed', async () => {
  const { stdout } = await fitgraph('user', 'create', 'dora', '--password', 'some password');
  const dora = server.signedIn(tokenIn(stdout));

  expect((await dora.post('/workout/', { comment: 'mine' })).status).toBe(201);
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'dora.png');
  const uploaded = await dora.send('POST', '/api/v2/exerciseimage/', form);

  expect(uploaded.status).toBe(201);
  const file = path.join(installation.dataDir, new URL(uploaded.body.image).pathname);

  expect(fs.existsSync(file)).toBe(true);

  const other = await installation.commandReading('dorothy\n', 'user', 'delete', 'dora');

  expect(other).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/fitgraph: The name does not match\. Nothing was deleted\.\n$/),
  });
  expect((await workoutsWith(tokenIn(stdout))).body.count).toBe(1);

  const deleted = await installation.commandReading('dora\n', 'user', 'delete', 'dora');

  expect(deleted).toMatchObject({
    status: 0,
    stdout: 'Deleted user dora with 3 rows and 1 contribution.\n',
  });
  expect((await workoutsWith(tokenIn(stdout))).body).toEqual({ detail: 'Invalid token.' });
  expect((await server.anonymous.get(`/exerciseimage/${uploaded.body.id}/`)).status).toBe(404);
  await until('the file is gone', () => !fs.existsSync(file));
  expect((await fitgraph('user', 'delete', 'dora', '--yes')).stderr).toBe(
    'fitgraph: There is no user named dora.\n',
  );
});

test('generates a new password for the demo account', async () => {
  const { status, stdout } = await fitgraph('user', 'password', 'demo', '--new');
  const [, password] = /\nNew password: (demo-\S+)\n$/.exec(stdout) ?? [];

  expect(status).toBe(0);
  expect(password).not.toBe(server.demo.password);
  expect((await login('demo', server.demo.password)).status).toBe(401);
  expect(await login('demo', password!)).toMatchObject({
    status: 200,
    body: { token: tokenIn(stdout) },
  });
});

test('reads a password from standard input', async () => {
  const { status } = await installation.commandReading(
    'typed password\n',
    'user',
    'create',
    'typist',
  );

  expect(status).toBe(0);
  expect((await login('typist', 'typed password')).status).toBe(200);
});

test.each([
  [['user', 'create', 'demo', '--password', 'some password'], /There is a user named demo already/],
  [['user', 'create', 'a b', '--password', 'some password'], /A user name has/],
  [['user', 'create', 'short', '--password', 'short'], /at least 8 characters/],
  [['user', 'token', 'nobody'], /There is no user named nobody/],
  [['user', 'password', 'nobody', '--password', 'some password'], /There is no user named nobody/],
  [['user', 'deactivate', 'nobody'], /There is no user named nobody/],
  [['import', '/no/such/file'], /\/no\/such\/file cannot be read/],
])('exits with status 1 and one line for %j', async (args, message) => {
  const { status, stdout, stderr } = await fitgraph(...args);

  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^fitgraph: [^\n]+\n$/);
  expect(stderr).toMatch(message);
});

test('doctor passes for a healthy installation and suggests fixes for problems', async () => {
  const { port } = new URL(server.url);
  const runDoctor = (own: Record<string, string>) =>
    run('command', { DATA_DIR: installation.dataDir, PORT: port, ...own }, ['doctor']);
  const healthy = await runDoctor({});

  expect(healthy).toMatchObject({ status: 0, stderr: '' });

  for (const about of [
    'Versions',
    'Configuration',
    'Permissions',
    'Secret key',
    'Disk',
    'Port',
    'Database',
    'Clock',
    'Connections',
    'Schema',
    'Row security',
    'Files',
  ]) {
    expect(healthy.stdout).toMatch(new RegExp(`^(?:ok  |WARN)  ${about}: `, 'm'));
  }

  expect(healthy.stdout).toMatch(/^ok {4}Files: the files of all \d+ images are in \S+$/m);
  expect(healthy.stdout).toMatch(
    /^ok {4}Row security: requests use the role fitgraph_owner_viewer, /m,
  );
  expect(healthy.stdout).toMatch(new RegExp(`Port: a server is running on ${port} and is ready`));

  const [key, aside] = [
    path.join(installation.dataDir, 'secret-key'),
    path.join(installation.folder, 'aside'),
  ];

  fs.renameSync(key, aside);
  const ill = await runDoctor({ DATABASE_POOL: '1000' });

  fs.renameSync(aside, key);
  expect(ill.status).toBe(1);
  expect(ill.stdout).toMatch(/^FAIL {2}Secret key: \S+ is missing\n {6}→ restore it/m);
  expect(ill.stdout).toMatch(
    /^WARN {2}Connections: 297 available, up to 2755 needed\n {6}→ lower DATABASE_POOL/m,
  );
  expect(ill.stdout).toMatch(/1 failed, \d warnings?\.\n$/);

  const nowhere = await runDoctor({
    DATABASE_URL: 'postgres://nobody@localhost:1/nothing',
    SECRET_KEY: 'x'.repeat(32),
  });

  expect(nowhere).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(
      /^FAIL {2}Configuration: DATABASE_URL: the database cannot be reached/m,
    ),
  });
});

test('restores a backup into another installation and into the running server', async () => {
  const file = path.join(installation.folder, 'backup.tar.gz');
  const token = tokenIn((await fitgraph('user', 'token', 'demo')).stdout);
  const backup = await fitgraph('backup', file);

  expect(backup).toMatchObject({ status: 0, stderr: '' });
  expect(backup.stdout).toMatch(
    /^Backed up \d{4} rows of \d+ tables and 12 files to \S+ \(0\.\d MB\), verified\.\n$/,
  );
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect((await fitgraph('backup', file)).stderr).toMatch(/already exists\. Use --replace/);

  const otherInstallation = new Installation();

  try {
    expect((await otherInstallation.command('restore', file)).stdout).toMatch(
      /^Restored \d{4} rows and 12 files from the backup of \S+Z\.\n/,
    );
    // The token can be decrypted because the backup contains the secret key.
    expect((await otherInstallation.command('user', 'token', 'demo')).stdout).toBe(`${token}\n`);
    expect(
      (
        await run('command', { DATA_DIR: otherInstallation.dataDir, SECRET_KEY: 'x'.repeat(32) }, [
          'restore',
          file,
          '--replace',
        ])
      ).stderr,
    ).toMatch(/^fitgraph: SECRET_KEY differs from the key of the backup/);
    // A restore recreates a dropped table.
    const { connection, release } = await openEmbeddedDatabase({
      dataDir: otherInstallation.dataDir,
    });
    const database = open(connection);

    await database.pool.query('DROP TABLE "workout_log" CASCADE');
    await database.close();
    await release();
    expect((await otherInstallation.command('restore', file, '--replace')).status).toBe(0);
    const restored = await otherInstallation.command('doctor');

    expect([restored.status, restored.stdout]).toEqual([
      0,
      expect.stringMatching(/^ok {4}Schema: up to date$/m),
    ]);
  } finally {
    await otherInstallation.remove();
  }

  const made = await server.signedIn(token).post('/workout/', { comment: 'after the backup' });

  expect((await fitgraph('restore', file)).stderr).toMatch(/^fitgraph: The database is not empty/);
  expect((await fitgraph('restore', file, '--replace')).status).toBe(0);
  expect((await server.signedIn(token).get(`/workout/${made.body.id}/`)).status).toBe(404);
  expect((await workoutsWith(token)).body.count).toBeGreaterThan(0);
});

describe('import', () => {
  const file = path.join(installation.folder, 'dump.json');
  const write = (content: unknown) =>
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));

  test('makes rows visible at once, including cached tables', async () => {
    const category = { model: 'exercises.exercisecategory', pk: 900, fields: { name: 'Imported' } };
    const exercise = {
      uuid: '00000000-0000-4000-8000-000000000001',
      status: '2',
      license: 2,
      license_author: 'x',
    };
    const base = {
      model: 'exercises.exercisebase',
      pk: 90_000,
      fields: { ...exercise, category: 900, muscles: [], muscles_secondary: [], equipment: [] },
    };
    const texts = {
      name: 'Imported exercise',
      description: 'x'.repeat(50),
      language: 2,
      exercise_base: 90_000,
      creation_date: '2021-01-01',
    };

    write([
      category,
      base,
      { model: 'exercises.exercise', pk: 90_000, fields: { ...exercise, ...texts } },
    ]);
    expect(await fitgraph('import', file)).toMatchObject({
      status: 0,
      stdout: '3 rows of 3 models imported.\n',
      stderr: '',
    });
    expect((await server.anonymous.get('/exercise/90000/')).body).toMatchObject({
      name: 'Imported exercise',
      category: 900,
    });
    await until('the category is cached', async () => {
      const { body } = await server.anonymous.get('/exerciseinfo/90000/');

      return body.category?.name === 'Imported';
    });
  });

  test('reports an invalid dump and changes nothing', async () => {
    write('[');
    expect((await fitgraph('import', file)).stderr).toMatch(
      /^fitgraph: .*dump\.json is not valid JSON: [^\n]*\n$/,
    );
    write([
      { model: 'core.language', pk: 900, fields: { short_name: 'zz', full_name: 'Never' } },
      { model: 'manager.day', pk: 900, fields: { training: 999_999, description: '', day: [] } },
    ]);
    const { status, stderr } = await fitgraph('import', file);

    expect(status).toBe(1);
    expect(stderr).toBe(
      'fitgraph: manager.day 900: training refers to manager.workout 999999, which does not exist.\n',
    );
    expect((await server.anonymous.get('/language/900/')).status).toBe(404);
  });

  test('copies the files of image rows, or nothing when a file is invalid', async () => {
    const media = path.join(installation.folder, 'media');
    const image = (pk: number, name: string) => ({
      model: 'exercises.exerciseimage',
      pk,
      fields: {
        uuid: `00000000-0000-4000-8000-${String(pk).padStart(12, '0')}`,
        exercise: 1,
        image: name,
        is_main: false,
        status: '2',
        license: 2,
      },
    });

    fs.mkdirSync(media);
    fs.writeFileSync(path.join(media, 'one.png'), 'an image');
    write([image(901, 'one.png'), image(902, 'missing.png')]);
    expect((await fitgraph('import', file, '--media', media)).stderr).toMatch(
      /the file missing\.png does not exist in/,
    );
    expect((await server.anonymous.get('/exerciseimage/901/')).status).toBe(404);
    write([image(901, '../secret-key')]);
    expect((await fitgraph('import', file, '--media', media)).stderr).toMatch(
      /image is not a path in the media folder/,
    );
    write([image(901, 'one.png')]);
    expect((await fitgraph('import', file, '--media', media)).status).toBe(0);
    expect((await server.anonymous.send('GET', '/media/one.png')).text).toBe('an image');

    // Rows without files leave the files of other rows alone.
    write([
      {
        model: 'weight.weightentry',
        pk: 900,
        fields: { user: 1, date: '2001-01-01', weight: '80' },
      },
    ]);
    expect(await fitgraph('import', file, '--replace')).toMatchObject({
      status: 0,
      stdout: '1 row of 1 model imported.\n',
    });
    expect((await server.anonymous.send('GET', '/media/one.png')).text).toBe('an image');
    // Without --media, the files to which the rows refer stay.
    write([image(901, 'one.png')]);
    expect((await fitgraph('import', file, '--replace')).status).toBe(0);
    expect((await server.anonymous.send('GET', '/media/one.png')).text).toBe('an image');
    // The files of replaced rows are deleted.
    fs.writeFileSync(path.join(media, 'two.png'), 'another image');
    write([image(902, 'two.png')]);
    expect((await fitgraph('import', file, '--replace', '--media', media)).status).toBe(0);
    expect((await server.anonymous.send('GET', '/media/two.png')).text).toBe('another image');
    expect((await server.anonymous.send('GET', '/media/one.png')).status).toBe(404);

    const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
    const database = open(connection);

    try {
      await database.pool.query(`CREATE FUNCTION "lose"() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER "lose" AFTER INSERT ON "exercise_image" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "lose"()`);
      write([image(903, 'one.png')]);
      const { status, stderr } = await fitgraph('import', file, '--media', media);

      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining('The connection was lost while the rows were being committed.'),
      ]);
      const [folder] = /\.import-[\w-]+/.exec(stderr)!;

      expect(
        fs.readFileSync(path.join(installation.dataDir, 'media', folder, 'one.png'), 'utf8'),
      ).toBe('an image');
    } finally {
      await database.pool.query('DROP FUNCTION IF EXISTS "lose"() CASCADE');
      await database.close();
      await release();
    }
  });
});

test('migrate and seed report that there is nothing to do', async () => {
  expect(await fitgraph('migrate')).toMatchObject({ status: 0, stdout: 'Nothing to do.\n' });
  const { status, stdout } = await fitgraph('seed', '--demo');

  expect(status).toBe(0);
  expect(stdout).toMatch(
    /^Reference data already exists.*\nThe demo account already exists\. `fitgraph user password demo --new` sets a new password\.\n$/,
  );
});

test('refuses to revert a migration while a server is running', async () => {
  const { status, stdout, stderr } = await fitgraph('migrate', '--down', '--yes');

  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^fitgraph: A running server uses this database[^\n]*Stop it first\.\n$/);
  expect(await fitgraph('migrate')).toMatchObject({ status: 0, stdout: 'Nothing to do.\n' });
});

test.each([
  [['--to', '0073-barcodes'], '--to requires --down.'],
  [['--down', '--maintenance'], '--maintenance applies migrations; --down reverts them.'],
])('rejects migrate with %j', async (options, message) => {
  const { status, stderr } = await fitgraph('migrate', ...options);

  expect([status, stderr]).toEqual([1, `fitgraph: ${message}\n`]);
});

test('schema prints the committed schema.graphql', async () => {
  const { status, stdout } = await fitgraph('schema');

  expect([status, stdout]).toEqual([
    0,
    fs.readFileSync(path.join(__dirname, '../../../schema.graphql'), 'utf8'),
  ]);
});

test('leaves the server running and ready after all commands', async () => {
  expect((await server.anonymous.send('GET', '/health/ready')).status).toBe(200);
  expect(server.process.exitCode).toBeNull();
  expect(server.stdout + server.stderr).not.toMatch(/a worker (has exited|hangs)/);
});

test('ends a running command with one line when the server stops, and later runs without a server', async () => {
  const { connection, release } = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  const database = open(connection);
  const holder = await database.pool.connect();

  holder.on('error', () => undefined);
  await holder.query('BEGIN; LOCK TABLE "user_account" IN ACCESS EXCLUSIVE MODE');
  const token = run('command', { DATA_DIR: installation.dataDir, LOCK_TIMEOUT: 'off' }, [
    'user',
    'token',
    'demo',
  ]);

  await until(
    'the command waits for the lock',
    async () => (await holder.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0,
  );
  server.process.kill('SIGTERM');
  expect(await token).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^fitgraph: The embedded database was stopped[^\n]*\n$/),
  });
  expect(await server.ended).toBe(0);
  holder.release(true);
  await database.close();
  await release();
  expect(await fitgraph('user', 'token', 'demo')).toMatchObject({ status: 0, stderr: '' });
  expect(installation.processes).toEqual([]);
});

test.each([
  ['fails if its output cannot be written', '> /dev/full', 1, /^fitgraph: ENOSPC/],
  ['ignores a reader that closes the pipe', '| head -n 1 > /dev/null', 0, /^$/],
])('a command %s', (_what, redirection, status, stderr) => {
  const program = path.join(__dirname, '../../../dist/src/cli/index.js');
  const ended = spawnSync(
    'sh',
    ['-c', `"${process.execPath}" "${program}" schema ${redirection}`],
    { encoding: 'utf8' },
  );

  expect([ended.status, ended.stderr]).toEqual([status, expect.stringMatching(stderr)]);
});
