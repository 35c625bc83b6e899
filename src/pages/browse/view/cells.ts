/** Values of a row as people read them: names instead of ids, labels instead of what is stored, pictures instead of addresses. */
import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType } from 'graphql';
import type { FieldFact } from '../../../contract/facts';
import { noun, upperFirst } from '../../../core/model/inflection';
import { factsOf } from '../../../rest/endpoints';
import { BASE } from '../../../rest/routes';
import { calledAmong, callingOf, type Calling } from './naming';
import type { Cell, RowLink } from './view';
import { wordsOf } from './wording';

export type Row = Readonly<Record<string, unknown>>;
export type EndpointOf = (type: string) => string | undefined;

/** Of a row or of what is around it; beside them nobody looks for it in a table. */
const QUIET = new Set([
  'id',
  'uuid',
  'userId',
  'status',
  'licenseId',
  'licenseAuthor',
  'code',
  'lastImportedAt',
  'sourceName',
  'sourceUrl',
]);
/** One drawing says what both say. */
const DOUBLED = 'imageUrlSecondary';
const PICTURES = new Set(['image', 'imageUrlMain']);
/** Longer texts are for a row's own page. */
const LINE = 120;
const SECONDS = ':00';

const typeOf = (type: GraphQLObjectType, field: string) => getNamedType(type.getFields()[field]!.type);

/** `Weight entry`. */
export const singular = ({ name }: { name: string }): string => upperFirst(noun(name));
/** `Weight entries`. */
export const plural = (type: GraphQLObjectType): string => wordsOf(type.extensions.resource!.many);

export const shownFacts = (type: GraphQLObjectType): FieldFact[] =>
  factsOf(type).filter(({ hidden, name, relation }) => !hidden && name !== DOUBLED && (relation ?? isLeafType(typeOf(type, name))));

export function isColumn(fact: FieldFact, { paths }: Calling): boolean {
  const isName = paths.some(([head]) => head === fact.name || head === fact.relation?.object);
  const isLong = fact.kind === 'string' && (fact.maxLength === undefined || fact.maxLength > LINE);
  return !isName && !isLong && !QUIET.has(fact.name);
}

/** Of a field, for an operation: of a relation the names too. */
export function selectionOf(type: GraphQLObjectType, { name, relation }: FieldFact): string {
  const target = relation && typeOf(type, relation.object);
  if (!isObjectType(target) || !target.extensions.resource) return name;
  return `${name} ${relation!.object} { id ${callingOf(target, target.extensions.resource).selection} }`;
}

/** What a row is called; without a name by what it is. */
export function nameOf(type: GraphQLObjectType, row: Row, calling = callingOf(type, type.extensions.resource!)): string {
  const name = calling.nameOf(row).replace(/^(\d\d:\d\d):00$/, '$1');
  return name || `${singular(type)} ${String(row.id)}`;
}

/** As a heading: of what is called by its moment what it is, too. */
export function headingOf(type: GraphQLObjectType, row: Row): string {
  const name = nameOf(type, row);
  if (/^\d{4}-\d\d-\d\d/.test(name)) return `${singular(type)} of ${name}`;
  return /^\d\d:\d\d/.test(name) ? `${singular(type)} at ${name}` : name;
}

/** A moment to the minute, unless it says more; in the zone in which it is told. */
export function momentText(value: string, kind: FieldFact['kind']): string {
  const time = (text: string) => (text.endsWith(SECONDS) ? text.slice(0, -SECONDS.length) : text);
  if (kind === 'time') return time(value);
  return kind === 'datetime' ? `${value.slice(0, 10)} ${time(value.slice(11, 19))}` : value;
}

function textOf({ kind, choices }: FieldFact, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (kind === 'boolean') return value === true ? 'Yes' : 'No';
  const text = String(value as string | number | boolean);
  const choice = choices?.find((one) => String(one.value) === text);
  return choice ? String(choice.label) : momentText(text, kind);
}

const relatedIn = ({ relation }: FieldFact, row: Row) => [row[relation!.object] ?? []].flat() as Row[];

/** What the values of a field are shown as in these rows, which are seen together. */
export function cellsOf(type: GraphQLObjectType, fact: FieldFact, rows: readonly Row[], endpointOf: EndpointOf): (row: Row) => Cell {
  const { name, relation } = fact;
  if (!relation) {
    const inWords = (row: Row) => textOf(fact, row[name]);
    return (row) => (PICTURES.has(name) ? { picture: inWords(row) } : { text: inWords(row) });
  }
  const target = typeOf(type, relation.object) as GraphQLObjectType;
  const endpoint = endpointOf(relation.type);
  const related = rows.flatMap((row) => relatedIn(fact, row));
  const called = calledAmong(related, (row) => nameOf(target, row), callingOf(target, target.extensions.resource!));
  const linkOf = (row: Row, id: string | number): RowLink => {
    const one = relatedIn(fact, row).find((candidate) => String(candidate.id) === String(id));
    // A row that is not shown has its id still.
    const full = one ? called(one) : `${singular(target)} ${id}`;
    // What the row is called itself is not said again.
    const own = `${nameOf(type, row)}, `;
    const label = full.startsWith(own) ? full.slice(own.length) : full;
    return { label, id: String(id), ...(endpoint !== undefined && { href: `${BASE}/${endpoint}/${id}/` }) };
  };
  return (row) => ({ links: ([row[name] ?? []].flat() as (string | number)[]).map((id) => linkOf(row, id)) });
}

export function setAs({ kind }: FieldFact): 'number' | 'day' | undefined {
  if (kind === 'decimal' || kind === 'integer') return 'number';
  return kind === 'date' || kind === 'datetime' ? 'day' : undefined;
}
