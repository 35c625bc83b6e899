/** A restore that is killed midway: the old data remain intact, and the restore can be repeated. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderStore } from '../../../src/files/folder-store';
import { Media } from '../../../src/files/media';
import { finishRestoresAtStart } from '../../../src/transfer/backup/files';
import { takeBackup } from '../../../src/transfer/backup/take';
import { createUser } from '../../../src/accounts/accounts';
import type { Database } from '../../../src/database/connection';
import { build } from '../../setup/server-process';
import { createDatabase, open, SECRET_KEY, type Content } from '../../setup/databases';
import { until } from '../../setup/waits';

const ROOT = path.join(__dirname, '../../..');
const WORKOUTS = 25_000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-killed-'));
const file = path.join(folder, 'backup.tar.gz');
const closing: (() => Promise<void>)[] = [];
let source: Side;

interface Side {
  database: Database;
  url: string;
  media: string;
}

async function createSide(name: string, content: Content): Promise<Side> {
  const own = await createDatabase(content);
  const database = open(own.connection);
  const media = path.join(folder, name);

  fs.mkdirSync(path.join(media, 'exercise-images/1'), { recursive: true });
  closing.push(async () => {
    await database.close();
    await own.drop();
  });

  return { database, url: own.url, media };
}

const put = ({ media }: Side, content: string) =>
  fs.writeFileSync(path.join(media, 'exercise-images/1/squat.png'), content);

beforeAll(async () => {
  build();
  source = await createSide('source', 'catalogue');
  put(source, 'the picture of the backup');
  const id = await createUser(
    { username: 'ann', password: 'a good password' },
    source.database.createSession(),
  );

  await source.database.pool.query(
    `INSERT INTO "workout" ("user_id", "comment", "creation_date") SELECT $1, 'workout ' || n, '2026-01-01' FROM generate_series(1, $2::int) n`,
    [id, WORKOUTS],
  );
  const media = new Media(new FolderStore(source.media));

  await takeBackup({ file, database: source.database, media, secretKey: SECRET_KEY });
});
afterAll(async () => {
  for (const close of closing) await close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Tables that are not part of a backup, and tables in which the command records its own work. */
const OWN = [
  'migration',
  'change',
  'table_change',
  'change_log',
  'former_change_log',
  'restored',
  'budget',
  'removed_file',
  'security_event',
];

async function digest({ database, media }: Side): Promise<Record<string, string>> {
  const { rows } = await database.pool.query(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const found: Record<string, string> = { files: '' };

  for (const { name } of rows) {
    if (!OWN.includes(name)) {
      const text = `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS "digest" FROM "${name}" t`;

      found[name] = (await database.pool.query(text)).rows[0].digest;
    }
  }

  const picture = path.join(media, 'exercise-images/1/squat.png');

  if (fs.existsSync(picture)) found.files = fs.readFileSync(picture, 'utf8');

  return found;
}

function restore({ url, media }: Side, ...options: string[]): ChildProcess {
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: url,
    SECRET_KEY,
    DATA_DIR: path.join(folder, 'data'),
    MEDIA_DIR: media,
  };

  return spawn(
    process.execPath,
    [path.join(ROOT, 'dist/src/cli/index.js'), 'restore', file, ...options],
    {
      env: environment,
      stdio: 'ignore',
    },
  );
}

const waitForExit = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.once('close', resolve));

/** Whether the command is running a statement that matches the pattern. */
const isRunningStatement = async ({ database }: Side, like: string): Promise<boolean> =>
  (
    await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE "datname" = current_database() AND "application_name" = 'fitgraph backup' AND "query" ~ $1`,
      [like],
    )
  ).rowCount !== 0;

/** Moments at which a restore is killed, each with a function that detects it. */
const POINTS: [string, (into: Side) => Promise<boolean>][] = [
  [
    'as its files wait',
    async ({ media }) => fs.readdirSync(media).some((name) => name.startsWith('.restore-')),
  ],
  ['as rows come', (into) => isRunningStatement(into, '^COPY "workout"')],
  [
    'as rows are checked',
    (into) => isRunningStatement(into, '^(ANALYZE|ALTER TABLE .* ADD CONSTRAINT|SELECT setval)'),
  ],
];

async function killedAt(
  into: Side,
  point: (into: Side) => Promise<boolean>,
  ...options: string[]
): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    const child = restore(into, ...options);
    const exit = waitForExit(child);

    while (child.exitCode === null && !(await point(into))) await sleep(2);
    child.kill('SIGKILL');
    if ((await exit) === null) break;
    // The restore ended before the moment was observed.
    expect(tries).toBeLessThan(4);
  }

  await until('PostgreSQL has noticed', async () => !(await isRunningStatement(into, '')));
}

test('keeps the old data at whatever moment a restore is killed, and completes a repeated restore', async () => {
  const into = await createSide('into', 'catalogue');

  put(into, 'the old picture');
  await createUser({ username: 'bob', password: 'a good password' }, into.database.createSession());
  const before = await digest(into);

  for (const [what, point] of POINTS) {
    await killedAt(into, point, '--replace');
    expect({ what, ...(await digest(into)) }).toEqual({ what, ...before });
  }

  expect(await waitForExit(restore(into, '--replace'))).toBe(0);
  expect(await digest(into)).toEqual(await digest(source));
  // A starting server deletes the staged files of killed restores.
  await finishRestoresAtStart(into.database, new Media(new FolderStore(into.media)));
  expect(fs.readdirSync(into.media)).toEqual(['exercise-images']);
});

test('keeps an empty database empty when a restore is killed, and completes a repeated restore', async () => {
  const into = await createSide('empty', 'tables');
  const before = await digest(into);

  await killedAt(into, POINTS[1]![1]);
  expect(await digest(into)).toEqual(before);
  expect(await waitForExit(restore(into))).toBe(0);
  expect(await digest(into)).toEqual(await digest(source));
});
