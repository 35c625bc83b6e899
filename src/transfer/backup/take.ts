/** Takes a backup beside a running server: the rows as they are at one moment, the files of these rows, and the key. */
import { to as copyTo } from 'pg-copy-streams';
import type { Client } from 'pg';
import { fieldsOf } from '../../core/model/fields';
import { entities, resourceOf } from '../../core/model/registry';
import type { Database } from '../../database/connection';
import { quoteIdentifiers } from '../../database/identifiers';
import { LOCKS } from '../../database/locks';
import type { Media } from '../../files/media';
import { filesOf, isPath } from '../../files/paths';
import { VERSION } from '../../platform/version';
import { ArchiveWriter, KEY, linesIn, MEDIA, TABLES, verifyArchive, type Progress } from './archive';
import { FORMAT, HEADER, type Header, type Summary } from './description';
import { ownConnection, sequencesOf, tablesOf } from './tables';

/** Bytes of rows that are kept until they become a part of the archive. */
const PIECE = 1024 * 1024;
const PATHS = 1_000;

export interface Backup {
  file: string;
  database: Database;
  /** Absent: rows alone. */
  media?: Media;
  secretKey: string;
  progress?: Progress;
}

export interface Taken {
  header: Header;
  summary: Summary;
  /** Paths that rows name and that have no file. */
  missing: string[];
}

/** The file is there, read once more and found whole, or it is not there. */
export async function takeBackup({ file, database, media, secretKey, progress }: Backup): Promise<Taken> {
  const client = await ownConnection(database);
  const archive = await ArchiveWriter.begin(file).catch(async (error) => {
    await client.end();
    throw error;
  });
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCKS.files]);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const header = await describe(client);
    const names = header.tables.map(({ name }) => name);
    // As for pg_dump: nobody changes their form meanwhile.
    await client.query(`LOCK TABLE ${quoteIdentifiers(names)} IN ACCESS SHARE MODE`);
    const counts = await countRows(client, names);
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    await archive.add(HEADER, Buffer.from(JSON.stringify(header)));
    const { files, missing } = media ? await addFiles(client, archive, media, progress) : { files: 0, missing: [] };
    await archive.add(KEY, Buffer.from(secretKey));
    let done = 0;
    const rows = Object.create(null) as Record<string, number>;
    for (const { name, columns } of header.tables) {
      rows[name] = await addRows(client, archive, name, columns, (count) => progress?.('Rows', (done += count), total));
      if (rows[name] !== counts[name]) throw new Error(`${rows[name]} rows of ${name} were read, and there are ${counts[name]}`);
    }
    const sequences = await sequencesOf(client, header.tables);
    await client.query('COMMIT');
    const summary = await verified(await archive.end({ rows, sequences, files }), progress);
    await archive.publish();
    return { header, summary, missing };
  } catch (error) {
    await archive.discard();
    throw error;
  } finally {
    await client.end();
    // Files that servers wanted to remove meanwhile.
    await database.pool.query(`SELECT pg_notify('fitgraph_removed_file', '')`).catch(() => undefined);
  }
}

async function verified({ draft, bytes }: { draft: string; bytes: number }, progress: Backup['progress']): Promise<Summary> {
  let read = 0;
  return (await verifyArchive(draft, (passed) => progress?.('Verifying, bytes', (read += passed), bytes))).summary;
}

async function describe(client: Client): Promise<Header> {
  const { rows } = await client.query('SELECT "name" FROM "migration" ORDER BY "name"');
  const [server] = (await client.query(`SELECT current_setting('server_version') AS "version", now()::text AS "now"`)).rows;
  return {
    format: FORMAT,
    program: VERSION,
    taken: new Date(server.now).toISOString(),
    postgres: server.version,
    migrations: rows.map(({ name }) => name),
    tables: await tablesOf(client),
  };
}

async function countRows(client: Client, names: readonly string[]): Promise<Record<string, number>> {
  const counts = Object.create(null) as Record<string, number>;
  for (const name of names)
    counts[name] = Number((await client.query(`SELECT count(*) AS "count" FROM ${quoteIdentifiers([name])}`)).rows[0].count);
  return counts;
}

async function addRows(
  client: Client,
  archive: ArchiveWriter,
  table: string,
  columns: readonly string[],
  passed: (rows: number) => void,
): Promise<number> {
  const rows = client.query(copyTo(`COPY ${quoteIdentifiers([table])} (${quoteIdentifiers(columns)}) TO STDOUT`));
  let kept: Buffer[] = [];
  let size = 0;
  let [pieces, count] = [0, 0];
  const flush = async () => {
    const piece = Buffer.concat(kept);
    [kept, size] = [[], 0];
    await archive.add(`${TABLES}${table}/${String((pieces += 1)).padStart(6, '0')}`, piece);
    const lines = linesIn(piece);
    count += lines;
    passed(lines);
  };
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    kept.push(chunk);
    if ((size += chunk.length) >= PIECE) await flush();
  }
  if (size) await flush();
  return count;
}

/** The files of the rows, with the thumbnails that there are; no server removes any of them meanwhile. */
async function addFiles(client: Client, archive: ArchiveWriter, media: Media, progress: Backup['progress']) {
  const missing: string[] = [];
  let [files, done] = [0, 0];
  for (const entity of entities())
    for (const { kind, column } of fieldsOf(entity)) {
      if (kind !== 'image') continue;
      const table = quoteIdentifiers([resourceOf(entity)!.table]);
      const total = Number((await client.query(`SELECT count(*) AS "count" FROM ${table}`)).rows[0].count);
      await client.query(`DECLARE paths CURSOR FOR SELECT DISTINCT "${column}" AS "path" FROM ${table} WHERE "${column}" <> '' ORDER BY 1`);
      for (;;) {
        const { rows } = await client.query(`FETCH ${PATHS} FROM paths`);
        for (const { path } of rows) {
          const added = await addFile(archive, media, path);
          if (added === 0) missing.push(path);
          files += added;
          progress?.('Files', (done += 1), total);
        }
        if (rows.length < PATHS) break;
      }
      await client.query('CLOSE paths');
    }
  return { files, missing };
}

/** How many: none where the file itself is lost. */
async function addFile(archive: ArchiveWriter, media: Media, image: string): Promise<number> {
  let added = 0;
  for (const path of filesOf(image)) {
    const file = isPath(path) ? await media.files.stream(path) : undefined;
    if (!file) {
      if (path === image) return 0;
      continue;
    }
    await archive.stream(MEDIA + path, file.size, file.content);
    added += 1;
  }
  return added;
}
