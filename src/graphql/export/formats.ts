/** Export formats by filename extension: CSV and JSON Lines. */
import type { FieldNode, GraphQLCompositeType } from 'graphql';
import { BOM, unquotedCellText, formatCell, formatLine } from '../../platform/csv';
import { createExportError } from './errors';
import type { FieldCollector } from './fieldcollection';
import { isPagedList, type ExportedList } from './list';

const VALUE_SEPARATOR = '; ';
/** Maximum number of fields per exported row. Otherwise, nested fragments could expand a short document to millions of fields. */
const MAX_FIELDS_PER_ROW = 1_000;

interface CsvColumn {
  name: string;
  path: readonly string[];
}

/**
 * Returns the CSV columns of an export: the leaf fields of a row in selection order, named by path (`exercise.name`). Throws `ExportError` for too
 * many fields, and for a paged list inside a row, because a cell would contain only its first page.
 */
function csvColumnsOf(
  rowNodes: readonly FieldNode[],
  type: GraphQLCompositeType,
  fieldCollector: FieldCollector,
): CsvColumn[] {
  const columns: CsvColumn[] = [];
  let fieldCount = 0;
  const walk = (
    nodes: readonly FieldNode[],
    parent: GraphQLCompositeType,
    path: readonly string[],
  ): void => {
    for (const selectedField of fieldCollector.collectFields(nodes, parent)) {
      fieldCount += 1;
      if (fieldCount > MAX_FIELDS_PER_ROW)
        throw createExportError(
          `A row of a file can have at most ${MAX_FIELDS_PER_ROW} fields, including those of nested objects.`,
        );
      const columnPath = [...path, selectedField.responseKey];
      const name = columnPath.join('.');
      if (isPagedList(selectedField))
        throw createExportError(
          `\`${name}\` is a paginated list, which does not fit in a cell. Export that list separately, or export as .jsonl.`,
          name,
        );
      const childType = fieldCollector.compositeTypeOf(selectedField);
      if (childType) walk(selectedField.nodes, childType, columnPath);
      else columns.push({ name, path: columnPath });
    }
  };
  walk(rowNodes, type, []);
  return columns;
}

/** Returns the value at `path` in a row; null if there is none. The elements of a list are joined into a string. */
function cellOf(row: unknown, path: readonly string[], startIndex = 0): unknown {
  let value = row;
  for (let index = startIndex; index < path.length; index += 1) {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return joinValues(value, path, index);
    value = (value as Record<string, unknown>)[path[index]!];
  }
  return Array.isArray(value) ? joinValues(value, path, path.length) : (value ?? null);
}

const joinValues = (
  values: readonly unknown[],
  path: readonly string[],
  startIndex: number,
): string =>
  values.map((value) => unquotedCellText(cellOf(value, path, startIndex))).join(VALUE_SEPARATOR);

const csvHeader = (columns: readonly CsvColumn[]): string =>
  formatLine(columns.map(({ name }) => name));

function csvLines(rows: readonly unknown[], columns: readonly CsvColumn[]): string {
  let text = '';
  for (const row of rows)
    text += formatLine(columns.map(({ path }) => formatCell(cellOf(row, path))));
  return text;
}

export interface ExportFormat {
  mediaType: string;
  /** Creates a writer, which converts rows of the list to lines of the file. Throws `ExportError` if the format cannot represent the selection. */
  createWriter(
    list: ExportedList,
    needsBom: boolean,
  ): { header: string; formatRows(rows: readonly unknown[]): string };
}

const CSV_FORMAT: ExportFormat = {
  mediaType: 'text/csv; charset=utf-8; header=present',
  createWriter({ rowFieldNodes, rowType, fieldCollector }, needsBom) {
    const columns = csvColumnsOf(rowFieldNodes, rowType, fieldCollector);
    return {
      header: (needsBom ? BOM : '') + csvHeader(columns),
      formatRows: (pageRows) => csvLines(pageRows, columns),
    };
  },
};

/** JSON Lines (https://jsonlines.org): one line per row, as in the GraphQL response. */
const JSONL_FORMAT: ExportFormat = {
  mediaType: 'application/jsonl; charset=utf-8',
  createWriter: () => ({
    header: '',
    formatRows: (pageRows) => pageRows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  }),
};

export const EXPORT_FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  ['csv', CSV_FORMAT],
  ['jsonl', JSONL_FORMAT],
]);
