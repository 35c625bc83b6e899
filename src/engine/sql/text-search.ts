/**
 * Text search in SQL: LIKE patterns, case-insensitive comparison, trigram similarity
 * (https://www.postgresql.org/docs/current/pgtrgm.html).
 */
import { allOf, anyOf, type SqlCondition } from '../access/conditions';
import type { EntityField } from '../declare/fields';
import { fieldSqlExpression } from './expressions';

export type MatchPosition = 'contains' | 'startsWith' | 'endsWith';

const LIKE_PATTERN_BUILDERS: Record<MatchPosition, (text: string) => string> = {
  contains: (text) => `%${text}%`,
  startsWith: (text) => `${text}%`,
  endsWith: (text) => `%${text}`,
};

/** Builds a LIKE pattern in which `%` and `_` are literal characters. */
const likePattern = (position: MatchPosition, text: string) =>
  LIKE_PATTERN_BUILDERS[position](text.replace(/[\\%_]/g, '\\$&'));

/**
 * Whether the string has three consecutive letters or digits. Other strings contain no trigram that
 * a trigram index could find.
 */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

function caseFoldedExpression(field: EntityField, alias: string): string {
  if (field.indexedForSearch) return `${alias}."${field.column}_folded"`;

  return `search_fold(${fieldSqlExpression(field, alias)})`;
}

function caseFoldedLikeCondition(
  field: EntityField,
  position: MatchPosition,
  text: string,
): SqlCondition {
  const likeCondition: SqlCondition = (alias, bind) =>
    `${caseFoldedExpression(field, alias)} LIKE search_fold(${bind(likePattern(position, text), true)})`;

  if (position !== 'contains' || !field.indexedForSearch || hasTrigram(text)) return likeCondition;

  // A string without a trigram cannot use the trigram index selectively. CASE hides the condition
  // from the planner, which would otherwise scan the whole index. It also makes the planner expect
  // many rows, because short strings match often.
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

  // The additional condition on the case-folded copy makes a case-sensitive search fast: every
  // case-sensitive match also meets this condition, and the copy has a trigram index.
  if (!field.indexedForSearch || !hasTrigram(text)) return caseSensitiveCondition;

  return (alias, bind) =>
    `(${caseInsensitiveCondition(alias, bind)} AND ${caseSensitiveCondition(alias, bind)})`;
}

export const caseFoldedInCondition =
  (field: EntityField, texts: readonly string[]): SqlCondition =>
  (alias, bind) =>
    `${caseFoldedExpression(field, alias)} = ANY(ARRAY(SELECT search_fold(x)
      FROM unnest(${bind(texts)}::text[]) AS x))`;

export interface TextSearch {
  field: EntityField;
  text: string;
}

/** Maximum number of words in a search term that are compared by similarity. */
const MAX_SEARCH_WORDS = 10;

/**
 * Maximum length of fields whose words are compared by edit distance. Longer fields use trigram
 * similarity, which is faster.
 */
const MAX_EDIT_DISTANCE_TEXT_CHARACTERS = 200;

/** Removes surrounding whitespace, unless the search term consists of whitespace. */
const trimSearchTerm = (text: string): string => text.trim() || text;

const splitWords = (text: string): string[] => text.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);

/**
 * Condition that a field contains a similar word, by SQL functions of migration 0055. Long strings
 * use trigram similarity if PostgreSQL has the extension pg_trgm.
 */
function similarWordCondition(field: EntityField, word: string): SqlCondition {
  if (field.indexedForSearch) {
    return (alias, bind) =>
      `${alias}."${field.column}_words" && (SELECT search_alike(search_fold(${bind(word)})))`;
  }

  const isLong = (field.maxLength ?? Infinity) > MAX_EDIT_DISTANCE_TEXT_CHARACTERS;
  const similarityFunctionName = isLong ? 'search_similar' : 'search_resembles';

  return (alias, bind) =>
    `${similarityFunctionName}(${caseFoldedExpression(field, alias)}, search_fold(${bind(word)}))`;
}

/**
 * Condition of a fuzzy search: the field contains the whole term, or each of its words or a similar
 * word.
 */
export function searchMatchCondition({ field, text: term }: TextSearch): SqlCondition {
  const text = trimSearchTerm(term);
  const containsCondition = caseFoldedLikeCondition(field, 'contains', text);

  if (!hasTrigram(text)) return containsCondition;
  const words = splitWords(text).slice(0, MAX_SEARCH_WORDS);
  const wordConditions = words.map((word) => {
    const containsWordCondition = caseFoldedLikeCondition(field, 'contains', word);

    if (!hasTrigram(word)) return containsWordCondition;

    return anyOf([containsWordCondition, similarWordCondition(field, word)]);
  });

  return anyOf([containsCondition, allOf(wordConditions)]);
}

/** Relevance of a row that matches the search, as an integer. */
export const searchRelevanceSql =
  ({ field, text }: TextSearch): SqlCondition =>
  (alias, bind) =>
    `search_rank(${caseFoldedExpression(field, alias)}, search_fold(${bind(trimSearchTerm(text))}))`;
