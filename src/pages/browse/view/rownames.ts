/** Readable names of rows and search by name, as used by forms, filters and tables. */
import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type {
  Choice,
  FieldMetadata,
  FieldKind,
  ResourceMetadata,
} from '../../../contract/metadata';
import { fieldMetadataOf, type PrepareOperation } from '../../../rest/endpoints';

const MAX_LABEL_LENGTH = 60;
const MAX_MATCHING_ROWS = 20;
const MAX_ROWS_IN_NAME = 3;
/** Marks a list in a field path. With it, the name of a row joins the strings of several list rows; without it, the first list row is used. */
const JOINED_LIST_SUFFIX = '[]';
/** Kinds of fields that serve as the name of a row if its type has no text field. */
const TIME_KINDS: readonly FieldKind[] = ['time', 'date', 'datetime'];

export interface RowNameSearch {
  isOwned: boolean;
  /**
   * Returns at most MAX_MATCHING_ROWS rows whose name or distinguishing string matches `text`. Absent if the type of the rows has no text field for
   * either.
   */
  findByName?(context: object, text: string): Promise<Choice[]>;
  /** Returns the first rows that match `where`, with their names as labels. */
  readFirstRows(context: object, where: object, first: number): Promise<Choice[] | undefined>;
}

type Row = Readonly<Record<string, unknown>>;

export interface RowNameRule {
  /** Paths of the fields that make up the name; empty if rows have no name. */
  paths: readonly FieldPath[];
  selection: string;
  nameOf(row: Row): string;
  /** Returns the string that distinguishes rows with equal names; empty if there is none. */
  distinguishingTextOf(row: Row): string;
}

type FieldPath = readonly string[];

/** Returns the text field that orders the rows or is called `name`, or else the first text field, or else the first date or time. */
function findNameField(
  fields: readonly FieldMetadata[],
  ordering: readonly string[],
): FieldMetadata | undefined {
  const visibleFields = fields.filter(({ hiddenInRest }) => !hiddenInRest);
  const textFields = visibleFields.filter(({ kind }) => kind === 'string');
  const preferredFieldNames = [ordering[0]?.replace(/^-/, ''), 'name'];
  return (
    textFields.find(({ name }) => preferredFieldNames.includes(name)) ??
    textFields[0] ??
    visibleFields.find(({ kind }) => TIME_KINDS.includes(kind))
  );
}

/** Converts a path to a selection: `a.b` → `a { b }`. */
const selectionOfPath = (path: FieldPath): string =>
  path.reduceRight((inner, name) => (inner ? `${name} { ${inner} }` : name), '');

const parseFieldPath = (text: string): FieldPath =>
  text.replaceAll(JOINED_LIST_SUFFIX, '').split('.');

function textsAtPath(value: unknown, [name, ...rest]: FieldPath): string[] {
  if (Array.isArray(value))
    return value.flatMap((item) => textsAtPath(item, name === undefined ? [] : [name, ...rest]));
  if (value === null || value === undefined) return [];
  return name === undefined
    ? [String(value as string | number)]
    : textsAtPath((value as Row)[name], rest);
}

/** Follows a path of fields from a row and returns the string that it leads to. Strings from several rows are joined: `Back Squat + Deadlift`. */
function textAtPath(row: Row, path: string): string {
  const texts = [...new Set(textsAtPath(row, parseFieldPath(path)).filter(Boolean))];
  if (!path.includes(JOINED_LIST_SUFFIX)) return texts[0] ?? '';
  const remainingCount = texts.length - MAX_ROWS_IN_NAME;
  return remainingCount > 0
    ? [...texts.slice(0, MAX_ROWS_IN_NAME), `${remainingCount} more`].join(' + ')
    : texts.join(' + ');
}

/** Returns the rule for the names of rows. Names omit the relation `parent`, which has the same value in all rows. */
export function nameRuleOf(type: GraphQLObjectType, parent?: FieldMetadata): RowNameRule {
  const {
    labelFieldPaths: declaredNamePaths,
    distinguishingFieldPath,
    ordering,
  } = type.extensions.resource!;
  const ownNamePaths = declaredNamePaths?.filter(
    (path) => parseFieldPath(path)[0] !== parent?.relation?.objectFieldName,
  );
  const usableNamePaths = ownNamePaths?.length ? ownNamePaths : undefined;
  const field = usableNamePaths ? undefined : findNameField(fieldMetadataOf(type), ordering);
  const namePaths = usableNamePaths ?? (field ? [field.name] : []);
  return {
    paths: namePaths.map(parseFieldPath),
    selection: [
      ...namePaths,
      ...(distinguishingFieldPath === undefined ? [] : [distinguishingFieldPath]),
    ]
      .map((path) => selectionOfPath(parseFieldPath(path)))
      .join(' '),
    nameOf: (row) =>
      namePaths
        .map((path) => textAtPath(row, path))
        .filter(Boolean)
        .join(', '),
    distinguishingTextOf: (row) =>
      distinguishingFieldPath === undefined ? '' : textAtPath(row, distinguishingFieldPath),
  };
}

/** Returns a function that returns the name of one of the rows. Equal names are followed by a distinguishing string in parentheses. */
export function createDistinctNameLookup(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  { distinguishingTextOf }: RowNameRule,
): (row: Row) => string {
  const distinguishingTextsByName = new Map<string, Set<string>>();
  for (const row of rows)
    distinguishingTextsByName.set(
      nameOf(row),
      (distinguishingTextsByName.get(nameOf(row)) ?? new Set()).add(distinguishingTextOf(row)),
    );
  return (row) => {
    const name = nameOf(row);
    const distinguishingText =
      !name || distinguishingTextsByName.get(name)!.size > 1 ? distinguishingTextOf(row) : '';
    return name && distinguishingText
      ? `${name} (${distinguishingText})`
      : name || distinguishingText;
  };
}

function isTextPath(type: GraphQLObjectType, [name, ...rest]: FieldPath): boolean {
  const field = type.getFields()[name!]!;
  return rest.length
    ? isTextPath(getNamedType(field.type) as GraphQLObjectType, rest)
    : field.extensions.field?.kind === 'string';
}

/** Returns the `where` condition that searches for `text` in the field at the end of the path. In a list on the path, one matching row is enough. */
function searchCondition(
  type: GraphQLObjectType,
  [name, ...rest]: FieldPath,
  text: string,
): object {
  const field = type.getFields()[name!]!;
  const nestedCondition = rest.length
    ? searchCondition(getNamedType(field.type) as GraphQLObjectType, rest, text)
    : { search: text };
  return {
    [name!]: isListType(getNullableType(field.type)) ? { some: nestedCondition } : nestedCondition,
  };
}

/** Creates the search for rows of a type. Returns undefined if rows cannot be listed, or if they are public and have no name. */
function createRowNameSearch(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  resource: ResourceMetadata,
  prepareOperation: PrepareOperation,
): RowNameSearch | undefined {
  const { isOwned, listQueryName } = resource;
  const nameRule = nameRuleOf(type);
  const { paths, selection: nameSelection } = nameRule;
  if (!schema.getQueryType()?.getFields()[listQueryName] || (!isOwned && paths.length === 0))
    return undefined;
  const textPaths = [
    ...paths,
    ...(resource.distinguishingFieldPath === undefined
      ? []
      : [parseFieldPath(resource.distinguishingFieldPath)]),
  ].filter((path) => isTextPath(type, path));
  const document = `query ($where: ${type.name}Where, $first: Int) { page: ${listQueryName}(where: $where, first: $first) { nodes { id ${nameSelection} } } }`;
  const readFirstRows: RowNameSearch['readFirstRows'] = async (context, where, first) => {
    const { data } = await prepareOperation(document)(context, { where, first });
    const matchingRows = data?.page.nodes as Row[] | undefined;
    const nameOf = createDistinctNameLookup(matchingRows ?? [], nameRule.nameOf, nameRule);
    // Several rows of a user may have the same name or no name, so their labels start with the id.
    const labelOf = (row: Row): string => {
      const name = nameOf(row).slice(0, MAX_LABEL_LENGTH);
      return isOwned ? [String(row.id), name].filter(Boolean).join(': ') : name;
    };
    return matchingRows?.map((row) => ({ value: String(row.id), label: labelOf(row) }));
  };
  return {
    isOwned,
    readFirstRows,
    ...(textPaths.length && {
      async findByName(context, text) {
        const conditions = textPaths.map((path) => searchCondition(type, path, text));
        return (
          (await readFirstRows(
            context,
            conditions.length > 1 ? { or: conditions } : conditions[0]!,
            MAX_MATCHING_ROWS,
          )) ?? []
        );
      },
    }),
  };
}

export function createRowNameSearchLookup(
  schema: GraphQLSchema,
  prepareOperation: PrepareOperation,
): (type: string) => RowNameSearch | undefined {
  const rowSearchByType = new Map<string, RowNameSearch | undefined>();
  return (name) => {
    const type = schema.getType(name);
    if (!isObjectType(type) || !type.extensions.resource) return undefined;
    if (!rowSearchByType.has(name))
      rowSearchByType.set(
        name,
        createRowNameSearch(schema, type, type.extensions.resource, prepareOperation),
      );
    return rowSearchByType.get(name);
  };
}
