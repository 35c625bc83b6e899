/** Export formats by filename extension: CSV and JSON Lines. */
import { BOM } from '../../platform/csv';
import { csvColumnsOf, csvHeader, csvLines } from './columns';
import type { ExportedList } from './list';

export interface Format {
  mediaType: string;
  /** Throws `ExportError` for a selection that the format cannot represent. */
  writer(list: ExportedList, withBom: boolean): { header: string; linesOf(rows: readonly unknown[]): string };
}

const csv: Format = {
  mediaType: 'text/csv; charset=utf-8; header=present',
  writer({ rows, type, selections }, withBom) {
    const columns = csvColumnsOf(rows, type, selections);
    return { header: (withBom ? BOM : '') + csvHeader(columns), linesOf: (pageRows) => csvLines(pageRows, columns) };
  },
};

/** One line per row, as in the GraphQL response. (https://jsonlines.org) */
const jsonl: Format = {
  mediaType: 'application/jsonl; charset=utf-8',
  writer: () => ({ header: '', linesOf: (pageRows) => pageRows.map((row) => `${JSON.stringify(row)}\n`).join('') }),
};

export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['csv', csv],
  ['jsonl', jsonl],
]);
