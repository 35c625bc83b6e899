/** Opens a file, URL or standard input as a stream of decompressed bytes. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { Unzip, UnzipInflate, type UnzipFile } from 'fflate';
import { ClientError } from '../../engine/declare/errors';
import { failImport } from '../dump';
import { failUnreadable, fetchDocument } from './fetch';

const READ_CHUNK_BYTES = 256 * 1024;
const STANDARD_INPUT = '-';

export interface CatalogueSource {
  /** Decompressed content. */
  bytes: AsyncIterable<Buffer>;

  /** Number of bytes of the file before decompression, if known. */
  size?: number;

  /** Number of bytes that have been read so far, before decompression. */
  readBytes(): number;
}

const SIGNATURES = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
  zip: [0x50, 0x4b, 0x03, 0x04],
};

interface Input {
  input: AsyncIterable<Uint8Array>;
  size?: number;
}

async function openInput(location: string): Promise<Input> {
  if (location === STANDARD_INPUT) return { input: process.stdin };

  if (/^https?:\/\//.test(location)) {
    const { ok, status, body, headers } = await fetch(location);

    if (!ok || !body) throw new Error(`status ${status}`);

    return { input: body, size: Number(headers.get('content-length')) || undefined };
  }

  const { size } = await stat(location);

  return { input: createReadStream(location, { highWaterMark: READ_CHUNK_BYTES }), size };
}

const INDEX_PATTERN = /^https?:\/\/.*\/index\.txt$/;
const MAX_INDEX_MEGABYTES = 1;

/**
 * Opens the files that an index lists, such as the daily changes of Open Food Facts, as one: the
 * newest first, because the first record of a food counts.
 */
async function openIndex(location: string): Promise<CatalogueSource> {
  const index = await fetchDocument(location, MAX_INDEX_MEGABYTES).catch((error) =>
    failUnreadable(location, error),
  );
  const names = index.toString().match(/\S+/g) ?? [];
  let readBytes = 0;

  async function* bytes(): AsyncGenerator<Buffer> {
    for (const name of names.sort().reverse()) {
      const file = await openFile(new URL(name, location).href);

      yield* file.bytes;
      yield Buffer.from('\n');
      readBytes += file.readBytes();
    }
  }

  return { readBytes: () => readBytes, bytes: bytes() };
}

/**
 * Opens a file, URL, index of files or standard input. Throws BAD_USER_INPUT if it cannot be read,
 * also from the iteration.
 */
export const openSource = (location: string): Promise<CatalogueSource> =>
  INDEX_PATTERN.test(location) ? openIndex(location) : openFile(location);

/** Opens a file, whose compression is recognized by its first bytes. */
async function openFile(location: string): Promise<CatalogueSource> {
  const name = location === STANDARD_INPUT ? 'standard input' : location;
  const { input, size } = await openInput(location).catch((error) => failUnreadable(name, error));
  let readBytes = 0;

  async function* count(): AsyncGenerator<Buffer> {
    for await (const chunk of input) {
      readBytes += chunk.length;
      yield Buffer.from(chunk);
    }
  }

  return { size, readBytes: () => readBytes, bytes: decompress(count(), name) };
}

async function* decompress(chunks: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    const { start, all } = await peek(chunks);
    const isCompressedBy = (compression: keyof typeof SIGNATURES) =>
      SIGNATURES[compression].every((byte, index) => start[index] === byte);

    if (!start.length) failImport(`${name} is empty.`);

    // The iteration of a pipeline throws the errors of both streams.
    if (isCompressedBy('gzip')) yield* pipeline(all, zlib.createGunzip(), () => undefined);
    else if (isCompressedBy('zstd')) yield* pipeline(all, createZstdDecompress(), () => undefined);
    else if (isCompressedBy('zip')) yield* unzip(all);
    else yield* all;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    failUnreadable(name, error);
  }
}

function createZstdDecompress(): Transform {
  const library = zlib as { createZstdDecompress?: () => Transform };

  return (
    library.createZstdDecompress?.() ??
    failImport('zstd needs Node.js 22.15 or newer. Pipe the content instead: zstd -dc FILE | … -')
  );
}

/** Bytes of an archive that are decompressed at a time: at most 8 MB of content. */
const ZIP_SLICE_BYTES = 8 * 1024;
const DATA_FILE_PATTERN = /\.(?:csv|json|jsonl|tsv|txt)$/i;

/** Yields the content of the first data file of an archive. */
async function* unzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let content: Buffer[] = [];
  let file: UnzipFile | undefined;

  const archive = new Unzip((entry) => {
    if (file || !DATA_FILE_PATTERN.test(entry.name)) return;
    file = entry;

    entry.ondata = (error, data) => {
      if (error) throw error;
      content.push(Buffer.from(data));
    };

    entry.start();
  });

  archive.register(UnzipInflate);

  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += ZIP_SLICE_BYTES) {
      archive.push(chunk.subarray(start, start + ZIP_SLICE_BYTES));
      yield* content;
      content = [];
    }
  }

  // Reports a file that is cut off.
  archive.push(new Uint8Array(), true);
  yield* content;
  if (!file) failImport('The archive contains no JSON, CSV or TSV file.');
}

const RECOGNIZED_BYTES = 4_096;

/** Returns the first bytes, by which the content is recognized, and all of them. */
export async function peek(
  bytes: AsyncIterable<Buffer>,
): Promise<{ start: Buffer; all: AsyncIterable<Buffer> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);

  while (start.length < RECOGNIZED_BYTES) {
    const { done, value } = await iterator.next();

    if (done) break;
    start = Buffer.concat([start, value]);
  }

  async function* all(): AsyncGenerator<Buffer> {
    yield start;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }

  return { start, all: all() };
}
