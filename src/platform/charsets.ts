/** Charsets of request bodies, decoded by iconv-lite. */
import iconv from 'iconv-lite';

export const isSupportedCharset = (name: string): boolean => iconv.encodingExists(name);

/** Returns the charset of a media type with these parameters; UTF-8 if it names none. */
export const charsetOf = (parameters: readonly string[]): string =>
  parameters.map((parameter) => /^charset="?([^"]+)"?$/i.exec(parameter.trim())?.[1]).find(Boolean) ?? 'utf-8';

// Makes iconv-lite load its tables at startup. In the first request with a body, loading them would fail if no file descriptor were free.
iconv.getDecoder('utf-8');
