/**
 * Online backup, even while servers are running: a consistent snapshot of all rows, their media
 * files and the secret key.
 */
import { to as copyTo } from 'pg-copy-streams';
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { rowsOfCursor } from '../../database/cursor';
import { quoteIdentifiers } from '../../database/identifiers';
import { ADVISORY_LOCK_KEYS } from '../../database/advisory-locks';
import { imageColumns } from '../../files/image-columns';
import type { Media } from '../../files/media';
import { imageAndThumbnailPaths, isMediaPath } from '../../files/paths';
import { VERSION } from '../../shared/version';
import {
  ArchiveWriter,
  SECRET_KEY_ENTRY_NAME,
  countLines,
  MEDIA_ENTRY_PREFIX,
  TABLE_ENTRY_PREFIX,
  verifyArchive,
  type ReportProgress,
} from './archive';
import {
  BACKUP_FORMAT_VERSION,
  HEADER_ENTRY_NAME,
  type BackupHeader,
  type BackupSummary,
} from './manifest';
import { openDedicatedConnection, listSequences, listTables } from './tables';

/** Size at which buffered rows are written as one archive entry. */
const TABLE_ENTRY_BYTES = 1024 * 1024;

export interface BackupOptions {
  file: string;
  database: Database;
  media: Media;
  secretKey: string;
  reportProgress?: ReportProgress;
}

export interface BackupResult {
  header: BackupHeader;
  summary: BackupSummary;

  /** Paths in rows that refer to missing media files. */
  missingPaths: string[];
}

/** Writes and verifies a backup. The backup file appears only if both steps succeed. */
export async function takeBackup({
  file,
  database,
  media,
  secretKey,
  reportProgress,
}: BackupOptions): Promise<BackupResult> {
  const client = await openDedicatedConnection(database);
  const archive = await ArchiveWriter.begin(file).catch(async (error) => {
    await client.end();
    throw error;
  });

  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK_KEYS.files]);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const header = await buildHeader(client);
    const tableNames = header.tables.map(({ name }) => name);

    // Locks the tables against schema changes during the backup, as pg_dump does.
    await client.query(`LOCK TABLE ${quoteIdentifiers(tableNames)} IN ACCESS SHARE MODE`);
    const rowCounts = await countRows(client, tableNames);
    const totalRows = Object.values(rowCounts).reduce((sum, count) => sum + count, 0);

    await archive.add(HEADER_ENTRY_NAME, Buffer.from(JSON.stringify(header)));
    const { files, missing: missingPaths } = await addFiles(client, archive, media, reportProgress);

    await archive.add(SECRET_KEY_ENTRY_NAME, Buffer.from(secretKey));
    let archivedRowCount = 0;
    const rows = Object.create(null) as Record<string, number>;

    for (const { name, columns } of header.tables) {
      rows[name] = await addRows(client, archive, name, columns, (count) => {
        archivedRowCount += count;
        reportProgress?.('Rows', archivedRowCount, totalRows);
      });

      if (rows[name] !== rowCounts[name]) {
        throw new Error(`read ${rows[name]} rows of ${name} instead of ${rowCounts[name]}`);
      }
    }

    const sequences = await listSequences(client, header.tables);

    await client.query('COMMIT');
    const { draftPath, bytes } = await archive.end({ rows, sequences, files });
    const { summary } = await verifyArchive(draftPath, (bytesRead) =>
      reportProgress?.('Verifying, bytes', bytesRead, bytes),
    );

    await archive.publish();
    return { header, summary, missingPaths };
  } catch (error) {
    await archive.discard();
    throw error;
  } finally {
    await client.end();
    // Lets the servers resume the deletion of files, which they postponed during the backup.
    await database.pool
      .query(`SELECT pg_notify('fitgraph_removed_file', '')`)
      .catch(() => undefined);
  }
}

async function buildHeader(client: Client): Promise<BackupHeader> {
  const { rows } = await client.query('SELECT "name" FROM "migration" ORDER BY "name"');
  const [server] = (
    await client.query(
      `SELECT current_setting('server_version') AS "version", now()::text AS "now"`,
    )
  ).rows;

  return {
    format: BACKUP_FORMAT_VERSION,
    program: VERSION,
    taken: new Date(server.now).toISOString(),
    postgres: server.version,
    migrations: rows.map(({ name }) => name),
    tables: await listTables(client),
  };
}

async function countRows(
  client: Client,
  tableNames: readonly string[],
): Promise<Record<string, number>> {
  const rowCounts = Object.create(null) as Record<string, number>;

  for (const name of tableNames) {
    rowCounts[name] = Number(
      (await client.query(`SELECT count(*) AS "count" FROM ${quoteIdentifiers([name])}`)).rows[0]
        .count,
    );
  }

  return rowCounts;
}

async function addRows(
  client: Client,
  archive: ArchiveWriter,
  table: string,
  columns: readonly string[],
  onRows: (rowCount: number) => void,
): Promise<number> {
  const rows = client.query(
    copyTo(`COPY ${quoteIdentifiers([table])} (${quoteIdentifiers(columns)}) TO STDOUT`),
  );
  let chunks: Buffer[] = [];
  let size = 0;
  let entryCount = 0;
  let rowCount = 0;

  const flush = async () => {
    const content = Buffer.concat(chunks);

    chunks = [];
    size = 0;
    entryCount += 1;
    const entryNumber = String(entryCount).padStart(6, '0');

    await archive.add(`${TABLE_ENTRY_PREFIX}${table}/${entryNumber}`, content);

    const entryRowCount = countLines(content);

    rowCount += entryRowCount;
    onRows(entryRowCount);
  };

  for await (const chunk of rows as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= TABLE_ENTRY_BYTES) await flush();
  }

  if (size) await flush();

  return rowCount;
}

/**
 * Adds the images of all rows and their existing thumbnails. The connection must hold the advisory
 * lock that keeps servers from deleting files.
 */
async function addFiles(
  client: Client,
  archive: ArchiveWriter,
  media: Media,
  reportProgress: BackupOptions['reportProgress'],
) {
  const missingPaths: string[] = [];
  let fileCount = 0;
  let processedPathCount = 0;

  for (const { table, column } of imageColumns()) {
    const totalRows = Number(
      (await client.query(`SELECT count(*) AS "count" FROM "${table}"`)).rows[0].count,
    );

    const pathsSql = `SELECT DISTINCT "${column}" AS "path" FROM "${table}" WHERE "${column}" <> '' ORDER BY 1`;

    for await (const { path } of rowsOfCursor(client, pathsSql)) {
      const addedFileCount = await addImageFiles(archive, media, path);

      if (addedFileCount === 0) missingPaths.push(path);
      fileCount += addedFileCount;
      processedPathCount += 1;
      reportProgress?.('Files', processedPathCount, totalRows);
    }
  }

  return { files: fileCount, missing: missingPaths };
}

/**
 * Adds an image and its existing thumbnails. Returns the number of added files, 0 if the image
 * itself is missing.
 */
async function addImageFiles(
  archive: ArchiveWriter,
  media: Media,
  imagePath: string,
): Promise<number> {
  let addedFileCount = 0;

  for (const path of imageAndThumbnailPaths(imagePath)) {
    const file = isMediaPath(path) ? await media.files.openStream(path) : undefined;

    if (!file) {
      if (path === imagePath) return 0;
      continue;
    }

    await archive.addStream(MEDIA_ENTRY_PREFIX + path, file.size, file.content);
    addedFileCount += 1;
  }

  return addedFileCount;
}
