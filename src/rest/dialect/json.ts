/** JSON as Python's parser hands it on: a number keeps what tells an integer from a fraction, and all of its digits. */
import { floatText } from '../../contract/floats';
import { excessOf } from '../../platform/jsonlimits';
import { badRequest } from '../errors';

/** A number that JavaScript would spell in another way: `1.0`, `1e2`, `100000000000000000000`. */
export class SentNumber {
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

/** From this on JavaScript writes integers with an exponent, which no integer of Python has. */
const MANY_DIGITS = 1e21;

export const isNumber = (value: unknown): value is number | SentNumber => typeof value === 'number' || value instanceof SentNumber;

export const valueOf = (number: number | SentNumber): number => (typeof number === 'number' ? number : number.value);

export const isInteger = (number: number | SentNumber): boolean =>
  typeof number === 'number' ? Number.isInteger(number) && Math.abs(number) < MANY_DIGITS : number.isInteger;

/** `str(number)` in Python. */
export function numberText(number: number | SentNumber): string {
  if (!isInteger(number)) return floatText(valueOf(number));
  const text = typeof number === 'number' ? String(number) : number.text;
  return text === '-0' ? '0' : text;
}

const isSpelledOtherwise = (number: string): boolean => String(Number(number)) !== number;

/** Where the string that begins there ends, in a text that is known to be JSON. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
}

/** Runs of these characters, of which sets tell in less time than patterns. */
const IN_NUMBERS = new Set('0123456789.eE+-');
const BLANKS = new Set(' \t\n\r');

function endOfRun(characters: ReadonlySet<string>, text: string, start: number): number {
  let end = start;
  while (characters.has(text[end]!)) end += 1;
  return end;
}

const startsNumber = (character: string): boolean => character === '-' || (character >= '0' && character <= '9');

function hasNumberSpelledOtherwise(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at) - 1;
    else if (startsNumber(character)) {
      const end = endOfRun(IN_NUMBERS, text, at);
      if (isSpelledOtherwise(text.slice(at, end))) return true;
      at = end - 1;
    }
  }
  return false;
}

export function parseJson(text: () => string): unknown {
  try {
    const json = text();
    const excess = excessOf(json);
    if (excess !== undefined) throw new Error(excess);
    const value: unknown = JSON.parse(json);
    return hasNumberSpelledOtherwise(json) ? new Reading(json).value() : value;
  } catch (error) {
    throw badRequest(`JSON parse error - ${(error as Error).message}`);
  }
}

/** Reads once more what is known to be JSON of a bounded depth. */
class Reading {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    this.skipBlanks();
    const first = this.text[this.at]!;
    if (first === '{') return this.object();
    if (first === '[') return this.list();
    if (first === '"') return JSON.parse(this.until(endOfString(this.text, this.at)));
    if (startsNumber(first)) {
      const number = this.until(endOfRun(IN_NUMBERS, this.text, this.at));
      return isSpelledOtherwise(number) ? new SentNumber(number) : Number(number);
    }
    return JSON.parse(this.until(this.at + (first === 'f' ? 'false' : 'null').length));
  }

  private object(): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.at += 1;
    while (!this.ends('}')) {
      const key = this.value() as string;
      this.skipBlanks();
      this.at += ':'.length;
      entries.push([key, this.value()]);
    }
    return Object.fromEntries(entries);
  }

  private list(): unknown[] {
    const items: unknown[] = [];
    this.at += 1;
    while (!this.ends(']')) items.push(this.value());
    return items;
  }

  /** Passes over what is between two members, or the end of them. */
  private ends(bracket: string): boolean {
    this.skipBlanks();
    const character = this.text[this.at];
    if (character === ',' || character === bracket) this.at += 1;
    return character === bracket;
  }

  private skipBlanks(): void {
    this.at = endOfRun(BLANKS, this.text, this.at);
  }

  private until(end: number): string {
    const token = this.text.slice(this.at, end);
    this.at = end;
    return token;
  }
}
