/**
 * The elements of a JSON array, one after the other, while it is read: where each lies in the file, and its text. What an element is JSON.parse
 * decides; here is only decided where it ends.
 */
import { KnownError } from '../core/model/errors';

export interface Element {
  /** In bytes from the beginning of the file. */
  start: number;
  end: number;
  text: string;
}

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, BRACE, UNBRACE] = [...'"\\,[]{}'].map((sign) => sign.charCodeAt(0));
/** Space, tab, line feed, carriage return. */
const BLANKS = [0x20, 0x09, 0x0a, 0x0d];
/** Bytes of one element: rows are far smaller. */
const MAX_ELEMENT = 16 * 1024 * 1024;

export class Elements {
  private state: 'before' | 'inside' | 'after';
  /** What is not yet given out, and where in the file it begins. */
  private rest: Buffer = Buffer.alloc(0);
  private base: number;
  private at = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private given = 0;

  /** `start`: of a part of an array that begins with an element, by its place in the file; absent: the array is read from its beginning. */
  constructor(start?: number) {
    this.state = start === undefined ? 'before' : 'inside';
    this.base = start ?? 0;
  }

  *push(chunk: Buffer): Generator<Element> {
    this.rest = this.rest.length ? Buffer.concat([this.rest, chunk]) : chunk;
    let from = 0;
    for (; this.at < this.rest.length; this.at += 1) {
      const byte = this.rest[this.at]!;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.inString = false;
      } else if (this.state !== 'inside') {
        if (BLANKS.includes(byte)) continue;
        if (this.state === 'after') throw new SyntaxError('something follows the end of the array');
        if (byte !== OPEN) throw new KnownError('BAD_USER_INPUT', 'The file must hold a JSON array of rows.');
        this.state = 'inside';
        from = this.at + 1;
      } else if (byte === QUOTE) this.inString = true;
      else if (byte === BRACE || byte === OPEN) this.depth += 1;
      else if (this.depth > 0 && (byte === UNBRACE || byte === CLOSE)) this.depth -= 1;
      else if (this.depth === 0 && (byte === COMMA || byte === CLOSE)) {
        const element = this.element(from, this.at);
        // Nothing between the brackets is no element; nothing between commas is no JSON.
        if (byte === COMMA || this.given > 0 || element.text.trim() !== '') yield element;
        this.given += 1;
        from = this.at + 1;
        if (byte === CLOSE) this.state = 'after';
      }
    }
    this.rest = this.rest.subarray(from);
    this.base += from;
    this.at -= from;
    if (this.rest.length > MAX_ELEMENT)
      throw new KnownError('BAD_USER_INPUT', `A row of the file is larger than ${MAX_ELEMENT / 1024 ** 2} MB.`);
  }

  /** What the part ends with, which no comma follows. */
  *end(): Generator<Element> {
    if (this.state === 'before' || this.depth > 0 || this.inString) throw new SyntaxError('its end is missing');
    if (this.state === 'inside') yield this.element(0, this.rest.length);
  }

  get isWhole(): boolean {
    return this.state === 'after';
  }

  private element(from: number, to: number): Element {
    return { start: this.base + from, end: this.base + to, text: this.rest.toString('utf8', from, to) };
  }
}
