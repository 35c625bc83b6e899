/** Commands in an interactive terminal: prompts, hidden input and messages. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { Client } from 'pg';
import { VERSION } from '../../../src/shared/version';
import { createDatabase, SECRET_KEY } from '../../setup/databases';
import { build, Installation, run } from '../../setup/server-process';

const COMMANDS = path.join(__dirname, '../../../dist/src/cli/index.js');

let database: Awaited<ReturnType<typeof createDatabase>>;
let installation: Installation;

beforeAll(async () => {
  build();
  database = await createDatabase('tables');
  installation = new Installation({
    DATABASE_URL: database.url,
    SECRET_KEY,
    NODE_ENV: 'production',
  });
});
afterAll(async () => {
  await installation.remove();
  await database.drop();
});

/** Runs a command in a pseudo-terminal and types each answer when its prompt appears. */
function runInTerminal(
  args: string[],
  answers: [question: string, typed: string][],
): Promise<{ status: number | null; output: string }> {
  const child = spawn(
    'script',
    [
      '--quiet',
      '--return',
      '--command',
      `${process.execPath} ${COMMANDS} ${args.join(' ')}`,
      '/dev/null',
    ],
    {
      env: {
        PATH: process.env.PATH!,
        SHELL: '/bin/sh',
        TERM: 'dumb',
        DATABASE_URL: database.url,
        SECRET_KEY,
        DATA_DIR: installation.dataDir,
      },
    },
  );
  let [output, read] = ['', 0];
  const left = [...answers];

  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    const [next] = left;

    if (!next || !output.slice(read).includes(next[0])) return;
    read = output.length;
    left.shift();
    child.stdin.write(next[1]);
  });

  return new Promise((resolve) =>
    child.once('close', (status) => {
      child.stdin.destroy();
      resolve({ status, output: output.replace(/\r/g, '') });
    }),
  );
}

/** Returns the current day in UTC, which commands print. */
const utcDay = () => new Date().toISOString().slice(0, 10);
const firstDay = utcDay();

const twice = (first: string, second = first): [string, string][] => [
  ['Password: ', `${first}\n`],
  ['Repeat password: ', `${second}\n`],
];

test('prints in production how to create the catalogue and accounts while they are missing', async () => {
  const hint = 'There are no accounts yet. To create one: fitgraph user create <name> --superuser';
  const first = await installation.start({ WEB_CONCURRENCY: '0' });

  expect(first.stdout).toContain(hint);
  expect(first.stdout).toContain(
    'The catalogue is empty. To fill it: fitgraph seed, or fitgraph import',
  );
  first.process.kill('SIGTERM');
  await first.ended;
  expect((await installation.command('seed')).status).toBe(0);
  expect(
    (
      await installation.command(
        'user',
        'create',
        'root',
        '--superuser',
        '--password',
        'some password',
      )
    ).status,
  ).toBe(0);
  const second = await installation.start({ WEB_CONCURRENCY: '0' });

  expect(second.stdout).toContain('"msg":"ready"');
  expect(second.stdout).not.toMatch(/no accounts|no catalogue/);
  second.process.kill('SIGTERM');
  await second.ended;
});

test('prompts twice for a password without echoing it', async () => {
  const { status, output } = await runInTerminal(
    ['user', 'create', 'thea'],
    twice('hidden and long'),
  );

  expect(output).toMatch(
    /^Password: \nRepeat password: \nCreated user thea\. Token: [0-9a-f]{40}\n$/,
  );
  expect(status).toBe(0);
});

test.each<[string, [string, string][], string]>([
  [
    'two different passwords',
    twice('hidden and long', 'hidden but longer'),
    'The passwords do not match. Nothing was changed.',
  ],
  [
    'an invalid first password',
    [['Password: ', '12345678\n']],
    'The password must not consist of digits alone.',
  ],
  ['Ctrl-C', [['Password: ', '\x03']], 'No input was given. Nothing was changed.'],
])('exits with an error on %s at the password prompt', async (_name, answers, message) => {
  const { status, output } = await runInTerminal(['user', 'password', 'root'], answers);

  expect(output).toContain(`fitgraph: ${message}\n`);
  expect(output).not.toMatch(/hidden|12345678/);
  expect(status).toBe(1);
});

test('exits with an error when standard input ends before a password is read', async () => {
  const { status, stderr } = await installation.commandReading('', 'user', 'create', 'nemo');

  expect([status, stderr]).toEqual([1, 'fitgraph: No input was given. Nothing was changed.\n']);
});

test.each([
  [
    ['user', 'create', 'nemo', '--password', 'some password'],
    'The database is empty: run `fitgraph seed` or `fitgraph import FILE` first.',
  ],
  [
    ['catalogue', 'import', 'exercises', '-', '--yes'],
    'The database has no languages. An empty one gets them by `fitgraph seed`.',
  ],
])('refuses %j in an empty database', async (command, message) => {
  const empty = await createDatabase('tables');
  const { status, stderr } = await run(
    'command',
    { DATABASE_URL: empty.url, SECRET_KEY, DATA_DIR: installation.dataDir },
    command,
    JSON.stringify([
      {
        id: 'Squat',
        name: 'Squat',
        category: 'strength',
        primaryMuscles: ['abs'],
        secondaryMuscles: [],
        instructions: [],
        images: [],
      },
    ]),
  );

  await empty.drop();
  expect([status, stderr]).toEqual([1, `fitgraph: ${message}\n`]);
});

test('lists accounts as text and as JSON lines', async () => {
  await installation.command('user', 'deactivate', 'thea');
  const { stdout, stderr } = await installation.command('user', 'list');
  // Midnight may have passed since the first account was created.
  const joined = `joined (${firstDay}|${utcDay()})  never signed in`;

  expect(stdout).toMatch(
    new RegExp(`^root  ${joined}  superuser\nthea  ${joined}  deactivated\n$`),
  );
  expect(stderr).toBe('2 accounts\n');
  const listed = (await installation.command('user', 'list', '--json')).stdout.trim().split('\n');

  expect(JSON.parse(listed[1]!)).toMatchObject({
    username: 'thea',
    superuser: false,
    active: false,
    lastLogin: null,
  });
});

test('replaces control characters of user names, which an import may bring', async () => {
  const client = new Client({ connectionString: database.url });

  await client.connect();
  const rename = (from: string, to: string) =>
    client.query('UPDATE "user_account" SET "username" = $2 WHERE "username" = $1', [from, to]);

  try {
    await rename('thea', 'thea\x1b[2J');
    expect((await installation.command('user', 'list')).stdout).toContain(
      '\nthea\uFFFD[2J  joined ',
    );
    await rename('thea\x1b[2J', 'thea');
  } finally {
    await client.end();
  }
});

test('reverts a migration only after its name is typed, and applies it again', async () => {
  const rejected = await runInTerminal(
    ['migrate', '--down'],
    [['Type its name to continue: ', 'yes\n']],
  );

  expect(rejected.output).toContain('fitgraph: The name does not match. Nothing was changed.');
  const name = /^The migration (\S+) will be reverted/.exec(rejected.output)![1]!;
  const done = await runInTerminal(
    ['migrate', '--down'],
    [['Type its name to continue: ', `${name}\n`]],
  );

  expect([done.status, done.output]).toEqual([
    0,
    expect.stringMatching(new RegExp(`\nReverted: ${name}\n$`)),
  ]);
  expect((await installation.command('migrate')).stdout).toBe(`Applied: ${name}\n`);
});

test('prints the version for --version and -V', async () => {
  for (const option of ['--version', '-V']) {
    expect(await installation.command(option)).toEqual({
      status: 0,
      stdout: `${VERSION}\n`,
      stderr: '',
    });
  }
});
