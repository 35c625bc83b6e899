/**
 * CSV writer (https://www.rfc-editor.org/rfc/rfc4180). Also bundled for browsers, so it must not
 * import Node modules.
 */

/** Byte order mark, without which some spreadsheets do not recognise UTF-8. */
export const BOM = '\uFEFF';
const LINE_END = '\r\n';

/**
 * Start of a formula, at the beginning of a cell or after a semicolon or line break: in locales
 * with a decimal comma, spreadsheet programs split even quoted cells there (CSV injection,
 * https://owasp.org/www-community/attacks/CSV_Injection).
 */
const FORMULA_START_PATTERN =
  /(^|[;\r\n]["']?)(?=[\t\r]|(?:(?![\r\n])[\s\p{Cc}\p{Cf}])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/**
 * Numbers, including decimals that are passed as strings such as `-1.5`. They are never formulas.
 */
const NUMBER_PATTERN = /^-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;

/** Maximum length of a number in characters. Longer strings are treated as text. */
const MAX_NUMBER_LENGTH = 40;

export const isNumericText = (text: string): boolean =>
  text.length <= MAX_NUMBER_LENGTH && NUMBER_PATTERN.test(text);

/** Converts a value to the text of a cell, without quotes or escapes. Objects become JSON. */
export const plainCellText = (value: unknown): string => {
  if (value === null || value === undefined) return '';

  if (typeof value === 'object') return JSON.stringify(value);

  return String(value as string | number | boolean);
};

export const DELIMITERS = [',', ';'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/**
 * Formats a cell. Null is an empty cell, and an empty string a quoted one, as in PostgreSQL's COPY.
 * An apostrophe before a formula makes spreadsheet programs treat it as text.
 */
export function formatCell(value: unknown, delimiter: Delimiter = ','): string {
  if (value === null) return '';
  const text = plainCellText(value);

  if (text === '') return '""';
  const safeText = isNumericText(text) ? text : text.replace(FORMULA_START_PATTERN, "$1'");

  const needsQuotes = safeText.includes(delimiter) || /["\r\n]/.test(safeText);

  return needsQuotes ? `"${safeText.replaceAll('"', '""')}"` : safeText;
}

/**
 * Joins formatted cells into a line. A single empty cell is quoted, because parsers skip empty
 * lines.
 */
export const formatLine = (cells: readonly string[], delimiter: Delimiter = ','): string =>
  (cells.length === 1 && cells[0] === '' ? '""' : cells.join(delimiter)) + LINE_END;
