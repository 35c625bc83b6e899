/** Sort order, filter and hidden columns of a result table, as chosen by the user. */
import { formatLine, formatCell, unquotedCellText } from '../../../platform/csv';
import type { Column, Table } from './table';
import { columnHeadingOf } from './columntitles';

export interface TableArrangement {
  sort?: { column: string; descending: boolean };
  /** Text that at least one visible cell of a row must contain, ignoring case. */
  filter: string;
  hiddenColumns: ReadonlySet<string>;
}

export const DEFAULT_ARRANGEMENT: TableArrangement = { filter: '', hiddenColumns: new Set() };

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Compares two cells for sorting. Null values come last in either direction. */
function compareCells(a: unknown, b: unknown, kind: Column['kind'], descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = kind === 'number' ? Number(a) - Number(b) : COLLATOR.compare(unquotedCellText(a), unquotedCellText(b));
  return descending ? -order : order;
}

export function arrangeTable({ columns, rows }: Table, { sort, filter, hiddenColumns }: TableArrangement): Table {
  const visibleIndexes = columns.flatMap(({ name }, index) => (hiddenColumns.has(name) ? [] : [index]));
  const searchText = filter.trim().toLowerCase();
  const filteredRows =
    searchText === ''
      ? [...rows]
      : rows.filter((row) => visibleIndexes.some((index) => unquotedCellText(row[index]).toLowerCase().includes(searchText)));
  const sortIndex = sort ? columns.findIndex(({ name }) => name === sort.column) : -1;
  if (sort && sortIndex >= 0)
    filteredRows.sort((a, b) => compareCells(a[sortIndex], b[sortIndex], columns[sortIndex]!.kind, sort.descending));
  return {
    columns: visibleIndexes.map((index) => columns[index]!),
    rows: filteredRows.map((row) => visibleIndexes.map((index) => row[index])),
  };
}

/** Returns the sort order after a click on a heading: ascending, then descending, then unsorted. */
export function nextSortOrder({ sort }: TableArrangement, column: string): TableArrangement['sort'] {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? undefined : { column, descending: true };
}

/**
 * Returns the table as CSV. Columns have the same names as in the CSV export of the server; if the values of a column were converted, their unit follows
 * its name.
 */
export const csvOf = ({ columns, rows }: Table): string =>
  formatLine(columns.map((column) => formatCell(column.isConverted ? columnHeadingOf(column) : column.name))) +
  rows.map((row) => formatLine(row.map(formatCell))).join('');
