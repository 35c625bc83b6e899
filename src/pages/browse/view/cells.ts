/** Table cells: readable values, with names instead of ids, labels instead of stored values and images instead of URLs. */
import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import { fieldMetadataOf } from '../../../rest/endpoints';
import { createDistinctNameLookup, nameRuleOf, type RowNameRule } from './rownames';
import type { Cell, RowLink } from './viewmodel';
import { singularLabelOf } from './labels';
import { rowPathOf } from './pageroutes';

export type Row = Readonly<Record<string, unknown>>;
export type EndpointNameLookup = (type: string) => string | undefined;

/** Fields for which tables have no columns: the id and metadata of a row, such as its license. */
const FIELDS_WITHOUT_COLUMN = new Set([
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
/** Field that pages omit: the same drawing of a muscle as `imageUrlMain`, in another colour. */
const DUPLICATE_IMAGE_FIELD = 'imageUrlSecondary';
const IMAGE_FIELDS = new Set(['image', 'imageUrlMain']);
/** Maximum length of strings in tables. Fields for longer strings are shown on the detail page only. */
const MAX_COLUMN_TEXT_LENGTH = 120;
const ZERO_SECONDS_SUFFIX = ':00';

const fieldType = (type: GraphQLObjectType, fieldName: string) =>
  getNamedType(type.getFields()[fieldName]!.type);

export const relatedTypeOf = (type: GraphQLObjectType, { relation }: FieldMetadata) =>
  fieldType(type, relation!.objectFieldName) as GraphQLObjectType;

export const visibleFieldsOf = (type: GraphQLObjectType): FieldMetadata[] =>
  fieldMetadataOf(type).filter(
    ({ hiddenInRest, name, relation }) =>
      !hiddenInRest &&
      name !== DUPLICATE_IMAGE_FIELD &&
      (relation ?? isLeafType(fieldType(type, name))),
  );

export function hasColumn(field: FieldMetadata, { paths }: RowNameRule): boolean {
  const isPartOfName = paths.some(
    ([head]) => head === field.name || head === field.relation?.objectFieldName,
  );
  const isLong =
    field.kind === 'string' &&
    (field.maxLength === undefined || field.maxLength > MAX_COLUMN_TEXT_LENGTH);
  return !isPartOfName && !isLong && !FIELDS_WITHOUT_COLUMN.has(field.name);
}

/** Returns the GraphQL selection of a field; for a relation, including the fields that make up the names of the related rows. */
export function selectionOf(type: GraphQLObjectType, { name, relation }: FieldMetadata): string {
  const target = relation && fieldType(type, relation.objectFieldName);
  if (!isObjectType(target) || !target.extensions.resource) return name;
  return `${name} ${relation!.objectFieldName} { id ${nameRuleOf(target).selection} }`;
}

/** Returns the name of a row, or its type and id if it has no name. */
export function rowNameOf(type: GraphQLObjectType, row: Row, nameRule = nameRuleOf(type)): string {
  const name = nameRule.nameOf(row).replace(/^(\d\d:\d\d):00$/, '$1');
  return name || `${singularLabelOf(type)} ${String(row.id)}`;
}

/** Returns the heading of a row. If the name is a date or a time, the type comes first, such as `Weight entry of 2026-01-31`. */
export function headingOf(type: GraphQLObjectType, row: Row): string {
  const name = rowNameOf(type, row);
  if (/^\d{4}-\d\d-\d\d/.test(name)) return `${singularLabelOf(type)} of ${name}`;
  return /^\d\d:\d\d/.test(name) ? `${singularLabelOf(type)} at ${name}` : name;
}

/** Formats a date or time without seconds if they are zero, in the time zone of the value. */
export function formatDateTime(value: string, kind: FieldMetadata['kind']): string {
  const formatTime = (text: string) =>
    text.endsWith(ZERO_SECONDS_SUFFIX) ? text.slice(0, -ZERO_SECONDS_SUFFIX.length) : text;
  if (kind === 'time') return formatTime(value);
  return kind === 'datetime' ? `${value.slice(0, 10)} ${formatTime(value.slice(11, 19))}` : value;
}

const htmlToText = (html: string): string =>
  html
    .replace(/<\/(p|li|div|h\d)>|<br\s*\/?>/gi, '\n')
    .replace(/<[a-z/!][^<>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (entity) => HTML_ENTITIES[entity] ?? entity)
    .replace(/\n{2,}/g, '\n\n')
    .trim();
const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&nbsp;': ' ',
  '&#39;': "'",
};

function textOf({ kind, choices, isHtml }: FieldMetadata, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (kind === 'boolean') return value === true ? 'Yes' : 'No';
  const text = String(value as string | number | boolean);
  const choice = choices?.find((candidate) => String(candidate.value) === text);
  if (choice) return String(choice.label);
  return isHtml ? htmlToText(text) : formatDateTime(text, kind);
}

/** Converts the value of a relation, which is a single value, a list or absent, to a list. */
const toList = <T>(value: unknown): readonly T[] => [value ?? []].flat() as T[];

/** Returns a cell with links to at most `maxLinks` of the items, and the number of further items. */
export function linksCell<T>(
  items: readonly T[],
  maxLinks: number,
  linkOf: (item: T) => RowLink,
): Cell {
  const links = items.slice(0, maxLinks).map(linkOf);
  const remainingCount = items.length - links.length;
  return {
    links: remainingCount > 0 ? [...links, { label: `${remainingCount} more`, id: '' }] : links,
  };
}

/** Returns a function that formats the values of a field. `rows` are all rows of the table, for distinguishing related rows with equal names. */
export function cellFormatterOf(
  type: GraphQLObjectType,
  field: FieldMetadata,
  rows: readonly Row[],
  endpointNameOf: EndpointNameLookup,
  maxLinks: number,
): (row: Row) => Cell {
  const { name, relation } = field;
  if (!relation) {
    const fieldTextOf = (row: Row) => textOf(field, row[name]);
    return (row) =>
      IMAGE_FIELDS.has(name) ? { pictureUrl: fieldTextOf(row) } : { text: fieldTextOf(row) };
  }
  const target = relatedTypeOf(type, field);
  const endpointName = endpointNameOf(relation.typeName);
  const relatedIdsOf = (row: Row) => toList<string | number>(row[name]);
  const relatedRowOf = (row: Row, id: string | number) =>
    toList<Row>(row[relation.objectFieldName]).find(
      (candidate) => String(candidate.id) === String(id),
    );
  const linkedRows = rows
    .flatMap((row) =>
      relatedIdsOf(row)
        .slice(0, maxLinks)
        .map((id) => relatedRowOf(row, id)),
    )
    .filter((relatedRow) => relatedRow !== undefined);
  const distinctNameOf = createDistinctNameLookup(
    linkedRows,
    (row) => rowNameOf(target, row),
    nameRuleOf(target),
  );
  const linkOf = (row: Row, id: string | number): RowLink => {
    const relatedRow = relatedRowOf(row, id);
    // If the viewer may not see the related row, only its id is known.
    const fullName = relatedRow ? distinctNameOf(relatedRow) : `${singularLabelOf(target)} ${id}`;
    // If the name of a related row begins with the name of the row itself, the link omits that part.
    const namePrefix = `${rowNameOf(type, row)}, `;
    const label = fullName.startsWith(namePrefix) ? fullName.slice(namePrefix.length) : fullName;
    return { label, id: String(id), href: rowPathOf(endpointName, id) };
  };
  return (row) => linksCell(relatedIdsOf(row), maxLinks, (id) => linkOf(row, id));
}

export function cellCssClassOf({ kind }: FieldMetadata): 'number' | 'day' | undefined {
  if (kind === 'decimal' || kind === 'integer') return 'number';
  return kind === 'date' || kind === 'datetime' ? 'day' : undefined;
}
