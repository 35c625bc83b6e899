/**
 * Structural limits of JSON: depth, members and values. One scan checks them before the text is
 * parsed.
 */

/** Maximum nesting depth, because later code processes JSON recursively. */
const MAX_JSON_DEPTH = 100;

/**
 * Maximum number of members of the outermost object or array. The reference service limits forms to
 * as many fields.
 */
export const MAX_TOP_LEVEL_JSON_MEMBERS = 1_000;

/** Maximum number of values at any depth. An empty object or array counts as two. */
const MAX_JSON_VALUES = 20_000;

const [QUOTE_CODE, BACKSLASH_CODE, COMMA_CODE] = [...'"\\,'].map((character) =>
  character.charCodeAt(0),
);
const OPENING_BRACKET_CODES = new Set([...'[{'].map((character) => character.charCodeAt(0)));
const CLOSING_BRACKET_CODES = new Set([...']}'].map((character) => character.charCodeAt(0)));

/** Describes the first structural limit that a JSON text exceeds. Does not validate its syntax. */
export function describeExceededJsonLimit(json: string): string | undefined {
  let depth = 0;
  let topLevelMemberCount = 1;
  let valueCount = 1;

  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);

    if (code === QUOTE_CODE) {
      for (index += 1; index < json.length && json.charCodeAt(index) !== QUOTE_CODE; index += 1) {
        if (json.charCodeAt(index) === BACKSLASH_CODE) index += 1;
      }
    } else if (code === COMMA_CODE) {
      valueCount += 1;
      if (depth === 1) topLevelMemberCount += 1;
    } else if (OPENING_BRACKET_CODES.has(code)) {
      valueCount += 1;
      depth += 1;
    } else if (CLOSING_BRACKET_CODES.has(code)) {
      depth -= 1;
    }

    if (depth > MAX_JSON_DEPTH) return `Nested deeper than ${MAX_JSON_DEPTH} levels`;

    if (topLevelMemberCount > MAX_TOP_LEVEL_JSON_MEMBERS) {
      return `More than ${MAX_TOP_LEVEL_JSON_MEMBERS} members`;
    }

    if (valueCount > MAX_JSON_VALUES) return `More than ${MAX_JSON_VALUES} values`;
  }

  return undefined;
}
