/**
 * The languages that a client prefers, as its Accept-Language header tells. `negotiator` is not asked: it takes a header of any length, and `de_AT`,
 * as apps send it, is no German to it.
 */

/** More of an Accept-Language header is not looked at; browsers send less than a tenth of it. */
const MAX_HEADER = 1000;
const MAX_LANGUAGES = 10;

/** A language as `de`, `de-AT` or `de_AT`, with its quality if it is not 1; what cannot be read counts as absent. */
const LANGUAGE = /^([a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?: ?; ?q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Codes of languages, without countries, in the order of preference. */
export function languagesOf(header: string | undefined): string[] {
  if (!header) return [];
  const end = header.length > MAX_HEADER ? header.lastIndexOf(',', MAX_HEADER) : header.length;
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
