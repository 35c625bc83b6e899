/** Charsets of request bodies, which iconv-lite decodes. */
import iconv from 'iconv-lite';

/**
 * Encodings of iconv-lite that requests must not use; their names are compared without punctuation.
 * UTF-7 and CESU-8 take up to a hundred times as long as UTF-8. Base64, binary and hex are not
 * charsets.
 */
const REJECTED_ENCODING_PATTERN = /utf7|cesu8|^(?:base64|binary|hex)$/;

export const isSupportedCharset = (name: string): boolean =>
  iconv.encodingExists(name) &&
  !REJECTED_ENCODING_PATTERN.test(name.toLowerCase().replace(/:\d{4}$|[^0-9a-z]/g, ''));

export const unknownCharsetMessage = (name: string): string =>
  `Unknown charset "${name}" in the Content-Type.`;

/** Reads the last charset in the parameters of a media type. The default is UTF-8. */
export const parseCharset = (parameters: readonly string[]): string =>
  parameters
    .map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter.trim())?.[1])
    .findLast(Boolean) ?? 'utf-8';

/** Encodings with U+FFFD. In the others, this character stands for an invalid byte. */
const UNICODE_PATTERN = /^(?:utf|ucs|gb18030)/i;

/** Encodings whose byte order is unknown without a byte order mark. */
const UNKNOWN_BYTE_ORDER_PATTERN = /^utf[-_]?(?:16|32)$/i;

const BYTE_ORDER_MARK = '\uFEFF';

export const isUtf8 = (charset: string): boolean => /^utf[-_]?8$/i.test(charset);

/** Decodes text. Throws if it contains bytes that are invalid in the charset. */
export function decodeText(bytes: Buffer, charset: string): string {
  if (isUtf8(charset)) {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  }

  const text = iconv.decode(bytes, charset, { stripBOM: false });
  // If encoding the text again restores the bytes, the client itself sent U+FFFD.
  const isValid =
    !text.includes('\uFFFD') ||
    (UNICODE_PATTERN.test(charset) && iconv.encode(text, charset, { addBOM: false }).equals(bytes));

  if (!isValid) throw new Error(`The body contains bytes that are invalid in ${charset}.`);
  if (!UNKNOWN_BYTE_ORDER_PATTERN.test(charset)) return text;

  if (!text.startsWith(BYTE_ORDER_MARK)) {
    throw new Error(`A body in ${charset} must begin with a byte order mark.`);
  }

  return text.slice(BYTE_ORDER_MARK.length);
}

// Loads the tables of iconv-lite at startup. In the first request with a body, this would fail if
// no file descriptor were free.
iconv.getDecoder('utf-8');
