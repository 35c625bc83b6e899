/**
 * Text search in SQL: LIKE patterns, case-insensitive comparison, trigram similarity
 * (https://www.postgresql.org/docs/current/pgtrgm.html).
 */
import { allOf, anyOf, whereClause, type SqlCondition } from '../access/conditions';
import type { Entity, EntityField } from '../declare/fields';
import { resourceOf, type SearchPreferences } from '../declare/registry';
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
  preferences?: SearchPreferences;
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
  const isLong = (field.maxLength ?? Infinity) > MAX_EDIT_DISTANCE_TEXT_CHARACTERS;
  const similarityFunctionName = isLong ? 'search_similar' : 'search_resembles';

  return (alias, bind) =>
    `${similarityFunctionName}(${caseFoldedExpression(field, alias)}, search_fold(${bind(word)}))`;
}

/** SQL: the words of an indexed field, as the index of migration 0093 contains them. */
function searchVectorSql(field: EntityField, alias: string): string {
  const others = (field.searchedWithColumns ?? []).map(
    (column) => ` || coalesce(' ' || "search_fold"(${alias}."${column}"), '')`,
  );

  return `"search_vector"(${caseFoldedExpression(field, alias)}${others.join('')})`;
}

const wordsCondition =
  ({ field, text }: TextSearch): SqlCondition =>
  (alias, bind) =>
    `${searchVectorSql(field, alias)} @@ (SELECT search_query(search_fold(${bind(text)})))`;

/**
 * Condition of a fuzzy search: the field contains the whole term, or each of its words or a similar
 * word.
 */
export function searchMatchCondition({ field, text: term }: TextSearch): SqlCondition {
  const text = trimSearchTerm(term);
  const containsCondition = caseFoldedLikeCondition(field, 'contains', text);

  if (field.indexedForSearch) {
    return anyOf([containsCondition, wordsCondition({ field, text })]);
  }

  if (!hasTrigram(text)) return containsCondition;
  const words = splitWords(text).slice(0, MAX_SEARCH_WORDS);
  const wordConditions = words.map((word) => {
    const containsWordCondition = caseFoldedLikeCondition(field, 'contains', word);

    if (!hasTrigram(word)) return containsWordCondition;

    return anyOf([containsWordCondition, similarWordCondition(field, word)]);
  });

  return anyOf([containsCondition, allOf(wordConditions)]);
}

/** Maximum numbers of rows that a search of an indexed field ranks. */
const MAX_HITS = { beginning: 500, words: 1_000, contained: 500 };

/** A costly kind of hits is looked for if another kind has fewer hits than this. */
const FEW_HITS = 50;

const limitUnlessMany = (hits: string, limit: number) =>
  `CASE WHEN (SELECT count(*) FROM ${hits}) < ${FEW_HITS} THEN ${limit} ELSE 0 END`;

/**
 * Condition of a search that ranks its hits: the shortest names that begin with the term, names
 * that contain its words and, if those are few, names that contain it anywhere. Each kind is
 * limited, so that a search of one letter among millions of names takes as long as another one. All
 * rows that the viewer has used are hits. `others` are the further conditions on the rows.
 */
export function rankedSearchCondition(
  entity: Entity,
  { field, text: term, preferences }: TextSearch,
  others: readonly SqlCondition[],
): SqlCondition {
  const text = trimSearchTerm(term);
  const { table } = resourceOf(entity)!;
  const matchesWords = wordsCondition({ field, text });
  const contains = caseFoldedLikeCondition(field, 'contains', text);

  const beginsWith: SqlCondition = (alias, bind) => {
    const [name, start] = [caseFoldedExpression(field, alias), `search_fold(${bind(text)})`];

    return `${name} >= ${start} AND ${name} < ${start} || chr(1114111)`;
  };

  // Of the many words that begin with one or two letters, only those at the beginning of names count.
  const wordsLimit = hasTrigram(text)
    ? MAX_HITS.words
    : limitUnlessMany('beginnings', MAX_HITS.words);

  return (alias, bind) => {
    const hit = `${alias}h`;
    const select = (condition: SqlCondition, end = '') =>
      `(SELECT ${hit}."id" FROM "${table}" ${hit}${whereClause([...others, condition], hit, bind)}${end})`;
    const shortestFirst = `ORDER BY char_length(${caseFoldedExpression(field, hit)}), ${hit}."id"`;
    const parts = [
      'SELECT "id" FROM beginnings',
      'SELECT "id" FROM words',
      select(contains, ` LIMIT ${limitUnlessMany('words', MAX_HITS.contained)}`),
    ];

    if (preferences?.used) parts.push(select(allOf([preferences.used, matchesWords])));

    return `${alias}."id" IN (
      WITH beginnings AS MATERIALIZED ${select(beginsWith, ` ${shortestFirst} LIMIT ${MAX_HITS.beginning}`)},
        words AS MATERIALIZED ${select(matchesWords, ` LIMIT ${wordsLimit}`)}
      ${parts.join('\n      UNION ALL ')})`;
  };
}

/** Points for rows that the viewer prefers; the next better class of names has 2,000,000 more. */
const LANGUAGE_POINTS = 1_000_000;
const USED_POINTS = 100_000_000;

/** Relevance of a row that matches the search, as an integer. */
export const searchRelevanceSql =
  ({ field, text, preferences }: TextSearch): SqlCondition =>
  (alias, bind) => {
    const points = (condition: SqlCondition | undefined, number: number) =>
      condition ? ` + CASE WHEN ${condition(alias, bind)} THEN ${number} ELSE 0 END` : '';

    return `(search_score(${caseFoldedExpression(field, alias)}, search_fold(${bind(trimSearchTerm(text))}))${points(
      preferences?.inLanguage,
      LANGUAGE_POINTS,
    )}${points(preferences?.used, USED_POINTS)})`;
  };
