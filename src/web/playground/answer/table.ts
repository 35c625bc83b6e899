/**
 * Converts a list in a query result to a table. Columns are named by the paths of the fields
 * (`keys.exercise.name`), as in the CSV export. The values of a nested list share a cell, unless it
 * is the list whose items the table shows as rows.
 */
import { isNumericText, plainCellText } from '../../../shared/csv';

export type ColumnKind = 'number' | 'time' | 'text';

export interface Column {
  name: string;
  kind: ColumnKind;

  /** Unit of the values, if they are masses. */
  unit?: string;

  /** Whether the values have been converted from the unit of the result to another one. */
  isUnitConverted?: boolean;
}

export interface Table {
  columns: readonly Column[];

  /** Each row has one cell per column. Cells without a value are null. */
  rows: readonly (readonly unknown[])[];
}

type JsonObject = Readonly<Record<string, unknown>>;
type CellByColumn = ReadonlyMap<string, unknown>;

const VALUE_SEPARATOR = '; ';

/** Matches dates and timestamps. */
const DATE_OR_TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/;

/** Matches names of columns with identifiers, which are text even if they consist of digits. */
const IDENTIFIER_COLUMN_PATTERN = /(?:^|\.)(?:id|code|version|\w+Ids?)$/;

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isObjectList = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.some(isJsonObject);
const joinPath = (prefix: string, key: string) => (prefix === '' ? key : `${prefix}.${key}`);

export interface ResultList {
  /** Path from the root of the result, such as `workoutLogs.nodes`. */
  path: string;

  /** Path of the outermost list around this one. Equal to `path` if the list is not nested. */
  outermostListPath: string;

  /** Total number of items. A nested list occurs once in each row of the list around it. */
  rowCount: number;
}

/** Finds all lists of objects in the result, outer lists before nested ones. */
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

      for (const row of value) {
        if (isJsonObject(row)) collectListsOfFields(row, path, list.outermostListPath);
      }
    } else if (isJsonObject(value)) {
      collectListsOfFields(value, path, outermostListPath);
    }
  };

  const collectListsOfFields = (
    fields: JsonObject,
    path: string,
    outermostListPath: string | undefined,
  ): void => {
    for (const [key, value] of Object.entries(fields)) {
      collectLists(value, joinPath(path, key), outermostListPath);
    }
  };

  collectLists(data, '', undefined);
  return [...listsByPath.values()];
}

/**
 * Chooses the list to show first. If the first list has a single row, a list of several rows inside
 * it is preferred.
 */
export function defaultResultList(lists: readonly ResultList[]): ResultList | undefined {
  const [first] = lists;

  if (!first || first.rowCount > 1) return first;

  const nestedListWithSeveralRows = lists.find(
    ({ outermostListPath, rowCount }) =>
      outermostListPath === first.outermostListPath && rowCount > 1,
  );

  return nestedListWithSeveralRows ?? first;
}

function valueAtPath(data: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), data);
}

/** Number of items of the list at a path. */
export function rowCountAtPath(data: unknown, path: string): number {
  const rows = valueAtPath(data, path);

  return Array.isArray(rows) ? rows.length : 0;
}

/** Column names: the paths of all values, in order of appearance. */
function columnNamesOf(rows: readonly unknown[]): string[] {
  const columnNames = new Set<string>();

  const collectColumnNames = (value: unknown, path: string): void => {
    if (isJsonObject(value)) {
      for (const [key, part] of Object.entries(value)) {
        collectColumnNames(part, joinPath(path, key));
      }
    } else if (isObjectList(value)) {
      for (const row of value) collectColumnNames(row, path);
    } else if (path !== '') {
      columnNames.add(path);
    }
  };

  for (const row of rows) collectColumnNames(row, '');

  // A field that is null in one row and an object in another gets no column of its own, only the
  // columns of its subfields.
  const hasSubfields = (name: string) =>
    [...columnNames].some((other) => other.startsWith(`${name}.`));

  return [...columnNames].filter((name) => !hasSubfields(name));
}

/** Joins values into one text. A single value is kept as it is. */
function joinValues(values: readonly unknown[]): unknown {
  if (values.length < 2) return values[0] ?? null;

  return values.map(plainCellText).join(VALUE_SEPARATOR);
}

/**
 * Flattens a value at `path` in a row of the outermost list. The items of lists on
 * `pathBelowOutermostList` become rows of their own; the items of other lists share a cell.
 */
function tableRowsOf(value: unknown, path: string, pathBelowOutermostList: string): CellByColumn[] {
  if (Array.isArray(value)) {
    if (path === pathBelowOutermostList || pathBelowOutermostList.startsWith(`${path}.`)) {
      const tableRows = value.flatMap((row) => tableRowsOf(row, path, pathBelowOutermostList));

      return tableRows.length ? tableRows : [new Map()];
    }

    const rows = value.flatMap((row) => tableRowsOf(row, path, pathBelowOutermostList));
    const columnNames = new Set(rows.flatMap((row) => [...row.keys()]));

    const joinColumn = (name: string) => joinValues(rows.map((row) => row.get(name) ?? null));

    return [new Map([...columnNames].map((name) => [name, joinColumn(name)]))];
  }

  if (!isJsonObject(value)) return [new Map([[path, value ?? null]])];
  let rows: Map<string, unknown>[] = [new Map()];

  for (const [key, fieldValue] of Object.entries(value)) {
    const fieldRows = tableRowsOf(fieldValue, joinPath(path, key), pathBelowOutermostList);
    const [singleRow] = fieldRows;

    // Does not copy the rows for a single value, because results may be large.
    if (singleRow && fieldRows.length === 1) {
      for (const row of rows) {
        for (const [name, cell] of singleRow) row.set(name, cell);
      }
    } else {
      rows = rows.flatMap((row) => fieldRows.map((fieldRow) => new Map([...row, ...fieldRow])));
    }
  }

  return rows;
}

function columnKindOf(name: string, values: readonly unknown[]): ColumnKind {
  const nonNullValues = values.filter((value) => value !== null);

  if (nonNullValues.length === 0 || IDENTIFIER_COLUMN_PATTERN.test(name)) return 'text';
  const isNumeric = (value: unknown) =>
    typeof value === 'number' || (typeof value === 'string' && isNumericText(value));

  if (nonNullValues.every(isNumeric)) return 'number';
  const isTime = (value: unknown) =>
    typeof value === 'string' && DATE_OR_TIMESTAMP_PATTERN.test(value);

  return nonNullValues.every(isTime) ? 'time' : 'text';
}

/** Converts a list of the result to a table. Without a list, the whole result is a single row. */
export function tableOf(data: unknown, list?: ResultList): Table {
  const rows = list ? (valueAtPath(data, list.outermostListPath) as readonly unknown[]) : [data];
  const pathBelowOutermostList = list ? list.path.slice(list.outermostListPath.length + 1) : '';
  const columnNames = columnNamesOf(rows);
  const tableRows = rows.flatMap((row) => tableRowsOf(row, '', pathBelowOutermostList));
  const cellRows = tableRows.map((row) => columnNames.map((name) => row.get(name) ?? null));

  return {
    columns: columnNames.map((name, index) => ({
      name,
      kind: columnKindOf(
        name,
        cellRows.map((row) => row[index]),
      ),
    })),
    rows: cellRows,
  };
}
