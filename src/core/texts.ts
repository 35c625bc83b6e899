/** Conditions on texts: parts of them, in capitals or not, and likeness. */
import type { Condition } from './conditions';
import type { FieldMeta } from './fields';
import { expression } from './plan';

export type Part = 'contains' | 'startsWith' | 'endsWith';

const PATTERNS: Record<Part, (text: string) => string> = {
  contains: (text) => `%${text}%`,
  startsWith: (text) => `${text}%`,
  endsWith: (text) => `%${text}`,
};

/** `%` and `_` stand for themselves. */
const pattern = (part: Part, text: string) => PATTERNS[part](text.replace(/[\\%_]/g, '\\$&'));

/** Shorter runs of letters and digits have no trigram: for them reading the table is faster than reading the whole index. */
const INDEXED = /[\p{L}\p{N}]{3}/u;

/** The text of a field as it is compared whatever the case. */
const folded = (field: FieldMeta, alias: string): string =>
  field.searched ? `${alias}."${field.column}_folded"` : `search_fold(${expression(field, alias)})`;

function hasFolded(field: FieldMeta, part: Part, text: string): Condition {
  return part !== 'contains' || INDEXED.test(text)
    ? (alias, bind) => `${folded(field, alias)} LIKE search_fold(${bind(pattern(part, text))})`
    : (alias, bind) => `strpos(${folded(field, alias)}, search_fold(${bind(text)})) > 0`;
}

export function has(field: FieldMeta, part: Part, text: string, insensitive: boolean): Condition {
  const inAnyCase = hasFolded(field, part, text);
  if (insensitive) return inAnyCase;
  const exactly: Condition = (alias, bind) => `${expression(field, alias)} LIKE ${bind(pattern(part, text))}`;
  // A part of a text is a part of its folded copy too, and that one has an index.
  return field.searched && INDEXED.test(text) ? (alias, bind) => `(${inAnyCase(alias, bind)} AND ${exactly(alias, bind)})` : exactly;
}

/** Equal to one of the texts whatever the case. */
export const isOneOf =
  (field: FieldMeta, texts: readonly string[]): Condition =>
  (alias, bind) =>
    `${folded(field, alias)} = ANY(ARRAY(SELECT search_fold(x) FROM unnest(${bind(texts)}::text[]) AS x))`;

/** A text to look for in a field. */
export interface Search {
  field: FieldMeta;
  text: string;
}

/** The field contains the text, or words much like it where the server can tell likeness. */
export function finds({ field, text }: Search): Condition {
  const contains = hasFolded(field, 'contains', text);
  if (!INDEXED.test(text)) return contains;
  return (alias, bind) => `(${contains(alias, bind)} OR search_similar(${folded(field, alias)}, search_fold(${bind(text)})))`;
}

/** How like the text the field is, as a whole number; of a row that the search finds. */
export const rank =
  ({ field, text }: Search): Condition =>
  (alias, bind) =>
    `search_rank(${folded(field, alias)}, search_fold(${bind(text)}))`;
