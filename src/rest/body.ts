/** Request bodies: JSON, URL-encoded forms and multipart forms, read up to a limit. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import iconv from 'iconv-lite';
import { MultipartError, readMultipart, type MultipartLimits, type Parts, type UploadedFile } from '../multipart';
import { badRequest, invalid, RestError, tooLarge, unsupported } from './errors';

/** What was sent. Of a form every value is a list of texts and files, because keys may repeat. */
export type Body = { form: false; data: unknown } | { form: true; data: ReadonlyMap<string, (string | UploadedFile)[]> };

/** A form that was refused for its size. */
class OversizedForm extends RestError {
  constructor(
    { status, body }: RestError,
    readonly arrived: Parts,
  ) {
    super(status, body);
  }
}

/** The body, or what arrived of a form that was refused for its size: enough to know its sender, and to show what was typed. */
export async function arrivedOf(reading: Promise<Body>): Promise<Body> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof OversizedForm) return { form: true, data: error.arrived };
    throw error;
  }
}

export const MEDIA_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

export async function readBody(request: IncomingMessage, response: ServerResponse, limits: MultipartLimits): Promise<Body> {
  const header = request.headers['content-type'] ?? '';
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim());
  const media = type.toLowerCase();
  const length = request.headers['content-length'];
  if (length === '0' || (length === undefined && request.headers['transfer-encoding'] === undefined)) return { form: false, data: {} };
  if (!MEDIA_TYPES.includes(media)) throw unsupported(header);
  if (media === 'multipart/form-data') return { form: true, data: await multipart(request, response, limits) };
  const bytes = await read(request, limits.maxBody);
  const charset = parameters.map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1]).find(Boolean) ?? 'utf-8';
  if (media === 'application/json') return { form: false, data: bytes.length ? parseJson(() => decode(bytes, charset)) : {} };
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(decodeLoosely(bytes, charset))) {
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
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

/** A form is read as far as it can be: what is no character becomes a replacement, an unknown charset counts as UTF-8. */
const decodeLoosely = (bytes: Buffer, charset: string): string =>
  iconv.decode(bytes, iconv.encodingExists(charset) ? charset : 'utf-8', { stripBOM: false });

/** Whoever looks into a value calls itself for what is in it. */
const MAX_LEVELS = 100;

const isDeeper = (value: unknown, levels: number): boolean =>
  value !== null && typeof value === 'object' && (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

export function parseJson(text: () => string): unknown {
  try {
    const value: unknown = JSON.parse(text());
    if (isDeeper(value, MAX_LEVELS)) throw new Error(`Nested deeper than ${MAX_LEVELS} levels`);
    return value;
  } catch (error) {
    throw badRequest(`JSON parse error - ${(error as Error).message}`);
  }
}

async function multipart(request: IncomingMessage, response: ServerResponse, limits: MultipartLimits): Promise<Parts> {
  try {
    return await readMultipart(request, response, limits);
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
    const { reason, subject, arrived } = error;
    if (reason === 'boundary') throw badRequest(`Multipart form parse error - Invalid boundary in multipart: ${subject ?? 'None'}`);
    const refusal =
      reason === 'file too large' ? invalid({ [subject!]: [`The submitted file is larger than ${limits.maxUpload} bytes.`] }) : tooLarge();
    throw new OversizedForm(refusal, arrived);
  }
}
