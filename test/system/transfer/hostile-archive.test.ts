/**
 * Archives crafted to attack a restore: their content is not executed, no data change, and the
 * error is one line that names the problem.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { ClientError } from '../../../src/engine/declare/errors';
import type { Database } from '../../../src/database/connection';
import { migrateDown } from '../../../src/database/migrate';
import { FolderStore } from '../../../src/files/folder-store';
import { Media } from '../../../src/files/media';
import { ArchiveWriter, SECRET_KEY_ENTRY_NAME } from '../../../src/transfer/backup/archive';
import {
  HEADER_ENTRY_NAME,
  SUMMARY_ENTRY_NAME,
  type BackupHeader,
  type BackupSummary,
} from '../../../src/transfer/backup/manifest';
import { inspectBackup, restoreBackup } from '../../../src/transfer/backup/restore';
import { takeBackup } from '../../../src/transfer/backup/take';
import { build, run } from '../../setup/server-process';
import { createDatabase, open, SECRET_KEY } from '../../setup/databases';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-hostile-'));
const genuine = path.join(folder, 'genuine.tar.gz');
const older = path.join(folder, 'older.tar.gz');
const mediaFolder = path.join(folder, 'media');
const media = new Media(new FolderStore(mediaFolder));

/**
 * A file that a command in an archive would create. PostgreSQL can write there even if it runs as
 * another user.
 */
const proof = path.join(os.tmpdir(), `fitgraph-proof-${process.pid}`);
let own: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

interface Parts {
  header: BackupHeader;
  summary: BackupSummary;

  /** Returns the new name of a part of the archive; undefined to leave it out. */
  rename(name: string): string | undefined;
}

/** Writes a copy of the archive with changed metadata, and returns its path. */
async function rewrite(change: (parts: Parts) => void, from = genuine): Promise<string> {
  const entries: [string, Buffer][] = [];
  const untar = extract();

  fs.createReadStream(from).pipe(createGunzip()).pipe(untar);

  for await (const entry of untar) {
    const chunks: Buffer[] = [];

    for await (const chunk of entry) chunks.push(chunk as Buffer);
    entries.push([entry.header.name, Buffer.concat(chunks)]);
  }

  const part = (name: string) =>
    JSON.parse(String(entries.find(([one]) => one === name)![1])) as never;
  const parts: Parts = {
    header: part(HEADER_ENTRY_NAME),
    summary: part(SUMMARY_ENTRY_NAME),
    rename: (name) => name,
  };

  change(parts);
  const file = path.join(folder, `hostile-${fs.readdirSync(folder).length}.tar.gz`);
  const archive = await ArchiveWriter.begin(file);

  for (const [name, content] of entries) {
    const newName = parts.rename(name);

    if (name === HEADER_ENTRY_NAME) {
      await archive.add(name, Buffer.from(JSON.stringify(parts.header)));
    } else if (name !== SUMMARY_ENTRY_NAME && newName !== undefined) {
      await archive.add(newName, content);
    }
  }

  await archive.end(parts.summary);
  await archive.publish();
  return file;
}

const restore = async (file: string) =>
  restoreBackup({
    file,
    backup: await inspectBackup(file),
    database,
    media,
    shouldReplaceExisting: true,
  });

async function databaseContents(): Promise<unknown> {
  const { rows } = await database.pool.query(
    `SELECT "relname" AS "name" FROM pg_class WHERE "relkind" = 'r' AND "relnamespace" = 'public'::regnamespace ORDER BY 1`,
  );
  const digests: Record<string, unknown> = {};

  for (const { name } of rows) {
    digests[name] = (
      await database.pool.query(
        `SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) AS "digest" FROM "${name}" t`,
      )
    ).rows;
  }

  return [digests, fs.existsSync(mediaFolder) ? fs.readdirSync(mediaFolder) : []];
}

const columnsOf = ({ tables }: BackupHeader, table: string): string[] =>
  tables.find(({ name }) => name === table)!.columns;

beforeAll(async () => {
  build();
  own = await createDatabase('catalogue');
  database = open(own.connection);
  await takeBackup({ file: genuine, database, media, secretKey: SECRET_KEY });
  const formerDatabase = await createDatabase('catalogue');
  const before = open(formerDatabase.connection);

  await migrateDown(before);
  await takeBackup({ file: older, database: before, media, secretKey: SECRET_KEY });
  await before.close();
  await formerDatabase.drop();
});
afterAll(async () => {
  await database.close();
  await own.drop();
  fs.rmSync(folder, { recursive: true, force: true });
  fs.rmSync(proof, { force: true });
});

const PROGRAM = `id") FROM PROGRAM 'touch ${proof}' --`;

/**
 * Returns a change that renames a table without rows, also in the row counts, and removes its
 * sequences.
 */
function renameTable(to: string) {
  return ({ header, summary }: Parts) => {
    const table = header.tables.find(({ name }) => summary.rows[name] === 0)!;
    const rows = Object.entries(summary.rows).map(([name, count]) => [
      name === table.name ? to : name,
      count,
    ]);

    summary.rows = Object.fromEntries(rows) as Record<string, number>;
    summary.sequences = summary.sequences.filter((one) => one.table !== table.name);
    table.name = to;
  };
}

type Attack = [what: string, change: (parts: Parts) => void, message: RegExp];
const ATTACKS: Attack[] = [
  [
    'a column name that injects COPY FROM PROGRAM',
    ({ header }) => void (columnsOf(header, 'language')[0] = PROGRAM),
    /its schema has no column "id\\"\) FROM PROGRAM 'touch [^"]*' --" in language$/,
  ],
  [
    'a table name that injects COPY FROM PROGRAM',
    renameTable(`language" FROM PROGRAM 'touch ${proof}' --`),
    /its schema has no table "language\\" FROM PROGRAM .*"$/,
  ],
  ['an unknown table', renameTable('nonesuch'), /its schema has no table "nonesuch"$/],
  ['a system table', renameTable('pg_authid'), /its schema has no table "pg_authid"$/],
  [
    'a table that backups exclude',
    renameTable('migration'),
    /its schema has no table "migration"$/,
  ],
  [
    'a table named "constructor"',
    renameTable('constructor'),
    /its schema has no table "constructor"$/,
  ],
  ['a table named "__proto__"', renameTable('__proto__'), /its schema has no table "__proto__"$/],
  [
    'an unknown column',
    ({ header }) => void (columnsOf(header, 'language')[1] = 'nonesuch'),
    /its schema has no column "nonesuch" in language$/,
  ],
  [
    'several columns in one name',
    ({ header }) =>
      void (header.tables.find(({ name }) => name === 'language')!.columns = [
        columnsOf(header, 'language').join(),
      ]),
    /its schema has no column "id,[^"]*" in language$/,
  ],
  [
    'a duplicate column',
    ({ header }) => void columnsOf(header, 'language').push('id'),
    /backup\.json has a value of the wrong type or a duplicate name$/,
  ],
  [
    'a duplicate table',
    ({ header }) => void header.tables.push(header.tables[0]!),
    /backup\.json has a value of the wrong type or a duplicate name$/,
  ],
  [
    'no secret key',
    (parts) => void (parts.rename = (name) => (name === SECRET_KEY_ENTRY_NAME ? undefined : name)),
    /it has no secret key$/,
  ],
  [
    'tables of the wrong type',
    ({ header }) => void (header.tables = {} as never),
    /backup\.json has a value of the wrong type/,
  ],
  [
    'a column of the wrong type',
    ({ header }) => void (columnsOf(header, 'language')[0] = 1 as never),
    /backup\.json has a value of the wrong type/,
  ],
  [
    'an invalid timestamp',
    ({ header }) => void (header.taken = 'now(\u001b[2J)'),
    /backup\.json has a value of the wrong type/,
  ],
  [
    'a sequence of a table that backups exclude',
    ({ summary }) => void (summary.sequences[0]!.table = 'change'),
    /its schema has no sequence for "change\.\w+"$/,
  ],
  [
    'a sequence whose column contains a quote',
    ({ summary }) => void (summary.sequences[0]!.column = `id'); DROP TABLE "language"; --`),
    /its schema has no sequence for "\w+\.id'\); DROP TABLE \\"language\\"; --"$/,
  ],
  [
    'a sequence value that is not a number',
    ({ summary }) => void (summary.sequences[0]!.last = 'many'),
    /invalid input syntax for type bigint: "many"/,
  ],
  [
    'a row count of an unlisted table',
    ({ summary }) => void (summary.rows.nonesuch = 1),
    /rows of \["nonesuch"\] are missing$/,
  ],
  [
    'rows under the name of an unknown table',
    (parts) =>
      void (parts.rename = (name) => name.replace('tables/language/', 'tables/constructor/')),
    /it contains rows of an unknown table "constructor"$/,
  ],
  [
    'migrations out of order',
    ({ header }) => void header.migrations.reverse(),
    /its migrations are out of order$/,
  ],
  [
    'a migration name that is a path',
    ({ header }) => void header.migrations.push('../../../../tmp/evil'),
    /it was created by Fitgraph \S+ \(\.\.\/\.\.\/\.\.\/\.\.\/tmp\/evil\), but Fitgraph/,
  ],
  [
    'a program version with control characters',
    ({ header }) => {
      header.program = '9\u001b[2J\u009b\u202e\n';
      header.migrations.push('x');
    },
    /by Fitgraph 9\\u\{1b\}\[2J\\u\{9b\}\\u\{202e\}\\u\{a\} \(x\)/,
  ],
  [
    'a column name of one megabyte',
    ({ header }) => void (columnsOf(header, 'language')[1] = 'x'.repeat(1_000_000)),
    /its schema has no column "x{199}… in language$/,
  ],
];

describe.each([
  ['of this version', () => genuine],
  ['of an older version', () => older],
])('an archive %s', (_version, from) => {
  test.each(ATTACKS)('is rejected when it has %s', async (_what, change, message) => {
    const before = await databaseContents();
    const rejection = await restore(await rewrite(change, from())).catch((error: Error) => error);

    expect(rejection).toBeInstanceOf(ClientError);
    const rejectionMessage = (rejection as Error).message;

    expect(rejectionMessage).toMatch(message);
    expect(rejectionMessage).toMatch(/^\S+ is not a usable backup: [^\n\r]+$/);
    expect(rejectionMessage.length).toBeLessThan(700);
    expect(await databaseContents()).toEqual(before);
    expect(fs.existsSync(proof)).toBe(false);
  });
});

test('restores an archive that was rewritten without changes to what a restore uses', async () => {
  const before = await databaseContents();

  // The summary contains a digest, as in archives of earlier versions, which a restore ignores.
  await restore(
    await rewrite(({ summary }) => void Object.assign(summary, { digest: '0'.repeat(64) })),
  );
  const [tables] = (await databaseContents()) as [Record<string, unknown>];

  expect(tables.language).toEqual((before as [Record<string, unknown>])[0].language);
});

test('makes the restore command exit with status 1 and one line', async () => {
  const file = await rewrite(({ header }) => void (columnsOf(header, 'language')[0] = PROGRAM));
  const environment = {
    DATABASE_URL: own.url,
    SECRET_KEY,
    DATA_DIR: path.join(folder, 'data'),
    MEDIA_DIR: mediaFolder,
  };

  fs.mkdirSync(mediaFolder, { recursive: true });
  const { status, stdout, stderr } = await run('command', environment, [
    'restore',
    file,
    '--replace',
  ]);

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^fitgraph: \S+ is not a usable backup: its schema has no column "id\\"\) FROM PROGRAM [^\n]*" in language\n$/,
  );
  expect(fs.existsSync(proof)).toBe(false);
});
