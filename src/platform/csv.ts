/** CSV writer (https://www.rfc-editor.org/rfc/rfc4180). It is also bundled for browsers, so it must not import Node modules. */

/** Byte order mark, without which some spreadsheets do not recognise UTF-8. */
export const BOM = '\uFEFF';
const LINE_END = '\r\n';

/**
 * Start of a formula (CSV injection, https://owasp.org/www-community/attacks/CSV_Injection): certain characters, also in their full-width forms, at the
 * start of a cell or after white space and invisible characters there, which spreadsheet programs may ignore. In locales with a decimal comma, these
 * programs separate cells by semicolons. The quotes around our cells then protect neither semicolons nor line breaks within a cell, so that a formula can
 * also start after one of these.
 */
const FORMULA_START_PATTERN =
  /(^|[;\r\n]["']?)(?=[\t\r]|(?:(?![\r\n])[\s\p{Cc}\p{Cf}])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;
/** Syntax of numbers, including decimals, which are passed as strings such as `-1.5`. A number is never a formula, even if it is negative. */
const NUMBER_PATTERN = /^-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;
/** Maximum length of a number in characters. Longer strings are treated as text; no column contains longer numbers. */
const MAX_NUMBER_LENGTH = 40;

export const isNumber = (text: string): boolean =>
  text.length <= MAX_NUMBER_LENGTH && NUMBER_PATTERN.test(text);

/** Returns the text of a cell for a value, without quotes or escapes. Null becomes an empty string, an object JSON. */
export const unquotedCellText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object'
    ? JSON.stringify(value)
    : String(value as string | number | boolean);
};

/** Formats a cell. Null becomes an empty cell, and an empty string a quoted one, as in PostgreSQL's COPY. A formula gets an apostrophe, which disables it. */
export function formatCell(value: unknown): string {
  if (value === null) return '';
  const text = unquotedCellText(value);
  if (text === '') return '""';
  const safeText = isNumber(text) ? text : text.replace(FORMULA_START_PATTERN, "$1'");
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText;
}

/** Joins formatted cells into a line. A single empty cell is quoted, because parsers skip empty lines. */
export const formatLine = (cells: readonly string[]): string =>
  (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')) + LINE_END;
