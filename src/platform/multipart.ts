/**
 * Multipart bodies: texts and files by the names of their parts, read up to limits. Files go to disk as they arrive. `graphql-upload` reads the
 * forms of GraphQL only, and nothing of a form that is too large; REST and the pages show what was typed again.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { FilesUnavailable } from './filesunavailable';
import { makeFolder } from './folders';

/** A file as it was sent; nothing of it is to be believed. Its content is gone once the request is answered. */
export class UploadedFile {
  constructor(
    /** As the client named it, with whatever folders it put before the name. */
    readonly filename: string,
    /** Where the content is. */
    readonly path: string,
    /** In bytes. */
    readonly size: number,
    /** SHA-256 of the content, in hexadecimal. */
    readonly digest: string,
    /** Id of the user who sent it; nobody's is ever worked on. */
    readonly sender?: number,
  ) {}
}

type Part = string | UploadedFile;
export type Parts = Map<string, Part[]>;

export interface MultipartLimits {
  /** In bytes: of a text, and of all that is not the largest allowed file. */
  maxBody: number;
  /** In bytes: of a file. */
  maxUpload: number;
  /** In bytes: of a body whose sender is not signed in. */
  maxAnonymousBody: number;
  /** Where files are kept until their request is answered: in a folder of this one. */
  dataDir: string;
  /** The sender is not signed in: `maxBody` counts for all of it, and nothing is kept of files, so that all of them are empty. */
  isStrange?: boolean;
  sender?: number;
}

/** What somebody may send who is not signed in: nothing that is kept anywhere. */
export const limitsOfStrangers = (limits: MultipartLimits): MultipartLimits => ({
  ...limits,
  maxBody: Math.min(limits.maxBody, limits.maxAnonymousBody),
  isStrange: true,
});

export class MultipartError extends Error {
  constructor(
    readonly reason: 'boundary' | 'charset' | 'body too large' | 'file too large' | 'too many parts',
    /** The boundary as it was given, or the name of the part. */
    readonly subject?: string,
    /** What is good of it: all texts that there was room for, and the files before the refusal. */
    readonly arrived: Parts = new Map(),
  ) {
    super(reason);
  }
}

/** In bytes. */
const MIN_PATIENCE = 1024 * 1024;
const MAX_FILES = 20;
/** Of all kinds; the reference has the same limit. */
const MAX_PARTS = 1000;
export const TOO_MANY_PARTS = `A form has at most ${MAX_FILES} files and ${MAX_PARTS} parts in all.`;
/** Longer than any request takes. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Of what was sent no other user of the machine reads anything, whatever the umask is. */
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

const folderOf = (dataDir: string) => join(dataDir, 'incoming');

/** The files of one request. */
class Spool {
  private readonly paths: string[] = [];
  private discarded = false;

  constructor(
    private readonly dataDir: string,
    private readonly sender?: number,
  ) {}

  /** Keeps the chunks that fit. Throws FilesUnavailable. */
  write(filename: string, chunks: AsyncIterable<Buffer>, fits: (bytes: number) => boolean): Promise<UploadedFile> {
    return this.written(filename, chunks, fits).catch((error: unknown) => {
      throw new FilesUnavailable(error);
    });
  }

  private async written(filename: string, chunks: AsyncIterable<Buffer>, fits: (bytes: number) => boolean): Promise<UploadedFile> {
    makeFolder(folderOf(this.dataDir), PRIVATE_FOLDER);
    const path = join(folderOf(this.dataDir), randomUUID());
    this.paths.push(path);
    const file = await open(path, 'wx', PRIVATE_FILE);
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of chunks) {
        if (!fits(chunk.length)) continue;
        hash.update(chunk);
        size += chunk.length;
        await file.appendFile(chunk);
      }
    } finally {
      await file.close();
      if (this.discarded) await this.discard();
    }
    return new UploadedFile(filename, path, size, hash.digest('hex'), this.sender);
  }

  async discard(): Promise<void> {
    this.discarded = true;
    await Promise.all(this.paths.map((path) => rm(path, { force: true })));
  }
}

/** The chunks of a stream until it ends or breaks off; the end of the whole body tells which. */
async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch {
    // The form is incomplete.
  }
}

/** The name of a file without folders; a browser sends a blank one for a file input without a choice. */
const isNamed = (filename: string | undefined) => filename !== undefined && filename.split(/[/\\]/).at(-1)!.trim() !== '';

/** Undefined: a file after a refusal. */
type Arriving = [name: string, part: Part | Promise<Part | undefined>];

/** The parts of one body. */
class Arrival {
  private readonly texts: Arriving[] = [];
  private readonly files: Arriving[] = [];
  private refusal?: { reason: MultipartError['reason']; name?: string };
  private room: number;
  private isOver = false;

  constructor(
    private readonly limits: MultipartLimits,
    private readonly spool: Spool,
    private readonly stop: () => void,
  ) {
    this.room = limits.maxBody + limits.maxUpload;
  }

  /** The first refusal counts. */
  refuse(reason: MultipartError['reason'], name?: string): void {
    this.refusal ??= { reason, name };
  }

  listen(parser: busboy.Busboy): void {
    parser.on('field', (name, value, info) => this.field(name, value, info));
    parser.on('file', (name, stream, { filename }) => this.file(name, stream, filename));
    for (const limit of ['partsLimit', 'filesLimit'] as const)
      parser.on(limit, () => {
        this.refuse('too many parts');
        this.stop();
      });
  }

  async collected(): Promise<Parts> {
    // The parser still emits what follows in the chunk it is reading.
    this.isOver = true;
    const all: Parts = new Map();
    // The reference puts files behind the texts of the same name.
    for (const [name, reading] of [...this.texts, ...this.files]) {
      const part = await reading;
      if (part === undefined) continue;
      const known = all.get(name);
      if (known) known.push(part);
      else all.set(name, [part]);
    }
    if (this.refusal) throw new MultipartError(this.refusal.reason, this.refusal.name, all);
    return all;
  }

  /** `name` is undefined for a part without one, which the reference ignores, and `value` where the parser does not know the charset. */
  private field(name: string | undefined, value: string | undefined, { valueTruncated }: busboy.FieldInfo): void {
    if (this.isOver || name === undefined) return;
    if (value === undefined) this.refuse('charset', name);
    else if (valueTruncated) this.refuse('body too large');
    else if (this.fits(Buffer.byteLength(value))) this.texts.push([name, value]);
  }

  private file(name: string | undefined, stream: Readable, filename: string | undefined): void {
    stream.on('limit', () => this.refuse('file too large', name));
    // It may break off before anybody reads it.
    stream.on('error', () => undefined);
    const isText = filename === undefined;
    if (this.isOver || name === undefined || !(isText || isNamed(filename))) return void stream.resume();
    if (isText) return void this.texts.push([name, this.text(stream)]);
    if (this.limits.isStrange) {
      stream.resume();
      return void this.files.push([name, new UploadedFile(filename, '', 0, '')]);
    }
    const written = this.spool.write(filename, chunksOf(stream), (bytes) => this.fits(bytes) && !this.refusal);
    const part = written.then((file) => (this.refusal ? undefined : file));
    // On a full disk the rest of the body is of no use, and the parser would wait for somebody to read the file.
    part.catch(() => this.stop());
    this.files.push([name, part]);
  }

  /** A part of the type application/octet-stream, which the parser takes for a file, but without a filename. */
  private async text(stream: Readable): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of chunksOf(stream)) if (this.fits(chunk.length)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** Reserves so many bytes; the caller reads and drops what there is no room for. */
  private fits(bytes: number): boolean {
    this.room -= bytes;
    if (this.room < 0) this.refuse('body too large');
    return this.room >= 0;
  }
}

/** Undefined where the header names no boundary. */
function parserOf(header: string, { maxBody, maxUpload }: MultipartLimits): busboy.Busboy | undefined {
  try {
    return busboy({
      headers: { 'content-type': header },
      defParamCharset: 'utf8',
      preservePath: true,
      limits: { fieldSize: maxBody, fileSize: maxUpload + 1, parts: MAX_PARTS + 1, files: MAX_FILES },
    });
  } catch {
    return undefined;
  }
}

/** A truncated body has the parts that came. The files are there until the response is closed. */
export function readMultipart(request: IncomingMessage, response: ServerResponse, limits: MultipartLimits): Promise<Parts> {
  const { maxBody, maxUpload, dataDir, isStrange, sender } = limits;
  const header = request.headers['content-type'] ?? '';
  if (isStrange && Number(request.headers['content-length']) > maxBody) return Promise.reject(new MultipartError('body too large'));
  const parser = parserOf(header, limits);
  if (!parser) return Promise.reject(new MultipartError('boundary', /boundary=([^;]*)/i.exec(header)?.[1]));
  const spool = new Spool(dataDir, sender);
  response.once('close', () => void spool.discard().catch(() => undefined));
  return new Promise((resolve) => {
    let isOver = false;
    const stop = () => {
      if (isOver) return;
      isOver = true;
      request.unpipe(parser);
      // Breaks off the file that is being read, if any.
      parser.destroy();
      resolve(arrival.collected());
    };
    const arrival = new Arrival(limits, spool, stop);
    arrival.listen(parser);
    parser.on('close', stop).on('error', stop);
    request.on('error', stop).on('aborted', stop);
    // What comes behind something that is too large is read on, because it may be what was typed beside it; but not for ever.
    let patience = isStrange ? maxBody : Math.max(MIN_PATIENCE, 2 * (maxBody + maxUpload));
    request.on('data', (chunk: Buffer) => {
      patience -= chunk.length;
      if (patience >= 0) return;
      arrival.refuse('body too large');
      stop();
    });
    request.pipe(parser);
  });
}

/** Takes away the files of requests that nobody answered, because their server died. */
export async function sweepUploads(dataDir: string): Promise<void> {
  const folder = folderOf(dataDir);
  // One that an older version made.
  await chmod(folder, PRIVATE_FOLDER).catch(() => undefined);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}
