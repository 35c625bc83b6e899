/** Structural limits of JSON: depth, members and values. A single scan checks them before the text is parsed, and stops at the first exceeded limit. */

/** Maximum nesting depth of arrays and objects, because later code processes them recursively. */
export const MAX_JSON_DEPTH = 100;
/** Maximum number of members of the outermost value. The reference service has the same limit for forms. */
export const MAX_TOP_LEVEL_JSON_MEMBERS = 1_000;
const MAX_JSON_VALUES = 20_000;

const [QUOTE, BACKSLASH, COMMA] = [...'"\\,'].map((character) => character.charCodeAt(0));
const OPENING_BRACKET_CODES = new Set([...'[{'].map((character) => character.charCodeAt(0)));
const CLOSING_BRACKET_CODES = new Set([...']}'].map((character) => character.charCodeAt(0)));

/** Returns a description of the first structural limit that the JSON text exceeds; undefined if it exceeds none. Does not validate the syntax. */
export function describeExceededJsonLimit(json: string): string | undefined {
  let depth = 0;
  let topLevelMemberCount = 1;
  let valueCount = 1;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) {
      for (index += 1; index < json.length && json.charCodeAt(index) !== QUOTE; index += 1)
        if (json.charCodeAt(index) === BACKSLASH) index += 1;
    } else if (code === COMMA) {
      valueCount += 1;
      if (depth === 1) topLevelMemberCount += 1;
    } else if (OPENING_BRACKET_CODES.has(code)) {
      valueCount += 1;
      depth += 1;
    } else if (CLOSING_BRACKET_CODES.has(code)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return `Nested deeper than ${MAX_JSON_DEPTH} levels`;
    if (topLevelMemberCount > MAX_TOP_LEVEL_JSON_MEMBERS)
      return `More than ${MAX_TOP_LEVEL_JSON_MEMBERS} members`;
    if (valueCount > MAX_JSON_VALUES) return `More than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}
