/** Tells whether a result contains only a part of a list, and builds the requests for the rest. */
import {
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isObjectType,
  Kind,
  print,
  visit,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { DEFAULT_PAGE_SIZE } from '../../../shared/page-size';
import type { GraphQLRequest } from './mass-units';
import type { ResultList } from './table';

const PAGE_ARGUMENTS = ['first', 'last', 'after', 'before', 'offset'];
const ROWS_FIELDS = ['nodes', 'edges'];
const TOTAL_COUNT_FIELD = 'totalCount';

type Field = GraphQLField<unknown, unknown>;

interface SelectedField {
  node: FieldNode;
  field: Field;
}

/** A list of which the result may contain only a part. */
export interface PartialList {
  /** Path of the list or, for a connection, of the connection. */
  path: readonly string[];
  fields: readonly SelectedField[];
  operation: OperationDefinitionNode;

  /** Whether the last rows of the list were requested, such as the latest weeks. */
  isFromEnd: boolean;

  /** Whether the server can count the rows. */
  hasTotalCount: boolean;
}

function findFieldNode(
  { selections }: SelectionSetNode,
  responseKey: string,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FieldNode | undefined {
  for (const node of selections) {
    if (node.kind === Kind.FIELD) {
      if ((node.alias ?? node.name).value === responseKey) return node;
      continue;
    }

    const { selectionSet } =
      node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)! : node;
    const found = findFieldNode(selectionSet, responseKey, fragments);

    if (found) return found;
  }

  return undefined;
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);

  return new Map(fragments.map((node) => [node.name.value, node]));
}

function fieldsAlongPath(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  path: readonly string[],
): SelectedField[] | undefined {
  const fragments = fragmentsOf(document);
  const fields: SelectedField[] = [];
  let selectionSet: SelectionSetNode | undefined = operation.selectionSet;
  let type: GraphQLNamedType | null | undefined = schema.getRootType(operation.operation);

  for (const responseKey of path) {
    const node: FieldNode | undefined =
      selectionSet && findFieldNode(selectionSet, responseKey, fragments);
    const field: Field | undefined =
      node && isObjectType(type) ? type.getFields()[node.name.value] : undefined;

    if (!node || !field) return undefined;
    fields.push({ node, field });
    ({ selectionSet } = node);
    type = getNamedType(field.type);
  }

  return fields;
}

/**
 * Finds out whether the list was cut off: it has as many rows as were requested. `rowCount` is the
 * number of its rows in the result.
 */
export function findPartialList(
  schema: GraphQLSchema,
  { query, variables = {}, operationName }: GraphQLRequest,
  { outermostListPath }: Pick<ResultList, 'outermostListPath'>,
  rowCount: number,
): PartialList | undefined {
  const operation = getOperationAST(query, operationName);

  if (!operation) return undefined;
  const listPath = outermostListPath.split('.');
  const allFields = fieldsAlongPath(schema, query, operation, listPath);
  const isConnection = ROWS_FIELDS.includes(allFields?.at(-1)?.node.name.value ?? '');
  const fields = isConnection ? allFields!.slice(0, -1) : allFields;
  const list = fields?.at(-1);

  if (!fields || !list) return undefined;
  const { coerced = {} } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variables,
  );
  const { first, last } = getArgumentValues(list.field, list.node, coerced);
  const requestedCount = last ?? first ?? (isConnection ? DEFAULT_PAGE_SIZE : undefined);

  if (typeof requestedCount !== 'number' || rowCount !== requestedCount) return undefined;
  const type = getNamedType(list.field.type);

  return {
    path: isConnection ? listPath.slice(0, -1) : listPath,
    fields,
    operation,
    isFromEnd: typeof last === 'number',
    hasTotalCount: isObjectType(type) && TOTAL_COUNT_FIELD in type.getFields(),
  };
}

const COUNT_FORMAT = new Intl.NumberFormat('en');

export const formatCount = (count: number): string => COUNT_FORMAT.format(count);

/** Says which part of the list the result contains. `total` is undefined if it is unknown. */
export function describeRowCount(
  { isFromEnd }: Pick<PartialList, 'isFromEnd'>,
  rowCount: number,
  total: number | undefined,
): string {
  const visibleCount = formatCount(rowCount);

  if (total !== undefined) return `${visibleCount} of ${formatCount(total)} rows`;

  return `The ${isFromEnd ? 'latest' : 'first'} ${visibleCount} rows; there may be more`;
}

const withoutPageArguments = (args: readonly ArgumentNode[] = []) =>
  args.filter(({ name }) => !PAGE_ARGUMENTS.includes(name.value));

/** The text of an operation that counts all rows of the list. */
export function totalCountQueryOf({ fields, operation }: PartialList): string {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const countNode: FieldNode = { kind: Kind.FIELD, name: name(TOTAL_COUNT_FIELD) };
  const root = fields.reduceRight<FieldNode>(
    (child, { node }, index) => ({
      ...node,
      arguments:
        index === fields.length - 1 ? withoutPageArguments(node.arguments) : node.arguments,
      selectionSet: { kind: Kind.SELECTION_SET, selections: [child] },
    }),
    countNode,
  );
  const usedVariables = new Set<string>();

  visit(root, { Variable: (node) => void usedVariables.add(node.name.value) });
  return print({
    kind: Kind.OPERATION_DEFINITION,
    operation: operation.operation,
    variableDefinitions: operation.variableDefinitions?.filter(({ variable }) =>
      usedVariables.has(variable.name.value),
    ),
    selectionSet: { kind: Kind.SELECTION_SET, selections: [root] },
  });
}

/** Reads the total from the response to `totalCountQueryOf`. */
export function totalCountIn(data: unknown, { path }: PartialList): number | undefined {
  const connection = path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | null | undefined)?.[key],
    data,
  );
  const count = (connection as Record<string, unknown> | undefined)?.[TOTAL_COUNT_FIELD];

  return typeof count === 'number' ? count : undefined;
}

/** The query with another number of requested rows. Comments and formatting are kept. */
export function withRequestedCount(
  query: string,
  { fields }: Pick<PartialList, 'fields'>,
  count: number,
): { query: string; variables?: Record<string, number> } {
  const { node } = fields.at(-1)!;
  const args = node.arguments ?? [];
  const argument = args.find(({ name }) => name.value === 'first' || name.value === 'last');
  const insertAt = (start: number, end: number, text: string) =>
    query.slice(0, start) + text + query.slice(end);

  if (argument?.value.kind === Kind.VARIABLE) {
    return { query, variables: { [argument.value.name.value]: count } };
  }

  if (argument) {
    const { start, end } = argument.value.loc!;

    return { query: insertAt(start, end, String(count)) };
  }

  const lastArgumentEnd = args.at(-1)?.loc!.end;
  const nameEnd = node.name.loc!.end;

  return {
    query:
      lastArgumentEnd === undefined
        ? insertAt(nameEnd, nameEnd, `(first: ${count})`)
        : insertAt(lastArgumentEnd, lastArgumentEnd, `, first: ${count}`),
  };
}
