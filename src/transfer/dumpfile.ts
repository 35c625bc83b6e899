/** A dump in a file, read as a stream: what is kept of it in memory is where the rows of each model are. */
import { createReadStream } from 'node:fs';
import { KnownError } from '../core/model/errors';
import { RowCheck, type DumpRow, type DumpRows } from './dump';
import { Elements, type Element } from './elements';

/** Between two stretches of rows of a model; what lies between is read over rather than sought past. */
const GAP = 64 * 1024;
const READ = 256 * 1024;

interface Stretch {
  start: number;
  end: number;
}

export class DumpFile implements DumpRows {
  readonly counts = new Map<string, number>();
  private readonly stretches = new Map<string, Stretch[]>();

  private constructor(private readonly file: string) {}

  /** Reads all of it once; throws where it is no dump. */
  static async open(file: string): Promise<DumpFile> {
    const dump = new DumpFile(file);
    const check = new RowCheck();
    for await (const element of dump.elements()) {
      const { model } = check.passed(dump.parsed(element));
      dump.counts.set(model, (dump.counts.get(model) ?? 0) + 1);
      const stretches = dump.stretches.get(model) ?? [];
      const last = stretches.at(-1);
      if (last && element.start - last.end < GAP) last.end = element.end;
      else stretches.push({ start: element.start, end: element.end });
      dump.stretches.set(model, stretches);
    }
    return dump;
  }

  async *of(model: string): AsyncGenerator<DumpRow> {
    // Where rows of several models take turns, most are none of these; JSON may spell a name with `\u0061` in it.
    const mayBe = ({ text }: Element) => text.includes(model) || text.includes('\\u');
    for (const stretch of this.stretches.get(model) ?? [])
      for await (const element of this.elements(stretch)) {
        if (!mayBe(element)) continue;
        const row = this.parsed(element) as DumpRow;
        if (row.model === model) yield row;
      }
  }

  private async *elements(stretch?: Stretch): AsyncGenerator<Element> {
    const elements = new Elements(stretch?.start);
    // The last byte of a range is read too.
    const range = stretch && { start: stretch.start, end: stretch.end - 1 };
    try {
      for await (const chunk of createReadStream(this.file, { ...range, highWaterMark: READ })) yield* elements.push(chunk as Buffer);
      if (stretch) yield* elements.end();
      else if (!elements.isWhole) throw new SyntaxError('its end is missing');
    } catch (error) {
      throw this.readingError(error);
    }
  }

  private parsed({ text }: Element): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.readingError(error);
    }
  }

  private readingError(error: unknown): unknown {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof SyntaxError) return new KnownError('BAD_USER_INPUT', `${this.file} is not JSON: ${message}`);
    return code !== undefined && !(error instanceof KnownError)
      ? new KnownError('NOT_FOUND', `${this.file} cannot be read: ${message}`)
      : error;
  }
}
