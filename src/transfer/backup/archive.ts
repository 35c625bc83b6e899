/**
 * The file of a backup: a compressed tar archive, written and read as a stream, so that neither takes more memory than a few pieces.
 *
 *   backup.json          what it is: program, moment, migrations, tables with their columns
 *   media/<path>         the files of rows
 *   secret-key
 *   tables/<name>/<n>    the rows as PostgreSQL's COPY writes them, one a line, in pieces of a megabyte
 *   summary.json         rows, files, bytes, and a digest of all that comes before it
 */
import { createHash, randomBytes, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, constants } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { KnownError } from '../../core/model/errors';
import { broken, HEADER, headerIn, printable, SUMMARY, summaryIn, type Header, type Summary } from './description';

export const KEY = 'secret-key';
export const MEDIA = 'media/';
export const TABLES = 'tables/';
/** Of what is kept in memory to know that it is whole. */
const MAX_TEXT = 10_000_000;

/** What is done, of how much where that is known. */
export type Progress = (what: string, done: number, total?: number) => void;

/** Names and contents, each of a length that is told first, so that no two archives have the same digest. */
class Digest {
  private readonly hash: Hash = createHash('sha256');
  bytes = 0;

  begin(name: string, size: number): void {
    this.hash.update(`${name}\0${size}\0`);
    this.bytes += size;
  }

  add(content: Buffer): void {
    this.hash.update(content);
  }

  end(): string {
    return this.hash.digest('hex');
  }
}

export class ArchiveWriter {
  private readonly digest = new Digest();
  private readonly tar = pack();
  private readonly written: Promise<void>;
  private failure?: Error;
  /** Told to what is being packed. Were each part to wait for `written` itself, all of them would be kept until that has ended. */
  private failed?: (error: Error) => void;

  private constructor(
    private readonly file: string,
    private readonly draft: string,
    output: Writable,
  ) {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    this.written = pipeline(this.tar as unknown as Readable, gzip, output);
    this.written.catch((error: Error) => {
      this.failure = error;
      this.failed?.(error);
    });
  }

  /** The file has its name once it is whole; until then its draft lies beside it. Only its owner can read it: it holds the key. */
  static async begin(file: string): Promise<ArchiveWriter> {
    const draft = `${file}.${randomBytes(4).toString('hex')}.part`;
    const handle = await open(draft, 'wx', 0o600).catch((error: Error) => {
      throw new KnownError('NOT_FOUND', `${file} cannot be written: ${error.message}`);
    });
    return new ArchiveWriter(file, draft, handle.createWriteStream());
  }

  async add(name: string, content: Buffer): Promise<void> {
    this.digest.begin(name, content.length);
    this.digest.add(content);
    await this.entry(name, content.length, [content]);
  }

  async stream(name: string, size: number, content: AsyncIterable<Buffer>): Promise<void> {
    this.digest.begin(name, size);
    const { digest } = this;
    async function* noted() {
      for await (const chunk of content) {
        digest.add(chunk);
        yield chunk;
      }
    }
    await this.entry(name, size, noted());
  }

  private async entry(name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    // A disk that is full ends the writing, and nobody takes what is packed any more.
    if (this.failure) throw this.failure;
    await new Promise<void>((resolve, reject) => {
      this.failed = reject;
      const done = (error?: Error | null) => (error ? reject(error) : resolve());
      // It is one, though not of Node's own class.
      const entry = this.tar.entry({ name, size, mode: 0o600, mtime: new Date(0) }, done) as unknown as Writable;
      // Told by the callback.
      entry.on('error', () => undefined);
      void (async () => {
        for await (const chunk of content) if (!entry.write(chunk)) await once(entry, 'drain');
        entry.end();
      })().catch((error: Error) => {
        entry.destroy(error);
        reject(error);
      });
    });
  }

  /** The summary goes last; then the draft is on the disk. */
  async end(summary: Omit<Summary, 'digest' | 'bytes'>): Promise<{ draft: string; bytes: number }> {
    const { bytes } = this.digest;
    const whole: Summary = { ...summary, bytes, digest: this.digest.end() };
    const content = Buffer.from(JSON.stringify(whole));
    await this.entry(SUMMARY, content.length, [content]);
    this.tar.finalize();
    await this.written;
    const handle = await open(this.draft, 'r+');
    await handle.sync().finally(() => handle.close());
    return { draft: this.draft, bytes };
  }

  async publish(): Promise<void> {
    await rename(this.draft, this.file);
    const folder = await open(dirname(this.file), 'r');
    await folder.sync().finally(() => folder.close());
  }

  async discard(): Promise<void> {
    this.tar.destroy();
    await this.written.catch(() => undefined);
    await rm(this.draft, { force: true });
  }
}

/** What is done with the parts of an archive, in their order. Content that is not read is passed over. */
export interface ArchiveReader {
  header?(header: Header): Promise<void> | void;
  media?(path: string, content: AsyncIterable<Buffer>): Promise<void>;
  key?(key: string): Promise<void> | void;
  rows?(table: string, content: AsyncIterable<Buffer>): Promise<void>;
}

/** Reads an archive from its beginning to its end; throws where it is not whole, or not what was written. */
export async function readArchive(file: string, reader: ArchiveReader, passed?: (bytes: number) => void): Promise<Summary> {
  const digest = new Digest();
  const untar = extract();
  const source = createReadStream(file);
  const unpacked = pipeline(source, createGunzip(), untar as unknown as NodeJS.WritableStream);
  unpacked.catch(() => undefined);
  let header: Header | undefined;
  let summary: Summary | undefined;
  try {
    for await (const entry of untar) {
      const { name, size = 0 } = entry.header;
      if (summary) throw broken(file, 'something follows its end');
      if (name === SUMMARY) {
        summary = summaryIn(file, await textOf(file, entry as AsyncIterable<Buffer>, size));
        continue;
      }
      digest.begin(name, size);
      const content = noted(entry as AsyncIterable<Buffer>, digest, (bytes) => passed?.(bytes));
      if (name === HEADER) {
        header = headerIn(file, await textOf(file, content, size));
        await reader.header?.(header);
      } else if (!header) throw broken(file, `it does not begin with ${HEADER}`);
      else if (name === KEY) await reader.key?.((await textOf(file, content, size)).toString());
      else if (name.startsWith(MEDIA)) await reader.media?.(name.slice(MEDIA.length), content);
      else if (name.startsWith(TABLES)) await reader.rows?.(name.split('/')[1]!, content);
      else throw broken(file, `it has an unknown part ${printable(name)}`);
      // The rest of what nobody read.
      for await (const chunk of content) void chunk;
    }
    await unpacked;
  } catch (error) {
    source.destroy();
    untar.destroy();
    throw readingError(file, error);
  }
  if (!summary) throw broken(file, 'its end is missing');
  if (summary.digest !== digest.end()) throw broken(file, 'its content is not what was written');
  return summary;
}

/** What the file itself is to blame for, said in one line; other failures as they are. */
function readingError(file: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof SyntaxError) return broken(file, 'it holds what is no JSON');
  if (['ENOENT', 'EACCES', 'EISDIR', 'EIO'].includes(code ?? '')) return new KnownError('NOT_FOUND', `${file} cannot be read: ${message}`);
  if (/^Z_/.test(code ?? '') || /tar header|Unexpected end of data|unexpected end of file/i.test(message)) return broken(file, message);
  return error;
}

async function* noted(content: AsyncIterable<Buffer>, digest: Digest, passed: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    digest.add(chunk);
    passed(chunk.length);
    yield chunk;
  }
}

async function textOf(file: string, content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  if (size > MAX_TEXT) throw broken(file, `one of its parts is too large (${size} bytes)`);
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Rows of a piece of a table: COPY writes each on a line, and a line's end within a value otherwise. */
export function linesIn(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) lines += 1;
  return lines;
}

/** Reads all of it and counts. Answers what it is. */
export async function verifyArchive(
  file: string,
  passed?: (bytes: number) => void,
): Promise<{ header: Header; summary: Summary; key: string }> {
  let header: Header | undefined;
  let key = '';
  let files = 0;
  const rows = new Map<string, number>();
  const summary = await readArchive(
    file,
    {
      header: (found) => {
        header = found;
        for (const { name } of found.tables) rows.set(name, 0);
      },
      key: (found) => void (key = found),
      media: async () => void (files += 1),
      rows: async (table, content) => {
        let count = rows.get(table);
        if (count === undefined) throw broken(file, `it has rows of an unknown table ${printable(table)}`);
        for await (const chunk of content) count += linesIn(chunk);
        rows.set(table, count);
      },
    },
    passed,
  );
  if (!header) throw broken(file, `${HEADER} is missing`);
  const counts = new Map(Object.entries(summary.rows));
  const wrong = [...new Set([...rows.keys(), ...counts.keys()])].filter((name) => rows.get(name) !== counts.get(name));
  if (wrong.length) throw broken(file, `rows of ${printable(wrong)} are missing`);
  if (files !== summary.files) throw broken(file, `it has ${files} files instead of ${printable(summary.files)}`);
  return { header, summary, key };
}
