/** CSV columns of an export: the leaf fields of a row in selection order, named by path (`exercise.name`). Values of a list share one cell. */
import type { FieldNode, GraphQLCompositeType } from 'graphql';
import { formatLine, formatCell, cellText } from '../../platform/csv';
import { isPaged } from './list';
import { exportError } from './errors';
import type { FieldCollector } from './fieldcollection';

const VALUE_SEPARATOR = '; ';
/** Nested fragments can expand a short document to millions of fields. */
const MAX_FIELDS_PER_ROW = 1_000;

export interface Column {
  name: string;
  path: readonly string[];
}

/** Throws `ExportError` for too many fields, and for a paged list inside a row, of which a cell would show only the first page. */
export function csvColumnsOf(rows: readonly FieldNode[], type: GraphQLCompositeType, selections: FieldCollector): Column[] {
  const columns: Column[] = [];
  let fields = 0;
  const walk = (nodes: readonly FieldNode[], parent: GraphQLCompositeType, path: readonly string[]): void => {
    for (const selectedField of selections.collectFields(nodes, parent)) {
      fields += 1;
      if (fields > MAX_FIELDS_PER_ROW)
        throw exportError(`A row of a file can have at most ${MAX_FIELDS_PER_ROW} fields, including those of nested objects.`);
      const columnPath = [...path, selectedField.key];
      const name = columnPath.join('.');
      if (isPaged(selectedField))
        throw exportError(
          `\`${name}\` is a paginated list, which does not fit in a cell. Export that list separately, or export as .jsonl.`,
          name,
        );
      const childType = selections.compositeTypeOf(selectedField);
      if (childType) walk(selectedField.nodes, childType, columnPath);
      else columns.push({ name, path: columnPath });
    }
  };
  walk(rows, type, []);
  return columns;
}

/** Returns the value at `path` in a row; null if absent, and joined texts for lists. */
export function cellOf(row: unknown, path: readonly string[], startIndex = 0): unknown {
  let value = row;
  for (let index = startIndex; index < path.length; index += 1) {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return joinValues(value, path, index);
    value = (value as Record<string, unknown>)[path[index]!];
  }
  return Array.isArray(value) ? joinValues(value, path, path.length) : (value ?? null);
}

const joinValues = (values: readonly unknown[], path: readonly string[], startIndex: number): string =>
  values.map((value) => cellText(cellOf(value, path, startIndex))).join(VALUE_SEPARATOR);

export const csvHeader = (columns: readonly Column[]): string => formatLine(columns.map(({ name }) => name));

export function csvLines(rows: readonly unknown[], columns: readonly Column[]): string {
  let text = '';
  for (const row of rows) text += formatLine(columns.map(({ path }) => formatCell(cellOf(row, path))));
  return text;
}
