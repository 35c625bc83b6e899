/** Text search in SQL: LIKE patterns, case-insensitive comparison, trigram similarity (https://www.postgresql.org/docs/current/pgtrgm.html). */
import { conjunction, disjunction, type SqlCondition } from '../access/conditions';
import type { EntityField } from '../model/fields';
import { fieldSqlExpression } from './expressions';

export type MatchPosition = 'contains' | 'startsWith' | 'endsWith';

const LIKE_PATTERN_BUILDERS: Record<MatchPosition, (text: string) => string> = {
  contains: (text) => `%${text}%`,
  startsWith: (text) => `${text}%`,
  endsWith: (text) => `%${text}`,
};

/** Returns a LIKE pattern. `%` and `_` in the string are escaped. */
const likePattern = (position: MatchPosition, text: string) =>
  LIKE_PATTERN_BUILDERS[position](text.replace(/[\\%_]/g, '\\$&'));

/** Whether the string has three letters or digits in a row. Shorter strings have no trigram, so the trigram index cannot find them. */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

export const caseFoldedExpression = (field: EntityField, alias: string): string =>
  field.indexedForSearch
    ? `${alias}."${field.column}_folded"`
    : `search_fold(${fieldSqlExpression(field, alias)})`;

function caseFoldedLikeCondition(
  field: EntityField,
  position: MatchPosition,
  text: string,
): SqlCondition {
  const likeCondition: SqlCondition = (alias, bind) =>
    `${caseFoldedExpression(field, alias)} LIKE search_fold(${bind(likePattern(position, text), true)})`;
  if (position !== 'contains' || !field.indexedForSearch || hasTrigram(text)) return likeCondition;
  // A string too short to contain a trigram cannot use the trigram index selectively. CASE hides the condition from the planner, which otherwise would scan the
  // whole index. It also makes the planner expect many rows, because short strings match often.
  return (alias, bind) => `CASE WHEN ${likeCondition(alias, bind)} THEN TRUE END`;
}

export function textMatchCondition(
  field: EntityField,
  position: MatchPosition,
  text: string,
  isCaseInsensitive: boolean,
): SqlCondition {
  const caseInsensitiveCondition = caseFoldedLikeCondition(field, position, text);
  if (isCaseInsensitive) return caseInsensitiveCondition;
  const caseSensitiveCondition: SqlCondition = (alias, bind) =>
    `${fieldSqlExpression(field, alias)} LIKE ${bind(likePattern(position, text))}`;
  // A case-sensitive search adds the condition on the case-folded copy of the text: every case-sensitive match meets it too, and the trigram index of
  // the copy makes the search fast.
  return field.indexedForSearch && hasTrigram(text)
    ? (alias, bind) =>
        `(${caseInsensitiveCondition(alias, bind)} AND ${caseSensitiveCondition(alias, bind)})`
    : caseSensitiveCondition;
}

export const equalsAnyCaseFoldedCondition =
  (field: EntityField, texts: readonly string[]): SqlCondition =>
  (alias, bind) =>
    `${caseFoldedExpression(field, alias)} = ANY(ARRAY(SELECT search_fold(x) FROM unnest(${bind(texts)}::text[]) AS x))`;

export interface TextSearch {
  field: EntityField;
  text: string;
}

/** Maximum number of words of a search term that are compared by similarity. */
const MAX_SEARCH_WORDS = 10;
/** Maximum length of fields whose words are compared by edit distance. Longer fields are searched by trigram similarity, which is faster. */
const MAX_EDIT_DISTANCE_TEXT_CHARACTERS = 200;

/** Removes whitespace around a search term. A term that consists of whitespace is not changed. */
const trimSearchTerm = (text: string): string => text.trim() || text;

const splitWords = (text: string): string[] => text.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);

/**
 * Returns the condition that a field contains a word similar to the given one, by SQL functions of migration 0055. Long strings are compared by
 * trigram similarity, if PostgreSQL has the extension pg_trgm.
 */
function similarWordCondition(field: EntityField, word: string): SqlCondition {
  if (field.indexedForSearch)
    return (alias, bind) =>
      `${alias}."${field.column}_words" && (SELECT search_alike(search_fold(${bind(word)})))`;
  const similarityFunctionName =
    (field.maxLength ?? Infinity) > MAX_EDIT_DISTANCE_TEXT_CHARACTERS
      ? 'search_similar'
      : 'search_resembles';
  return (alias, bind) =>
    `${similarityFunctionName}(${caseFoldedExpression(field, alias)}, search_fold(${bind(word)}))`;
}

/** Returns the condition of a fuzzy search: the field contains the whole term, or each word of the term or a word similar to it. */
export function searchMatchCondition({ field, text: term }: TextSearch): SqlCondition {
  const text = trimSearchTerm(term);
  const containsCondition = caseFoldedLikeCondition(field, 'contains', text);
  if (!hasTrigram(text)) return containsCondition;
  const words = splitWords(text).slice(0, MAX_SEARCH_WORDS);
  const wordConditions = words.map((word) => {
    const containsWordCondition = caseFoldedLikeCondition(field, 'contains', word);
    return hasTrigram(word)
      ? disjunction([containsWordCondition, similarWordCondition(field, word)])
      : containsWordCondition;
  });
  return disjunction([containsCondition, conjunction(wordConditions)]);
}

/** Returns SQL for the relevance of a row that matches the search, as an integer. */
export const searchRelevanceSql =
  ({ field, text }: TextSearch): SqlCondition =>
  (alias, bind) =>
    `search_rank(${caseFoldedExpression(field, alias)}, search_fold(${bind(trimSearchTerm(text))}))`;
