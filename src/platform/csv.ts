/** CSV writer (https://www.rfc-editor.org/rfc/rfc4180). Also bundled for browsers, so it must not import Node modules. */

/** Byte order mark, without which some spreadsheets do not recognise UTF-8. */
export const BOM = '\uFEFF';
const LINE_END = '\r\n';

/**
 * CSV injection (https://owasp.org/www-community/attacks/CSV_Injection): characters that start a formula, including their full-width forms. Programs of
 * locales with a decimal comma separate cells by semicolons, and the quote inside such a cell does not protect a line break: a formula starts after both.
 */
const FORMULA_START = /(^|[;\r\n]["']?)(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g;
/** Decimals arrive as strings, and `-1.5` is not a formula. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;
/** In characters; exceeds the longest number of any column. */
const MAX_NUMBER_LENGTH = 40;

export const isNumber = (text: string): boolean => text.length <= MAX_NUMBER_LENGTH && NUMBER.test(text);

export const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
};

/** Formats a cell. Null is an empty cell and an empty string a quoted one, as in PostgreSQL's COPY. An apostrophe before a formula makes it a text. */
export function formatCell(value: unknown): string {
  if (value === null) return '';
  const text = cellText(value);
  if (text === '') return '""';
  const safeText = isNumber(text) ? text : text.replace(FORMULA_START, "$1'");
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText;
}

/** Joins formatted cells to a line. A single empty cell is quoted, because parsers skip empty lines. */
export const formatLine = (cells: readonly string[]): string => (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')) + LINE_END;
