/** Sorts, filters and exports a result table as the user has chosen. */
import { formatLine, formatCell, plainCellText } from '../../../shared/csv';
import type { Column, Table } from './table';
import { columnHeadingOf } from './column-titles';

export interface TableArrangement {
  sort?: { columnName: string; descending: boolean };

  /** Only rows with a visible cell that contains this text are shown. Case is ignored. */
  filterText: string;
  hiddenColumnNames: ReadonlySet<string>;
}

export const DEFAULT_ARRANGEMENT: TableArrangement = {
  filterText: '',
  hiddenColumnNames: new Set(),
};

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const compareTexts = (a: unknown, b: unknown) =>
  COLLATOR.compare(plainCellText(a), plainCellText(b));

/** Compares cells for sorting. Null values come last in both directions. */
function compareCells(a: unknown, b: unknown, kind: Column['kind'], descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = kind === 'number' ? Number(a) - Number(b) : compareTexts(a, b);

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

  const matchesFilter = (row: readonly unknown[]) =>
    searchText === '' ||
    visibleColumnIndexes.some((index) =>
      plainCellText(row[index]).toLowerCase().includes(searchText),
    );

  const filteredRows = rows.filter(matchesFilter);
  const sortColumnIndex = sort ? columns.findIndex(({ name }) => name === sort.columnName) : -1;

  if (sort && sortColumnIndex >= 0) {
    filteredRows.sort((a, b) =>
      compareCells(
        a[sortColumnIndex],
        b[sortColumnIndex],
        columns[sortColumnIndex]!.kind,
        sort.descending,
      ),
    );
  }

  return {
    columns: visibleColumnIndexes.map((index) => columns[index]!),
    rows: filteredRows.map((row) => visibleColumnIndexes.map((index) => row[index])),
  };
}

/** Sort order after a click on a heading: ascending, then descending, then unsorted. */
export function nextSortOrder(
  { sort }: TableArrangement,
  column: string,
): TableArrangement['sort'] {
  if (sort?.columnName !== column) return { columnName: column, descending: false };

  return sort.descending ? undefined : { columnName: column, descending: true };
}

/**
 * Formats the table as CSV with the column names of the server's export. Columns with converted
 * values also name their unit.
 */
export function csvOf({ columns, rows }: Table): string {
  const headings = columns.map((column) =>
    column.isUnitConverted ? columnHeadingOf(column) : column.name,
  );

  return [headings, ...rows]
    .map((cells) => formatLine(cells.map((cell) => formatCell(cell))))
    .join('');
}
