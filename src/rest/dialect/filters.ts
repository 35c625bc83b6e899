/** Converts query parameters to the GraphQL arguments `where` and `orderBy`. Unknown parameters and orderings are ignored, as clients expect. */
import { MAX_INTEGER } from '../../contract/bounds';
import {
  NOT_A_CHOICE_MESSAGE,
  NOT_A_DATE_FILTER_MESSAGE,
  NOT_A_TIME_FILTER_MESSAGE,
  NO_NULL_CHARACTERS_MESSAGE,
  atMostMessage,
} from '../../contract/messages';
import {
  filterParameterName,
  type ComparisonOperator,
  type FieldMetadata,
  type FilterMetadata,
  type ResourceMetadata,
} from '../../contract/metadata';
import { parseDecimal, parseInteger, pythonStrip, parseUuid } from '../../platform/pythonscalars';
import { validationError } from '../errors';
import { lastValueOf } from './querystring';
import { padWithZeros, isValidTime, isValidDate } from './coercion';

/** Row ids in a filter parameter. The parameter is invalid if one of these rows does not exist. */
interface ReferencedIds {
  fieldName: string;
  ids: string[];
  isList?: boolean;
  unknownIdMessage(referenceableIds: readonly number[]): string | undefined;
}

export interface ParsedFilters {
  where: Record<string, unknown>;
  /** Query parameters that are invalid (`error`), or that contain row ids whose existence the caller must check (`referencedIds`). */
  parametersToCheck: { key: string; error?: string; referencedIds?: ReferencedIds }[];
}

const MAX_FILTER_NUMBER = 1e50;

const NO_MATCH_CONDITION = { id: { in: [] } };

/** Languages in which the reference service accepts dates such as 31.12.2021. */
const DAY_FIRST_LANGUAGES = ['cs', 'de', 'fr', 'pl', 'ru', 'uk'];

/**
 * Parses the date formats of the reference service: ISO dates, `month/day/year` with two or four digits of the year and, in some languages,
 * `day.month.year`.
 */
function parseDate(text: string, [language = '']: readonly string[]): string | undefined {
  const trimmedText = pythonStrip(text);
  const [, dottedDay, dottedMonth, dottedYear] =
    (DAY_FIRST_LANGUAGES.includes(language) &&
      /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(trimmedText)) ||
    [];
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(trimmedText) ?? [];
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(trimmedText) ?? [];
  const fourDigitYear = year?.length === 2 ? `${Number(year) >= 69 ? 19 : 20}${year}` : year;
  const dateParts = isoYear
    ? [isoYear, isoMonth, isoDay]
    : dottedYear
      ? [dottedYear, dottedMonth, dottedDay]
      : [fourDigitYear, month, day];
  if (dateParts.some((part) => part === undefined)) return undefined;
  const date = `${dateParts[0]}-${padWithZeros(dateParts[1]!)}-${padWithZeros(dateParts[2]!)}`;
  return isValidDate(date) ? date : undefined;
}

/** Parses `HH:MM` with optional seconds and fraction. Returns undefined for an invalid time. */
function parseTime(text: string): string | undefined {
  const match = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?$/.exec(pythonStrip(text));
  if (!match || !isValidTime(match[1]!, match[2]!, match[3])) return undefined;
  return `${padWithZeros(match[1]!)}:${padWithZeros(match[2]!)}:${padWithZeros(match[3] ?? '0')}.${match[4] ?? '0'}`;
}

type FilterResult =
  { where: Record<string, unknown>; referencedIds?: ReferencedIds } | { error: string } | undefined;

const invalidChoiceMessage = (text: string): string =>
  `Select a valid choice. ${text} is not one of the available choices.`;

/** Maximum length of a decimal in a filter. Longer decimals match no row, because no column can hold them. */
const MAX_DECIMAL_CHARACTERS = 100;
const DECIMAL_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?0*\d{1,2})?$/i;
const isComparableDecimal = (text: string): boolean =>
  text.length <= MAX_DECIMAL_CHARACTERS && DECIMAL_PATTERN.test(text);

function numberFilter(field: FieldMetadata, text: string): FilterResult {
  const decimalText = parseDecimal(text);
  if (decimalText === undefined) return { error: 'Enter a number.' };
  const value = Number(decimalText);
  if (value > MAX_FILTER_NUMBER) return { error: atMostMessage('1e+50') };
  if (field.kind === 'decimal')
    return {
      where: isComparableDecimal(decimalText)
        ? { [field.name]: { eq: decimalText } }
        : NO_MATCH_CONDITION,
    };
  return {
    where:
      Number.isInteger(value) && Math.abs(value) <= MAX_INTEGER
        ? { [field.name]: { eq: value } }
        : NO_MATCH_CONDITION,
  };
}

function equalityFilter(
  field: FieldMetadata,
  text: string,
  languages: readonly string[],
): FilterResult {
  const eq = (value: unknown): FilterResult => ({ where: { [field.name]: { eq: value } } });
  if (field.kind === 'boolean')
    return text === 'True' ? eq(true) : text === 'False' ? eq(false) : undefined;
  if (text === '') return undefined;
  switch (field.kind) {
    case 'integer':
    case 'decimal':
      return numberFilter(field, text);
    case 'date': {
      const date = parseDate(text, languages);
      return date ? eq(date) : { error: NOT_A_DATE_FILTER_MESSAGE };
    }
    case 'time': {
      const time = parseTime(text);
      return time ? eq(time) : { error: NOT_A_TIME_FILTER_MESSAGE };
    }
    case 'choice':
      return field.choices!.some((choice) => choice.value === text)
        ? eq(text)
        : { error: invalidChoiceMessage(text) };
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

/** Rounds the operand of a comparison with integers without changing the result: for integers, `x > 2.5` is the same as `x > 2`. */
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
    if (isInRange && field.kind === 'decimal' && !isComparableDecimal(decimalText))
      return { error: 'Enter a number with fewer digits.' };
    const operand = field.kind === 'decimal' ? decimalText : ROUNDING_BY_OPERATOR[operator](value);
    if (isInRange) return { where: { [field.name]: { [operator]: operand } } };
    const matchesAllRows = operator.startsWith('l') === value > 0;
    return matchesAllRows ? undefined : { where: NO_MATCH_CONDITION };
  }
  const equalityResult = equalityFilter(field, text, languages);
  if (!equalityResult || 'error' in equalityResult || !(field.name in equalityResult.where))
    return equalityResult;
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
      return id === undefined
        ? { error: NOT_A_CHOICE_MESSAGE }
        : { where: { [field.name]: { eq: String(id) } } };
    }
    case 'commaIds': {
      const ids = text.split(',').map(parseInteger);
      return ids.some((id) => id === undefined)
        ? undefined
        : { where: { [field.name]: { each: ids.map(String) } } };
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
  for (const [name, condition] of Object.entries(conditions))
    where[name] = { ...(where[name] as object | undefined), ...(condition as object) };
}

export function parseFilters(
  filters: readonly FilterMetadata[],
  fields: readonly FieldMetadata[],
  query: URLSearchParams,
  languages: readonly string[],
): ParsedFilters {
  const result: ParsedFilters = { where: {}, parametersToCheck: [] };
  for (const filter of filters) {
    const field = fields.find((candidate) => candidate.name === filter.field)!;
    const parameterName = filterParameterName(filter, field);
    const texts = query.getAll(parameterName);
    const filterResult = texts.length ? parseFilter(filter, field, texts, languages) : undefined;
    if (filterResult === undefined) continue;
    if ('error' in filterResult)
      result.parametersToCheck.push({ key: parameterName, error: filterResult.error });
    else {
      addConditions(result.where, filterResult.where);
      if (filterResult.referencedIds)
        result.parametersToCheck.push({
          key: parameterName,
          referencedIds: filterResult.referencedIds,
        });
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
 * Converts `ordering=a,-b` to `orderBy`. Ignores terms that name no column of the resource's own table. Returns undefined, which means the default
 * order, if no valid term remains. A relation sorts rows in the default order of the related rows, or by their ids if they have no default order.
 */
export function parseOrdering(
  fields: readonly FieldMetadata[],
  query: URLSearchParams,
  findResource: (type: string) => ResourceMetadata | undefined,
): OrderBy[] | undefined {
  const terms = (lastValueOf(query, 'ordering') ?? '')
    .split(',', MAX_ORDER_TERMS + 1)
    .map(pythonStrip);
  if (terms.length > MAX_ORDER_TERMS)
    throw validationError({ ordering: [`Order by no more than ${MAX_ORDER_TERMS} fields.`] });
  const orderedFields = new Set<FieldMetadata>();
  const order = terms.flatMap((term): OrderBy[] => {
    const isDescending = term.startsWith('-');
    const restKey = isDescending ? term.slice(1) : term;
    const field = fields.find((candidate) => candidate.isSortable && candidate.restKey === restKey);
    if (!field || orderedFields.has(field)) return [];
    orderedFields.add(field);
    const direction: SortDirection = isDescending ? 'DESC' : 'ASC';
    const { ordering = [], lookupTableSize } =
      (field.relation && findResource(field.relation.typeName)) ?? {};
    const orderingWithoutId = ordering.filter((name) => !/^-?id$/.test(name));
    if (!orderingWithoutId.length) return [{ [field.name]: direction }];
    const { objectFieldName } = field.relation!;
    if (lookupTableSize) return [{ [objectFieldName]: direction }];
    return orderingWithoutId.map((name) => ({
      [objectFieldName]: name.startsWith('-')
        ? { [name.slice(1)]: reverseDirection(direction) }
        : { [name]: direction },
    }));
  });
  return order.length ? order : undefined;
}
