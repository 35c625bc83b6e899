/**
 * Rows into a table by COPY, which reads values as they come: imports have millions of rows. A model would make one text of all their values, each
 * escaped on its own, which took fourteen times as long as a statement with arrays (`core/write/store.ts`), and COPY is faster still.
 */
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { quoteIdentifiers } from '../database/identifiers';

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** As COPY reads it; an object or a list as JSON. */
function written(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
  return text.replace(/[\\\n\r\t]/g, (sign) => ESCAPES[sign]!);
}

/** One line a row. */
export function linesOf(rows: readonly Record<string, unknown>[], columns: readonly string[]): string {
  return rows.map((row) => `${columns.map((column) => written(row[column])).join('\t')}\n`).join('');
}

/** A COPY under way: PostgreSQL writes what it was given while more is made ready. The connection can be asked for nothing else until its end. */
export class CopyIn {
  private readonly stream;
  private readonly ended: Promise<void>;
  private isOver = false;

  constructor(client: ClientBase, table: string, columns: readonly string[]) {
    const stream = client.query(copyFrom(`COPY ${quoteIdentifiers([table])} (${quoteIdentifiers(columns)}) FROM STDIN`));
    this.stream = stream;
    this.ended = new Promise((resolve, reject) => {
      const over = (settle: () => void) => () => {
        this.isOver = true;
        settle();
      };
      stream.once('finish', over(resolve));
      stream.once('error', (error: Error) => over(() => reject(error))());
    });
    // It is waited for at the end, and by whoever writes after a refusal.
    this.ended.catch(() => undefined);
  }

  /** Waits while PostgreSQL is behind. Throws what it refuses, be it of something that was written before. */
  async write(lines: string | Buffer): Promise<void> {
    // What has ended with an error has no connection to write to.
    if (this.isOver) return this.ended;
    const taken = new Promise<void>((resolve, reject) => this.stream.write(lines, (error) => (error ? reject(error) : resolve())));
    await Promise.race([taken, this.ended]);
  }

  /** Throws what PostgreSQL refuses. */
  async end(): Promise<void> {
    if (!this.isOver) this.stream.end();
    await this.ended;
  }

  /** Nothing of it is to stay; the transaction has failed with it. */
  async abandon(): Promise<void> {
    if (!this.isOver) this.stream.destroy();
    await this.ended.catch(() => undefined);
  }
}
