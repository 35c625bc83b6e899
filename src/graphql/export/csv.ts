/** Lines of CSV. (https://www.rfc-editor.org/rfc/rfc4180) */
import { cellOf, textOf, type Column } from './columns';

/** Without it some spreadsheets take UTF-8 for something else. */
export const BOM = '\uFEFF';
const END = '\r\n';

/** What a spreadsheet takes for the beginning of a formula, in full width too. (https://owasp.org/www-community/attacks/CSV_Injection) */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
/** Also that of a decimal, which comes as a text. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;
/** Longer than any number that the service shows. */
const MAX_NUMBER = 40;

const isNumber = (text: string) => text.length <= MAX_NUMBER && NUMBER.test(text);

/** Nothing is an empty cell, and an empty text is one in quotes, as PostgreSQL's COPY has them. */
function quoted(value: unknown): string {
  if (value === null) return '';
  const text = textOf(value);
  if (text === '') return '""';
  const harmless = FORMULA.test(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A line that is empty would be taken for none. */
const line = (cells: readonly string[]): string => (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')) + END;

export const headerOf = (columns: readonly Column[]): string => line(columns.map(({ name }) => name));

export function linesOf(rows: readonly unknown[], columns: readonly Column[]): string {
  let text = '';
  for (const row of rows) text += line(columns.map(({ path }) => quoted(cellOf(row, path))));
  return text;
}
