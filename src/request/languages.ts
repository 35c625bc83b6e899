/**
 * Parser of the Accept-Language header (RFC 9110, section 12.5.4). The library `negotiator` is unsuitable: it parses headers of any length, and
 * it does not understand `de_AT`, which some apps send.
 */

/** In characters; browsers send less than a tenth of it. The rest is ignored. */
const MAX_HEADER_LENGTH = 1000;
const MAX_LANGUAGES = 10;

/** `de`, `de-AT` or `de_AT`, with an optional quality. Other entries are ignored. */
const LANGUAGE = /^([a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?: ?; ?q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Returns language codes without regions, most preferred first. */
export function parseAcceptLanguage(header: string | undefined): string[] {
  if (!header) return [];
  const end = header.length > MAX_HEADER_LENGTH ? header.lastIndexOf(',', MAX_HEADER_LENGTH) : header.length;
  return header
    .slice(0, Math.max(end, 0))
    .split(',')
    .map((part, index) => {
      const [, code, quality = '1'] = LANGUAGE.exec(part.trim().replace(/[ \t]+/g, ' ')) ?? [];
      return { code: code?.toLowerCase(), quality: code === undefined ? 0 : Number(quality), index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .slice(0, MAX_LANGUAGES)
    .map(({ code }) => code!);
}
