/** Sort order, filter and hidden columns of a result table, as chosen by the user. */
import { formatLine, formatCell, unquotedCellText } from '../../../platform/csv';
import type { Column, Table } from './table';
import { columnHeadingOf } from './columntitles';

export interface TableArrangement {
  sort?: { columnName: string; descending: boolean };
  /** Text that at least one visible cell of a row must contain, ignoring case. */
  filterText: string;
  hiddenColumnNames: ReadonlySet<string>;
}

export const DEFAULT_ARRANGEMENT: TableArrangement = {
  filterText: '',
  hiddenColumnNames: new Set(),
};

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Compares two cells for sorting. Null values come last in either direction. */
function compareCells(a: unknown, b: unknown, kind: Column['kind'], descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    kind === 'number'
      ? Number(a) - Number(b)
      : COLLATOR.compare(unquotedCellText(a), unquotedCellText(b));
  return descending ? -order : order;
}

export function arrangeTable(
  { columns, rows }: Table,
  { sort, filterText, hiddenColumnNames }: TableArrangement,
): Table {
  const visibleColumnIndexes = columns.flatMap(({ name }, index) =>
    hiddenColumnNames.has(name) ? [] : [index],
  );
  const searchText = filterText.trim().toLowerCase();
  const filteredRows =
    searchText === ''
      ? [...rows]
      : rows.filter((row) =>
          visibleColumnIndexes.some((index) =>
            unquotedCellText(row[index]).toLowerCase().includes(searchText),
          ),
        );
  const sortColumnIndex = sort ? columns.findIndex(({ name }) => name === sort.columnName) : -1;
  if (sort && sortColumnIndex >= 0)
    filteredRows.sort((a, b) =>
      compareCells(
        a[sortColumnIndex],
        b[sortColumnIndex],
        columns[sortColumnIndex]!.kind,
        sort.descending,
      ),
    );
  return {
    columns: visibleColumnIndexes.map((index) => columns[index]!),
    rows: filteredRows.map((row) => visibleColumnIndexes.map((index) => row[index])),
  };
}

/** Returns the sort order after a click on a heading: ascending, then descending, then unsorted. */
export function nextSortOrder(
  { sort }: TableArrangement,
  column: string,
): TableArrangement['sort'] {
  if (sort?.columnName !== column) return { columnName: column, descending: false };
  return sort.descending ? undefined : { columnName: column, descending: true };
}

/**
 * Returns the table as CSV. Columns have the same names as in the CSV export of the server; if the values of a column were converted, their unit follows
 * its name.
 */
export const csvOf = ({ columns, rows }: Table): string =>
  formatLine(
    columns.map((column) =>
      formatCell(column.isUnitConverted ? columnHeadingOf(column) : column.name),
    ),
  ) + rows.map((row) => formatLine(row.map(formatCell))).join('');
