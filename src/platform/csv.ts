/** Cells and lines of CSV. (https://www.rfc-editor.org/rfc/rfc4180) The browser has this file too: it needs nothing of Node. */

/** Without it some spreadsheets take UTF-8 for something else. */
export const BOM = '\uFEFF';
const END = '\r\n';

/**
 * What a spreadsheet takes for the beginning of a formula, in full width too; behind a semicolon as well, which separates cells where commas are for
 * decimals. (https://owasp.org/www-community/attacks/CSV_Injection)
 */
const FORMULA = /(?:^|;["']?)[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
/** Also that of a decimal, which comes as a text. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?$/;
/** Longer than any number that the service shows. */
const MAX_NUMBER = 40;

export const isNumber = (text: string): boolean => text.length <= MAX_NUMBER && NUMBER.test(text);

export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
};

/** Nothing is an empty cell, and an empty text is one in quotes, as PostgreSQL's COPY has them. */
export function quoted(value: unknown): string {
  if (value === null) return '';
  const text = textOf(value);
  if (text === '') return '""';
  const harmless = FORMULA.test(text) && !isNumber(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Of cells that are quoted. A line that is empty would be taken for none. */
export const line = (cells: readonly string[]): string => (cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')) + END;
