/** Texts as the reference service, written in Python, reads them: what counts as a blank, a number, a UUID. Each takes a time linear in the text. */

/** What Python's `strip` takes away: beside JavaScript's blanks the separators U+001C to U+001F and U+0085, but not U+FEFF. */
const BLANKS = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

/** What is passed over around an integer: `int` of Python knows the separators for none. */
const BLANKS_OF_INTEGERS = new Set([...BLANKS].filter((blank) => blank < '\x1c' || blank > '\x1f'));

/** Most texts begin and end with neither a blank nor anything else beyond the plain signs. */
const isPlain = (code: number): boolean => code > 0x20 && code < 0x7f;

function stripped(text: string, signs: ReadonlySet<string>, fromStart: boolean): string {
  let start = 0;
  let end = text.length;
  while (fromStart && start < end && signs.has(text[start]!)) start += 1;
  while (end > start && signs.has(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

const hasNoBlanksAround = (text: string): boolean => isPlain(text.charCodeAt(0)) && isPlain(text.charCodeAt(text.length - 1));

export const trimmed = (text: string): string => (hasNoBlanksAround(text) ? text : stripped(text, BLANKS, true));
export const trimmedAtEnd = (text: string): string => (hasNoBlanksAround(text) ? text : stripped(text, BLANKS, false));

/** Python reads no integer of more digits. (https://docs.python.org/3/library/stdtypes.html#int-max-str-digits) */
const MAX_DIGITS = 4_300;

/** Integers beyond those that JavaScript tells apart are the last one that it does: no row, no limit and no offset has either. */
export const exact = (integer: number): number => Math.min(Math.max(integer, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

/** An integer: ASCII digits, perhaps with a sign and with blanks around. */
export function integerOf(text: string): number | undefined {
  const digits = hasNoBlanksAround(text) ? text : stripped(text, BLANKS_OF_INTEGERS, true);
  return /^[+-]?\d+$/.test(digits) && digits.replace(/^[+-]/, '').length <= MAX_DIGITS ? exact(Number(digits)) : undefined;
}

/** Longer exponents are none in Python either. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,18})?$/i;

/** A number, perhaps with a sign, a point, an exponent and blanks around, as it was written but for the blanks. */
export function decimalOf(text: string): string | undefined {
  const number = trimmed(text);
  return DECIMAL.test(number) ? number : undefined;
}

const UUID_DIGITS = 32;
const BRACES = new Set('{}');
/** With all that may stand between and around the digits. */
const MAX_UUID = 200;

/** A UUID as 32 digits; dashes, braces and `urn:uuid:` are passed over. */
export function uuidOf(text: string): string | undefined {
  if (text.length > MAX_UUID) return undefined;
  const digits = stripped(text.replaceAll('urn:', '').replaceAll('uuid:', ''), BRACES, true).replaceAll('-', '');
  return digits.length === UUID_DIGITS && /^[0-9a-f]+$/i.test(digits) ? digits.toLowerCase() : undefined;
}

/** A part of an address as it is meant; nothing where it is not percent-encoded as it should be. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
