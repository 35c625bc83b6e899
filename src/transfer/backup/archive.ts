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
import { ClientError } from '../../engine/declare/errors';
import {
  invalidBackupError,
  HEADER_ENTRY_NAME,
  parseHeader,
  formatArchiveValue,
  SUMMARY_ENTRY_NAME,
  parseSummary,
  type BackupHeader,
  type BackupSummary,
} from './manifest';

export const SECRET_KEY_ENTRY_NAME = 'secret-key';
export const MEDIA_ENTRY_PREFIX = 'media/';
export const TABLE_ENTRY_PREFIX = 'tables/';

/** Maximum size of the entries that are read into memory: header, secret key and summary. */
const MAX_BUFFERED_ENTRY_BYTES = 10_000_000;

/** Progress callback: stage, completed units, and their total if known. */
export type ReportProgress = (stage: string, done: number, total?: number) => void;

export class ArchiveWriter {
  private readonly tar = pack();
  private readonly pipelineCompletion: Promise<void>;
  private writtenBytes = 0;

  private constructor(
    private readonly file: string,
    private readonly draftPath: string,
    output: Writable,
  ) {
    this.pipelineCompletion = pipeline(
      this.tar as unknown as Readable,
      createGzip({ level: constants.Z_BEST_SPEED }),
      output,
    );
    this.pipelineCompletion.catch(() => undefined);
  }

  /**
   * Creates a draft next to the final archive file; `publish` renames the complete draft. The file
   * has mode 0600, because it contains the secret key.
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

  async addStream(
    name: string,
    size: number,
    content: Iterable<Buffer> | AsyncIterable<Buffer>,
  ): Promise<void> {
    this.writtenBytes += size;

    try {
      // The cast is needed because tar-stream's entries are streams of the library `streamx`.
      await pipeline(
        content,
        this.tar.entry({ name, size, mode: 0o600, mtime: new Date(0) }) as unknown as Writable,
      );
    } catch (error) {
      // If a write error, such as a full disk, has destroyed the tar stream, `pipelineCompletion`
      // rejects with that error.
      await this.pipelineCompletion;
      throw error;
    }
  }

  /** Writes the summary as the last entry, and flushes the draft to disk. */
  async end(summary: Omit<BackupSummary, 'bytes'>): Promise<{ draftPath: string; bytes: number }> {
    const { writtenBytes } = this;

    await this.add(
      SUMMARY_ENTRY_NAME,
      Buffer.from(JSON.stringify({ ...summary, bytes: writtenBytes })),
    );
    this.tar.finalize();
    await this.pipelineCompletion;
    const handle = await open(this.draftPath, 'r+');

    await handle.sync().finally(() => handle.close());
    return { draftPath: this.draftPath, bytes: writtenBytes };
  }

  async publish(): Promise<void> {
    await rename(this.draftPath, this.file);
    const folder = await open(dirname(this.file), 'r');

    await folder.sync().finally(() => folder.close());
  }

  async discard(): Promise<void> {
    this.tar.destroy();
    await this.pipelineCompletion.catch(() => undefined);
    await rm(this.draftPath, { force: true });
  }
}

/**
 * Callbacks for the entries of an archive, called in the order of the entries. Content that a
 * callback does not read is skipped.
 */
export interface ArchiveCallbacks {
  onHeader?(header: BackupHeader): Promise<void> | void;
  onMediaFile?(path: string, content: AsyncIterable<Buffer>): Promise<void>;
  onSecretKey?(key: string): Promise<void> | void;
  onRows?(table: string, content: AsyncIterable<Buffer>): Promise<void>;
}

/** Reads a whole archive. Throws if the archive is damaged or incomplete. */
export async function readArchive(
  file: string,
  callbacks: ArchiveCallbacks,
  onBytesRead?: (bytesRead: number) => void,
): Promise<{ header: BackupHeader; summary: BackupSummary }> {
  const tarExtractor = extract();
  const source = createReadStream(file);
  const extraction = pipeline(
    source,
    createGunzip(),
    tarExtractor as unknown as NodeJS.WritableStream,
  );

  extraction.catch(() => undefined);
  let header: BackupHeader | undefined;
  let summary: BackupSummary | undefined;
  let bytesRead = 0;

  try {
    for await (const entry of tarExtractor) {
      const { name, size = 0 } = entry.header;
      const content = entry as AsyncIterable<Buffer>;

      if (summary) throw invalidBackupError(file, 'unexpected data after its end');

      if (name === HEADER_ENTRY_NAME) {
        header = parseHeader(file, await bufferEntry(file, content, size));
        await callbacks.onHeader?.(header);
      } else if (!header) {
        throw invalidBackupError(file, `it does not start with ${HEADER_ENTRY_NAME}`);
      } else if (name === SUMMARY_ENTRY_NAME) {
        summary = parseSummary(file, await bufferEntry(file, content, size));
      } else if (name === SECRET_KEY_ENTRY_NAME) {
        await callbacks.onSecretKey?.((await bufferEntry(file, content, size)).toString());
      } else if (name.startsWith(MEDIA_ENTRY_PREFIX)) {
        await callbacks.onMediaFile?.(name.slice(MEDIA_ENTRY_PREFIX.length), content);
      } else if (name.startsWith(TABLE_ENTRY_PREFIX)) {
        await callbacks.onRows?.(name.split('/')[1]!, content);
      } else {
        throw invalidBackupError(file, `it contains an unknown entry ${formatArchiveValue(name)}`);
      }

      entry.resume();
      bytesRead += size;
      onBytesRead?.(bytesRead);
    }

    await extraction;
  } catch (error) {
    source.destroy();
    tarExtractor.destroy();
    throw explainReadError(file, error);
  }

  if (!header || !summary) throw invalidBackupError(file, 'it is truncated');

  return { header, summary };
}

/**
 * Converts an error about an unreadable or damaged backup file to an error with a one-line message.
 */
function explainReadError(file: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;

  if (error instanceof SyntaxError) return invalidBackupError(file, 'it contains invalid JSON');

  if (['ENOENT', 'EACCES', 'EISDIR', 'EIO'].includes(code ?? '')) {
    return new ClientError('NOT_FOUND', `${file} cannot be read: ${message}`);
  }

  if (
    /^Z_/.test(code ?? '') ||
    /tar header|Unexpected end of data|unexpected end of file/i.test(message)
  ) {
    return invalidBackupError(file, message);
  }

  return error;
}

async function bufferEntry(
  file: string,
  content: AsyncIterable<Buffer>,
  size: number,
): Promise<Buffer> {
  if (size > MAX_BUFFERED_ENTRY_BYTES) {
    throw invalidBackupError(file, `one of its entries is too large (${size} bytes)`);
  }

  const chunks: Buffer[] = [];

  for await (const chunk of content) chunks.push(chunk);

  return Buffer.concat(chunks);
}

/**
 * Counts the rows of COPY output. Each row is one line, because line feeds within values are
 * escaped.
 */
export function countLines(content: Buffer): number {
  let lineCount = 0;
  let lineEnd = content.indexOf('\n');

  while (lineEnd >= 0) {
    lineCount += 1;
    lineEnd = content.indexOf('\n', lineEnd + 1);
  }

  return lineCount;
}

export interface VerifiedBackup {
  header: BackupHeader;
  summary: BackupSummary;
  secretKey: string;
}

/** Reads the whole archive and compares the numbers of rows and files with its summary. */
export async function verifyArchive(
  file: string,
  onBytesRead?: (bytesRead: number) => void,
): Promise<VerifiedBackup> {
  let secretKey: string | undefined;
  let fileCount = 0;
  const rowCountByTable = new Map<string, number>();
  const { header, summary } = await readArchive(
    file,
    {
      onHeader: ({ tables }) => {
        for (const { name } of tables) rowCountByTable.set(name, 0);
      },
      onSecretKey: (storedKey) => void (secretKey = storedKey),
      onMediaFile: async () => void (fileCount += 1),
      onRows: async (table, content) => {
        let count = rowCountByTable.get(table);

        if (count === undefined) {
          throw invalidBackupError(
            file,
            `it contains rows of an unknown table ${formatArchiveValue(table)}`,
          );
        }

        for await (const chunk of content) count += countLines(chunk);
        rowCountByTable.set(table, count);
      },
    },
    onBytesRead,
  );

  if (secretKey === undefined) throw invalidBackupError(file, 'it has no secret key');
  const expectedRowCounts = new Map(Object.entries(summary.rows));
  const mismatchedTables = [
    ...new Set([...rowCountByTable.keys(), ...expectedRowCounts.keys()]),
  ].filter((name) => rowCountByTable.get(name) !== expectedRowCounts.get(name));

  if (mismatchedTables.length) {
    throw invalidBackupError(file, `rows of ${formatArchiveValue(mismatchedTables)} are missing`);
  }

  if (fileCount !== summary.files) {
    throw invalidBackupError(
      file,
      `it has ${fileCount} files instead of ${formatArchiveValue(summary.files)}`,
    );
  }

  return { header, summary, secretKey };
}
