/** Readable names of rows and search by name, for forms, filters and tables. */
import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { Choice, FieldMetadata, FieldKind, ResourceMetadata } from '../../../shared/metadata';
import { fieldMetadataOf, type PrepareOperation } from '../../../rest/endpoints';

export const NUMERIC_ID_PATTERN = /^\d+$/;
const MAX_LABEL_LENGTH = 60;
const MAX_MATCHING_ROWS = 20;
const MAX_ROWS_IN_NAME = 3;

/**
 * Marks a list in a field path whose texts are joined. Without it, only the first row of the list
 * is used.
 */
const JOINED_LIST_SUFFIX = '[]';

/** Fields of these kinds name a row whose type has no text field. */
const TEMPORAL_KINDS: readonly FieldKind[] = ['time', 'date', 'datetime'];

export interface RowSearch {
  isOwned: boolean;

  /**
   * Finds rows whose name or distinguishing text matches. Absent if the type has no text field to
   * search.
   */
  findByName?(context: object, text: string): Promise<Choice[]>;

  /** Builds the `where` condition of `findByName`. */
  conditionFor?(text: string): object;

  /** Reads the first rows that match `where`, with their names as labels. */
  readFirstRows(context: object, where: object, first: number): Promise<Choice[] | undefined>;
}

type Row = Readonly<Record<string, unknown>>;

/** How rows of a type are named. */
export interface RowNaming {
  /** Paths of the fields that make up the name. Empty if rows have no name. */
  paths: readonly FieldPath[];
  selection: string;
  nameOf(row: Row): string;

  /** Text that distinguishes rows with equal names. Empty if the type declares no such field. */
  distinguishingTextOf(row: Row): string;
}

type FieldPath = readonly string[];

/**
 * Chooses the field that names a row: preferably the text field that orders the rows or is called
 * `name`, then any text field, then a date or time.
 */
function findNameField(
  fields: readonly FieldMetadata[],
  ordering: readonly string[],
): FieldMetadata | undefined {
  const visibleFields = fields.filter(({ hiddenOnPages }) => !hiddenOnPages);
  const textFields = visibleFields.filter(({ kind }) => kind === 'string');
  const preferredFieldNames = [ordering[0]?.replace(/^-/, ''), 'name'];

  return (
    textFields.find(({ name }) => preferredFieldNames.includes(name)) ??
    textFields[0] ??
    visibleFields.find(({ kind }) => TEMPORAL_KINDS.includes(kind))
  );
}

/** Converts a field path to a GraphQL selection: `a.b` → `a { b }`. */
const selectionOfPath = (path: FieldPath): string =>
  path.reduceRight((inner, name) => (inner ? `${name} { ${inner} }` : name), '');

const parseFieldPath = (text: string): FieldPath =>
  text.replaceAll(JOINED_LIST_SUFFIX, '').split('.');

function textsAtPath(value: unknown, [name, ...rest]: FieldPath): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => textsAtPath(item, name === undefined ? [] : [name, ...rest]));
  }

  if (value === null || value === undefined) return [];
  if (name === undefined) return [String(value as string | number)];

  return textsAtPath((value as Row)[name], rest);
}

/** Reads the text at a field path. Texts of several rows are joined: `Back Squat + Deadlift`. */
function textAtPath(row: Row, path: string): string {
  const texts = [...new Set(textsAtPath(row, parseFieldPath(path)).filter(Boolean))];

  if (!path.includes(JOINED_LIST_SUFFIX)) return texts[0] ?? '';
  const visibleTexts = texts.slice(0, MAX_ROWS_IN_NAME);
  const remainingCount = texts.length - visibleTexts.length;

  if (remainingCount > 0) visibleTexts.push(`${remainingCount} more`);

  return visibleTexts.join(' + ');
}

/**
 * Decides how rows of a type are named. Names omit the relation `parent`, which is the same in all
 * rows.
 */
export function rowNamingOf(type: GraphQLObjectType, parent?: FieldMetadata): RowNaming {
  const {
    labelFieldPaths: declaredNamePaths,
    distinguishingFieldPath,
    ordering,
  } = type.extensions.resource!;
  const ownNamePaths = declaredNamePaths?.filter(
    (path) => parseFieldPath(path)[0] !== parent?.relation?.relationFieldName,
  );
  const usableNamePaths = ownNamePaths?.length ? ownNamePaths : undefined;
  const field = usableNamePaths ? undefined : findNameField(fieldMetadataOf(type), ordering);
  const namePaths = usableNamePaths ?? (field ? [field.name] : []);

  const selectedPaths = [...namePaths, distinguishingFieldPath ?? []].flat();

  return {
    paths: namePaths.map(parseFieldPath),
    selection: selectedPaths.map((path) => selectionOfPath(parseFieldPath(path))).join(' '),
    nameOf: (row) =>
      namePaths
        .map((path) => textAtPath(row, path))
        .filter(Boolean)
        .join(', '),
    distinguishingTextOf: (row) =>
      distinguishingFieldPath === undefined ? '' : textAtPath(row, distinguishingFieldPath),
  };
}

/**
 * Creates a lookup of row names in which equal names are followed by a distinguishing text in
 * parentheses.
 */
export function createDistinctNameLookup(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  { distinguishingTextOf }: RowNaming,
): (row: Row) => string {
  const distinguishingTextsByName = new Map<string, Set<string>>();

  for (const row of rows) {
    distinguishingTextsByName.set(
      nameOf(row),
      (distinguishingTextsByName.get(nameOf(row)) ?? new Set()).add(distinguishingTextOf(row)),
    );
  }

  return (row) => {
    const name = nameOf(row);
    const isUnique = name !== '' && distinguishingTextsByName.get(name)!.size <= 1;
    const distinguishingText = isUnique ? '' : distinguishingTextOf(row);

    if (!name || !distinguishingText) return name || distinguishingText;

    return `${name} (${distinguishingText})`;
  };
}

function isTextPath(type: GraphQLObjectType, [name, ...rest]: FieldPath): boolean {
  const field = type.getFields()[name!]!;

  if (rest.length === 0) return field.extensions.field?.kind === 'string';

  return isTextPath(getNamedType(field.type) as GraphQLObjectType, rest);
}

/**
 * Builds the `where` condition that searches for a text at the end of a field path. One matching
 * row of a list is enough.
 */
function searchCondition(
  type: GraphQLObjectType,
  [name, ...rest]: FieldPath,
  text: string,
): object {
  const field = type.getFields()[name!]!;
  const isList = isListType(getNullableType(field.type));
  let condition: object = { search: text };

  if (rest.length > 0) {
    condition = searchCondition(getNamedType(field.type) as GraphQLObjectType, rest, text);
  }

  return { [name!]: isList ? { some: condition } : condition };
}

/**
 * Creates the search for rows of a type, unless they cannot be listed or are public rows without
 * names.
 */
function createRowSearch(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  resource: ResourceMetadata,
  prepareOperation: PrepareOperation,
): RowSearch | undefined {
  const { isOwned, listQueryName } = resource;
  const naming = rowNamingOf(type);
  const { paths, selection: nameSelection } = naming;

  if (!schema.getQueryType()?.getFields()[listQueryName] || (!isOwned && paths.length === 0)) {
    return undefined;
  }

  const { distinguishingFieldPath } = resource;
  const distinguishingPaths = [distinguishingFieldPath ?? []].flat().map(parseFieldPath);
  const textPaths = [...paths, ...distinguishingPaths].filter((path) => isTextPath(type, path));
  const document = `query ($where: ${type.name}Where, $first: Int) { page: ${listQueryName}(where: $where, first: $first) { nodes { id ${nameSelection} } } }`;

  const readFirstRows: RowSearch['readFirstRows'] = async (context, where, first) => {
    const { data } = await prepareOperation(document)(context, { where, first });
    const matchingRows = data?.page.nodes as Row[] | undefined;
    const nameOf = createDistinctNameLookup(matchingRows ?? [], naming.nameOf, naming);

    // Labels of owned rows start with the id, because names may be equal or empty.
    const labelOf = (row: Row): string => {
      const name = nameOf(row).slice(0, MAX_LABEL_LENGTH);

      return isOwned ? [String(row.id), name].filter(Boolean).join(': ') : name;
    };

    return matchingRows?.map((row) => ({ value: String(row.id), label: labelOf(row) }));
  };

  const conditionFor = (text: string): object => {
    const conditions = textPaths.map((path) => searchCondition(type, path, text));

    return conditions.length > 1 ? { or: conditions } : conditions[0]!;
  };

  return {
    isOwned,
    readFirstRows,
    ...(textPaths.length && {
      conditionFor,
      findByName: async (context, text) =>
        (await readFirstRows(context, conditionFor(text), MAX_MATCHING_ROWS)) ?? [],
    }),
  };
}

export function createRowSearchLookup(
  schema: GraphQLSchema,
  prepareOperation: PrepareOperation,
): (type: string) => RowSearch | undefined {
  const rowSearchByType = new Map<string, RowSearch | undefined>();

  return (name) => {
    const type = schema.getType(name);

    if (!isObjectType(type) || !type.extensions.resource) return undefined;

    if (!rowSearchByType.has(name)) {
      rowSearchByType.set(
        name,
        createRowSearch(schema, type, type.extensions.resource, prepareOperation),
      );
    }

    return rowSearchByType.get(name);
  };
}
