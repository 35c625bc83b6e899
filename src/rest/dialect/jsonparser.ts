/** JSON parser with Python semantics: numbers keep all digits and the difference between integers and floats (`1` and `1.0`). */
import { randomUUID } from 'node:crypto';
import { formatPythonFloat } from '../../contract/floats';
import { findExceededLimit } from '../../platform/jsonlimits';
import { badRequestError } from '../errors';

/** A JSON number whose source text differs from JavaScript's spelling of it: `1.0`, `1e2`, `100000000000000000000`. */
export class JsonNumber {
  constructor(readonly text: string) {}

  get isInteger(): boolean {
    return !/[.e]/i.test(this.text);
  }

  get value(): number {
    return Number(this.text);
  }

  toJSON(): string {
    return this.text;
  }
}

/** JavaScript prints integers from this value on with an exponent; Python never does. */
const EXPONENT_THRESHOLD = 1e21;

export const isNumber = (value: unknown): value is number | JsonNumber => typeof value === 'number' || value instanceof JsonNumber;

export const numberValue = (number: number | JsonNumber): number => (typeof number === 'number' ? number : number.value);

export const isInteger = (number: number | JsonNumber): boolean =>
  typeof number === 'number' ? Number.isInteger(number) && Math.abs(number) < EXPONENT_THRESHOLD : number.isInteger;

/** Formats a number like Python's `str(number)`. */
export function pythonNumberText(number: number | JsonNumber): string {
  if (!isInteger(number)) return formatPythonFloat(numberValue(number));
  const text = typeof number === 'number' ? String(number) : number.text;
  return text === '-0' ? '0' : text;
}

const isCanonicalNumber = (number: string): boolean => String(Number(number)) === number;

/** Returns the index after the JSON string that begins at `start`. The text must be valid JSON. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let firstBackslash = end;
    while (text[firstBackslash - 1] === '\\') firstBackslash -= 1;
    if ((end - firstBackslash) % 2 === 0) return end + 1;
  }
}

/** Prefix of the strings that replace numbers while `JSON.parse` runs. It is random, so that no string of a client begins with it. */
const NUMBER_PREFIX = randomUUID();

/** Returns valid JSON with a string in place of each number whose spelling `JSON.parse` would lose. */
function quoteNumbers(json: string): string {
  const [tokenStart, numberCharacters] = [/["\d-]/g, /[\d.eE+-]+/y];
  const parts: string[] = [];
  let copiedUntil = 0;
  for (let match = tokenStart.exec(json); match; match = tokenStart.exec(json)) {
    if (match[0] === '"') {
      tokenStart.lastIndex = endOfString(json, match.index);
      continue;
    }
    numberCharacters.lastIndex = match.index;
    const [number] = numberCharacters.exec(json)!;
    tokenStart.lastIndex = numberCharacters.lastIndex;
    if (isCanonicalNumber(number)) continue;
    parts.push(json.slice(copiedUntil, match.index), `"${NUMBER_PREFIX}${number}"`);
    copiedUntil = numberCharacters.lastIndex;
  }
  return parts.join('') + json.slice(copiedUntil);
}

/** Replaces the strings that `quoteNumbers` has inserted by numbers. A reviver of `JSON.parse` would take four times as long. */
function restoreNumbers(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(NUMBER_PREFIX) ? new JsonNumber(value.slice(NUMBER_PREFIX.length)) : value;
  if (value === null || typeof value !== 'object') return value;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) container[key] = restoreNumbers(container[key]);
  return container;
}

/** Parses the text that `readText` returns. Errors thrown by `readText` are reported as JSON parse errors, too. */
export function parseJson(readText: () => string): unknown {
  try {
    const json = readText();
    const excess = findExceededLimit(json);
    if (excess !== undefined) throw new Error(excess);
    // The first parse rejects invalid JSON, because numbers can be replaced by strings only in valid JSON.
    const value: unknown = JSON.parse(json);
    const quotedJson = quoteNumbers(json);
    return quotedJson === json ? value : restoreNumbers(JSON.parse(quotedJson));
  } catch (error) {
    throw badRequestError(`JSON parse error - ${(error as Error).message}`);
  }
}
