/**
 * Parsers of scalars that accept the same input as the reference service, which is written in
 * Python. Their run time is linear in the length of the input.
 */

/**
 * Characters that Python's `str.strip` removes. Unlike JavaScript's `trim`, it removes U+001C to
 * U+001F and U+0085, but not U+FEFF.
 */
const WHITESPACE = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

/**
 * Characters that Python's `int` ignores around an integer: all whitespace but U+001C to U+001F.
 */
const INTEGER_WHITESPACE = new Set(
  [...WHITESPACE].filter((character) => character < '\x1c' || character > '\x1f'),
);

function strip(text: string, characters: ReadonlySet<string>, stripsStart: boolean): string {
  let start = 0;
  let end = text.length;

  while (stripsStart && start < end && characters.has(text[start]!)) start += 1;
  while (end > start && characters.has(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

export const pythonStrip = (text: string): string => strip(text, WHITESPACE, true);
export const pythonRstrip = (text: string): string => strip(text, WHITESPACE, false);

/**
 * Maximum number of digits of an integer in Python
 * (https://docs.python.org/3/library/stdtypes.html#int-max-str-digits).
 */
const MAX_INTEGER_DIGITS = 4_300;

/** Clamps an integer to JavaScript's safe integers. No id, limit or offset lies outside of them. */
export const clampToSafeInteger = (integer: number): number =>
  Math.min(Math.max(integer, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

/** Parses ASCII digits with an optional sign and surrounding whitespace. */
export function parseInteger(text: string): number | undefined {
  const digits = strip(text, INTEGER_WHITESPACE, true);

  if (/^[+-]?\d+$/.test(digits) && digits.replace(/^[+-]/, '').length <= MAX_INTEGER_DIGITS) {
    return clampToSafeInteger(Number(digits));
  }

  return undefined;
}

/** Parses an integer of a form. NaN stands for invalid text. */
export const parseFormInteger = (text: string | null | undefined): number | undefined =>
  text ? (parseInteger(text) ?? NaN) : undefined;

/** Syntax of a decimal number. Like Python's `Decimal`, it limits the exponent to 18 digits. */
const DECIMAL_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,18})?$/i;

/** Validates the text of a decimal number and strips surrounding whitespace. */
export function parseDecimal(text: string): string | undefined {
  const number = pythonStrip(text);

  return DECIMAL_PATTERN.test(number) ? number : undefined;
}

const UUID_DIGIT_COUNT = 32;
const BRACES = new Set('{}');

/** Maximum length of a UUID in characters, including dashes, braces and prefixes. */
const MAX_UUID_LENGTH = 200;

/** Normalizes a UUID to 32 lower-case digits, ignoring dashes, braces and `urn:uuid:`. */
export function parseUuid(text: string): string | undefined {
  if (text.length > MAX_UUID_LENGTH) return undefined;
  const digits = strip(
    text.replaceAll('urn:', '').replaceAll('uuid:', ''),
    BRACES,
    true,
  ).replaceAll('-', '');

  if (digits.length === UUID_DIGIT_COUNT && /^[0-9a-f]+$/i.test(digits)) {
    return digits.toLowerCase();
  }

  return undefined;
}
