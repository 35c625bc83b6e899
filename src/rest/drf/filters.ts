/**
 * Converts query parameters to the GraphQL arguments `where` and `orderBy`. Unknown parameters and
 * orderings are ignored, as clients expect.
 */
import { MAX_INTEGER } from '../../shared/bounds';
import {
  NOT_A_CHOICE_MESSAGE,
  NOT_A_DATE_FILTER_MESSAGE,
  NOT_A_TIME_FILTER_MESSAGE,
  NO_NULL_CHARACTERS_MESSAGE,
  atMostMessage,
} from '../../shared/messages';
import {
  filterParameterName,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
  type ResourceMetadata,
} from '../../shared/metadata';
import { parseDecimal, parseInteger, pythonStrip, parseUuid } from './python-scalars';
import { validationError } from '../errors';
import type { SearchConditions } from '../request';
import { lastValueOf } from './query-string';
import { padWithZeros, isValidTime } from './coercion';
import { parseLocalizedDate } from './localized-input';

/** Row ids in a filter parameter. The parameter is invalid if one of these rows does not exist. */
interface ReferencedIds {
  fieldName: string;
  ids: string[];
  isList?: boolean;
  unknownIdMessage(referenceableIds: readonly number[]): string | undefined;
}

export interface ParsedFilters {
  where: Record<string, unknown>;

  /**
   * Query parameters that are invalid (`error`), or whose row ids the caller must look up
   * (`referencedIds`).
   */
  parametersToCheck: { key: string; error?: string; referencedIds?: ReferencedIds }[];
}

const MAX_FILTER_NUMBER = 1e50;

const NO_MATCH_CONDITION = { id: { in: [] } };

/** Parses `HH:MM` with optional seconds and fraction. */
function parseTime(text: string): string | undefined {
  const match = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?$/.exec(pythonStrip(text));

  if (!match || !isValidTime(match[1]!, match[2]!, match[3])) return undefined;

  return `${padWithZeros(match[1]!)}:${padWithZeros(match[2]!)}:${padWithZeros(match[3] ?? '0')}.${match[4] ?? '0'}`;
}

type FilterResult =
  { where: Record<string, unknown>; referencedIds?: ReferencedIds } | { error: string } | undefined;

const invalidChoiceMessage = (text: string): string =>
  `Select a valid choice. ${text} is not one of the available choices.`;

/**
 * Maximum length of a decimal in a filter. Longer decimals match no row, because no column can hold
 * them.
 */
const MAX_DECIMAL_CHARACTERS = 100;
const COMPARABLE_DECIMAL_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?0*\d{1,2})?$/i;
const isComparableDecimal = (text: string): boolean =>
  text.length <= MAX_DECIMAL_CHARACTERS && COMPARABLE_DECIMAL_PATTERN.test(text);

function numberFilter(field: FieldMetadata, text: string): FilterResult {
  const decimalText = parseDecimal(text);

  if (decimalText === undefined) return { error: 'Enter a number.' };
  const value = Number(decimalText);

  if (value > MAX_FILTER_NUMBER) return { error: atMostMessage('1e+50') };

  if (field.kind === 'decimal') {
    if (!isComparableDecimal(decimalText)) return { where: NO_MATCH_CONDITION };

    return { where: { [field.name]: { eq: decimalText } } };
  }

  if (!Number.isInteger(value) || Math.abs(value) > MAX_INTEGER) {
    return { where: NO_MATCH_CONDITION };
  }

  return { where: { [field.name]: { eq: value } } };
}

function equalityFilter(
  field: FieldMetadata,
  text: string,
  languages: readonly string[],
): FilterResult {
  const eq = (value: unknown): FilterResult => ({ where: { [field.name]: { eq: value } } });

  if (field.kind === 'boolean') {
    return text === 'True' || text === 'False' ? eq(text === 'True') : undefined;
  }

  if (text === '') return undefined;

  switch (field.kind) {
    case 'integer':
    case 'decimal':
      return numberFilter(field, text);
    case 'date': {
      const date = parseLocalizedDate(text, languages);

      return date ? eq(date) : { error: NOT_A_DATE_FILTER_MESSAGE };
    }
    case 'time': {
      const time = parseTime(text);

      return time ? eq(time) : { error: NOT_A_TIME_FILTER_MESSAGE };
    }
    case 'choice':
      if (field.choices!.some((choice) => choice.value === text)) return eq(text);

      return { error: invalidChoiceMessage(text) };
    case 'uuid': {
      if (pythonStrip(text) === '') return undefined;
      const uuidDigits = parseUuid(pythonStrip(text));

      return uuidDigits === undefined ? { error: 'Enter a valid UUID.' } : eq(uuidDigits);
    }
    case 'relation': {
      const id = parseInteger(text);

      if (id === undefined) return { error: NOT_A_CHOICE_MESSAGE };
      const unknownIdMessage: ReferencedIds['unknownIdMessage'] = (referenceableIds) =>
        referenceableIds.includes(id) ? undefined : NOT_A_CHOICE_MESSAGE;

      return {
        where: { [field.name]: { eq: String(id) } },
        referencedIds: { fieldName: field.name, ids: [String(id)], unknownIdMessage },
      };
    }
    default: {
      const trimmedText = pythonStrip(text);

      if (trimmedText.includes('\0')) return { error: NO_NULL_CHARACTERS_MESSAGE };

      return trimmedText === '' ? undefined : eq(trimmedText);
    }
  }
}

/**
 * Rounds the operand of a comparison with integers without changing the result: `x > 2.5` is the
 * same as `x > 2`.
 */
const ROUNDING_BY_OPERATOR: Record<ComparisonOperator, (value: number) => number> = {
  gt: Math.floor,
  gte: Math.ceil,
  lt: Math.ceil,
  lte: Math.floor,
};

function comparisonFilter(
  field: FieldMetadata,
  operator: ComparisonOperator,
  text: string,
  languages: readonly string[],
): FilterResult {
  if ((field.kind === 'integer' || field.kind === 'decimal') && text !== '') {
    const decimalText = parseDecimal(text);

    if (decimalText === undefined) return { error: 'Enter a number.' };
    const value = Number(decimalText);
    const isInRange =
      Math.abs(value) <= (field.kind === 'decimal' ? MAX_FILTER_NUMBER : MAX_INTEGER);

    if (isInRange && field.kind === 'decimal' && !isComparableDecimal(decimalText)) {
      return { error: 'Enter a number with fewer digits.' };
    }

    const operand = field.kind === 'decimal' ? decimalText : ROUNDING_BY_OPERATOR[operator](value);

    if (isInRange) return { where: { [field.name]: { [operator]: operand } } };
    // An operand outside of the column's range is less or greater than all values.
    const isUpperBound = operator === 'lt' || operator === 'lte';
    const matchesAllRows = isUpperBound === value > 0;

    return matchesAllRows ? undefined : { where: NO_MATCH_CONDITION };
  }

  const equalityResult = equalityFilter(field, text, languages);

  if (!equalityResult || 'error' in equalityResult || !(field.name in equalityResult.where)) {
    return equalityResult;
  }

  return {
    where: {
      [field.name]: { [operator]: (equalityResult.where[field.name] as { eq: unknown }).eq },
    },
  };
}

function parseFilter(
  filter: FilterMetadata,
  field: FieldMetadata,
  texts: string[],
  languages: readonly string[],
): FilterResult {
  const text = texts.at(-1)!;

  if (filter.operator) return comparisonFilter(field, filter.operator, text, languages);

  switch (filter.syntax) {
    case 'loose': {
      const id = parseInteger(text);

      return id === undefined ? undefined : { where: { [field.name]: { eq: String(id) } } };
    }
    case 'unchecked': {
      const id = parseInteger(text);

      if (pythonStrip(text) === '') return undefined;

      if (id === undefined) return { error: NOT_A_CHOICE_MESSAGE };

      return { where: { [field.name]: { eq: String(id) } } };
    }
    case 'commaIds': {
      const ids = text.split(',').map(parseInteger);

      if (ids.some((id) => id === undefined)) return undefined;

      return { where: { [field.name]: { each: ids.map(String) } } };
    }
    case 'ids': {
      const invalidText = texts.find((text) => parseInteger(text) === undefined);

      if (invalidText !== undefined) return { error: `“${invalidText}” is not a valid value.` };
      const ids = texts.map((text) => String(parseInteger(text)));
      // Ids are compared as strings, so that `01` does not match row 1.
      const unknownIdMessage: ReferencedIds['unknownIdMessage'] = (referenceableIds) =>
        texts
          .filter((text) => !referenceableIds.some((id) => String(id) === text))
          .map(invalidChoiceMessage)[0];

      return {
        where: { [field.name]: { in: ids } },
        referencedIds: { fieldName: field.name, ids, isList: true, unknownIdMessage },
      };
    }
    default:
      return equalityFilter(field, text, languages);
  }
}

/** Adds conditions to a `where` argument. Conditions on the same field are combined. */
function addConditions(where: Record<string, unknown>, conditions: Record<string, unknown>): void {
  for (const [name, condition] of Object.entries(conditions)) {
    where[name] = { ...(where[name] as object | undefined), ...(condition as object) };
  }
}

export function parseFilters(
  filters: readonly FilterMetadata[],
  fields: readonly FieldMetadata[],
  query: URLSearchParams,
  languages: readonly string[],
  searchConditions?: SearchConditions,
): ParsedFilters {
  const result: ParsedFilters = { where: {}, parametersToCheck: [] };

  for (const filter of filters) {
    const field = fields.find((candidate) => candidate.name === filter.field)!;
    const parameterName = filterParameterName(filter, field);
    const searchCondition = searchConditions?.get(parameterName);

    if (searchCondition) {
      addConditions(result.where, searchCondition);
      continue;
    }

    const texts = query.getAll(parameterName);
    const filterResult = texts.length ? parseFilter(filter, field, texts, languages) : undefined;

    if (filterResult === undefined) continue;

    if ('error' in filterResult) {
      result.parametersToCheck.push({ key: parameterName, error: filterResult.error });
    } else {
      addConditions(result.where, filterResult.where);

      if (filterResult.referencedIds) {
        result.parametersToCheck.push({
          key: parameterName,
          referencedIds: filterResult.referencedIds,
        });
      }
    }
  }

  return result;
}

const MAX_ORDER_TERMS = 50;

type SortDirection = 'ASC' | 'DESC';
export type OrderBy = Record<string, SortDirection | Record<string, SortDirection>>;

const reverseDirection = (direction: SortDirection): SortDirection =>
  direction === 'ASC' ? 'DESC' : 'ASC';

/**
 * Converts `ordering=a,-b` to `orderBy`, ignoring fields that cannot be sorted. A relation sorts by
 * the default order of the related rows or, without one, by their ids.
 */
export function parseOrdering(
  fields: readonly FieldMetadata[],
  query: URLSearchParams,
  findResource: (type: string) => ResourceMetadata | undefined,
): OrderBy[] | undefined {
  const terms = (lastValueOf(query, 'ordering') ?? '')
    .split(',', MAX_ORDER_TERMS + 1)
    .map(pythonStrip);

  if (terms.length > MAX_ORDER_TERMS) {
    throw validationError({ ordering: [`Order by no more than ${MAX_ORDER_TERMS} fields.`] });
  }

  const seenFields = new Set<FieldMetadata>();
  const order = terms.flatMap((term): OrderBy[] => {
    const isDescending = term.startsWith('-');
    const restKey = isDescending ? term.slice(1) : term;
    const field = fields.find((candidate) => candidate.isSortable && candidate.restKey === restKey);

    if (!field || seenFields.has(field)) return [];
    seenFields.add(field);
    const direction: SortDirection = isDescending ? 'DESC' : 'ASC';
    const { ordering = [], lookupTableSize } =
      (field.relation && findResource(field.relation.typeName)) ?? {};
    const orderingWithoutId = ordering.filter((name) => !/^-?id$/.test(name));

    if (!orderingWithoutId.length) return [{ [field.name]: direction }];
    const { relationFieldName } = field.relation!;

    if (lookupTableSize) return [{ [relationFieldName]: direction }];

    const relatedOrder = (name: string): Record<string, SortDirection> => {
      if (name.startsWith('-')) return { [name.slice(1)]: reverseDirection(direction) };

      return { [name]: direction };
    };

    return orderingWithoutId.map((name) => ({ [relationFieldName]: relatedOrder(name) }));
  });

  return order.length ? order : undefined;
}
