/** Query parameters → `where` and `orderBy`. Unknown parameters and unknown orders are ignored, as clients expect. */
import { MAX_INTEGER } from '../../contract/bounds';
import { NOT_A_CHOICE, NO_NULLS, atMost } from '../../contract/messages';
import type { FieldFact, FilterFact, ResourceFact } from '../../contract/facts';
import { decimalOf, integerOf, trimmed, uuidOf } from '../../platform/reading';
import { invalid } from '../errors';
import { lastOf } from './query';
import { pad, validClock, validDay } from './values';

/** Ids that a parameter names. */
interface Named {
  field: string;
  ids: string[];
  several?: boolean;
  /** What is said if not all of them are known. */
  unknown(known: readonly number[]): string | undefined;
}

export interface Filtered {
  where: Record<string, unknown>;
  /** By parameter what is wrong with it, and ids that must exist; whoever runs the list looks for them. */
  given: { key: string; error?: string; named?: Named }[];
}

const MAX_NUMBER = 1e50;

/** A condition that no row meets. */
const NOTHING = { id: { in: [] } };

/** Languages in which the reference reads dates such as 31.12.2021. */
const DAY_FIRST = ['cs', 'de', 'fr', 'pl', 'ru', 'uk'];

/** Dates as the service reads them: ISO, or month first with a year of four or two digits; day first in some languages. */
function dateOf(text: string, [language = '']: readonly string[]): string | undefined {
  const given = trimmed(text);
  const [, firstDay, nextMonth, lastYear] = (DAY_FIRST.includes(language) && /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(given)) || [];
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(given) ?? [];
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(given) ?? [];
  const full = year?.length === 2 ? `${Number(year) >= 69 ? 19 : 20}${year}` : year;
  const parts = isoYear ? [isoYear, isoMonth, isoDay] : lastYear ? [lastYear, nextMonth, firstDay] : [full, month, day];
  if (parts.some((part) => part === undefined)) return undefined;
  const date = `${parts[0]}-${parts[1]!.padStart(2, '0')}-${parts[2]!.padStart(2, '0')}`;
  return validDay(date) ? date : undefined;
}

/** Hours and minutes, and seconds with a fraction of them where they are given. */
function timeOf(text: string): string | undefined {
  const parts = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?$/.exec(trimmed(text));
  if (!parts || !validClock(parts[1]!, parts[2]!, parts[3])) return undefined;
  return `${pad(parts[1]!)}:${pad(parts[2]!)}:${pad(parts[3] ?? '0')}.${parts[4] ?? '0'}`;
}

type Result = { where: Record<string, unknown>; named?: Named } | { error: string } | undefined;

const notAChoice = (text: string): string => `Select a valid choice. ${text} is not one of the available choices.`;

/** Of a decimal number that any column could hold. */
const MAX_DIGITS = 100;
const HELD = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?0*\d{1,2})?$/i;

function number(field: FieldFact, text: string): Result {
  const given = decimalOf(text);
  if (given === undefined) return { error: 'Enter a number.' };
  const value = Number(given);
  if (value > MAX_NUMBER) return { error: atMost('1e+50') };
  if (field.kind === 'decimal')
    return { where: given.length <= MAX_DIGITS && HELD.test(given) ? { [field.name]: { eq: given } } : NOTHING };
  return { where: Number.isInteger(value) && Math.abs(value) <= MAX_INTEGER ? { [field.name]: { eq: value } } : NOTHING };
}

function byKind(field: FieldFact, text: string, languages: readonly string[]): Result {
  const eq = (value: unknown): Result => ({ where: { [field.name]: { eq: value } } });
  if (field.kind === 'boolean') return text === 'True' ? eq(true) : text === 'False' ? eq(false) : undefined;
  if (text === '') return undefined;
  switch (field.kind) {
    case 'integer':
    case 'decimal':
      return number(field, text);
    case 'date': {
      const date = dateOf(text, languages);
      return date ? eq(date) : { error: 'Enter a valid date.' };
    }
    case 'time': {
      const time = timeOf(text);
      return time ? eq(time) : { error: 'Enter a valid time.' };
    }
    case 'choice':
      return field.choices!.some((choice) => choice.value === text) ? eq(text) : { error: notAChoice(text) };
    case 'uuid': {
      if (trimmed(text) === '') return undefined;
      const digits = uuidOf(trimmed(text));
      return digits === undefined ? { error: 'Enter a valid UUID.' } : eq(digits);
    }
    case 'relation': {
      const id = integerOf(text);
      if (id === undefined) return { error: NOT_A_CHOICE };
      const unknown: Named['unknown'] = (known) => (known.includes(id) ? undefined : NOT_A_CHOICE);
      return { where: { [field.name]: { eq: String(id) } }, named: { field: field.name, ids: [String(id)], unknown } };
    }
    default: {
      const given = trimmed(text);
      if (given.includes('\0')) return { error: NO_NULLS };
      return given === '' ? undefined : eq(given);
    }
  }
}

function parsed(fact: FilterFact, field: FieldFact, texts: string[], languages: readonly string[]): Result {
  const text = texts.at(-1)!;
  switch (fact.parse) {
    case 'loose': {
      const id = integerOf(text);
      return id === undefined ? undefined : { where: { [field.name]: { eq: String(id) } } };
    }
    case 'unchecked': {
      const id = integerOf(text);
      if (trimmed(text) === '') return undefined;
      return id === undefined ? { error: NOT_A_CHOICE } : { where: { [field.name]: { eq: String(id) } } };
    }
    case 'commaIds': {
      const ids = text.split(',').map(integerOf);
      return ids.some((id) => id === undefined) ? undefined : { where: { [field.name]: { each: ids.map(String) } } };
    }
    case 'ids': {
      const wrong = texts.find((one) => integerOf(one) === undefined);
      if (wrong !== undefined) return { error: `“${wrong}” is not a valid value.` };
      const ids = texts.map((one) => String(integerOf(one)));
      // They must be written as ids are.
      const unknown: Named['unknown'] = (known) => texts.filter((one) => !known.some((id) => String(id) === one)).map(notAChoice)[0];
      return { where: { [field.name]: { in: ids } }, named: { field: field.name, ids, several: true, unknown } };
    }
    default:
      return byKind(field, text, languages);
  }
}

export function filtersOf(
  filters: readonly FilterFact[],
  fields: readonly FieldFact[],
  query: URLSearchParams,
  languages: readonly string[],
): Filtered {
  const result: Filtered = { where: {}, given: [] };
  for (const fact of filters) {
    const field = fields.find((candidate) => candidate.name === fact.field)!;
    const key = fact.key ?? field.rest;
    const texts = query.getAll(key);
    const one = texts.length ? parsed(fact, field, texts, languages) : undefined;
    if (one === undefined) continue;
    if ('error' in one) result.given.push({ key, error: one.error });
    else {
      Object.assign(result.where, one.where);
      if (one.named) result.given.push({ key, named: one.named });
    }
  }
  return result;
}

const MAX_TERMS = 50;

type Direction = 'ASC' | 'DESC';
export type OrderBy = Record<string, Direction | Record<string, Direction>>;

const turned = (direction: Direction): Direction => (direction === 'ASC' ? 'DESC' : 'ASC');

/**
 * `ordering=a,-b`: columns of the resource's own table; undefined where none is left, which is the default order. A reference orders by the
 * default order of the rows that it names, and by their ids where there is none.
 */
export function orderByOf(
  fields: readonly FieldFact[],
  query: URLSearchParams,
  resource: (type: string) => ResourceFact | undefined,
): OrderBy[] | undefined {
  const terms = (lastOf(query, 'ordering') ?? '').split(',', MAX_TERMS + 1).map(trimmed);
  if (terms.length > MAX_TERMS) throw invalid({ ordering: [`Order by no more than ${MAX_TERMS} fields.`] });
  const ordered = new Set<FieldFact>();
  const order = terms.flatMap((term): OrderBy[] => {
    const descending = term.startsWith('-');
    const key = descending ? term.slice(1) : term;
    const field = fields.find((candidate) => candidate.ordered && candidate.rest === key);
    if (!field || ordered.has(field)) return [];
    ordered.add(field);
    const direction: Direction = descending ? 'DESC' : 'ASC';
    const { ordering = [], dictionary } = (field.relation && resource(field.relation.type)) ?? {};
    const inner = ordering.filter((name) => !/^-?id$/.test(name));
    if (!inner.length) return [{ [field.name]: direction }];
    const { object } = field.relation!;
    if (dictionary) return [{ [object]: direction }];
    return inner.map((name) => ({ [object]: name.startsWith('-') ? { [name.slice(1)]: turned(direction) } : { [name]: direction } }));
  });
  return order.length ? order : undefined;
}
