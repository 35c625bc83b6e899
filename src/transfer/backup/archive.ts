/**
 * Backup archive format: a compressed tar file, written and read as a stream with constant memory.
 *
 *   backup.json          header: program version, time, migrations, tables with their columns
 *   media/<path>         media files
 *   secret-key
 *   tables/<name>/<n>    rows in PostgreSQL's COPY text format, one per line, in entries of 1 MB
 *   summary.json         numbers of rows, files and bytes, states of id sequences
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, constants } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { ClientError } from '../../core/model/errors';
import {
  invalidBackupError,
  HEADER_ENTRY,
  parseHeader,
  formatArchiveValue,
  SUMMARY_ENTRY,
  parseSummary,
  type BackupHeader,
  type BackupSummary,
} from './manifest';

export const SECRET_KEY_ENTRY = 'secret-key';
export const MEDIA_PREFIX = 'media/';
export const TABLES_PREFIX = 'tables/';
/** Maximum size of entries that are read into memory as a whole. */
const MAX_BUFFERED_ENTRY_BYTES = 10_000_000;

/** Progress callback: stage, completed units, and their total if known. */
export type ReportProgress = (stage: string, done: number, total?: number) => void;

export class ArchiveWriter {
  private readonly tar = pack();
  private readonly completion: Promise<void>;
  private bytes = 0;

  private constructor(
    private readonly file: string,
    private readonly draftPath: string,
    output: Writable,
  ) {
    this.completion = pipeline(this.tar as unknown as Readable, createGzip({ level: constants.Z_BEST_SPEED }), output);
    this.completion.catch(() => undefined);
  }

  /**
   * Creates a draft next to the final archive file; `publish` renames the draft when it is complete. It has mode 0600, because it contains the secret key.
   */
  static async begin(file: string): Promise<ArchiveWriter> {
    const draftPath = `${file}.${randomBytes(4).toString('hex')}.part`;
    const handle = await open(draftPath, 'wx', 0o600).catch((error: Error) => {
      throw new ClientError('NOT_FOUND', `${file} cannot be written: ${error.message}`);
    });
    return new ArchiveWriter(file, draftPath, handle.createWriteStream());
  }

  add(name: string, content: Buffer): Promise<void> {
    return this.addStream(name, content.length, [content]);
  }

  async addStream(name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    this.bytes += size;
    try {
      // The cast is needed because the entry is a stream of the library `streamx`, whose type is not Node's.
      await pipeline(content, this.tar.entry({ name, size, mode: 0o600, mtime: new Date(0) }) as unknown as Writable);
    } catch (error) {
      // If a write error, such as a full disk, has destroyed the tar stream, `completion` rejects with that error.
      await this.completion;
      throw error;
    }
  }

  /** Writes the summary, the last entry, and flushes the file of the unfinished archive to disk. */
  async end(summary: Omit<BackupSummary, 'bytes'>): Promise<{ draftPath: string; bytes: number }> {
    const { bytes } = this;
    await this.add(SUMMARY_ENTRY, Buffer.from(JSON.stringify({ ...summary, bytes })));
    this.tar.finalize();
    await this.completion;
    const handle = await open(this.draftPath, 'r+');
    await handle.sync().finally(() => handle.close());
    return { draftPath: this.draftPath, bytes };
  }

  async publish(): Promise<void> {
    await rename(this.draftPath, this.file);
    const folder = await open(dirname(this.file), 'r');
    await folder.sync().finally(() => folder.close());
  }

  async discard(): Promise<void> {
    this.tar.destroy();
    await this.completion.catch(() => undefined);
    await rm(this.draftPath, { force: true });
  }
}

/** Callbacks for the entries of an archive, called in the order of the entries. Content that a callback does not read is skipped. */
export interface ArchiveCallbacks {
  onHeader?(header: BackupHeader): Promise<void> | void;
  onMediaFile?(path: string, content: AsyncIterable<Buffer>): Promise<void>;
  onSecretKey?(key: string): Promise<void> | void;
  onRows?(table: string, content: AsyncIterable<Buffer>): Promise<void>;
}

/** Reads a whole archive; throws if it is damaged or incomplete. */
export async function readArchive(
  file: string,
  reader: ArchiveCallbacks,
  onBytes?: (readBytes: number) => void,
): Promise<{ header: BackupHeader; summary: BackupSummary }> {
  const untar = extract();
  const source = createReadStream(file);
  const extraction = pipeline(source, createGunzip(), untar as unknown as NodeJS.WritableStream);
  extraction.catch(() => undefined);
  let header: BackupHeader | undefined;
  let summary: BackupSummary | undefined;
  let readBytes = 0;
  try {
    for await (const entry of untar) {
      const { name, size = 0 } = entry.header;
      const content = entry as AsyncIterable<Buffer>;
      if (summary) throw invalidBackupError(file, 'unexpected data after its end');
      if (name === HEADER_ENTRY) {
        header = parseHeader(file, await readEntry(file, content, size));
        await reader.onHeader?.(header);
      } else if (!header) throw invalidBackupError(file, `it does not start with ${HEADER_ENTRY}`);
      else if (name === SUMMARY_ENTRY) summary = parseSummary(file, await readEntry(file, content, size));
      else if (name === SECRET_KEY_ENTRY) await reader.onSecretKey?.((await readEntry(file, content, size)).toString());
      else if (name.startsWith(MEDIA_PREFIX)) await reader.onMediaFile?.(name.slice(MEDIA_PREFIX.length), content);
      else if (name.startsWith(TABLES_PREFIX)) await reader.onRows?.(name.split('/')[1]!, content);
      else throw invalidBackupError(file, `it contains an unknown entry ${formatArchiveValue(name)}`);
      entry.resume();
      onBytes?.((readBytes += size));
    }
    await extraction;
  } catch (error) {
    source.destroy();
    untar.destroy();
    throw readingError(file, error);
  }
  if (!header || !summary) throw invalidBackupError(file, 'it is truncated');
  return { header, summary };
}

/** Converts an error caused by an unreadable or damaged backup file into an error with a one-line message; returns other errors unchanged. */
function readingError(file: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof SyntaxError) return invalidBackupError(file, 'it contains invalid JSON');
  if (['ENOENT', 'EACCES', 'EISDIR', 'EIO'].includes(code ?? '')) return new ClientError('NOT_FOUND', `${file} cannot be read: ${message}`);
  if (/^Z_/.test(code ?? '') || /tar header|Unexpected end of data|unexpected end of file/i.test(message))
    return invalidBackupError(file, message);
  return error;
}

async function readEntry(file: string, content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  if (size > MAX_BUFFERED_ENTRY_BYTES) throw invalidBackupError(file, `one of its entries is too large (${size} bytes)`);
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Counts the rows of COPY output: one per line, because line feeds within values are escaped. */
export function countLines(content: Buffer): number {
  let lines = 0;
  for (let index = content.indexOf(10); index >= 0; index = content.indexOf(10, index + 1)) lines += 1;
  return lines;
}

export interface VerifiedBackup {
  header: BackupHeader;
  summary: BackupSummary;
  secretKey: string;
}

/** Reads the whole archive and compares the numbers of rows and files with its summary. */
export async function verifyArchive(file: string, onBytes?: (readBytes: number) => void): Promise<VerifiedBackup> {
  let key: string | undefined;
  let files = 0;
  const rows = new Map<string, number>();
  const { header, summary } = await readArchive(
    file,
    {
      onHeader: ({ tables }) => {
        for (const { name } of tables) rows.set(name, 0);
      },
      onSecretKey: (storedKey) => void (key = storedKey),
      onMediaFile: async () => void (files += 1),
      onRows: async (table, content) => {
        let count = rows.get(table);
        if (count === undefined) throw invalidBackupError(file, `it contains rows of an unknown table ${formatArchiveValue(table)}`);
        for await (const chunk of content) count += countLines(chunk);
        rows.set(table, count);
      },
    },
    onBytes,
  );
  if (key === undefined) throw invalidBackupError(file, 'it has no secret key');
  const counts = new Map(Object.entries(summary.rows));
  const mismatches = [...new Set([...rows.keys(), ...counts.keys()])].filter((name) => rows.get(name) !== counts.get(name));
  if (mismatches.length) throw invalidBackupError(file, `rows of ${formatArchiveValue(mismatches)} are missing`);
  if (files !== summary.files) throw invalidBackupError(file, `it has ${files} files instead of ${formatArchiveValue(summary.files)}`);
  return { header, summary, secretKey: key };
}
