/** Request body parser for JSON, URL-encoded forms and multipart forms, with size limits. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import iconv from 'iconv-lite';
import {
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS_MESSAGE,
  type MultipartLimits,
  type MultipartParts,
  type UploadedFile,
} from '../../platform/multipart';
import { awaitLargeBodySlot } from '../../platform/bodylimit';
import { charsetOf, isSupportedCharset } from '../../platform/charsets';
import { MAX_TOP_LEVEL_JSON_MEMBERS } from '../../platform/jsonlimits';
import {
  badRequestError,
  validationError,
  RestError,
  bodyTooLargeError,
  unsupportedMediaTypeError,
} from '../errors';
import { parseJson } from './jsonparser';
import { parseQuery } from './querystring';

/** A parsed request body. Each form key has a list of strings and files, because a key may occur repeatedly. */
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
 * Returns the request body. If a form is too large, returns the form fields received until then: the HTML page with the error needs their CSRF token
 * and shows their values again.
 */
export async function bodyOrPartsOfOversizedForm(
  bodyPromise: Promise<ParsedBody>,
): Promise<ParsedBody> {
  try {
    return await bodyPromise;
  } catch (error) {
    if (error instanceof OversizedFormError) return { isForm: true, data: error.receivedParts };
    throw error;
  }
}

const FORM_MEDIA_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];
export const BODY_MEDIA_TYPES = ['application/json', ...FORM_MEDIA_TYPES];

/** `awaitTurn` waits for a fair turn to decode the body. */
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
  )
    return FORM_MEDIA_TYPES.includes(mediaType)
      ? { isForm: true, data: new Map() }
      : { isForm: false, data: {} };
  if (!BODY_MEDIA_TYPES.includes(mediaType)) throw unsupportedMediaTypeError(header);
  const charset = charsetOf(parameters);
  if (!isSupportedCharset(charset))
    throw badRequestError(`Unknown charset "${charset}" in the Content-Type.`);
  await awaitLargeBodySlot(request, response, limits.senderUserId);
  if (mediaType === 'multipart/form-data')
    return { isForm: true, data: await readMultipartForm(request, response, limits) };
  const bytes = await readBytes(request, limits.maxBody);
  await awaitTurn();
  if (mediaType === 'application/json')
    return { isForm: false, data: bytes.length ? parseJson(() => decodeText(bytes, charset)) : {} };
  const values = new Map<string, string[]>();
  // Forms are decoded leniently: invalid bytes become replacement characters.
  const formText = iconv.decode(bytes, charset, { stripBOM: false });
  if (formText.split('&', MAX_TOP_LEVEL_JSON_MEMBERS + 1).length > MAX_TOP_LEVEL_JSON_MEMBERS)
    throw badRequestError(`A form has at most ${MAX_TOP_LEVEL_JSON_MEMBERS} fields.`);
  for (const [key, value] of parseQuery(formText)) {
    const earlierValues = values.get(key);
    if (earlierValues) earlierValues.push(value);
    else values.set(key, [value]);
  }
  return { isForm: true, data: values };
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLargeError();
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays open after the limit is exceeded, so that the 413 response reaches the client.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > limit) throw bodyTooLargeError();
    chunks.push(chunk as Buffer);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function decodeText(bytes: Buffer, charset: string): string {
  if (/^utf-?8$/i.test(charset))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const text = iconv.decode(bytes, charset, { stripBOM: false });
  // Invalid bytes are decoded as U+FFFD. If encoding the text again restores the original bytes, the client has sent U+FFFD itself, which is valid.
  if (text.includes('\uFFFD') && !iconv.encode(text, charset, { addBOM: false }).equals(bytes))
    throw new Error(`The body contains bytes that are invalid in ${charset}.`);
  return text;
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
    const { reason, boundaryOrPartName, acceptedParts: receivedParts } = error;
    if (reason === 'boundary')
      throw badRequestError(
        `Multipart form parse error - Invalid boundary in multipart: ${boundaryOrPartName ?? 'None'}`,
      );
    if (reason === 'charset')
      throw badRequestError(
        `Multipart form parse error - Unknown charset of part ${JSON.stringify(boundaryOrPartName)}.`,
      );
    const fileTooLargeError = () =>
      validationError({
        [boundaryOrPartName!]: [`The submitted file is larger than ${limits.maxUpload} bytes.`],
      });
    const tooManyPartsError = () => badRequestError(TOO_MANY_PARTS_MESSAGE);
    const bodyError =
      reason === 'file too large'
        ? fileTooLargeError()
        : reason === 'too many parts'
          ? tooManyPartsError()
          : bodyTooLargeError();
    throw new OversizedFormError(bodyError, receivedParts);
  }
}
