/** JSON parser with Python semantics: numbers keep all digits and the difference between integers and floats (`1` and `1.0`). */
import { randomUUID } from 'node:crypto';
import { formatPythonFloat } from '../../contract/floats';
import { describeExceededJsonLimit } from '../../platform/jsonlimits';
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

export const isNumber = (value: unknown): value is number | JsonNumber =>
  typeof value === 'number' || value instanceof JsonNumber;

export const numberValue = (number: number | JsonNumber): number =>
  typeof number === 'number' ? number : number.value;

export const isInteger = (number: number | JsonNumber): boolean =>
  typeof number === 'number'
    ? Number.isInteger(number) && Math.abs(number) < EXPONENT_THRESHOLD
    : number.isInteger;

/** Formats a number like Python's `str(number)`. */
export function pythonNumberText(number: number | JsonNumber): string {
  if (!isInteger(number)) return formatPythonFloat(numberValue(number));
  const text = typeof number === 'number' ? String(number) : number.text;
  return text === '-0' ? '0' : text;
}

const isCanonicalNumber = (number: string): boolean => String(Number(number)) === number;

/** Returns the index after the JSON string that begins at `start`. The text must be valid JSON. */
function endIndexOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let firstBackslashIndex = end;
    while (text[firstBackslashIndex - 1] === '\\') firstBackslashIndex -= 1;
    if ((end - firstBackslashIndex) % 2 === 0) return end + 1;
  }
}

/** Prefix of the strings that replace numbers while `JSON.parse` runs. It is random, so that no string of a client begins with it. */
const QUOTED_NUMBER_PREFIX = randomUUID();

/** Returns valid JSON with a string in place of each number whose spelling `JSON.parse` would lose. */
function quoteNumbers(json: string): string {
  const [tokenStart, numberCharacters] = [/["\d-]/g, /[\d.eE+-]+/y];
  const outputParts: string[] = [];
  let copiedUntilIndex = 0;
  for (let match = tokenStart.exec(json); match; match = tokenStart.exec(json)) {
    if (match[0] === '"') {
      tokenStart.lastIndex = endIndexOfString(json, match.index);
      continue;
    }
    numberCharacters.lastIndex = match.index;
    const [number] = numberCharacters.exec(json)!;
    tokenStart.lastIndex = numberCharacters.lastIndex;
    if (isCanonicalNumber(number)) continue;
    outputParts.push(
      json.slice(copiedUntilIndex, match.index),
      `"${QUOTED_NUMBER_PREFIX}${number}"`,
    );
    copiedUntilIndex = numberCharacters.lastIndex;
  }
  return outputParts.join('') + json.slice(copiedUntilIndex);
}

/** Replaces the strings that `quoteNumbers` has inserted by numbers. A reviver of `JSON.parse` would take four times as long. */
function restoreNumbers(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(QUOTED_NUMBER_PREFIX)
      ? new JsonNumber(value.slice(QUOTED_NUMBER_PREFIX.length))
      : value;
  if (value === null || typeof value !== 'object') return value;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) container[key] = restoreNumbers(container[key]);
  return container;
}

/** Parses the text that `readText` returns. Errors thrown by `readText` are reported as JSON parse errors, too. */
export function parseJson(readText: () => string): unknown {
  try {
    const json = readText();
    const exceededLimitMessage = describeExceededJsonLimit(json);
    if (exceededLimitMessage !== undefined) throw new Error(exceededLimitMessage);
    // The first parse rejects invalid JSON, because numbers can be replaced by strings only in valid JSON.
    const value: unknown = JSON.parse(json);
    const jsonWithQuotedNumbers = quoteNumbers(json);
    return jsonWithQuotedNumbers === json
      ? value
      : restoreNumbers(JSON.parse(jsonWithQuotedNumbers));
  } catch (error) {
    throw badRequestError(`JSON parse error - ${(error as Error).message}`);
  }
}
