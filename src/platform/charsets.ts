/** Charsets of request bodies, decoded by iconv-lite. */
import iconv from 'iconv-lite';

/**
 * Names, without punctuation, of what iconv-lite decodes but servers do not accept: UTF-7 and CESU-8 take up to a hundred times as long as UTF-8, and the
 * others are no charsets.
 */
const REFUSED_NAMES = /utf7|cesu8|^(?:base64|binary|hex)$/;

export const isSupportedCharset = (name: string): boolean =>
  iconv.encodingExists(name) &&
  !REFUSED_NAMES.test(name.toLowerCase().replace(/:\d{4}$|[^0-9a-z]/g, ''));

/** Returns the charset of a media type with these parameters; UTF-8 if it names none. */
export const charsetOf = (parameters: readonly string[]): string =>
  parameters
    .map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter.trim())?.[1])
    .find(Boolean) ?? 'utf-8';

// Makes iconv-lite load its tables at startup. In the first request with a body, loading them would fail if no file descriptor were free.
iconv.getDecoder('utf-8');
