/**
 * Parser of multipart/form-data bodies (RFC 7578) with limits, which writes files to disk. The library `graphql-upload` is unsuitable: it parses only GraphQL
 * uploads and returns nothing of an oversized form, whereas HTML pages must show the entered text fields again.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { FileStorageError } from './filestorageerror';
import { createFolder } from './folders';

/** Uploaded file, not yet validated. Its content is deleted when the response is closed. */
export class UploadedFile {
  constructor(
    /** File name sent by the client, possibly with folders. */
    readonly filename: string,
    readonly path: string,
    /** Size of the uploaded file in bytes. */
    readonly size: number,
    /** SHA-256 digest of the uploaded file in hexadecimal. */
    readonly digest: string,
    /** Id of the user who sent the file; absent for anonymous clients, whose uploads are never processed. */
    readonly senderUserId?: number,
  ) {}
}

type Part = string | UploadedFile;
export type MultipartParts = Map<string, Part[]>;

export interface MultipartLimits {
  /** Maximum length of a text field in bytes. The whole body may have this many bytes in addition to `maxUpload`. */
  maxBody: number;
  /** Maximum size of a file in bytes. */
  maxUpload: number;
  maxAnonymousBody: number;
  /** Data folder. Uploaded files are written to a subfolder of it. */
  dataDir: string;
  /** Whether the client is anonymous. Then `maxBody` limits the whole body, and the contents of files are discarded. */
  isAnonymous?: boolean;
  senderUserId?: number;
}

export const anonymousMultipartLimits = (limits: MultipartLimits): MultipartLimits => ({
  ...limits,
  maxBody: Math.min(limits.maxBody, limits.maxAnonymousBody),
  isAnonymous: true,
});

export class MultipartError extends Error {
  constructor(
    readonly reason:
      'boundary' | 'charset' | 'body too large' | 'file too large' | 'too many parts',
    /** What the error concerns: the boundary of the form if `reason` is `boundary`, otherwise the name of the rejected part. */
    readonly boundaryOrPartName?: string,
    /** Parts of the form that were accepted despite the error: the text fields within the limits, and the files before the first error. */
    readonly acceptedParts: MultipartParts = new Map(),
  ) {
    super(reason);
  }
}

/** A body that has exceeded a limit is still read, at least up to this number of bytes, to find further text fields. */
const MIN_OVERSIZED_BODY_READ_BYTES = 1024 * 1024;
const MAX_FILES = 20;
/** Maximum number of text fields and files together. The reference service has the same limit. */
const MAX_PARTS = 1000;
export const TOO_MANY_PARTS_MESSAGE = `A form has at most ${MAX_FILES} files and ${MAX_PARTS} parts in all.`;
/** Age in milliseconds after which an uploaded file is deleted, because no running request can be that old. */
const ABANDONED_UPLOAD_AGE_MS = 60 * 60 * 1000;

/** Permissions of the upload folder and its files: other users of the machine cannot read them, whatever the umask is. */
const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

const uploadFolderOf = (dataDir: string) => join(dataDir, 'incoming');

/** Uploaded files of one request, in the upload folder. */
class TemporaryUploads {
  private readonly paths: string[] = [];
  private isDiscarded = false;

  constructor(
    private readonly dataDir: string,
    private readonly senderUserId?: number,
  ) {}

  /** Writes the chunks for which `isWithinLimits` returns true to a new file. Throws a FileStorageError if that fails. */
  write(
    filename: string,
    chunks: AsyncIterable<Buffer>,
    isWithinLimits: (bytes: number) => boolean,
  ): Promise<UploadedFile> {
    return this.writeFile(filename, chunks, isWithinLimits).catch((error: unknown) => {
      throw new FileStorageError(error);
    });
  }

  private async writeFile(
    filename: string,
    chunks: AsyncIterable<Buffer>,
    isWithinLimits: (bytes: number) => boolean,
  ): Promise<UploadedFile> {
    createFolder(uploadFolderOf(this.dataDir), PRIVATE_FOLDER_MODE);
    const path = join(uploadFolderOf(this.dataDir), randomUUID());
    this.paths.push(path);
    const file = await open(path, 'wx', PRIVATE_FILE_MODE);
    const hash = createHash('sha256');
    let writtenBytes = 0;
    try {
      for await (const chunk of chunks) {
        if (!isWithinLimits(chunk.length)) continue;
        hash.update(chunk);
        writtenBytes += chunk.length;
        await file.appendFile(chunk);
      }
    } finally {
      await file.close();
      if (this.isDiscarded) await this.discard();
    }
    return new UploadedFile(filename, path, writtenBytes, hash.digest('hex'), this.senderUserId);
  }

  async discard(): Promise<void> {
    this.isDiscarded = true;
    await Promise.all(this.paths.map((path) => rm(path, { force: true })));
  }
}

/** Yields the chunks of a stream until it ends or is aborted, without an error: a truncated body yields the parts that were received. */
async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch {
    // The error is ignored: the stream was aborted.
  }
}

/** Whether a file was selected. For a file input without a selection, browsers send a blank file name. */
const isFileSelected = (filename: string | undefined) =>
  filename !== undefined && filename.split(/[/\\]/).at(-1)!.trim() !== '';

/** Name and content of a part. The content of a file resolves to undefined if an error occurred before its end. */
type PendingPart = [name: string, part: Part | Promise<Part | undefined>];

/** Collects the parts (text fields and files) that the parser finds in a multipart form, and checks the size limits. */
class PartCollector {
  private readonly textFields: PendingPart[] = [];
  private readonly files: PendingPart[] = [];
  private firstError?: { reason: MultipartError['reason']; partName?: string };
  private remainingBytes: number;
  private isClosed = false;

  constructor(
    private readonly limits: MultipartLimits,
    private readonly temporaryUploads: TemporaryUploads,
    private readonly stopParsing: () => void,
  ) {
    this.remainingBytes = limits.maxBody + limits.maxUpload;
  }

  /** Records an error of the multipart form. Only the first recorded error is reported. */
  recordError(reason: MultipartError['reason'], name?: string): void {
    this.firstError ??= { reason, partName: name };
  }

  listenTo(parser: busboy.Busboy): void {
    parser.on('field', (name, value, info) => this.addField(name, value, info));
    parser.on('file', (name, stream, { filename }) => this.addFile(name, stream, filename));
    for (const limit of ['partsLimit', 'filesLimit'] as const)
      parser.on(limit, () => {
        this.recordError('too many parts');
        this.stopParsing();
      });
  }

  /** Returns the collected parts of the multipart form. Throws a MultipartError if an error was recorded. */
  async finish(): Promise<MultipartParts> {
    // When parsing has ended, the parser still emits the remaining parts of the current chunk. These are ignored.
    this.isClosed = true;
    const parts: MultipartParts = new Map();
    // Files come after text fields of the same name, as in the reference service.
    for (const [name, pendingPart] of [...this.textFields, ...this.files]) {
      const part = await pendingPart;
      if (part === undefined) continue;
      const partsWithName = parts.get(name);
      if (partsWithName) partsWithName.push(part);
      else parts.set(name, [part]);
    }
    if (this.firstError)
      throw new MultipartError(this.firstError.reason, this.firstError.partName, parts);
    return parts;
  }

  /** Adds a text field. A part without a name is ignored, as in the reference service. `value` is undefined if the charset is unknown. */
  private addField(
    name: string | undefined,
    value: string | undefined,
    { valueTruncated }: busboy.FieldInfo,
  ): void {
    if (this.isClosed || name === undefined) return;
    if (value === undefined) this.recordError('charset', name);
    else if (valueTruncated) this.recordError('body too large');
    else if (this.countBytes(Buffer.byteLength(value))) this.textFields.push([name, value]);
  }

  private addFile(name: string | undefined, stream: Readable, filename: string | undefined): void {
    stream.on('limit', () => this.recordError('file too large', name));
    // The stream may be aborted before it is read. Without a listener, its `error` event would crash the process.
    stream.on('error', () => undefined);
    const isText = filename === undefined;
    if (this.isClosed || name === undefined || !(isText || isFileSelected(filename)))
      return void stream.resume();
    if (isText) return void this.textFields.push([name, this.readText(stream)]);
    if (this.limits.isAnonymous) {
      stream.resume();
      return void this.files.push([name, new UploadedFile(filename, '', 0, '')]);
    }
    const savedFilePromise = this.temporaryUploads.write(
      filename,
      chunksOf(stream),
      (bytes) => this.countBytes(bytes) && !this.firstError,
    );
    const part = savedFilePromise.then((file) => (this.firstError ? undefined : file));
    // If the file cannot be written, for example on a full disk, parsing stops: the parser would wait forever for the file to be read.
    part.catch(() => this.stopParsing());
    this.files.push([name, part]);
  }

  /** Reads a text field of type application/octet-stream, which the parser reports as a file without a name. */
  private async readText(stream: Readable): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of chunksOf(stream))
      if (this.countBytes(chunk.length)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** Counts bytes towards the body limit. Returns false if the limit is exceeded; the caller must then discard the bytes. */
  private countBytes(bytes: number): boolean {
    this.remainingBytes -= bytes;
    if (this.remainingBytes < 0) this.recordError('body too large');
    return this.remainingBytes >= 0;
  }
}

/** Creates a parser of multipart forms. Returns undefined if the Content-Type has no valid boundary. */
function createParser(
  header: string,
  { maxBody, maxUpload }: MultipartLimits,
): busboy.Busboy | undefined {
  try {
    return busboy({
      headers: { 'content-type': header },
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        fieldSize: maxBody,
        fileSize: maxUpload + 1,
        parts: MAX_PARTS + 1,
        files: MAX_FILES,
      },
    });
  } catch {
    return undefined;
  }
}

/**
 * Parses a multipart request body. If the body is truncated, returns the parts that were received. Uploaded files are deleted when the response is closed.
 */
export function readMultipart(
  request: IncomingMessage,
  response: ServerResponse,
  limits: MultipartLimits,
): Promise<MultipartParts> {
  const { maxBody, maxUpload, dataDir, isAnonymous, senderUserId } = limits;
  const header = request.headers['content-type'] ?? '';
  if (isAnonymous && Number(request.headers['content-length']) > maxBody)
    return Promise.reject(new MultipartError('body too large'));
  const parser = createParser(header, limits);
  if (!parser)
    return Promise.reject(new MultipartError('boundary', /boundary=([^;]*)/i.exec(header)?.[1]));
  const temporaryUploads = new TemporaryUploads(dataDir, senderUserId);
  response.once('close', () => void temporaryUploads.discard().catch(() => undefined));
  return new Promise((resolve) => {
    let isParsingStopped = false;
    const stopParsing = () => {
      if (isParsingStopped) return;
      isParsingStopped = true;
      request.unpipe(parser);
      // Ends parsing. This also aborts the stream of the file that is being received.
      parser.destroy();
      resolve(collector.finish());
    };
    const collector = new PartCollector(limits, temporaryUploads, stopParsing);
    collector.listenTo(parser);
    parser.on('close', stopParsing).on('error', stopParsing);
    request.on('error', stopParsing).on('aborted', stopParsing);
    // Maximum number of bytes to read. Reading continues after an oversized part, because text fields that must be shown again may follow.
    let remainingBytes = isAnonymous
      ? maxBody
      : Math.max(MIN_OVERSIZED_BODY_READ_BYTES, 2 * (maxBody + maxUpload));
    request.on('data', (chunk: Buffer) => {
      remainingBytes -= chunk.length;
      if (remainingBytes >= 0) return;
      collector.recordError('body too large');
      stopParsing();
    });
    request.pipe(parser);
  });
}

/** Deletes uploaded files that a server has left behind because it died during a request. */
export async function deleteAbandonedUploads(dataDir: string): Promise<void> {
  const uploadFolder = uploadFolderOf(dataDir);
  // Restricts the permissions of the upload folder, because an older version of Fitgraph may have created it with wider ones.
  await chmod(uploadFolder, PRIVATE_FOLDER_MODE).catch(() => undefined);
  for (const name of await readdir(uploadFolder).catch(() => [])) {
    const path = join(uploadFolder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_UPLOAD_AGE_MS)
      await rm(path, { force: true });
  }
}
