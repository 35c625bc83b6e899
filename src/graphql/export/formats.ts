/** Export formats by filename extension: CSV and JSON Lines. */
import { getNamedType, type FieldNode, type GraphQLCompositeType } from 'graphql';
import {
  BOM,
  DELIMITERS,
  plainCellText,
  formatCell,
  formatLine,
  type Delimiter,
} from '../../shared/csv';
import { invalidArgumentError, invalidInputError } from '../../engine/declare/errors';
import { isPagedList, type ExportedList } from './list';

const VALUE_SEPARATOR = '; ';

/**
 * Maximum number of fields per exported row. Nested fragments could otherwise expand a short
 * document to millions of fields.
 */
const MAX_FIELDS_PER_ROW = 1_000;

interface CsvColumn {
  name: string;
  path: readonly string[];

  /** Whether the values are decimals, whose decimal point may be replaced. */
  hasDecimals: boolean;
}

const DECIMAL_TYPES = ['Decimal', 'Float'];

/**
 * Derives the CSV columns of an export from the leaf fields of a row. A column is named by the path
 * of its field (`exercise.name`). A paginated list inside a row is an error, because a cell would
 * contain only the first page of the list.
 */
function csvColumns({
  rowsPath,
  rowFieldNodes,
  rowType,
  fieldCollector,
}: ExportedList): CsvColumn[] {
  const columns: CsvColumn[] = [];
  let fieldCount = 0;

  const walk = (
    nodes: readonly FieldNode[],
    parent: GraphQLCompositeType,
    path: readonly string[],
  ): void => {
    for (const selectedField of fieldCollector.collectFields(nodes, parent)) {
      fieldCount += 1;

      if (fieldCount > MAX_FIELDS_PER_ROW) {
        throw invalidArgumentError(
          'query',
          `A row of a file can have at most ${MAX_FIELDS_PER_ROW} fields, including those of nested objects.`,
        );
      }

      const columnPath = [...path, selectedField.responseKey];
      const name = columnPath.join('.');

      if (isPagedList(selectedField)) {
        throw invalidInputError(
          [...rowsPath, ...columnPath],
          'A paginated list does not fit in a cell. Export it separately, or export as .jsonl.',
        );
      }

      const childType = fieldCollector.compositeTypeOf(selectedField);

      if (childType) walk(selectedField.nodes, childType, columnPath);
      else {
        const hasDecimals = DECIMAL_TYPES.includes(getNamedType(selectedField.field.type).name);

        columns.push({ name, path: columnPath, hasDecimals });
      }
    }
  };

  walk(rowFieldNodes, rowType, []);
  return columns;
}

/** Reads the value at `path` in a row, joining lists to a string. */
function cellValue(row: unknown, path: readonly string[], startIndex = 0): unknown {
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
  values.map((value) => plainCellText(cellValue(value, path, startIndex))).join(VALUE_SEPARATOR);

/** Variants of CSV. Spreadsheets in some languages expect semicolons and decimal commas. */
interface CsvOptions {
  needsBom: boolean;
  delimiter: Delimiter;
  decimalSign: DecimalSign;
}

const DECIMAL_SIGNS = ['.', ','] as const;

type DecimalSign = (typeof DECIMAL_SIGNS)[number];

/** Reads a parameter that has one of a few values, of which the first is the default. */
function choiceOf<T extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const text = parameters.get(name) ?? choices[0];
  const choice = choices.find((candidate) => candidate === text);

  if (choice === undefined) {
    const values = choices.map((value) => `\`${value}\``).join(' or ');

    throw invalidArgumentError(name, `Must be ${values}.`);
  }

  return choice;
}

const parseCsvOptions = (parameters: ReadonlyMap<string, string>): CsvOptions => ({
  needsBom: choiceOf(parameters, 'bom', ['0', '1']) === '1',
  delimiter: choiceOf(parameters, 'delimiter', DELIMITERS),
  decimalSign: choiceOf(parameters, 'decimal', DECIMAL_SIGNS),
});

function formatCsvCell(
  value: unknown,
  { hasDecimals }: CsvColumn,
  { delimiter, decimalSign }: CsvOptions,
): string {
  const cell = formatCell(value, delimiter);

  if (!hasDecimals || decimalSign === '.') return cell;
  const localizedCell = cell.replaceAll('.', decimalSign);

  return localizedCell.includes(delimiter) && !localizedCell.startsWith('"')
    ? `"${localizedCell}"`
    : localizedCell;
}

function csvLines(
  rows: readonly unknown[],
  columns: readonly CsvColumn[],
  options: CsvOptions,
): string {
  let text = '';

  for (const row of rows) {
    const cells = columns.map((column) =>
      formatCsvCell(cellValue(row, column.path), column, options),
    );

    text += formatLine(cells, options.delimiter);
  }

  return text;
}

export interface ExportFormat {
  mediaType: string;

  /** Names of the query parameters of the format. */
  parameterNames: readonly string[];

  /**
   * Creates a writer that formats rows as lines of the file. Throws BAD_USER_INPUT if a parameter is
   * invalid, or if the format cannot represent the selection.
   */
  createWriter(
    list: ExportedList,
    parameters: ReadonlyMap<string, string>,
  ): { header: string; formatRows(rows: readonly unknown[]): string };
}

const CSV_FORMAT: ExportFormat = {
  mediaType: 'text/csv; charset=utf-8; header=present',
  parameterNames: ['bom', 'delimiter', 'decimal'],
  createWriter(list, parameters) {
    const options = parseCsvOptions(parameters);
    const columns = csvColumns(list);
    const names = columns.map(({ name }) => name);

    return {
      header: (options.needsBom ? BOM : '') + formatLine(names, options.delimiter),
      formatRows: (pageRows) => csvLines(pageRows, columns, options),
    };
  },
};

/** JSON Lines (https://jsonlines.org): one line per row, as in the GraphQL response. */
const JSONL_FORMAT: ExportFormat = {
  mediaType: 'application/jsonl; charset=utf-8',
  parameterNames: [],
  createWriter: () => ({
    header: '',
    formatRows: (pageRows) => pageRows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  }),
};

export const EXPORT_FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  ['csv', CSV_FORMAT],
  ['jsonl', JSONL_FORMAT],
]);
