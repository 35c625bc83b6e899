/**
 * A query result as a table. Its rows are those of a list; its columns are the fields of these rows, named by their path (`keys.exercise.name`) as in
 * the CSV export. Values of a nested list share a cell, unless that list is selected: then each of its rows is a row of the table.
 */
import { isNumber, unquotedCellText } from '../../../platform/csv';

export type ColumnKind = 'number' | 'time' | 'text';

export interface Column {
  name: string;
  kind: ColumnKind;
  /** Unit of the column, if its values are masses. */
  unit?: string;
  isUnitConverted?: boolean;
}

export interface Table {
  columns: readonly Column[];
  /** Each row has one cell per column; cells without a value are null. */
  rows: readonly (readonly unknown[])[];
}

type FieldValues = Readonly<Record<string, unknown>>;
type CellByColumn = ReadonlyMap<string, unknown>;

const VALUE_SEPARATOR = '; ';
const TIME_PATTERN = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/;
/** Names of columns whose values are identifiers. They are treated as text even if they consist of digits. */
const IDENTIFIER_COLUMN_PATTERN = /(?:^|\.)(?:id|code|version|\w+Ids?)$/;

const isFieldValues = (value: unknown): value is FieldValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isObjectList = (value: unknown): value is readonly FieldValues[] =>
  Array.isArray(value) && value.some(isFieldValues);
const joinPath = (prefix: string, key: string) => (prefix === '' ? key : `${prefix}.${key}`);

export interface ResultList {
  /** Path of the list from the root of the result, such as `workoutLogs.nodes`. */
  path: string;
  /** Path of the outermost list that contains this list; the path of the list itself if it is not nested in another one. */
  outermostListPath: string;
  rowCount: number;
}

/** Returns all lists of objects in the result. Nested lists come after the lists that contain them. */
export function resultListsOf(data: unknown): ResultList[] {
  const listsByPath = new Map<string, ResultList>();
  const collectLists = (
    value: unknown,
    path: string,
    outermostListPath: string | undefined,
  ): void => {
    if (isObjectList(value)) {
      const list = listsByPath.get(path) ?? {
        path,
        outermostListPath: outermostListPath ?? path,
        rowCount: 0,
      };
      list.rowCount += value.length;
      listsByPath.set(path, list);
      for (const row of value)
        if (isFieldValues(row)) collectListsOfFields(row, path, list.outermostListPath);
    } else if (isFieldValues(value)) collectListsOfFields(value, path, outermostListPath);
  };
  const collectListsOfFields = (
    fields: FieldValues,
    path: string,
    outermostListPath: string | undefined,
  ): void => {
    for (const [key, value] of Object.entries(fields))
      collectLists(value, joinPath(path, key), outermostListPath);
  };
  collectLists(data, '', undefined);
  return [...listsByPath.values()];
}

/** Returns the list to show by default: the first list or, if it has a single row, the first list in it that has several rows. */
export function defaultResultList(lists: readonly ResultList[]): ResultList | undefined {
  const [first] = lists;
  if (!first || first.rowCount > 1) return first;
  return (
    lists.find(
      ({ outermostListPath, rowCount }) =>
        outermostListPath === first.outermostListPath && rowCount > 1,
    ) ?? first
  );
}

function valueAt(data: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isFieldValues(value) ? value[key] : undefined), data);
}

/** Returns the column names, which are the paths of all values in the response, in order of appearance. */
function columnNamesOf(rows: readonly unknown[]): string[] {
  const columnNames = new Set<string>();
  const collectColumnNames = (value: unknown, path: string): void => {
    if (isFieldValues(value))
      for (const [key, part] of Object.entries(value))
        collectColumnNames(part, joinPath(path, key));
    else if (isObjectList(value)) for (const row of value) collectColumnNames(row, path);
    else if (path !== '') columnNames.add(path);
  };
  for (const row of rows) collectColumnNames(row, '');
  // A field that is null in one row and an object in another gets no column of its own.
  return [...columnNames].filter(
    (name) => ![...columnNames].some((other) => other.startsWith(`${name}.`)),
  );
}

/** Joins several values into one string. A single value is returned unchanged. */
function joinValues(values: readonly unknown[]): unknown {
  if (values.length < 2) return values[0] ?? null;
  return values.map(unquotedCellText).join(VALUE_SEPARATOR);
}

/** Returns the table rows for one row of the result. Each item of the lists along the path `rowListPath` becomes a separate table row. */
function tableRowsOf(value: unknown, path: string, rowListPath: string): CellByColumn[] {
  if (Array.isArray(value)) {
    if (path === rowListPath || rowListPath.startsWith(`${path}.`)) {
      const tableRows = value.flatMap((row) => tableRowsOf(row, path, rowListPath));
      return tableRows.length ? tableRows : [new Map()];
    }
    const rows = value.flatMap((row) => tableRowsOf(row, path, rowListPath));
    const columnNames = new Set(rows.flatMap((row) => [...row.keys()]));
    return [
      new Map(
        [...columnNames].map((name) => [
          name,
          joinValues(rows.map((row) => row.get(name) ?? null)),
        ]),
      ),
    ];
  }
  if (!isFieldValues(value)) return [new Map([[path, value ?? null]])];
  let rows: Map<string, unknown>[] = [new Map()];
  for (const [key, fieldValue] of Object.entries(value)) {
    const fieldRows = tableRowsOf(fieldValue, joinPath(path, key), rowListPath);
    const [singleRow] = fieldRows;
    // A single value, the most frequent case, is handled without copying the rows, because results may be large.
    if (singleRow && fieldRows.length === 1)
      for (const row of rows) for (const [name, cell] of singleRow) row.set(name, cell);
    else rows = rows.flatMap((row) => fieldRows.map((cells) => new Map([...row, ...cells])));
  }
  return rows;
}

function kindOf(name: string, values: readonly unknown[]): ColumnKind {
  const nonNullValues = values.filter((value) => value !== null);
  if (nonNullValues.length === 0 || IDENTIFIER_COLUMN_PATTERN.test(name)) return 'text';
  if (
    nonNullValues.every(
      (value) => typeof value === 'number' || (typeof value === 'string' && isNumber(value)),
    )
  )
    return 'number';
  return nonNullValues.every((value) => typeof value === 'string' && TIME_PATTERN.test(value))
    ? 'time'
    : 'text';
}

/** Returns the table of a list; without a list, the whole result is a single row. */
export function tableOf(data: unknown, list?: ResultList): Table {
  const rows = list ? (valueAt(data, list.outermostListPath) as readonly unknown[]) : [data];
  const rowListPath =
    list && list.path !== list.outermostListPath
      ? list.path.slice(list.outermostListPath.length + 1)
      : '';
  const columnNames = columnNamesOf(rows);
  const tableRows = rows.flatMap((row) => tableRowsOf(row, '', rowListPath));
  const cells = tableRows.map((row) => columnNames.map((name) => row.get(name) ?? null));
  return {
    columns: columnNames.map((name, index) => ({
      name,
      kind: kindOf(
        name,
        cells.map((row) => row[index]),
      ),
    })),
    rows: cells,
  };
}
