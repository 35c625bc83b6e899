/** Table cells: readable values, with names instead of ids, labels instead of stored values and images instead of URLs. */
import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import { fieldMetadataOf } from '../../../rest/endpoints';
import { createDistinctNameLookup, nameRuleOf, type RowNameRule } from './rownames';
import type { Cell, RowLink } from './viewmodel';
import { singularLabelOf } from './labels';
import { rowPathOf } from './pageroutes';

export type Row = Readonly<Record<string, unknown>>;
export type FindEndpointName = (type: string) => string | undefined;

/** Fields for which tables have no columns: the id and metadata of a row, such as its license. */
const HIDDEN_COLUMNS = new Set([
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

const fieldType = (type: GraphQLObjectType, field: string) => getNamedType(type.getFields()[field]!.type);

/** Returns the type of the rows to which a relation refers. */
export const relatedTypeOf = (type: GraphQLObjectType, { relation }: FieldMetadata) =>
  fieldType(type, relation!.objectField) as GraphQLObjectType;

export const visibleFieldsOf = (type: GraphQLObjectType): FieldMetadata[] =>
  fieldMetadataOf(type).filter(
    ({ hiddenInRest, name, relation }) =>
      !hiddenInRest && name !== DUPLICATE_IMAGE_FIELD && (relation ?? isLeafType(fieldType(type, name))),
  );

export function hasColumn(field: FieldMetadata, { paths }: RowNameRule): boolean {
  const isName = paths.some(([head]) => head === field.name || head === field.relation?.objectField);
  const isLong = field.kind === 'string' && (field.maxLength === undefined || field.maxLength > MAX_COLUMN_TEXT_LENGTH);
  return !isName && !isLong && !HIDDEN_COLUMNS.has(field.name);
}

/** Returns the GraphQL selection of a field; for a relation, including the fields that make up the names of the related rows. */
export function selectionOf(type: GraphQLObjectType, { name, relation }: FieldMetadata): string {
  const target = relation && fieldType(type, relation.objectField);
  if (!isObjectType(target) || !target.extensions.resource) return name;
  return `${name} ${relation!.objectField} { id ${nameRuleOf(target).selection} }`;
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
  const formatTime = (text: string) => (text.endsWith(ZERO_SECONDS_SUFFIX) ? text.slice(0, -ZERO_SECONDS_SUFFIX.length) : text);
  if (kind === 'time') return formatTime(value);
  return kind === 'datetime' ? `${value.slice(0, 10)} ${formatTime(value.slice(11, 19))}` : value;
}

/** Converts HTML to plain text. */
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
export function linksCell<T>(items: readonly T[], maxLinks: number, linkOf: (item: T) => RowLink): Cell {
  const links = items.slice(0, maxLinks).map(linkOf);
  const remainingCount = items.length - links.length;
  return { links: remainingCount > 0 ? [...links, { label: `${remainingCount} more`, id: '' }] : links };
}

/** Returns a function that formats the values of a field. `rows` are all rows of the table, for distinguishing related rows with equal names. */
export function cellFormatterOf(
  type: GraphQLObjectType,
  field: FieldMetadata,
  rows: readonly Row[],
  endpointNameOf: FindEndpointName,
  maxLinks: number,
): (row: Row) => Cell {
  const { name, relation } = field;
  if (!relation) {
    const textOfRow = (row: Row) => textOf(field, row[name]);
    return (row) => (IMAGE_FIELDS.has(name) ? { picture: textOfRow(row) } : { text: textOfRow(row) });
  }
  const target = relatedTypeOf(type, field);
  const endpointName = endpointNameOf(relation.type);
  const idsOf = (row: Row) => toList<string | number>(row[name]);
  const relatedRowOf = (row: Row, id: string | number) =>
    toList<Row>(row[relation.objectField]).find((candidate) => String(candidate.id) === String(id));
  const linkedRows = rows
    .flatMap((row) =>
      idsOf(row)
        .slice(0, maxLinks)
        .map((id) => relatedRowOf(row, id)),
    )
    .filter((relatedRow) => relatedRow !== undefined);
  const distinctName = createDistinctNameLookup(linkedRows, (row) => rowNameOf(target, row), nameRuleOf(target));
  const linkOf = (row: Row, id: string | number): RowLink => {
    const relatedRow = relatedRowOf(row, id);
    // If the viewer may not see the related row, only its id is known.
    const fullName = relatedRow ? distinctName(relatedRow) : `${singularLabelOf(target)} ${id}`;
    // If the name of a related row begins with the name of the row itself, the link omits that part.
    const namePrefix = `${rowNameOf(type, row)}, `;
    const label = fullName.startsWith(namePrefix) ? fullName.slice(namePrefix.length) : fullName;
    return { label, id: String(id), href: rowPathOf(endpointName, id) };
  };
  return (row) => linksCell(idsOf(row), maxLinks, (id) => linkOf(row, id));
}

export function cellClassOf({ kind }: FieldMetadata): 'number' | 'day' | undefined {
  if (kind === 'decimal' || kind === 'integer') return 'number';
  return kind === 'date' || kind === 'datetime' ? 'day' : undefined;
}
