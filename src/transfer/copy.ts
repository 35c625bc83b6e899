/**
 * Rows into a table by COPY, which reads values as they come: imports have millions of rows. A model would make one text of all their values, each
 * escaped on its own, which took fourteen times as long as a statement with arrays (`core/write/store.ts`), and COPY is faster still.
 */
import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** As COPY reads it; an object or a list as JSON. */
function written(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
  return text.replace(/[\\\n\r\t]/g, (sign) => ESCAPES[sign]!);
}

/** The columns are those of the first row. */
export async function copyRows(client: ClientBase, table: string, rows: readonly Record<string, unknown>[]): Promise<void> {
  if (!rows.length) return;
  const columns = Object.keys(rows[0]!);
  const stream = client.query(copyFrom(`COPY "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) FROM STDIN`));
  stream.end(rows.map((row) => `${columns.map((column) => written(row[column])).join('\t')}\n`).join(''));
  await finished(stream);
}
