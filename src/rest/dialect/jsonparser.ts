/** JSON parser with Python semantics: numbers keep all digits and the difference between integers and floats (`1` and `1.0`). */
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

// Sets of characters are faster here than regular expressions.
const NUMBER_CHARACTERS = new Set('0123456789.eE+-');
const WHITESPACE = new Set(' \t\n\r');

/** Returns the index of the first character from `start` on that is not in the set. */
function skipCharacters(characters: ReadonlySet<string>, text: string, start: number): number {
  let end = start;
  while (characters.has(text[end]!)) end += 1;
  return end;
}

const startsNumber = (character: string): boolean => character === '-' || (character >= '0' && character <= '9');

/** Parses the text that `readText` returns. Errors thrown by `readText` are reported as JSON parse errors, too. */
export function parseJson(readText: () => string): unknown {
  try {
    const json = readText();
    const excess = findExceededLimit(json);
    if (excess !== undefined) throw new Error(excess);
    // JSON.parse rejects invalid JSON; the parser below assumes that its input is valid.
    JSON.parse(json);
    return new SpellingPreservingParser(json).parseValue();
  } catch (error) {
    throw badRequestError(`JSON parse error - ${(error as Error).message}`);
  }
}

/** Parser for valid JSON of bounded depth, which creates a `JsonNumber` wherever `JSON.parse` would lose the spelling of a number. */
class SpellingPreservingParser {
  private position = 0;

  constructor(private readonly text: string) {}

  parseValue(): unknown {
    this.skipWhitespace();
    const firstCharacter = this.text[this.position]!;
    if (firstCharacter === '{') return this.parseObject();
    if (firstCharacter === '[') return this.parseList();
    if (firstCharacter === '"') return JSON.parse(this.takeUntil(endOfString(this.text, this.position)));
    if (startsNumber(firstCharacter)) {
      const number = this.takeUntil(skipCharacters(NUMBER_CHARACTERS, this.text, this.position));
      return isCanonicalNumber(number) ? Number(number) : new JsonNumber(number);
    }
    return JSON.parse(this.takeUntil(this.position + (firstCharacter === 'f' ? 'false' : 'null').length));
  }

  private parseObject(): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.position += 1;
    while (!this.consumeSeparator('}')) {
      const key = this.parseValue() as string;
      this.skipWhitespace();
      this.position += ':'.length;
      entries.push([key, this.parseValue()]);
    }
    return Object.fromEntries(entries);
  }

  private parseList(): unknown[] {
    const items: unknown[] = [];
    this.position += 1;
    while (!this.consumeSeparator(']')) items.push(this.parseValue());
    return items;
  }

  /** Consumes a comma or the closing bracket; returns whether it was the bracket. */
  private consumeSeparator(bracket: string): boolean {
    this.skipWhitespace();
    const character = this.text[this.position];
    if (character === ',' || character === bracket) this.position += 1;
    return character === bracket;
  }

  private skipWhitespace(): void {
    this.position = skipCharacters(WHITESPACE, this.text, this.position);
  }

  private takeUntil(end: number): string {
    const token = this.text.slice(this.position, end);
    this.position = end;
    return token;
  }
}
