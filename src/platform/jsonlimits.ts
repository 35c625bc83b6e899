/** Structural limits of JSON: depth, members and values. A single scan checks them before the text is parsed, and stops at the first exceeded limit. */

/** Maximum nesting depth of arrays and objects, because later code processes them recursively. */
export const MAX_JSON_DEPTH = 100;
/** Maximum number of members of the outermost value. The reference service has the same limit for forms. */
export const MAX_JSON_MEMBERS = 1_000;
/** Maximum number of values in the whole text, including the values in all objects and arrays. */
const MAX_JSON_VALUES = 20_000;

const [QUOTE, BACKSLASH, COMMA] = [...'"\\,'].map((sign) => sign.charCodeAt(0));
const OPENING_BRACKET_CODES = new Set([...'[{'].map((sign) => sign.charCodeAt(0)));
const CLOSING_BRACKET_CODES = new Set([...']}'].map((sign) => sign.charCodeAt(0)));

/** Returns a description of the first structural limit that the JSON text exceeds; undefined if it exceeds none. Does not validate the syntax. */
export function findExceededLimit(json: string): string | undefined {
  let depth = 0;
  let members = 1;
  let values = 1;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) {
      for (index += 1; index < json.length && json.charCodeAt(index) !== QUOTE; index += 1)
        if (json.charCodeAt(index) === BACKSLASH) index += 1;
    } else if (code === COMMA) {
      values += 1;
      if (depth === 1) members += 1;
    } else if (OPENING_BRACKET_CODES.has(code)) {
      values += 1;
      depth += 1;
    } else if (CLOSING_BRACKET_CODES.has(code)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return `Nested deeper than ${MAX_JSON_DEPTH} levels`;
    if (members > MAX_JSON_MEMBERS) return `More than ${MAX_JSON_MEMBERS} members`;
    if (values > MAX_JSON_VALUES) return `More than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}
