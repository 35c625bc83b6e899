/** How much a JSON text holds, told by one walk over its characters that ends at the first limit, before anything is made of it. */

/** Nesting of arrays and objects, which later code walks recursively. */
export const MAX_LEVELS = 100;
/** Members of the value itself, as many as the reference takes of a form. */
export const MAX_MEMBERS = 1_000;
/** Of all objects and lists together. */
const MAX_VALUES = 20_000;

const [QUOTE, BACKSLASH, COMMA] = [...'"\\,'].map((sign) => sign.charCodeAt(0));
const OPENING = new Set([...'[{'].map((sign) => sign.charCodeAt(0)));
const CLOSING = new Set([...']}'].map((sign) => sign.charCodeAt(0)));

/** What is wrong with it, if anything; whether it is JSON at all is the parser's to say. */
export function excessOf(json: string): string | undefined {
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
    if (depth > MAX_LEVELS) return `Nested deeper than ${MAX_LEVELS} levels`;
    if (members > MAX_MEMBERS) return `More than ${MAX_MEMBERS} members`;
    if (values > MAX_VALUES) return `More than ${MAX_VALUES} values`;
  }
  return undefined;
}
