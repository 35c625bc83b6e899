/**
 * A dump file that is read as a stream. Only an index is kept in memory: the byte ranges that
 * contain the rows of each model.
 */
import { createReadStream } from 'node:fs';
import { ClientError } from '../engine/declare/errors';
import { failImport, RowValidator, type DumpRow, type DumpRowIndex } from './dump';
import { describeWrongFormat } from './file-format';
import { JsonArraySplitter, type JsonElement } from './json-array';

/**
 * Byte ranges with a gap smaller than this are merged, because reading the gap is cheaper than
 * opening the file again at the next range.
 */
const MAX_MERGED_GAP_BYTES = 64 * 1024;
const READ_CHUNK_BYTES = 256 * 1024;

interface ByteRange {
  start: number;
  end: number;
}

export class DumpFile implements DumpRowIndex {
  readonly rowCountByModel = new Map<string, number>();
  private readonly rangesByModel = new Map<string, ByteRange[]>();

  private constructor(private readonly file: string) {}

  /** Indexes and validates a dump file in one full read. */
  static async open(file: string): Promise<DumpFile> {
    const dump = new DumpFile(file);
    const validator = new RowValidator();

    for await (const element of dump.readElements()) {
      const { model } = validator.validate(dump.parse(element));

      dump.rowCountByModel.set(model, (dump.rowCountByModel.get(model) ?? 0) + 1);
      const ranges = dump.rangesByModel.get(model) ?? [];
      const lastRange = ranges.at(-1);

      if (lastRange && element.start - lastRange.end < MAX_MERGED_GAP_BYTES) {
        lastRange.end = element.end;
      } else ranges.push({ start: element.start, end: element.end });
      dump.rangesByModel.set(model, ranges);
    }

    validator.rejectUnknownModels();
    return dump;
  }

  async *rowsOf(model: string): AsyncGenerator<DumpRow> {
    // Avoids parsing most rows of other models in the byte range. Rows with escapes such as
    // `\u0061` are always parsed, because the model name may contain them.
    const mayMatch = ({ text }: JsonElement) => text.includes(model) || text.includes('\\u');

    for (const byteRange of this.rangesByModel.get(model) ?? []) {
      for await (const element of this.readElements(byteRange)) {
        if (!mayMatch(element)) continue;
        const row = this.parse(element) as DumpRow;

        if (row.model === model) yield row;
      }
    }
  }

  private async *readElements(byteRange?: ByteRange): AsyncGenerator<JsonElement> {
    const splitter = new JsonArraySplitter(byteRange?.start);
    // `end` of a ByteRange is exclusive, but in the options of `createReadStream` it is inclusive.
    const options = byteRange && { start: byteRange.start, end: byteRange.end - 1 };
    let isAtStart = byteRange === undefined;

    try {
      for await (const chunk of createReadStream(this.file, {
        ...options,
        highWaterMark: READ_CHUNK_BYTES,
      })) {
        if (isAtStart) this.rejectWrongFormat(chunk as Buffer);
        isAtStart = false;
        yield* splitter.push(chunk as Buffer);
      }

      if (byteRange) yield* splitter.end();
      else if (!splitter.isComplete) throw new SyntaxError('the file is truncated');
    } catch (error) {
      throw this.explainReadError(error);
    }
  }

  private rejectWrongFormat(firstChunk: Buffer): void {
    const description = describeWrongFormat(firstChunk);

    if (description !== undefined) failImport(`${this.file} ${description}`);
  }

  private parse({ text }: JsonElement): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.explainReadError(error);
    }
  }

  private explainReadError(error: unknown): unknown {
    const { code, message } = error as NodeJS.ErrnoException;

    if (error instanceof SyntaxError) {
      return new ClientError('BAD_USER_INPUT', `${this.file} is not valid JSON: ${message}`);
    }

    if (code === undefined || error instanceof ClientError) return error;

    return new ClientError('NOT_FOUND', `${this.file} cannot be read: ${message}`);
  }
}
