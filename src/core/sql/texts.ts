/** Conditions on texts: parts of them, in capitals or not, and likeness. */
import { all, any, type Condition } from '../access/conditions';
import type { FieldMeta } from '../model/fields';
import { expression } from './expressions';

export type Part = 'contains' | 'startsWith' | 'endsWith';

const PATTERNS: Record<Part, (text: string) => string> = {
  contains: (text) => `%${text}%`,
  startsWith: (text) => `${text}%`,
  endsWith: (text) => `%${text}`,
};

/** `%` and `_` stand for themselves. */
const pattern = (part: Part, text: string) => PATTERNS[part](text.replace(/[\\%_]/g, '\\$&'));

/** Shorter runs of letters and digits have no trigram, and only a trigram leads to a part of a text by its index. */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

/** The text of a field as it is compared whatever the case. */
export const folded = (field: FieldMeta, alias: string): string =>
  field.searched ? `${alias}."${field.column}_folded"` : `search_fold(${expression(field, alias)})`;

function hasFolded(field: FieldMeta, part: Part, text: string): Condition {
  const like: Condition = (alias, bind) => `${folded(field, alias)} LIKE search_fold(${bind(pattern(part, text), true)})`;
  if (part !== 'contains' || !field.searched || hasTrigram(text)) return like;
  // The index would be read whole without such help. And the plan is to expect many rows, as a letter or two are found in.
  return (alias, bind) => `CASE WHEN ${like(alias, bind)} THEN TRUE END`;
}

export function has(field: FieldMeta, part: Part, text: string, insensitive: boolean): Condition {
  const inAnyCase = hasFolded(field, part, text);
  if (insensitive) return inAnyCase;
  const exactly: Condition = (alias, bind) => `${expression(field, alias)} LIKE ${bind(pattern(part, text))}`;
  // A part of a text is a part of its folded copy too, and that one has an index.
  return field.searched && hasTrigram(text) ? (alias, bind) => `(${inAnyCase(alias, bind)} AND ${exactly(alias, bind)})` : exactly;
}

/** Equal to one of the texts whatever the case. */
export const isOneOf =
  (field: FieldMeta, texts: readonly string[]): Condition =>
  (alias, bind) =>
    `${folded(field, alias)} = ANY(ARRAY(SELECT search_fold(x) FROM unnest(${bind(texts)}::text[]) AS x))`;

export interface Search {
  field: FieldMeta;
  text: string;
}

/** Of a longer term, so many words are to be like words of the field. */
const MAX_WORDS = 10;
/** In longer texts words are not compared letter by letter, which they have too many of. */
const LONG_TEXT = 200;

/** Blanks around a term are nothing that is searched for, unless it is blank. */
const trimmed = (text: string): string => text.trim() || text;

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);

/** The field has a word like this one: as migration 0055 compares words, or in long texts by their trigrams where the server knows them. */
function resembles(field: FieldMeta, word: string): Condition {
  if (field.searched) return (alias, bind) => `${alias}."${field.column}_words" && (SELECT search_alike(search_fold(${bind(word)})))`;
  const compare = (field.maxLength ?? Infinity) > LONG_TEXT ? 'search_similar' : 'search_resembles';
  return (alias, bind) => `${compare}(${folded(field, alias)}, search_fold(${bind(word)}))`;
}

/** The field contains the text, or for each of its words that word or one much like it. */
export function finds({ field, text: given }: Search): Condition {
  const text = trimmed(given);
  const contains = hasFolded(field, 'contains', text);
  if (!hasTrigram(text)) return contains;
  const words = wordsOf(text).slice(0, MAX_WORDS);
  const each = words.map((word) => {
    const has = hasFolded(field, 'contains', word);
    return hasTrigram(word) ? any([has, resembles(field, word)]) : has;
  });
  return any([contains, all(each)]);
}

/** How like the text the field is, as a whole number; of a row that the search finds. */
export const rank =
  ({ field, text }: Search): Condition =>
  (alias, bind) =>
    `search_rank(${folded(field, alias)}, search_fold(${bind(trimmed(text))}))`;
