/**
 * Bulk insert by COPY (https://www.postgresql.org/docs/current/sql-copy.html) for imports of
 * millions of rows. COPY is faster than INSERT with array parameters, which in turn is 14 times as
 * fast as Sequelize's bulk insert with escaped literals.
 */
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { quoteIdentifiers } from '../database/identifiers';

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Formats a value in the text format of COPY. Objects and arrays become JSON. */
function formatCopyValue(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  const text =
    typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);

  return text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]!);
}

export function formatCopyRows(
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
): string {
  return rows
    .map((row) => `${columns.map((column) => formatCopyValue(row[column])).join('\t')}\n`)
    .join('');
}

/**
 * A running COPY FROM STDIN. PostgreSQL stores rows while the next ones are prepared. The
 * connection can run no other statement until the COPY ends.
 */
export class CopyStream {
  private readonly stream;
  private readonly completion: Promise<void>;
  private isCompleted = false;

  constructor(client: ClientBase, table: string, columns: readonly string[]) {
    const stream = client.query(
      copyFrom(`COPY ${quoteIdentifiers([table])} (${quoteIdentifiers(columns)}) FROM STDIN`),
    );

    this.stream = stream;
    this.completion = new Promise((resolve, reject) => {
      const onCompletion = (settle: () => void) => () => {
        this.isCompleted = true;
        settle();
      };

      stream.once('finish', onCompletion(resolve));
      stream.once('error', (error: Error) => onCompletion(() => reject(error))());
    });
    // Avoids an unhandled rejection: `write` and `end` later throw the error with which the COPY
    // fails.
    this.completion.catch(() => undefined);
  }

  /**
   * Writes rows in the text format of COPY, with backpressure. Throws PostgreSQL's error, which may
   * concern rows written earlier.
   */
  async write(lines: string | Buffer): Promise<void> {
    // Writes nothing after an error, because the COPY stream no longer has a connection.
    if (this.isCompleted) return this.completion;
    const writeCompletion = new Promise<void>((resolve, reject) =>
      this.stream.write(lines, (error) => (error ? reject(error) : resolve())),
    );

    await Promise.race([writeCompletion, this.completion]);
  }

  /** Completes the COPY. Throws PostgreSQL's error if it rejects a row. */
  async end(): Promise<void> {
    if (!this.isCompleted) this.stream.end();
    await this.completion;
  }

  /** Aborts the COPY, which also fails the surrounding transaction. */
  async abort(): Promise<void> {
    if (!this.isCompleted) this.stream.destroy();
    await this.completion.catch(() => undefined);
  }
}
