/** What a file may be, by the end of its name. */
import { BOM } from '../../platform/csv';
import { columnsOf, headerOf, linesOf } from './columns';
import type { ExportedList } from './list';

export interface Format {
  mediaType: string;
  /** Throws a Refused for a selection that it has no place for. */
  writer(list: ExportedList, withBom: boolean): { header: string; linesOf(rows: readonly unknown[]): string };
}

const csv: Format = {
  mediaType: 'text/csv; charset=utf-8; header=present',
  writer({ rows, type, selections }, withBom) {
    const columns = columnsOf(rows, type, selections);
    return { header: (withBom ? BOM : '') + headerOf(columns), linesOf: (found) => linesOf(found, columns) };
  },
};

/** Each row as GraphQL answers it, in a line. (https://jsonlines.org) */
const jsonl: Format = {
  mediaType: 'application/jsonl; charset=utf-8',
  writer: () => ({ header: '', linesOf: (found) => found.map((row) => `${JSON.stringify(row)}\n`).join('') }),
};

export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['csv', csv],
  ['jsonl', jsonl],
]);
