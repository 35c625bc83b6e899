/**
 * An answer as a table: each row of a list is a row, the fields below it are columns named by their path (`keys.exercise.name`), as in the
 * files of the export. Lists below a row share its cells, or make rows of their own where they are what is looked at.
 */
import { isNumber, textOf } from '../../../platform/csv';

export type ColumnKind = 'number' | 'time' | 'text';

export interface Column {
  name: string;
  kind: ColumnKind;
  /** Of a mass. */
  unit?: string;
  /** It is not the one that the answer has. */
  isConverted?: boolean;
}

export interface Table {
  columns: readonly Column[];
  /** A cell for each column; null for nothing. */
  rows: readonly (readonly unknown[])[];
}

type Fields = Readonly<Record<string, unknown>>;
type Cells = ReadonlyMap<string, unknown>;

const BETWEEN = '; ';
const TIME = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/;
/** What is called so names a row and counts nothing, though it is written in digits. */
const IDENTIFIER = /(?:^|\.)(?:id|code|version|\w+Ids?)$/;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is readonly Fields[] => Array.isArray(value) && value.some(isFields);
const under = (prefix: string, key: string) => (prefix === '' ? key : `${prefix}.${key}`);

export interface List {
  /** From the root of the answer, such as `workoutLogs.nodes`. */
  name: string;
  /** Of the outermost list that it is in, itself or one above. */
  root: string;
  rows: number;
}

/** Every list of objects in the answer, those within others after them. */
export function listsOf(data: unknown): List[] {
  const found = new Map<string, List>();
  const walk = (value: unknown, path: string, root: string | undefined): void => {
    if (isList(value)) {
      const list = found.get(path) ?? { name: path, root: root ?? path, rows: 0 };
      list.rows += value.length;
      found.set(path, list);
      for (const row of value) if (isFields(row)) walkFields(row, path, list.root);
    } else if (isFields(value)) walkFields(value, path, root);
  };
  const walkFields = (fields: Fields, path: string, root: string | undefined): void => {
    for (const [key, value] of Object.entries(fields)) walk(value, under(path, key), root);
  };
  walk(data, '', undefined);
  return [...found.values()];
}

/** The list that is meant unless the reader says otherwise: the first one, or where that is a single row the first list within it that has more. */
export function mainList(lists: readonly List[]): List | undefined {
  const [first] = lists;
  if (!first || first.rows > 1) return first;
  return lists.find(({ root, rows }) => root === first.root && rows > 1) ?? first;
}

function at(data: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isFields(value) ? value[key] : undefined), data);
}

/** Names of the columns of these rows in the order in which they come, whatever becomes a row. */
function namesOf(rows: readonly unknown[]): string[] {
  const names = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    if (isFields(value)) for (const [key, part] of Object.entries(value)) walk(part, under(path, key));
    else if (isList(value)) for (const row of value) walk(row, path);
    else if (path !== '') names.add(path);
  };
  for (const row of rows) walk(row, '');
  // What is nothing in one row and an object in another is no column of its own.
  return [...names].filter((name) => ![...names].some((other) => other.startsWith(`${name}.`)));
}

/** What shares a cell: one value stays what it is, more are a text. */
function shared(values: readonly unknown[]): unknown {
  if (values.length < 2) return values[0] ?? null;
  return values.map(textOf).join(BETWEEN);
}

/** The rows that one row makes; lists under `unrolled` make one for each of their rows. */
function cellsOf(value: unknown, path: string, unrolled: string): Cells[] {
  if (Array.isArray(value)) {
    if (path === unrolled || unrolled.startsWith(`${path}.`)) {
      const made = value.flatMap((row) => cellsOf(row, path, unrolled));
      return made.length ? made : [new Map()];
    }
    const rows = value.flatMap((row) => cellsOf(row, path, unrolled));
    const names = new Set(rows.flatMap((row) => [...row.keys()]));
    return [new Map([...names].map((name) => [name, shared(rows.map((row) => row.get(name) ?? null))]))];
  }
  if (!isFields(value)) return [new Map([[path, value ?? null]])];
  let rows: Map<string, unknown>[] = [new Map()];
  for (const [key, part] of Object.entries(value)) {
    const parts = cellsOf(part, under(path, key), unrolled);
    const [only] = parts;
    // Most parts are one value, and an answer may have many.
    if (only && parts.length === 1) for (const row of rows) for (const [name, cell] of only) row.set(name, cell);
    else rows = rows.flatMap((row) => parts.map((cells) => new Map([...row, ...cells])));
  }
  return rows;
}

function kindOf(name: string, values: readonly unknown[]): ColumnKind {
  const present = values.filter((value) => value !== null);
  if (present.length === 0 || IDENTIFIER.test(name)) return 'text';
  if (present.every((value) => typeof value === 'number' || (typeof value === 'string' && isNumber(value)))) return 'number';
  return present.every((value) => typeof value === 'string' && TIME.test(value)) ? 'time' : 'text';
}

/** Of the list with this name; of an answer without lists one row. */
export function tableOf(data: unknown, list?: List): Table {
  const rows = list ? (at(data, list.root) as readonly unknown[]) : [data];
  const unrolled = list && list.name !== list.root ? list.name.slice(list.root.length + 1) : '';
  const names = namesOf(rows);
  const made = rows.flatMap((row) => cellsOf(row, '', unrolled));
  const cells = made.map((row) => names.map((name) => row.get(name) ?? null));
  return {
    columns: names.map((name, index) => ({
      name,
      kind: kindOf(
        name,
        cells.map((row) => row[index]),
      ),
    })),
    rows: cells,
  };
}
