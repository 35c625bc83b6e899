/** Request bodies: JSON, URL-encoded forms and multipart forms, read up to a limit. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import iconv from 'iconv-lite';
import {
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS,
  type MultipartLimits,
  type Parts,
  type UploadedFile,
} from '../../platform/multipart';
import { largeBodiesInTurn } from '../../platform/bodylimit';
import { MAX_MEMBERS } from '../../platform/jsonlimits';
import { badRequest, invalid, RestError, tooLarge, unsupported } from '../errors';
import { parseJson } from './json';
import { queryOf } from './query';

/** What was sent. Of a form every value is a list of texts and files, because keys may repeat. */
export type Body = { form: false; data: unknown } | { form: true; data: ReadonlyMap<string, (string | UploadedFile)[]> };

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

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];
export const MEDIA_TYPES = ['application/json', ...FORMS];

export async function readBody(request: IncomingMessage, response: ServerResponse, limits: MultipartLimits): Promise<Body> {
  const header = request.headers['content-type'] ?? '';
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim());
  const media = type.toLowerCase();
  const length = request.headers['content-length'];
  // An empty form is one.
  if (length === '0' || (length === undefined && request.headers['transfer-encoding'] === undefined))
    return FORMS.includes(media) ? { form: true, data: new Map() } : { form: false, data: {} };
  if (!MEDIA_TYPES.includes(media)) throw unsupported(header);
  const charset = parameters.map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter)?.[1]).find(Boolean) ?? 'utf-8';
  if (!iconv.encodingExists(charset)) throw badRequest(`Unknown charset "${charset}" in the Content-Type.`);
  await largeBodiesInTurn(request, response, limits.sender);
  if (media === 'multipart/form-data') return { form: true, data: await multipart(request, response, limits) };
  const bytes = await read(request, limits.maxBody);
  if (media === 'application/json') return { form: false, data: bytes.length ? parseJson(() => decode(bytes, charset)) : {} };
  const values = new Map<string, string[]>();
  // A form is read as far as it can be: what is no character becomes a replacement.
  const form = iconv.decode(bytes, charset, { stripBOM: false });
  if (fieldsIn(form) > MAX_MEMBERS) throw badRequest(`A form has at most ${MAX_MEMBERS} fields.`);
  for (const [key, value] of queryOf(form)) {
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  return { form: true, data: values };
}

/** Stops at the first one too many. */
function fieldsIn(form: string): number {
  let count = 1;
  for (let at = form.indexOf('&'); at >= 0 && count <= MAX_MEMBERS; at = form.indexOf('&', at + 1)) count += 1;
  return count;
}

async function read(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Whoever sends too much is still to be told so.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function decode(bytes: Buffer, charset: string): string {
  if (/^utf-?8$/i.test(charset)) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const text = iconv.decode(bytes, charset, { stripBOM: false });
  // It stands for bytes that are no character, unless it was sent as such.
  if (text.includes('\uFFFD') && !iconv.encode(text, charset, { addBOM: false }).equals(bytes))
    throw new Error(`The body holds bytes that are no characters of ${charset}.`);
  return text;
}

async function multipart(request: IncomingMessage, response: ServerResponse, limits: MultipartLimits): Promise<Parts> {
  try {
    return await readMultipart(request, response, limits);
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
    const { reason, subject, arrived } = error;
    if (reason === 'boundary') throw badRequest(`Multipart form parse error - Invalid boundary in multipart: ${subject ?? 'None'}`);
    if (reason === 'charset') throw badRequest(`Multipart form parse error - Unknown charset of part ${JSON.stringify(subject)}.`);
    const tooLargeFile = () => invalid({ [subject!]: [`The submitted file is larger than ${limits.maxUpload} bytes.`] });
    throw new OversizedForm(
      reason === 'file too large' ? tooLargeFile() : tooLarge(reason === 'too many parts' ? TOO_MANY_PARTS : undefined),
      arrived,
    );
  }
}
