/** Request bodies: JSON, URL-encoded forms and multipart forms, read up to a limit. */
import type { IncomingMessage } from 'node:http';
import busboy from 'busboy';
import iconv from 'iconv-lite';
import { badRequest, invalid, RestError, tooLarge, unsupported } from './errors';

/** A file of a multipart form; what it is worth is up to whom it is handed. */
export interface UploadedPart {
  filename: string;
  content: Buffer;
}

/** What was sent. Of a form every value is a list of texts and files, because keys may repeat. */
export type Body = { form: false; data: unknown } | { form: true; data: ReadonlyMap<string, (string | UploadedPart)[]> };

export const MEDIA_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

export interface Limits {
  maxBody: number;
  maxUpload: number;
}

export async function readBody(request: IncomingMessage, limits: Limits): Promise<Body> {
  const header = request.headers['content-type'] ?? '';
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim());
  const media = type.toLowerCase();
  const length = request.headers['content-length'];
  if (length === '0' || (length === undefined && request.headers['transfer-encoding'] === undefined)) return { form: false, data: {} };
  if (!MEDIA_TYPES.includes(media)) throw unsupported(header);
  if (media === 'multipart/form-data') return { form: true, data: await multipart(request, header, limits) };
  const bytes = await read(request, limits.maxBody);
  const charset = parameters.map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1]).find(Boolean) ?? 'utf-8';
  if (media === 'application/json') return { form: false, data: bytes.length ? json(bytes, charset) : {} };
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(decode(bytes, charset))) values.set(key, [...(values.get(key) ?? []), value]);
  return { form: true, data: values };
}

async function read(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function decode(bytes: Buffer, charset: string): string {
  if (/^utf-?8$/i.test(charset)) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  if (!iconv.encodingExists(charset)) throw new Error(`unknown charset ${charset}`);
  return iconv.decode(bytes, charset, { stripBOM: false });
}

function json(bytes: Buffer, charset: string): unknown {
  try {
    return JSON.parse(decode(bytes, charset));
  } catch (error) {
    throw badRequest(`JSON parse error - ${(error as Error).message}`);
  }
}

function multipart(
  request: IncomingMessage,
  header: string,
  { maxBody, maxUpload }: Limits,
): Promise<Map<string, (string | UploadedPart)[]>> {
  return new Promise((resolve, reject) => {
    let parser: busboy.Busboy;
    try {
      parser = busboy({
        headers: { 'content-type': header },
        defParamCharset: 'utf8',
        preservePath: true,
        limits: { fieldSize: maxBody, fileSize: maxUpload + 1, parts: 1000 },
      });
    } catch {
      const boundary = /boundary=([^;]*)/i.exec(header)?.[1];
      return reject(badRequest(`Multipart form parse error - Invalid boundary in multipart: ${boundary ?? 'None'}`));
    }
    const values = new Map<string, (string | UploadedPart)[]>();
    const add = (name: string, value: string | UploadedPart) => values.set(name, [...(values.get(name) ?? []), value]);
    let refused: RestError | undefined;
    parser.on('field', (name, value, { valueTruncated }) => {
      if (valueTruncated) refused ??= tooLarge();
      add(name, value);
    });
    parser.on('file', (name, stream, { filename }) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('limit', () => (refused ??= invalid({ [name]: [`The submitted file is larger than ${maxUpload} bytes.`] })));
      stream.on('close', () => add(name, { filename: filename ?? '', content: Buffer.concat(chunks) }));
      stream.on('error', () => undefined);
    });
    const done = () => (refused ? reject(refused) : resolve(values));
    // A truncated body has the fields that came: what is missing is found missing.
    parser.on('error', done);
    parser.on('close', done);
    request.on('error', done);
    request.pipe(parser);
  });
}
