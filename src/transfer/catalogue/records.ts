/** Splits a catalogue file into records: lines, or the elements of a JSON array. */
import { StringDecoder } from 'node:string_decoder';
import { failImport } from '../dump';
import { JsonArraySplitter } from '../json-array';

/** In millions of characters. Open Food Facts has products of more than one. */
const MAX_LINE_MEGABYTES = 8;

/** The lines of an export contain images. */
export const MAX_EXPORT_LINE_MEGABYTES = 256;

/** Consecutive empty lines after which a file is refused, because compression makes them free. */
const MAX_EMPTY_LINES = 1_000_000;
const BYTE_ORDER_MARK = '\uFEFF';

export interface TextRecord {
  /** Number of the line or element, from 1. */
  number: number;
  text: string;
}

/** Yields the lines of a UTF-8 text that are not empty. */
export async function* linesOf(
  bytes: AsyncIterable<Buffer>,
  maxMegabytes = MAX_LINE_MEGABYTES,
): AsyncGenerator<TextRecord> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  let emptyLines = 0;

  function* split(text: string, isEnd: boolean): Generator<TextRecord> {
    const lines = text.split('\n');

    lines[0] = rest + lines[0];
    rest = isEnd ? '' : lines.pop()!;

    for (const line of lines) {
      number += 1;
      const content = number === 1 ? line.replace(BYTE_ORDER_MARK, '') : line;
      const trimmed = content.endsWith('\r') ? content.slice(0, -1) : content;

      if (trimmed !== '') {
        emptyLines = 0;
        yield { number, text: trimmed };
      } else if ((emptyLines += 1) > MAX_EMPTY_LINES) {
        failImport(`There are more than ${MAX_EMPTY_LINES} empty lines before line ${number}.`);
      }
    }

    if (rest.length > maxMegabytes * 1024 ** 2) {
      failImport(`Line ${number + 1} is longer than ${maxMegabytes} MB.`);
    }
  }

  for await (const chunk of bytes) yield* split(decoder.write(chunk), false);
  yield* split(decoder.end(), true);
}

/**
 * Whether text was decoded from bytes that are no UTF-8, or has NULs or halves of surrogate pairs,
 * which PostgreSQL cannot store.
 */
export const hasWrongBytes = (text: string): boolean =>
  /[\uFFFD\0]|\\u0000|\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]/i.test(text);

/**
 * Yields the elements of the first array of a JSON document such as `{"FoundationFoods": […]}`.
 * What follows the array is ignored.
 */
export async function* elementsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<TextRecord> {
  const splitter = new JsonArraySplitter();
  let number = 0;
  let isInside = false;

  for await (const chunk of bytes) {
    const start = isInside ? 0 : chunk.indexOf('[');

    if (start === -1) continue;
    isInside = true;

    for (const { text } of splitter.push(chunk.subarray(start), { ignoresRest: true })) {
      number += 1;
      yield { number, text };
    }

    if (splitter.isComplete) return;
  }

  failImport(isInside ? 'The file is truncated.' : 'The file contains no JSON array.');
}
