/**
 * Table cells in readable form: names instead of ids, labels instead of stored values and images
 * instead of URLs.
 */
import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../shared/metadata';
import { fieldMetadataOf } from '../../../rest/endpoints';
import { createDistinctNameLookup, rowNamingOf, type RowNaming } from './row-names';
import type { Cell, RowLink } from './view-model';
import { singularLabelOf } from './labels';
import { rowPathOf } from './page-routes';

export type Row = Readonly<Record<string, unknown>>;

/** Finds the REST endpoint that serves rows of a GraphQL type. */
export type EndpointNameLookup = (type: string) => string | undefined;

/** Fields without a table column: ids and metadata such as the license. */
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
const IMAGE_FIELDS = new Set(['image', 'imageUrlMain']);

/** Tables omit text fields with a larger maximum length; the detail page shows them. */
const MAX_COLUMN_TEXT_LENGTH = 120;
const ZERO_SECONDS_SUFFIX = ':00';

const fieldType = (type: GraphQLObjectType, fieldName: string) =>
  getNamedType(type.getFields()[fieldName]!.type);

export const relatedTypeOf = (type: GraphQLObjectType, { relation }: FieldMetadata) =>
  fieldType(type, relation!.relationFieldName) as GraphQLObjectType;

export const visibleFieldsOf = (type: GraphQLObjectType): FieldMetadata[] =>
  fieldMetadataOf(type).filter(
    ({ hiddenOnPages, name, relation }) =>
      !hiddenOnPages && (relation ?? isLeafType(fieldType(type, name))),
  );

export function hasColumn(field: FieldMetadata, { paths }: RowNaming): boolean {
  const isPartOfName = paths.some(
    ([head]) => head === field.name || head === field.relation?.relationFieldName,
  );
  const isLong =
    field.kind === 'string' &&
    (field.maxLength === undefined || field.maxLength > MAX_COLUMN_TEXT_LENGTH);

  return !isPartOfName && !isLong && !FIELDS_WITHOUT_COLUMN.has(field.name);
}

/** GraphQL selection of a field. For a relation it includes the names of the related rows. */
export function selectionOf(type: GraphQLObjectType, { name, relation }: FieldMetadata): string {
  const relatedType = relation && fieldType(type, relation.relationFieldName);

  if (!isObjectType(relatedType) || !relatedType.extensions.resource) return name;

  return `${name} ${relation!.relationFieldName} { id ${rowNamingOf(relatedType).selection} }`;
}

/** Name of a row, or its type and id if it has no name. */
export function rowNameOf(type: GraphQLObjectType, row: Row, naming = rowNamingOf(type)): string {
  const name = naming.nameOf(row).replace(/^(\d\d:\d\d):00$/, '$1');

  return name || `${singularLabelOf(type)} ${String(row.id)}`;
}

/**
 * Heading of a row. A name that is a date or time follows the type: `Weight entry of 2026-01-31`.
 */
export function headingOf(type: GraphQLObjectType, row: Row): string {
  const name = rowNameOf(type, row);

  if (/^\d{4}-\d\d-\d\d/.test(name)) return `${singularLabelOf(type)} of ${name}`;

  return /^\d\d:\d\d/.test(name) ? `${singularLabelOf(type)} at ${name}` : name;
}

/** Formats a date or time in its own time zone, without seconds if they are zero. */
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

/** Converts the value of a relation (one value, a list or null) to a list. */
const asList = <T>(value: unknown): readonly T[] => [value ?? []].flat() as T[];

/** Cell with links to at most `maxLinks` items and the number of the others. */
export function linksCell<T>(
  items: readonly T[],
  maxLinks: number,
  linkOf: (item: T) => RowLink,
): Cell {
  const links = items.slice(0, maxLinks).map(linkOf);
  const remainingCount = items.length - links.length;

  if (remainingCount > 0) links.push({ label: `${remainingCount} more`, id: '' });

  return { links };
}

/**
 * Creates a formatter for the values of a field. It needs all rows of the table to distinguish
 * related rows with equal names.
 */
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

    if (IMAGE_FIELDS.has(name)) return (row) => ({ pictureUrl: fieldTextOf(row) });

    if (field.kind === 'datetime') {
      return (row) => ({ text: fieldTextOf(row), time: (row[name] as string | null) ?? undefined });
    }

    return (row) => ({ text: fieldTextOf(row) });
  }

  const relatedType = relatedTypeOf(type, field);
  const endpointName = endpointNameOf(relation.typeName);
  const relatedIdsOf = (row: Row) => asList<string | number>(row[name]);
  const relatedRowOf = (row: Row, id: string | number) =>
    asList<Row>(row[relation.relationFieldName]).find(
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
    (row) => rowNameOf(relatedType, row),
    rowNamingOf(relatedType),
  );

  const linkOf = (row: Row, id: string | number): RowLink => {
    const relatedRow = relatedRowOf(row, id);
    // Only the id is known of a row that the viewer may not see.
    const fallbackName = `${singularLabelOf(relatedType)} ${id}`;
    const fullName = relatedRow ? distinctNameOf(relatedRow) : fallbackName;
    // Omits the name of the row itself from the names of its related rows.
    const namePrefix = `${rowNameOf(type, row)}, `;
    const label = fullName.startsWith(namePrefix) ? fullName.slice(namePrefix.length) : fullName;

    return { label, id: String(id), href: rowPathOf(endpointName, id) };
  };

  return (row) => linksCell(relatedIdsOf(row), maxLinks, (id) => linkOf(row, id));
}

export function cellClassOf({ kind }: FieldMetadata): 'number' | 'day' | undefined {
  if (kind === 'decimal' || kind === 'integer') return 'number';

  return kind === 'date' || kind === 'datetime' ? 'day' : undefined;
}
