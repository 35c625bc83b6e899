/**
 * Splits a JSON array that is read as a stream: yields the text and the byte range of each element. It only finds the boundaries of elements;
 * JSON.parse validates them later.
 */
import { ClientError } from '../core/model/errors';

export interface JsonElement {
  /** Byte offset of the element in the file. */
  start: number;
  end: number;
  text: string;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [
  ...'"\\,[]{}',
].map((character) => character.charCodeAt(0));
const WHITESPACE = [0x20, 0x09, 0x0a, 0x0d];
const MAX_ELEMENT_BYTES = 16 * 1024 * 1024;

export class JsonArraySplitter {
  private state: 'before' | 'inside' | 'after';
  /** Input not yet yielded; `bufferOffset` is its byte offset in the file. */
  private buffer: Buffer = Buffer.alloc(0);
  private bufferOffset: number;
  private position = 0;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private yieldedCount = 0;

  /** `start` is the byte offset of the element with which the input begins. Without it, the input begins with the array itself. */
  constructor(start?: number) {
    this.state = start === undefined ? 'before' : 'inside';
    this.bufferOffset = start ?? 0;
  }

  *push(chunk: Buffer): Generator<JsonElement> {
    this.buffer = this.buffer.length ? Buffer.concat([this.buffer, chunk]) : chunk;
    let elementStart = 0;
    for (; this.position < this.buffer.length; this.position += 1) {
      const byte = this.buffer[this.position]!;
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.isInString = false;
      } else if (this.state !== 'inside') {
        if (WHITESPACE.includes(byte)) continue;
        if (this.state === 'after')
          throw new SyntaxError('unexpected data after the end of the array');
        if (byte !== OPEN_BRACKET)
          throw new ClientError('BAD_USER_INPUT', 'The file must contain a JSON array of rows.');
        this.state = 'inside';
        elementStart = this.position + 1;
      } else if (byte === QUOTE) this.isInString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.depth += 1;
      else if (this.depth > 0 && (byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) this.depth -= 1;
      else if (this.depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) {
        const element = this.createElement(elementStart, this.position);
        // An empty array has no element. Other empty elements are yielded, so that JSON.parse rejects them.
        if (byte === COMMA || this.yieldedCount > 0 || element.text.trim() !== '') yield element;
        this.yieldedCount += 1;
        elementStart = this.position + 1;
        if (byte === CLOSE_BRACKET) this.state = 'after';
      }
    }
    this.buffer = this.buffer.subarray(elementStart);
    this.bufferOffset += elementStart;
    this.position -= elementStart;
    if (this.buffer.length > MAX_ELEMENT_BYTES)
      throw new ClientError(
        'BAD_USER_INPUT',
        `A row of the file is larger than ${MAX_ELEMENT_BYTES / 1024 ** 2} MB.`,
      );
  }

  /** Yields the last element of a byte range of the file; unlike the other elements, it is not followed by a comma. */
  *end(): Generator<JsonElement> {
    if (this.state === 'before' || this.depth > 0 || this.isInString)
      throw new SyntaxError('the file is truncated');
    if (this.state === 'inside') yield this.createElement(0, this.buffer.length);
  }

  get isComplete(): boolean {
    return this.state === 'after';
  }

  private createElement(from: number, to: number): JsonElement {
    return {
      start: this.bufferOffset + from,
      end: this.bufferOffset + to,
      text: this.buffer.toString('utf8', from, to),
    };
  }
}
