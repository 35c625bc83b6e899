/** A table as its reader has arranged it: sorted, filtered, columns hidden. */
import { line, quoted, textOf } from '../../../platform/csv';
import type { Column, Table } from './table';
import { headingOf } from './titles';

export interface Arrangement {
  sort?: { column: string; descending: boolean };
  /** Rows that have this in a column that is shown, in small letters or capitals. */
  filter: string;
  hidden: ReadonlySet<string>;
}

export const PLAIN: Arrangement = { filter: '', hidden: new Set() };

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Nothing comes last, whichever way round. */
function compare(a: unknown, b: unknown, kind: Column['kind'], descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = kind === 'number' ? Number(a) - Number(b) : COLLATOR.compare(textOf(a), textOf(b));
  return descending ? -order : order;
}

export function arranged({ columns, rows }: Table, { sort, filter, hidden }: Arrangement): Table {
  const shown = columns.flatMap(({ name }, index) => (hidden.has(name) ? [] : [index]));
  const wanted = filter.trim().toLowerCase();
  const found = wanted === '' ? [...rows] : rows.filter((row) => shown.some((index) => textOf(row[index]).toLowerCase().includes(wanted)));
  const by = sort ? columns.findIndex(({ name }) => name === sort.column) : -1;
  if (sort && by >= 0) found.sort((a, b) => compare(a[by], b[by], columns[by]!.kind, sort.descending));
  return { columns: shown.map((index) => columns[index]!), rows: found.map((row) => shown.map((index) => row[index])) };
}

/** Upwards, downwards, and as it came. */
export function sortedNext({ sort }: Arrangement, column: string): Arrangement['sort'] {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? undefined : { column, descending: true };
}

/** Under the names that the file of the server has, but where a unit is another one. */
export const csvOf = ({ columns, rows }: Table): string =>
  line(columns.map((column) => quoted(column.isConverted ? headingOf(column) : column.name))) +
  rows.map((row) => line(row.map(quoted))).join('');
