/**
 * Splits a JSON array that is read as a stream into the text and byte range of each element. Finds
 * only the boundaries of elements; JSON.parse validates them later.
 */
import { ClientError } from '../engine/declare/errors';

export interface JsonElement {
  /** Byte offset of the element in the file. */
  start: number;
  end: number;
  text: string;
}

const [
  QUOTE_BYTE,
  BACKSLASH_BYTE,
  COMMA_BYTE,
  OPEN_BRACKET_BYTE,
  CLOSE_BRACKET_BYTE,
  OPEN_BRACE_BYTE,
  CLOSE_BRACE_BYTE,
] = [...'"\\,[]{}'].map((character) => character.charCodeAt(0));
const WHITESPACE_BYTES = [0x20, 0x09, 0x0a, 0x0d];
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const MAX_ELEMENT_BYTES = 16 * 1024 * 1024;

export class JsonArraySplitter {
  /** Where the next byte is: before, inside or after the brackets of the array. */
  private state: 'before' | 'inside' | 'after';

  /** Input from the start of the first element that has not been yielded. */
  private buffer: Buffer = Buffer.alloc(0);

  /** Byte offset of `buffer` in the file. */
  private bufferOffset: number;

  /** Index of the next byte to examine in `buffer`. */
  private position = 0;

  /** Number of brackets and braces that are open within the current element. */

  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private yieldedCount = 0;

  /**
   * `start` is the byte offset of the element with which the input begins. Without it, the input
   * begins with the array itself.
   */
  constructor(start?: number) {
    this.state = start === undefined ? 'before' : 'inside';
    this.bufferOffset = start ?? 0;
  }

  /** `ignoresRest` accepts data after the end of the array. */
  *push(chunk: Buffer, { ignoresRest = false } = {}): Generator<JsonElement> {
    this.buffer = this.buffer.length ? Buffer.concat([this.buffer, chunk]) : chunk;
    let elementStart = 0;

    for (; this.position < this.buffer.length; this.position += 1) {
      const byte = this.buffer[this.position]!;

      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH_BYTE) this.isEscaped = true;
        else if (byte === QUOTE_BYTE) this.isInString = false;
      } else if (this.state !== 'inside') {
        if (WHITESPACE_BYTES.includes(byte) || this.isByteOrderMark(byte)) continue;

        if (this.state === 'after') {
          throw new SyntaxError('unexpected data after the end of the array');
        }

        if (byte !== OPEN_BRACKET_BYTE) {
          throw new ClientError('BAD_USER_INPUT', 'The file must contain a JSON array of rows.');
        }

        this.state = 'inside';
        elementStart = this.position + 1;
      } else if (byte === QUOTE_BYTE) this.isInString = true;
      else if (byte === OPEN_BRACE_BYTE || byte === OPEN_BRACKET_BYTE) this.depth += 1;
      else if (this.depth > 0 && (byte === CLOSE_BRACE_BYTE || byte === CLOSE_BRACKET_BYTE)) {
        this.depth -= 1;
      } else if (this.depth === 0 && (byte === COMMA_BYTE || byte === CLOSE_BRACKET_BYTE)) {
        const element = this.createElement(elementStart, this.position);

        // An empty array has no element. Otherwise, even an empty element (`[1,]`) is yielded, so
        // that JSON.parse rejects it.
        if (byte === COMMA_BYTE || this.yieldedCount > 0 || element.text.trim() !== '') {
          yield element;
        }

        this.yieldedCount += 1;
        elementStart = this.position + 1;

        if (byte === CLOSE_BRACKET_BYTE) {
          this.state = 'after';
          if (ignoresRest) return;
        }
      }
    }

    this.buffer = this.buffer.subarray(elementStart);
    this.bufferOffset += elementStart;
    this.position -= elementStart;

    if (this.buffer.length > MAX_ELEMENT_BYTES) {
      throw new ClientError(
        'BAD_USER_INPUT',
        `A row of the file is larger than ${MAX_ELEMENT_BYTES / 1024 ** 2} MB.`,
      );
    }
  }

  /** Yields the last element of a byte range, which is not followed by a comma. */
  *end(): Generator<JsonElement> {
    if (this.state === 'before' || this.depth > 0 || this.isInString) {
      throw new SyntaxError('the file is truncated');
    }

    if (this.state === 'inside') yield this.createElement(0, this.buffer.length);
  }

  get isComplete(): boolean {
    return this.state === 'after';
  }

  /** Whether this byte belongs to the byte order mark that some programs write before UTF-8. */
  private isByteOrderMark(byte: number): boolean {
    return BYTE_ORDER_MARK[this.bufferOffset + this.position] === byte;
  }

  private createElement(from: number, to: number): JsonElement {
    return {
      start: this.bufferOffset + from,
      end: this.bufferOffset + to,
      text: this.buffer.toString('utf8', from, to),
    };
  }
}
