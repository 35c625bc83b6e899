/**
 * JSON parser with Python semantics: numbers keep all digits, and integers differ from floats (`1`
 * and `1.0`).
 */
import { randomUUID } from 'node:crypto';
import { formatPythonFloat } from './floats';
import { describeExceededJsonLimit } from '../../shared/json-limits';
import { badRequestError } from '../errors';

/**
 * A JSON number whose source text differs from JavaScript's spelling of it: `1.0`, `1e2`,
 * `100000000000000000000`.
 */
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

export const isNumber = (value: unknown): value is number | JsonNumber =>
  typeof value === 'number' || value instanceof JsonNumber;

export const numberValue = (number: number | JsonNumber): number =>
  typeof number === 'number' ? number : number.value;

export const isInteger = (number: number | JsonNumber): boolean => {
  if (typeof number === 'number') {
    return Number.isInteger(number) && Math.abs(number) < EXPONENT_THRESHOLD;
  }

  return number.isInteger;
};

/** Formats a number like Python's `str(number)`. */
export function pythonNumberText(number: number | JsonNumber): string {
  if (!isInteger(number)) return formatPythonFloat(numberValue(number));
  const text = typeof number === 'number' ? String(number) : number.text;

  return text === '-0' ? '0' : text;
}

const isCanonicalNumber = (number: string): boolean => String(Number(number)) === number;

/** Whether an odd number of backslashes precedes a character, which escapes it. */
function isEscaped(text: string, index: number): boolean {
  let backslashStart = index;

  while (text[backslashStart - 1] === '\\') backslashStart -= 1;
  return (index - backslashStart) % 2 === 1;
}

/** Index after the JSON string that begins at `start`. The text must be valid JSON. */
function stringEnd(text: string, start: number): number {
  let quoteIndex = text.indexOf('"', start + 1);

  while (isEscaped(text, quoteIndex)) quoteIndex = text.indexOf('"', quoteIndex + 1);
  return quoteIndex + 1;
}

/**
 * Prefix of the strings that replace numbers while `JSON.parse` runs. It is random, so that no
 * string of a client begins with it.
 */
const QUOTED_NUMBER_PREFIX = randomUUID();

/** Replaces each number whose spelling `JSON.parse` would lose by a string. */
function quoteNumbers(json: string): string {
  const [tokenStartPattern, numberPattern] = [/["\d-]/g, /[\d.eE+-]+/y];
  const outputParts: string[] = [];
  let copiedEnd = 0;

  for (let match = tokenStartPattern.exec(json); match; match = tokenStartPattern.exec(json)) {
    if (match[0] === '"') {
      tokenStartPattern.lastIndex = stringEnd(json, match.index);
      continue;
    }

    numberPattern.lastIndex = match.index;
    const [number] = numberPattern.exec(json)!;

    tokenStartPattern.lastIndex = numberPattern.lastIndex;
    if (isCanonicalNumber(number)) continue;
    outputParts.push(json.slice(copiedEnd, match.index), `"${QUOTED_NUMBER_PREFIX}${number}"`);
    copiedEnd = numberPattern.lastIndex;
  }

  return outputParts.join('') + json.slice(copiedEnd);
}

/**
 * Turns the strings that `quoteNumbers` inserted into numbers. A reviver of `JSON.parse` would take
 * four times as long.
 */
function restoreNumbers(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.startsWith(QUOTED_NUMBER_PREFIX)) {
      return new JsonNumber(value.slice(QUOTED_NUMBER_PREFIX.length));
    }

    return value;
  }

  if (value === null || typeof value !== 'object') return value;
  const container = value as Record<string, unknown>;

  for (const key of Object.keys(container)) container[key] = restoreNumbers(container[key]);

  return container;
}

/** Parses JSON text. An error in reading the text counts as a JSON parse error, too. */
export function parseJson(readText: () => string): unknown {
  try {
    const json = readText();
    const exceededLimitMessage = describeExceededJsonLimit(json);

    if (exceededLimitMessage !== undefined) throw new Error(exceededLimitMessage);
    // The first parse rejects invalid JSON, because numbers can be replaced by strings only in
    // valid JSON.
    const value: unknown = JSON.parse(json);
    const jsonWithQuotedNumbers = quoteNumbers(json);

    if (jsonWithQuotedNumbers === json) return value;

    return restoreNumbers(JSON.parse(jsonWithQuotedNumbers));
  } catch (error) {
    throw badRequestError(`JSON parse error - ${(error as Error).message}`);
  }
}
