/**
 * Backups: taken beside a running server and restored after damage; rows, files, tokens and cursors
 * are compared.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { migrateDown, migrateUp } from '../../src/database/migrate';
import { migrationNames } from '../../src/database/migration-modules';
import { FolderStore } from '../../src/files/folder-store';
import { Media } from '../../src/files/media';
import { formatProgress } from '../../src/cli/command-context';
import {
  ArchiveWriter,
  SECRET_KEY_ENTRY_NAME,
  verifyArchive,
} from '../../src/transfer/backup/archive';
import { takeBackup } from '../../src/transfer/backup/take';
import { inspectBackup, restoreBackup } from '../../src/transfer/backup/restore';
import { plain } from '../files/pictures';
import { createOwnedRows } from '../setup/owned-rows';
import { createDatabase, open, SECRET_KEY } from '../setup/databases';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import { createSchema02 } from '../setup/previous-schema';
import { shapeOf } from '../setup/database-shape';
import type { Person } from '../setup/person';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-backups-'));
const file = path.join(folder, 'backup.tar.gz');
let ann: Person;
let image: { id: number; image: string };

const mediaOf = ({ mediaFolder }: Fitgraph) => new Media(new FolderStore(mediaFolder));
const take = (of: Fitgraph, to = file) =>
  takeBackup({ file: to, database: of.database, media: mediaOf(of), secretKey: SECRET_KEY });
const restore = async (into: Fitgraph, from = file, replace = true) =>
  restoreBackup({
    file: from,
    backup: await inspectBackup(from),
    database: into.database,
    media: mediaOf(into),
    shouldReplaceExisting: replace,
  });

/** Tables that are not part of a backup or change without a request. */
const OWN = [
  'migration',
  'change',
  'table_change',
  'change_log',
  'former_change_log',
  'restored',
  'budget',
  'removed_file',
];

/** Returns all rows of all other tables, as texts. */
async function rows(of: Fitgraph): Promise<Record<string, string[]>> {
  const tables = await of.sql(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const all: Record<string, string[]> = {};

  for (const { name } of tables) {
    if (!OWN.includes(name)) {
      all[name] = (await of.sql(`SELECT t::text AS row FROM "${name}" t ORDER BY 1`)).map(
        ({ row }) => row,
      );
    }
  }

  return all;
}

/** Returns the digests of all files by path. */
function files({ mediaFolder }: Pick<Fitgraph, 'mediaFolder'>): Record<string, string> {
  const entries = fs
    .readdirSync(mediaFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile());

  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [
      path.relative(mediaFolder, path.join(parentPath, name)),
      createHash('sha256')
        .update(fs.readFileSync(path.join(parentPath, name)))
        .digest('hex'),
    ]),
  );
}

async function upload(person: Person): Promise<{ id: number; image: string }> {
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'picture.png');
  const { status, body } = await person.send('POST', '/api/v2/exerciseimage/', form);

  expect(status).toBe(201);
  expect((await person.get(`/exerciseimage/${body.id}/thumbnails/`)).status).toBe(200);
  return { id: body.id, image: new URL(body.image).pathname.replace('/media/', '') };
}

const cursor = async (person: Person) =>
  (await person.ask('{ changes { cursor } }')).changes.cursor as string;
const changesSince = (person: Person, from: string) =>
  person.query('query ($since: String) { changes(since: $since) { changes { operation } } }', {
    since: from,
  });

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const bob = await fitgraph.user('bob');

  await createOwnedRows(ann);
  await createOwnedRows(bob);
  await fitgraph.sql(
    `UPDATE "workout" SET "comment" = E'tab\\there, line\\nthere, \\\\N and \\\\. too, Möhre'`,
  );
  image = await upload(ann);
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe('a backup of a running server', () => {
  let before: { rows: Record<string, string[]>; files: Record<string, string> };
  let early: string;

  beforeAll(async () => {
    early = await cursor(ann);
    before = { rows: await rows(fitgraph), files: files(fitgraph) };
    const { summary, missingPaths } = await take(fitgraph);

    // The image row of the test catalogue has no file.
    expect(missingPaths).toEqual(['exercise-images/1/squat.png']);
    expect(summary.files).toBe(11);
    expect(summary.rows).toMatchObject({
      user_account: 2,
      exercise_image: before.rows.exercise_image!.length,
    });
  });

  test('is readable by its owner only and leaves no other file', async () => {
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(folder)).toEqual(['backup.tar.gz']);
  });

  test('is not restored over existing data without --replace', async () => {
    await expect(restore(fitgraph, file, false)).rejects.toThrow(/is not empty.*--replace/);
    expect(await rows(fitgraph)).toEqual(before.rows);
  });

  test('restores changed rows, files, passwords and tokens while the server is running', async () => {
    // Adds, changes and deletes rows and files. The new password revokes the token of Ann.
    await ann.post('/workout/', { comment: 'after the backup' });
    const late = await cursor(ann);
    const other = await fitgraph.user('carla');
    const orphan = await upload(other);

    await fitgraph.sql('DELETE FROM "nutrition_plan"');
    await fitgraph.sql(`UPDATE "user_account" SET "password" = 'none' WHERE "username" = 'ann'`);
    await fitgraph.sql(`UPDATE "language" SET "full_name" = 'Wrecked'`);
    await fitgraph.sql('TRUNCATE "weight_entry"');
    fs.writeFileSync(path.join(fitgraph.mediaFolder, image.image), 'wrecked');

    for (const name of Object.keys(files(fitgraph))) {
      if (/200x200/.test(name)) fs.rmSync(path.join(fitgraph.mediaFolder, name));
    }

    await until(
      'the changed name is visible',
      async () => (await fitgraph.anonymous.get('/language/1/')).body.full_name === 'Wrecked',
    );
    expect((await ann.get('/workout/')).status).toBe(403);

    await restore(fitgraph);

    expect(await rows(fitgraph)).toEqual(before.rows);
    await until(
      'the orphaned file is deleted',
      async () => !Object.keys(files(fitgraph)).some((name) => name.startsWith(orphan.image)),
    );
    expect(files(fitgraph)).toEqual(before.files);
    // Tokens, passwords and cached tables are those of the backup.
    expect((await ann.get('/workout/')).body.count).toBe(1);
    expect((await other.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
    const login = await fitgraph.anonymous.post('/login/', {
      username: 'ann',
      password: 'a good password',
    });

    expect(login.body).toEqual({ token: ann.token });
    await until(
      'the original name is visible',
      async () => (await fitgraph.anonymous.get('/language/1/')).body.full_name !== 'Wrecked',
    );
    expect((await fetch(`${fitgraph.url}/media/${image.image}`)).status).toBe(200);

    // All earlier cursors have expired; new ones work.
    for (const old of [early, late]) {
      expect((await changesSince(ann, old)).code).toBe('CURSOR_EXPIRED');
    }

    const now = await cursor(ann);
    const made = await ann.post('/workout/', { comment: 'new' });

    expect(made.status).toBe(201);
    expect((await changesSince(ann, now)).data.changes.changes).toEqual([{ operation: 'CREATED' }]);
    // The new workout may have the id of one that was added after the backup, but not that of a
    // restored one.
    expect((await ann.get('/workout/')).body.count).toBe(2);
    await fitgraph.sql(`DELETE FROM "workout" WHERE "id" = ${made.body.id}`);
  });

  test.each([
    ['tables', 'DROP TABLE "exercise_image", "workout_log" CASCADE; DROP TABLE "change"'],
    ['columns', 'ALTER TABLE "workout" DROP COLUMN "comment" CASCADE'],
  ])('restores dropped %s while the server is running', async (_what, destroy) => {
    const { pool } = fitgraph.database;
    const shape = await shapeOf(pool);

    await fitgraph.sql(destroy);
    await restore(fitgraph);
    expect(await shapeOf(pool)).toEqual(shape);
    expect(await rows(fitgraph)).toEqual(before.rows);
    expect(files(fitgraph)).toEqual(before.files);

    for (const list of ['workout', 'workoutlog', 'exerciseimage']) {
      expect((await ann.get(`/${list}/`)).status).toBe(200);
    }

    const { status, body } = await ann.post('/workout/', { comment: 'new' });

    expect(status).toBe(201);
    await fitgraph.sql(`DELETE FROM "workout" WHERE "id" = ${body.id}`);
  });

  test('restores rows, files and constraints into an empty database', async () => {
    const second = await Fitgraph.start({ content: 'tables' });

    try {
      await restore(second, file, false);
      expect(await rows(second)).toEqual(before.rows);
      expect(files(second)).toEqual(before.files);
      expect(await shapeOf(second.database.pool)).toEqual(await shapeOf(fitgraph.database.pool));
      await expect(
        second.sql(
          'INSERT INTO "workout" ("user_id", "creation_date", "comment") VALUES (99, now(), $1)',
          ['x'],
        ),
      ).rejects.toThrow(/foreign key/);
    } finally {
      await second.stop();
    }
  });
});

test('restores a backup of an older version and migrates it', async () => {
  const older = await createDatabase('catalogue');
  const database = open(older.connection);
  const second = await Fitgraph.start();
  const old = path.join(folder, 'older.tar.gz');

  try {
    for (let step = 0; step < 2; step += 1) await migrateDown(database);
    const { header } = await takeBackup({
      file: old,
      database,
      media: mediaOf(second),
      secretKey: SECRET_KEY,
    });

    await restore(second, old);
    const [{ newer }] = (await second.sql(
      'SELECT count(*)::int AS newer FROM "migration" WHERE NOT "name" = ANY($1)',
      [header.migrations],
    )) as [{ newer: number }];

    expect(newer).toBe(2);
    expect(await migrateUp(second.database)).toEqual([]);
    expect((await second.anonymous.get('/exercise/')).body.count).toBeGreaterThan(0);
  } finally {
    await second.stop();
    await database.close();
    await older.drop();
  }
});

describe('a backup of an old schema', () => {
  const old = path.join(folder, '0.2.tar.gz');
  let older: Awaited<ReturnType<typeof createDatabase>>;
  let database: ReturnType<typeof open>;

  beforeEach(async () => {
    older = await createDatabase('nothing');
    database = open(older.connection);
    await createSchema02(database.pool);
    await database.pool.query(`
      INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'en', 'English');
      INSERT INTO "user_account" ("id", "username", "password") VALUES (7, 'old', '');
      INSERT INTO "user_profile" ("user_id", "weight_unit") VALUES (7, 'lb');
      INSERT INTO "weight_entry" ("user_id", "date", "weight") VALUES (7, '2021-01-01', 180);
      INSERT INTO "nutrition_plan" ("user_id", "creation_date", "language_id") VALUES (7, '2021-01-01', 2), (7, '2021-01-02', 2)`);
  });
  afterEach(async () => {
    await database.close();
    await older.drop();
    fs.rmSync(old, { force: true });
  });

  test('is restored and migrated when it is from version 0.2', async () => {
    const second = await Fitgraph.start();

    try {
      const { header } = await takeBackup({
        file: old,
        database,
        media: mediaOf(second),
        secretKey: SECRET_KEY,
      });

      expect(header.migrations).toHaveLength(38);
      await restore(second, old);
      expect(
        (await second.sql('SELECT "name" FROM "migration" ORDER BY 1')).map(({ name }) => name),
      ).toEqual(migrationNames());
      expect(await migrateUp(second.database)).toEqual([]);
      expect(
        await second.sql('SELECT "user_id", "weight"::float8, "unit" FROM "weight_entry"'),
      ).toEqual([{ user_id: 7, weight: 180, unit: 'lb' }]);
      expect(
        (await second.sql('SELECT "is_active" FROM "nutrition_plan" ORDER BY "id"')).map(
          (row) => row.is_active,
        ),
      ).toEqual([false, true]);
      expect((await second.anonymous.get('/language/')).body.results).toMatchObject([
        { full_name: 'English' },
      ]);
      expect(await shapeOf(second.database.pool)).toEqual(await shapeOf(fitgraph.database.pool));
    } finally {
      await second.stop();
    }
  });

  test('is rejected and changes nothing when it is from before version 0.2', async () => {
    await database.pool.query(`DELETE FROM "migration" WHERE "name" = '0064-owners-of-parents'`);
    await takeBackup({ file: old, database, media: mediaOf(fitgraph), secretKey: SECRET_KEY });
    const before = [await rows(fitgraph), files(fitgraph)];

    await expect(restore(fitgraph, old)).rejects.toThrow(
      /not a usable backup: it was created by Fitgraph \S+ and its schema is older than that of Fitgraph 0\.2; restore it with Fitgraph 0\.2 and/,
    );
    expect([await rows(fitgraph), files(fitgraph)]).toEqual(before);
  });
});

describe('a failed backup or restore', () => {
  let whole: Buffer;

  /**
   * Returns the archive with one bit flipped, at the first place from `place` on where this changes
   * the content.
   */
  function damagedFrom(place: number): Buffer {
    const damaged = Buffer.from(whole);

    damaged[place]! ^= 1;

    try {
      return gunzipSync(damaged).equals(gunzipSync(whole)) ? damagedFrom(place + 1) : damaged;
    } catch {
      return damaged;
    }
  }

  beforeAll(async () => {
    await take(fitgraph, path.join(folder, 'whole.tar.gz'));
    whole = fs.readFileSync(path.join(folder, 'whole.tar.gz'));
  });

  test.each<[string, () => Buffer]>([
    ['truncated', () => whole.subarray(0, whole.length - 2_000)],
    ['corrupted by one bit', () => damagedFrom(5_000)],
    ['not an archive', () => Buffer.from('not a backup at all')],
    ['empty', () => Buffer.alloc(0)],
  ])('leaves rows and files unchanged when the archive is %s', async (_what, content) => {
    const damaged = path.join(folder, 'damaged.tar.gz');

    fs.writeFileSync(damaged, content());
    const before = [await rows(fitgraph), files(fitgraph)];

    await expect(restore(fitgraph, damaged)).rejects.toThrow(/is not a usable backup/);
    expect([await rows(fitgraph), files(fitgraph)]).toEqual(before);
  });

  test('leaves rows and files unchanged when the restore fails midway', async () => {
    const before = [await rows(fitgraph), files(fitgraph)];
    const log = await cursor(ann);
    const backup = await inspectBackup(path.join(folder, 'whole.tar.gz'));

    // Simulates an archive that has lost a row since its inspection.
    backup.summary.rows.workout! += 1;
    const media = mediaOf(fitgraph);
    const failing = restoreBackup({
      file: path.join(folder, 'whole.tar.gz'),
      backup,
      database: fitgraph.database,
      media,
      shouldReplaceExisting: true,
    });

    await expect(failing).rejects.toThrow(/workout has \d+ rows instead of/);
    expect([await rows(fitgraph), files(fitgraph)]).toEqual(before);
    expect(fs.readdirSync(fitgraph.mediaFolder).filter((name) => name.startsWith('.'))).toEqual([]);
    expect((await changesSince(ann, log)).data.changes.changes).toEqual([]);
  });

  test('reports that the archive cannot be written', async () => {
    await expect(
      take(fitgraph, path.join(folder, 'no such folder', 'backup.tar.gz')),
    ).rejects.toThrow(/cannot be written: ENOENT/);
  });
});

test('writes a large archive without keeping it in memory', async () => {
  const archive = await ArchiveWriter.begin(path.join(folder, 'large.tar.gz'));
  const shape = { name: 'large', columns: [] };
  const header = {
    format: 1,
    program: '',
    taken: '2026-11-22T00:00:00Z',
    postgres: '',
    migrations: [],
    tables: [shape],
  };

  await archive.add('backup.json', Buffer.from(JSON.stringify(header)));
  await archive.add(SECRET_KEY_ENTRY_NAME, Buffer.from(SECRET_KEY));
  let most = 0;

  for (let piece = 0; piece < 500; piece += 1) {
    await archive.add(`tables/large/${piece}`, Buffer.alloc(1024 * 1024, `${'x'.repeat(1023)}\n`));
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }

  await archive.end({ rows: { large: 500 * 1024 }, sequences: [], files: 0 });
  await archive.publish();
  expect(most).toBeLessThan(250 * 1024 * 1024);
  expect((await verifyArchive(path.join(folder, 'large.tar.gz'))).summary.rows.large).toBe(
    500 * 1024,
  );
});

test('formats progress with count, rate and remaining time', () => {
  expect(formatProgress(1_200, 5_000, 3)).toBe('1,200 of 5,000, 400 a second, 10 s left');
  expect(formatProgress(5_000, 5_000, 10)).toBe('5,000 of 5,000, 500 a second');
  expect(formatProgress(7, undefined, 0)).toBe('7');
});

test('publishes the files of a killed restore at start if its rows are committed, else deletes them', async () => {
  const done = '0fb3c3a4-1f7a-4b52-8f3f-000000000001';
  const undone = '0fb3c3a4-1f7a-4b52-8f3f-000000000002';
  const dataDir = path.dirname(fitgraph.mediaFolder);

  for (const id of [done, undone]) {
    fs.mkdirSync(path.join(fitgraph.mediaFolder, `.restore-${id}`, 'some'), { recursive: true });
    fs.writeFileSync(path.join(fitgraph.mediaFolder, `.restore-${id}`, 'some', `${id}.png`), id);
  }

  await fitgraph.sql(`INSERT INTO "restored" ("id", "taken", "program") VALUES ($1, now(), '')`, [
    done,
  ]);
  const otherServer = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { DATA_DIR: dataDir },
  });

  try {
    expect(fs.readdirSync(path.join(fitgraph.mediaFolder, 'some'))).toEqual([`${done}.png`]);
    expect(fs.readdirSync(fitgraph.mediaFolder).filter((name) => name.startsWith('.'))).toEqual([]);
  } finally {
    await otherServer.stop();
  }
});
