/** Multipart bodies: texts and files by the names of their parts, read up to limits. */
import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import type { UploadedFile } from './extensions';

export type Parts = Map<string, (string | UploadedFile)[]>;

/** In bytes. */
export interface MultipartLimits {
  /** Of a text, and of all that is not the largest allowed file. */
  maxBody: number;
  /** Of a file. */
  maxUpload: number;
}

export class MultipartError extends Error {
  constructor(
    readonly reason: 'boundary' | 'body too large' | 'file too large',
    /** The boundary as it was given, or the name of the part. */
    readonly subject?: string,
    /** What is good of it: all texts that there was room for, and the files before the refusal. */
    readonly arrived: Parts = new Map(),
  ) {
    super(reason);
  }
}

const MAX_PARTS = 1000;

/** A truncated body has the parts that came. */
export function readMultipart(request: IncomingMessage, { maxBody, maxUpload }: MultipartLimits): Promise<Parts> {
  const header = request.headers['content-type'] ?? '';
  return new Promise((resolve, reject) => {
    let parser: busboy.Busboy;
    try {
      parser = busboy({
        headers: { 'content-type': header },
        defParamCharset: 'utf8',
        preservePath: true,
        limits: { fieldSize: maxBody, fileSize: maxUpload + 1, parts: MAX_PARTS },
      });
    } catch {
      return reject(new MultipartError('boundary', /boundary=([^;]*)/i.exec(header)?.[1]));
    }
    const parts: Parts = new Map();
    let refused: MultipartError | undefined;
    let room = maxBody + maxUpload;
    const refuse = (reason: MultipartError['reason'], name?: string) => (refused ??= new MultipartError(reason, name, parts));
    /** Whether there is room for so many bytes more; what there is no room for is read and dropped. */
    const fits = (bytes: number): boolean => {
      room -= bytes;
      if (room < 0) refuse('body too large');
      return room >= 0;
    };
    const add = (name: string, value: string | UploadedFile) => {
      const known = parts.get(name);
      if (known) known.push(value);
      else parts.set(name, [value]);
    };
    parser.on('field', (name, value, { valueTruncated, mimeType }) => {
      // The parser takes a file without a name for a text.
      if (mimeType.startsWith('image/')) return add(name, { filename: '', content: Buffer.alloc(0) });
      if (valueTruncated) refuse('body too large');
      else if (fits(Buffer.byteLength(value))) add(name, value);
    });
    parser.on('file', (name, stream, { filename }) => {
      const chunks: Buffer[] = [];
      stream.on('limit', () => refuse('file too large', name));
      stream.on('data', (chunk: Buffer) => {
        if (fits(chunk.length) && !refused) chunks.push(chunk);
      });
      stream.on('close', () => {
        if (!refused) add(name, { filename: filename ?? '', content: Buffer.concat(chunks) });
      });
      stream.on('error', () => undefined);
    });
    const done = () => (refused ? reject(refused) : resolve(parts));
    parser.on('error', done);
    parser.on('close', done);
    request.on('error', done);
    request.on('aborted', done);
    request.pipe(parser);
  });
}
