/**
 * Parser of multipart/form-data bodies (RFC 7578) with limits, which writes files to disk. Unlike
 * the library `graphql-upload`, it parses any form, and returns the text fields of an oversized
 * one, which HTML pages must show again.
 */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import iconv from 'iconv-lite';
import { isSupportedCharset, isUtf8, parseCharset } from './charsets';
import { FileStorageError } from './file-storage-error';
import { createFolder } from './folders';
import { addToList } from './multimap';

/**
 * A file that a request has uploaded, in a temporary folder until the response is closed. The
 * client chooses `filename`, which may contain folders.
 */
export class UploadedFile {
  constructor(
    readonly filename: string,
    readonly path: string,

    /** Size of the uploaded file in bytes. */
    readonly size: number,

    /** SHA-256 digest of the uploaded file in hexadecimal. */
    readonly digest: string,

    /** The sender; absent for anonymous clients, whose uploads are never processed. */
    readonly senderUserId?: number,
  ) {}
}

type Part = string | UploadedFile;
export type MultipartParts = Map<string, Part[]>;

export interface MultipartLimits {
  /**
   * Maximum length of a text field in bytes. The whole body may have this many bytes in addition to
   * `maxUpload`.
   */
  maxBody: number;

  /** Maximum size of a file in bytes. */
  maxUpload: number;
  maxAnonymousBody: number;

  /** Data folder, with a subfolder for uploaded files. */
  dataDir: string;

  /** For an anonymous client, `maxBody` limits the whole body, and files are discarded. */
  isAnonymous?: boolean;
  senderUserId?: number;
}

export const anonymousMultipartLimits = (limits: MultipartLimits): MultipartLimits => ({
  ...limits,
  maxBody: Math.min(limits.maxBody, limits.maxAnonymousBody),
  isAnonymous: true,
});

/** Messages about a part that cannot be read without losing or changing its text. */
const PART_MESSAGES = {
  charset: (part: string) => `The charset of part ${part} is unknown.`,
  'invalid text': (part: string) => `Part ${part} contains bytes that are invalid in its charset.`,
  'invalid base64': (part: string) => `Part ${part} is not valid base64.`,
  'transfer encoding': (part: string) =>
    `The Content-Transfer-Encoding of part ${part} is not supported; send it as binary.`,
  'part headers': () => 'A part of the form has malformed headers.',
};

type PartReason = keyof typeof PART_MESSAGES;

const isPartReason = (reason: string): reason is PartReason => Object.hasOwn(PART_MESSAGES, reason);

export class MultipartError extends Error {
  constructor(
    readonly reason:
      | PartReason
      | 'boundary'
      | 'form charset'
      | 'body too large'
      | 'file too large'
      | 'too many parts',

    /** The boundary or the charset of the form, or otherwise the name of the rejected part. */
    readonly subject?: string,

    /**
     * Parts that were accepted despite the error: text fields within the limits, and files before
     * the error.
     */
    readonly acceptedParts: MultipartParts = new Map(),
  ) {
    super(reason);
  }

  /** What is wrong with the part, if the error concerns its content. */
  get partMessage(): string | undefined {
    const { reason, subject } = this;

    if (!isPartReason(reason)) return undefined;

    return PART_MESSAGES[reason](JSON.stringify(subject));
  }
}

/** Minimum number of bytes that are read of an oversized body, to find further text fields. */
const MIN_OVERSIZED_READ_BYTES = 1024 * 1024;
const MAX_FILES = 20;

/** Maximum number of text fields and files together, as in the reference service. */
const MAX_PARTS = 1000;

export const TOO_MANY_PARTS_MESSAGE = `A form has at most ${MAX_FILES} files and ${MAX_PARTS} parts in all.`;

/** Uploaded files of this age are deleted, because no request runs for so long. */
const ABANDONED_UPLOAD_AGE_MS = 60 * 60 * 1000;

/**
 * Permissions of the upload folder and its files, which other users of the machine must not read,
 * whatever the umask is.
 */
const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

const uploadFolderOf = (dataDir: string) => join(dataDir, 'incoming');

/** Uploaded files of one request. */
class TemporaryUploads {
  private readonly paths: string[] = [];
  private isDiscarded = false;

  constructor(
    private readonly dataDir: string,
    private readonly senderUserId?: number,
  ) {}

  /**
   * Writes the chunks that `tryCountBytes` accepts to a new file. Throws a FileStorageError if that
   * fails.
   */
  write(
    filename: string,
    chunks: AsyncIterable<Buffer>,
    tryCountBytes: (bytes: number) => boolean,
  ): Promise<UploadedFile> {
    return this.writeFile(filename, chunks, tryCountBytes).catch((error: unknown) => {
      throw new FileStorageError(error);
    });
  }

  private async writeFile(
    filename: string,
    chunks: AsyncIterable<Buffer>,
    tryCountBytes: (bytes: number) => boolean,
  ): Promise<UploadedFile> {
    createFolder(uploadFolderOf(this.dataDir), PRIVATE_FOLDER_MODE);
    const path = join(uploadFolderOf(this.dataDir), randomUUID());

    this.paths.push(path);
    const file = await open(path, 'wx', PRIVATE_FILE_MODE);
    const hash = createHash('sha256');
    let writtenBytes = 0;

    try {
      for await (const chunk of chunks) {
        if (!tryCountBytes(chunk.length)) continue;
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

/**
 * Yields the chunks of a stream. An aborted stream ends without an error, so that the parts
 * received so far are kept.
 */
async function* readChunks(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch {
    // Nothing more follows in an aborted stream.
  }
}

/** Charset in which each byte is a character. */
const RAW_CHARSET = 'latin1';

/**
 * The parser's default charset of parts, if the form has another charset than UTF-8. The parser
 * knows few charsets, so it passes on the bytes of these parts as characters. It does not report
 * whether a part has a charset of its own, but it looks up the default one before it decodes a part
 * in it.
 */
class RawCharset {
  private isUsed = false;

  toLowerCase(): string {
    this.isUsed = true;
    return RAW_CHARSET;
  }

  /** Whether the parser has decoded the current part in it. To be called once per part. */
  takeUse(): boolean {
    const { isUsed } = this;

    this.isUsed = false;
    return isUsed;
  }
}

/** Values of Content-Transfer-Encoding that leave the content unchanged. */
const IDENTITY_ENCODINGS = ['7bit', '8bit', 'binary'];

/** Decodes base64 (RFC 4648) with line breaks. Invalid text gives undefined. */
function decodeBase64(text: string): Buffer | undefined {
  const digits = text.replace(/\s/g, '');
  const bytes = Buffer.from(digits, 'base64');

  return bytes.toString('base64') === digits ? bytes : undefined;
}

/** Decodes base64 piece by piece, each a multiple of four digits. */
async function* decodeBase64Chunks(
  chunks: AsyncIterable<Buffer>,
  reportInvalid: () => void,
): AsyncGenerator<Buffer> {
  let digits = '';

  for await (const chunk of chunks) {
    digits += chunk.toString('latin1').replace(/\s/g, '');
    const end = digits.length - (digits.length % 4);
    const bytes = decodeBase64(digits.slice(0, end));

    digits = digits.slice(end);
    if (bytes) yield bytes;
    else reportInvalid();
  }

  if (digits !== '') reportInvalid();
}

/** Whether a file was selected. Without a selection, browsers send a blank file name. */
const isFileSelected = (filename: string | undefined) =>
  filename !== undefined && filename.split(/[/\\]/).at(-1)!.trim() !== '';

/** Name and content of a part. A file has no content if an error occurred before its end. */
type PendingPart = [name: string, part: Part | undefined | Promise<Part | undefined>];

/** Collects the parts that the parser finds in a form, and checks the size limits. */
class PartCollector {
  private readonly textFields: PendingPart[] = [];
  private readonly files: PendingPart[] = [];
  private firstError?: { reason: MultipartError['reason']; partName?: string };
  private remainingBytes: number;
  private isClosed = false;

  constructor(
    private readonly limits: MultipartLimits,
    private readonly charset: string,
    private readonly rawCharset: RawCharset,
    private readonly temporaryUploads: TemporaryUploads,
    private readonly stopParsing: () => void,
  ) {
    this.remainingBytes = limits.maxBody + limits.maxUpload;
  }

  /** Records an error of the form. Only the first one is reported. */
  recordError(reason: MultipartError['reason'], name?: string): void {
    this.firstError ??= { reason, partName: name };
  }

  listenTo(parser: busboy.Busboy): void {
    parser.on('field', (name, value, info) => this.addField(name, value, info));
    parser.on('file', (name, stream, info) => this.addFile(name, stream, info));

    for (const limit of ['partsLimit', 'filesLimit'] as const) {
      parser.on(limit, () => {
        this.recordError('too many parts');
        this.stopParsing();
      });
    }
  }

  /** Resolves to the collected parts, or throws a MultipartError if an error was recorded. */
  async finish(): Promise<MultipartParts> {
    // The parser still emits the remaining parts of the current chunk, which are ignored.
    this.isClosed = true;
    const parts: MultipartParts = new Map();

    // Files come after text fields of the same name, as in the reference service.
    for (const [name, pendingPart] of [...this.textFields, ...this.files]) {
      const part = await pendingPart;

      if (part !== undefined) addToList(parts, name, part);
    }

    if (this.firstError) {
      throw new MultipartError(this.firstError.reason, this.firstError.partName, parts);
    }

    return parts;
  }

  /**
   * Adds a text field. Parts without a name are ignored, as in the reference service; an unknown
   * charset is an error.
   */
  private addField(
    name: string | undefined,
    value: string | undefined,
    { valueTruncated, encoding }: busboy.FieldInfo,
  ): void {
    const isRaw = this.rawCharset.takeUse();

    if (this.isClosed || name === undefined) return;
    if (value === undefined) return this.recordError('charset', name);
    if (valueTruncated) return this.recordError('body too large');

    const content = isRaw ? Buffer.from(value, RAW_CHARSET) : value;

    if (this.countBytes(Buffer.byteLength(content)) && this.isDecodable(encoding, name)) {
      this.textFields.push([name, this.checkedText(name, content, encoding)]);
    }
  }

  /** Whether the content of a part is sent unchanged or in base64. Otherwise records an error. */
  private isDecodable(encoding: string, name: string): boolean {
    const isSupported = encoding === 'base64' || IDENTITY_ENCODINGS.includes(encoding);

    if (!isSupported) this.recordError('transfer encoding', name);

    return isSupported;
  }

  /**
   * Decodes bytes in the charset of the form; a string is already decoded. Records an error if the
   * text has invalid bytes, or invalid base64.
   */
  private checkedText(name: string, value: string | Buffer, encoding: string): string | undefined {
    let content: string | Buffer | undefined = value;

    if (encoding === 'base64') content = decodeBase64(value.toString());

    if (content === undefined) return void this.recordError('invalid base64', name);

    const text = typeof content === 'string' ? content : iconv.decode(content, this.charset);

    // The parser replaces invalid bytes by U+FFFD, and no keyboard writes this character.
    if (text.includes('\uFFFD')) return void this.recordError('invalid text', name);

    return text;
  }

  private addFile(
    name: string | undefined,
    stream: Readable,
    { filename, encoding }: Pick<busboy.FileInfo, 'encoding'> & { filename?: string },
  ): void {
    stream.on('limit', () => this.recordError('file too large', name));
    // The stream may be aborted before it is read. Without a listener, its `error` event would
    // crash the process.
    stream.on('error', () => undefined);
    const isText = filename === undefined;

    if (
      this.isClosed ||
      name === undefined ||
      !(isText || isFileSelected(filename)) ||
      !this.isDecodable(encoding, name)
    ) {
      return void stream.resume();
    }

    if (isText) {
      return this.addPendingPart(this.textFields, name, this.readText(name, stream, encoding));
    }

    if (this.limits.isAnonymous) {
      stream.resume();
      return void this.files.push([name, new UploadedFile(filename, '', 0, '')]);
    }

    let chunks = readChunks(stream);

    if (encoding === 'base64') {
      chunks = decodeBase64Chunks(chunks, () => this.recordError('invalid base64', name));
    }

    const savedFile = this.temporaryUploads.write(
      filename,
      chunks,
      (bytes) => this.countBytes(bytes) && !this.firstError,
    );

    this.addPendingPart(
      this.files,
      name,
      savedFile.then((file) => (this.firstError ? undefined : file)),
    );
  }

  /**
   * Adds a part that is still being read. If that fails, for example because a file cannot be
   * written to a full disk, parsing must stop: the parser would wait forever for the rest of the
   * part to be read.
   */
  private addPendingPart(
    parts: PendingPart[],
    name: string,
    part: Promise<Part | undefined>,
  ): void {
    part.catch(() => this.stopParsing());
    parts.push([name, part]);
  }

  /**
   * Reads a text field of type application/octet-stream, which the parser reports as a file without
   * a name.
   */
  private async readText(
    name: string,
    stream: Readable,
    encoding: string,
  ): Promise<string | undefined> {
    const chunks: Buffer[] = [];

    for await (const chunk of readChunks(stream)) {
      if (this.countBytes(chunk.length)) chunks.push(chunk);
    }

    return this.checkedText(name, Buffer.concat(chunks), encoding);
  }

  /**
   * Counts bytes towards the body limit. The result is false if they exceed it; the caller must
   * then discard them.
   */
  private countBytes(bytes: number): boolean {
    this.remainingBytes -= bytes;
    if (this.remainingBytes < 0) this.recordError('body too large');

    return this.remainingBytes >= 0;
  }
}

/** Message of the parser's error about the headers of a part. */
const MALFORMED_HEADERS_ERROR = 'Malformed part header';

/** Creates a parser of multipart forms, unless the Content-Type has no valid boundary. */
function createParser(
  header: string,
  defCharset: string,
  { maxBody, maxUpload }: MultipartLimits,
): busboy.Busboy | undefined {
  try {
    return busboy({
      headers: { 'content-type': header },
      defCharset,
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

const BOUNDARY_PATTERN = /boundary="?([^";]*)/i;

/**
 * Parses a multipart request body. The last part may lack its closing boundary. Uploaded files are
 * deleted when the response is closed.
 */
export function readMultipart(
  request: IncomingMessage,
  response: ServerResponse,
  limits: MultipartLimits,
): Promise<MultipartParts> {
  const { maxBody, maxUpload, dataDir, isAnonymous, senderUserId } = limits;
  const header = request.headers['content-type'] ?? '';
  const charset = parseCharset(header.split(';'));

  if (!isSupportedCharset(charset)) {
    return Promise.reject(new MultipartError('form charset', charset));
  }

  if (isAnonymous && Number(request.headers['content-length']) > maxBody) {
    return Promise.reject(new MultipartError('body too large'));
  }

  const rawCharset = new RawCharset();
  const partCharset = isUtf8(charset) ? 'utf8' : (rawCharset as unknown as string);
  const parser = createParser(header, partCharset, limits);

  if (!parser) {
    return Promise.reject(new MultipartError('boundary', /boundary=([^;]*)/i.exec(header)?.[1]));
  }

  const temporaryUploads = new TemporaryUploads(dataDir, senderUserId);

  response.once('close', () => void temporaryUploads.discard().catch(() => undefined));
  return new Promise((resolve) => {
    let isParsingStopped = false;

    const stopParsing = () => {
      if (isParsingStopped) return;
      isParsingStopped = true;
      request.unpipe(parser);
      // Ends parsing, and aborts the stream of the file that is being received.
      parser.destroy();
      resolve(collector.finish());
    };

    const collector = new PartCollector(limits, charset, rawCharset, temporaryUploads, stopParsing);

    collector.listenTo(parser);
    parser.on('close', stopParsing).on('error', ({ message }: Error) => {
      if (message === MALFORMED_HEADERS_ERROR) collector.recordError('part headers');
      stopParsing();
    });
    request.on('error', stopParsing).on('aborted', stopParsing);
    // Reading continues after an oversized part, because text fields that must be shown again may
    // follow.
    let remainingReadBytes = Math.max(MIN_OVERSIZED_READ_BYTES, 2 * (maxBody + maxUpload));

    if (isAnonymous) remainingReadBytes = maxBody;

    request.on('data', (chunk: Buffer) => {
      remainingReadBytes -= chunk.length;
      if (remainingReadBytes >= 0) return;
      collector.recordError('body too large');
      stopParsing();
    });
    request.pipe(parser, { end: false });
    // Some clients omit the closing boundary, without which the parser would drop the last part. It
    // ignores a second one.
    request.on('end', () => parser.end(`\r\n--${BOUNDARY_PATTERN.exec(header)?.[1] ?? ''}--`));
  });
}

/** Deletes uploaded files that a server has left behind because it died during a request. */
export async function deleteAbandonedUploads(dataDir: string): Promise<void> {
  const uploadFolder = uploadFolderOf(dataDir);

  // An older version of Fitgraph may have created the folder with wider permissions.
  await chmod(uploadFolder, PRIVATE_FOLDER_MODE).catch(() => undefined);

  for (const name of await readdir(uploadFolder).catch(() => [])) {
    const path = join(uploadFolder, name);
    const stats = await stat(path).catch(() => undefined);

    if (stats && Date.now() - stats.mtimeMs > ABANDONED_UPLOAD_AGE_MS) {
      await rm(path, { force: true });
    }
  }
}
