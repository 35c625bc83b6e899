/** Structural limits of JSON: a single scan of the text checks depth, members and values before it is parsed, and stops at the first excess. */

/** Maximum nesting of arrays and objects. Later code walks them recursively. */
export const MAX_JSON_DEPTH = 100;
/** Maximum members of the outermost value; the same limit as for forms in the reference service. */
export const MAX_JSON_MEMBERS = 1_000;
/** Maximum values in all objects and arrays together. */
const MAX_VALUES = 20_000;

const [QUOTE, BACKSLASH, COMMA] = [...'"\\,'].map((sign) => sign.charCodeAt(0));
const OPENING = new Set([...'[{'].map((sign) => sign.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((sign) => sign.charCodeAt(0)));

/** Returns which limit is exceeded; undefined if none. Does not validate the syntax. */
export function findExceededLimit(json: string): string | undefined {
  let depth = 0;
  let members = 1;
  let values = 1;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) if (json.charCodeAt(at) === BACKSLASH) at += 1;
    } else if (code === COMMA) {
      values += 1;
      if (depth === 1) members += 1;
    } else if (OPENING.has(code)) {
      values += 1;
      depth += 1;
    } else if (CLOSING.has(code)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return `Nested deeper than ${MAX_JSON_DEPTH} levels`;
    if (members > MAX_JSON_MEMBERS) return `More than ${MAX_JSON_MEMBERS} members`;
    if (values > MAX_VALUES) return `More than ${MAX_VALUES} values`;
  }
  return undefined;
}
