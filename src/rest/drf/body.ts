/** Request body parser for JSON, URL-encoded forms and multipart forms, with size limits. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS_MESSAGE,
  type MultipartLimits,
  type MultipartParts,
  type UploadedFile,
} from '../../shared/multipart';
import { awaitLargeBodySlot } from '../../shared/body-limit';
import {
  decodeText,
  isSupportedCharset,
  isUtf8,
  parseCharset,
  unknownCharsetMessage,
} from '../../shared/charsets';
import { MAX_TOP_LEVEL_JSON_MEMBERS } from '../../shared/json-limits';
import {
  badRequestError,
  validationError,
  RestError,
  bodyTooLargeError,
  unsupportedMediaTypeError,
} from '../errors';
import { parseJson } from './json-parser';
import { addToList } from '../../shared/multimap';

/** A parsed request body. A form key has a list of values, because it may occur repeatedly. */
export type ParsedBody =
  | { isForm: false; data: unknown }
  | { isForm: true; data: ReadonlyMap<string, (string | UploadedFile)[]> };

class OversizedFormError extends RestError {
  constructor(
    { status, body }: RestError,
    readonly receivedParts: MultipartParts,
  ) {
    super(status, body);
  }
}

/**
 * Waits for the request body. If a form exceeds a limit, keeps the fields received so far: the HTML
 * error page needs the CSRF token among them and shows their values again.
 */
export async function bodyOrReceivedParts(bodyPromise: Promise<ParsedBody>): Promise<ParsedBody> {
  try {
    return await bodyPromise;
  } catch (error) {
    if (error instanceof OversizedFormError) return { isForm: true, data: error.receivedParts };
    throw error;
  }
}

const FORM_MEDIA_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

export const BODY_MEDIA_TYPES = ['application/json', ...FORM_MEDIA_TYPES];

/**
 * Reads and parses a request body. Before decoding it, waits for a fair turn of the client
 * (`awaitTurn`).
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: MultipartLimits,
  awaitTurn: () => Promise<void>,
): Promise<ParsedBody> {
  const header = request.headers['content-type'] ?? '';
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim());
  const mediaType = type.toLowerCase();
  const length = request.headers['content-length'];

  // A request without a body but with a form media type is an empty form.
  if (
    length === '0' ||
    (length === undefined && request.headers['transfer-encoding'] === undefined)
  ) {
    if (FORM_MEDIA_TYPES.includes(mediaType)) return { isForm: true, data: new Map() };

    return { isForm: false, data: {} };
  }

  if (!BODY_MEDIA_TYPES.includes(mediaType)) throw unsupportedMediaTypeError(header);

  await awaitLargeBodySlot(request, response, limits.senderUserId);

  if (mediaType === 'multipart/form-data') {
    return { isForm: true, data: await readMultipartForm(request, response, limits) };
  }

  const charset = parseCharset(parameters);

  if (!isSupportedCharset(charset)) throw badRequestError(unknownCharsetMessage(charset));
  const bytes = await readBytes(request, limits.maxBody);

  await awaitTurn();

  if (mediaType === 'application/json') {
    return { isForm: false, data: bytes.length ? parseJson(() => decodeText(bytes, charset)) : {} };
  }

  return { isForm: true, data: parseForm(bytes, charset) };
}

const PERCENT_SIGN = 0x25;
const HEXADECIMAL_BYTE_PATTERN = /^[0-9a-f]{2}$/i;

/** Decodes the percent-encoding of a text in which each character is a byte. */
function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;

  for (let index = 0; index < bytes.length; index += 1) {
    const digits = bytes[index] === PERCENT_SIGN ? text.slice(index + 1, index + 3) : '';
    const isEncoded = HEXADECIMAL_BYTE_PATTERN.test(digits);

    bytes[length] = isEncoded ? parseInt(digits, 16) : bytes[index]!;
    length += 1;
    if (isEncoded) index += digits.length;
  }

  return bytes.subarray(0, length);
}

/**
 * Decodes the name or the value of a URL-encoded form field. Unescaped bytes that are invalid in
 * UTF-8 are read as ISO 8859-1, as in the reference service.
 */
function decodeFormText(text: string, charset: string): string {
  const bytes = percentDecode(text.replaceAll('+', ' '));

  try {
    return decodeText(bytes, charset);
  } catch (error) {
    if (!isUtf8(charset) || text.includes('%')) throw error;

    return bytes.toString('latin1');
  }
}

/** Parses a URL-encoded form. */
function parseForm(bytes: Buffer, charset: string): ReadonlyMap<string, string[]> {
  const values = new Map<string, string[]>();
  const pairs = bytes.toString('latin1').split('&', MAX_TOP_LEVEL_JSON_MEMBERS + 1);

  if (pairs.length > MAX_TOP_LEVEL_JSON_MEMBERS) {
    throw badRequestError(`A form has at most ${MAX_TOP_LEVEL_JSON_MEMBERS} fields.`);
  }

  for (const pair of pairs.filter(Boolean)) {
    const [name = ''] = pair.split('=', 1);
    const value = pair.slice(name.length + 1);

    try {
      addToList(values, decodeFormText(name, charset), decodeFormText(value, charset));
    } catch {
      throw badRequestError(
        `The form field ${JSON.stringify(name)} contains bytes that are invalid in ${charset}.`,
      );
    }
  }

  return values;
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLargeError();
  const chunks: Buffer[] = [];
  let size = 0;

  // The connection stays open after the limit is exceeded, so that the 413 response reaches the
  // client.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > limit) throw bodyTooLargeError();
    chunks.push(chunk as Buffer);
  }

  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

async function readMultipartForm(
  request: IncomingMessage,
  response: ServerResponse,
  limits: MultipartLimits,
): Promise<MultipartParts> {
  try {
    return await readMultipart(request, response, limits);
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
    const { reason, subject, acceptedParts: receivedParts } = error;

    if (reason === 'form charset') throw badRequestError(unknownCharsetMessage(subject!));

    if (reason === 'boundary') {
      throw badRequestError(
        `Multipart form parse error - Invalid boundary in multipart: ${subject ?? 'None'}`,
      );
    }

    if (error.partMessage !== undefined) {
      throw badRequestError(`Multipart form parse error - ${error.partMessage}`);
    }

    let bodyError = bodyTooLargeError();

    if (reason === 'too many parts') bodyError = badRequestError(TOO_MANY_PARTS_MESSAGE);

    if (reason === 'file too large') {
      bodyError = validationError({
        [subject!]: [`The submitted file is larger than ${limits.maxUpload} bytes.`],
      });
    }

    throw new OversizedFormError(bodyError, receivedParts);
  }
}
