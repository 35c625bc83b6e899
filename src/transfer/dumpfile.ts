/** Dump file that is read as a stream. Only an index with the byte ranges of each model's rows is in memory. */
import { createReadStream } from 'node:fs';
import { ClientError } from '../core/model/errors';
import { RowValidator, type DumpRow, type DumpRowIndex } from './dump';
import { JsonArraySplitter, type JsonElement } from './jsonarray';

/** Two byte ranges are merged if the gap between them is smaller than this, because reading the gap is cheaper than a seek. */
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

  /** Indexes the file in one full read; throws if it is not a valid dump. */
  static async open(file: string): Promise<DumpFile> {
    const dump = new DumpFile(file);
    const validator = new RowValidator();
    for await (const element of dump.readElements()) {
      const { model } = validator.validate(dump.parse(element));
      dump.rowCountByModel.set(model, (dump.rowCountByModel.get(model) ?? 0) + 1);
      const ranges = dump.rangesByModel.get(model) ?? [];
      const last = ranges.at(-1);
      if (last && element.start - last.end < MAX_MERGED_GAP_BYTES) last.end = element.end;
      else ranges.push({ start: element.start, end: element.end });
      dump.rangesByModel.set(model, ranges);
    }
    return dump;
  }

  async *rowsOf(model: string): AsyncGenerator<DumpRow> {
    // Avoids parsing most rows of other models in the byte range. Rows with escapes such as `\u0061` are always parsed: the model name may contain them.
    const mayMatch = ({ text }: JsonElement) => text.includes(model) || text.includes('\\u');
    for (const byteRange of this.rangesByModel.get(model) ?? [])
      for await (const element of this.readElements(byteRange)) {
        if (!mayMatch(element)) continue;
        const row = this.parse(element) as DumpRow;
        if (row.model === model) yield row;
      }
  }

  private async *readElements(byteRange?: ByteRange): AsyncGenerator<JsonElement> {
    const splitter = new JsonArraySplitter(byteRange?.start);
    // `end` of a ByteRange is exclusive, but that of `createReadStream` is inclusive.
    const options = byteRange && { start: byteRange.start, end: byteRange.end - 1 };
    try {
      for await (const chunk of createReadStream(this.file, {
        ...options,
        highWaterMark: READ_CHUNK_BYTES,
      }))
        yield* splitter.push(chunk as Buffer);
      if (byteRange) yield* splitter.end();
      else if (!splitter.isComplete) throw new SyntaxError('the file is truncated');
    } catch (error) {
      throw this.explainReadError(error);
    }
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
    if (error instanceof SyntaxError)
      return new ClientError('BAD_USER_INPUT', `${this.file} is not valid JSON: ${message}`);
    return code !== undefined && !(error instanceof ClientError)
      ? new ClientError('NOT_FOUND', `${this.file} cannot be read: ${message}`)
      : error;
  }
}
