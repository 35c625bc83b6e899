/**
 * Finds the one list that an export operation selects, and rewrites the operation to fetch one page
 * of it.
 */
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  Kind,
  OperationTypeNode,
  parseType,
  valueFromASTUntyped,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { invalidArgumentError, invalidInputError } from '../../engine/declare/errors';
import { FieldCollector, type SelectedField } from './field-collection';

type Variables = Record<string, unknown>;

export interface PageArguments {
  first: number;

  /** Equal to `first`. Time series have the argument `last` instead of `first`. */
  last: number;
  after: string | null;
  offset: number | null;
}

/**
 * Pagination arguments in the client's operation: how many rows to export (`first`), and where to
 * start (`after` or `offset`).
 */
type RequestedPageArguments = Omit<PageArguments, 'first' | 'last'> & { first: number | null };

export interface ExportedList {
  name: string;

  /** Path of the rows in a response. In a connection it ends in `nodes` or `edges`. */
  rowsPath: readonly string[];

  /** Field nodes with the selection sets of a row. */
  rowFieldNodes: readonly FieldNode[];
  rowType: GraphQLCompositeType;
  fieldCollector: FieldCollector;
  document: DocumentNode;

  /** How to fetch pages, if the list has pagination arguments. */
  pagination?: {
    /** Path of `pageInfo`. Without it, a page with fewer rows than requested is the last one. */
    pageInfoPath?: readonly string[];

    /**
     * Whether the list is a time series. Time series have no argument `offset`, so the offset is
     * passed in the context (`exportedRowCount`).
     */
    isTimeSeries: boolean;

    /**
     * Whether each page computes the whole list again, as for groups and time series. Such lists
     * are read in pages of the maximum size.
     */
    isListRecomputedPerPage: boolean;
    requestedPageArguments: RequestedPageArguments;
    pageVariables(pageArguments: PageArguments): Variables;
  };
}

/**
 * Response key of the added field `pageInfo`, which must differ from the response key of the rows.
 */
const pageInfoAlias = (rows: SelectedField): string =>
  rows.responseKey === 'exportedPage' ? 'pageOfExport' : 'exportedPage';
const PAGE_ARGUMENT_TYPES = {
  first: 'Int!',
  last: 'Int!',
  after: 'String',
  offset: 'Int',
} as const;

type PageArgumentName = keyof typeof PAGE_ARGUMENT_TYPES;
const TIME_SERIES_ARGUMENTS: readonly PageArgumentName[] = ['last'];
const PAGE_ARGUMENTS: readonly PageArgumentName[] = ['first', 'after', 'offset'];

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;
const fieldNode = (
  name: string,
  selections: readonly SelectionNode[],
  properties: Partial<FieldNode> = {},
): FieldNode => ({
  kind: Kind.FIELD,
  name: nameNode(name),
  ...(selections.length && { selectionSet: { kind: Kind.SELECTION_SET, selections } }),
  ...properties,
});
const inlineFragment = (
  typeName: string,
  selections: readonly SelectionNode[],
): InlineFragmentNode => ({
  kind: Kind.INLINE_FRAGMENT,
  typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(typeName) },
  selectionSet: { kind: Kind.SELECTION_SET, selections },
});
const childSelections = ({ nodes }: SelectedField): SelectionNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
const quotePath = (path: readonly string[]) => `\`${path.join('.')}\``;

/** Finds the list that an operation selects. Throws BAD_USER_INPUT unless there is
 * exactly one. */
export function findExportedList(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): ExportedList {
  if (operation.operation !== OperationTypeNode.QUERY) {
    throw invalidArgumentError('query', 'Only queries can be exported.');
  }

  const fragments = document.definitions.filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fieldCollector = new FieldCollector(
    schema,
    new Map(fragments.map((node) => [node.name.value, node])),
    variables,
  );
  const fieldPath: SelectedField[] = [];
  let parent: GraphQLCompositeType = schema.getQueryType()!;
  let parentNodes: readonly { selectionSet?: FieldNode['selectionSet'] }[] = [operation];

  for (;;) {
    const [selectedField, secondField] = fieldCollector.collectFields(parentNodes, parent);

    if (!selectedField) {
      throw invalidArgumentError(
        'query',
        'A file contains one list, but this operation selects no field.',
      );
    }

    const parentPath = fieldPath.map(({ responseKey }) => responseKey);
    const path = [...parentPath, selectedField.responseKey];

    if (secondField) {
      const secondPath = [...parentPath, secondField.responseKey];

      throw invalidInputError(
        secondPath,
        `A file contains one list. Select one field here, not ${quotePath(path)} and ${quotePath(secondPath)}.`,
      );
    }

    if (isAbstractType(parent) && selectedField.parentTypes.size > 1) {
      const types = [...selectedField.parentTypes].map(({ name }) => `\`${name}\``).join(' and ');

      throw invalidInputError(
        path,
        `A file contains one list. Select this field on one type, not on ${types}.`,
      );
    }

    fieldPath.push(selectedField);
    const type = fieldCollector.compositeTypeOf(selectedField);

    if (!type) {
      throw invalidInputError(path, 'This is not a list of objects.');
    }

    const operationWithoutDirectives = { ...operation, directives: [] };

    const isCompleteTimeSeries =
      isTimeSeries(selectedField) && argumentValueOf(selectedField, 'last', variables) === null;

    if (isPagedList(selectedField) || isCompleteTimeSeries) {
      return buildPagedList(
        operationWithoutDirectives,
        fragments,
        fieldPath,
        type,
        fieldCollector,
        variables,
      );
    }

    if (isListField(selectedField)) {
      return {
        name: selectedField.name,
        rowsPath: path,
        rowFieldNodes: selectedField.nodes,
        rowType: type,
        fieldCollector,
        document: { kind: Kind.DOCUMENT, definitions: [operationWithoutDirectives, ...fragments] },
      };
    }

    [parent, parentNodes] = [type, selectedField.nodes];
  }
}

const isListField = ({ field }: SelectedField): boolean => isListType(getNullableType(field.type));

const hasArgument = ({ field }: SelectedField, argument: PageArgumentName): boolean =>
  field.args.some(({ name }) => name === argument);

const isTimeSeries = (listField: SelectedField): boolean =>
  isListField(listField) && hasArgument(listField, 'last');

/** Whether a field is a connection, a list of groups or a ranking. */
export const isPagedList = (listField: SelectedField): boolean =>
  hasArgument(listField, 'first') &&
  (hasArgument(listField, 'after') || hasArgument(listField, 'offset'));

function buildPagedList(
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  fieldPath: readonly SelectedField[],
  type: GraphQLCompositeType,
  fieldCollector: FieldCollector,
  variables: Variables,
): ExportedList {
  const listField = fieldPath.at(-1)!;
  const listPath = fieldPath.map(({ responseKey }) => responseKey);
  let rows = listField;

  if (!isListField(listField)) rows = findRowsField(listField, listPath, type, fieldCollector);
  const argumentValue = (name: PageArgumentName) => argumentValueOf(listField, name, variables);

  if (argumentValue('last') !== null) {
    throw invalidArgumentError(
      'last',
      'An export starts with the first row. Reverse `orderBy` and use `first` instead.',
    );
  }

  const variableNames = pageVariableNames(listField, operation);

  return {
    name: listField.name,
    rowsPath: rows === listField ? listPath : [...listPath, rows.responseKey],
    rowFieldNodes: rows.nodes,
    rowType: fieldCollector.compositeTypeOf(rows)!,
    fieldCollector,
    document: {
      kind: Kind.DOCUMENT,
      definitions: [pageOperation(operation, fieldPath, rows, variableNames), ...fragments],
    },
    pagination: {
      ...(rows !== listField && { pageInfoPath: [...listPath, pageInfoAlias(rows)] }),
      isListRecomputedPerPage:
        rows === listField || !variableNames.some(([argument]) => argument === 'offset'),
      isTimeSeries: isTimeSeries(listField),
      requestedPageArguments: {
        first: argumentValue('first'),
        after: argumentValue('after'),
        offset: argumentValue('offset'),
      } as RequestedPageArguments,
      pageVariables: (pageArguments) =>
        Object.fromEntries(
          variableNames.map(([argument, name]) => [name, pageArguments[argument]]),
        ),
    },
  };
}

const listArguments = (listField: SelectedField): readonly ArgumentNode[] =>
  listField.nodes[0]!.arguments ?? [];

function argumentValueOf(
  listField: SelectedField,
  name: PageArgumentName,
  variables: Variables,
): unknown {
  const argument = listArguments(listField).find((candidate) => candidate.name.value === name);

  return (argument && valueFromASTUntyped(argument.value, variables)) ?? null;
}

/** Finds the rows of a connection: `nodes` or `edges`, of which exactly one must be selected. */
function findRowsField(
  listField: SelectedField,
  listPath: readonly string[],
  type: GraphQLCompositeType,
  fieldCollector: FieldCollector,
): SelectedField {
  const [rows, secondField] = fieldCollector
    .collectFields(listField.nodes, type)
    .filter(isListField);

  if (!rows) {
    throw invalidInputError(listPath, 'Select `nodes`, which are the rows of the file.');
  }

  if (secondField) {
    throw invalidInputError(
      [...listPath, secondField.responseKey],
      `A file contains each row once. Select either \`${rows.responseKey}\` or \`${secondField.responseKey}\`.`,
    );
  }

  return rows;
}

/** Chooses an unused variable name for each pagination argument of the list. */
function pageVariableNames(
  listField: SelectedField,
  { variableDefinitions = [] }: OperationDefinitionNode,
): [PageArgumentName, string][] {
  const usedVariableNames = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const candidateArgumentNames = isTimeSeries(listField) ? TIME_SERIES_ARGUMENTS : PAGE_ARGUMENTS;

  return candidateArgumentNames.flatMap((argument): [PageArgumentName, string][] => {
    if (!hasArgument(listField, argument)) return [];
    let name = `exported_${argument}`;

    while (usedVariableNames.has(name)) name += '_';
    return [[argument, name]];
  });
}

/**
 * Rewrites an operation to fetch one page: pagination arguments become variables, and `pageInfo` of
 * a connection is selected.
 */
function pageOperation(
  operation: OperationDefinitionNode,
  fieldPath: readonly SelectedField[],
  rows: SelectedField,
  variableNames: readonly [PageArgumentName, string][],
): OperationDefinitionNode {
  const variableOf = (name: string) => ({ kind: Kind.VARIABLE, name: nameNode(name) }) as const;
  const paginationArguments = variableNames.map(([argument, name]): ArgumentNode => ({
    kind: Kind.ARGUMENT,
    name: nameNode(argument),
    value: variableOf(name),
  }));
  const pageVariableDefinitions = variableNames.map(([argument, name]): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: variableOf(name),
    type: parseType(PAGE_ARGUMENT_TYPES[argument], { noLocation: true }),
  }));
  const otherArguments = listArguments(fieldPath.at(-1)!).filter(
    ({ name }) => !(name.value in PAGE_ARGUMENT_TYPES),
  );
  const pageInfoField = fieldNode(
    'pageInfo',
    [fieldNode('hasNextPage', []), fieldNode('endCursor', [])],
    {
      alias: nameNode(pageInfoAlias(rows)),
    },
  );
  const rowsField = fieldNode(rows.name, childSelections(rows), {
    alias: nameNode(rows.responseKey),
  });
  const listSelections =
    rows === fieldPath.at(-1) ? childSelections(rows) : [rowsField, pageInfoField];
  // Nests the list in the fields of its ancestors, up to the root field.
  const field = fieldPath.reduceRight<FieldNode | undefined>(
    (childField, { responseKey, name, nodes, field: { type } }, index) => {
      const child = fieldPath[index + 1];

      // Below an interface such as `Node`, the field keeps its type condition, which the cost
      // estimate needs.
      const selectChild = (node: FieldNode): SelectionNode => {
        if (isAbstractType(getNamedType(type))) {
          return inlineFragment([...child!.parentTypes][0]!.name, [node]);
        }

        return node;
      };

      const selections = childField ? [selectChild(childField)] : listSelections;

      return fieldNode(name, selections, {
        alias: nameNode(responseKey),
        arguments: childField ? nodes[0]!.arguments : [...otherArguments, ...paginationArguments],
      });
    },
    undefined,
  )!;

  return {
    ...operation,
    variableDefinitions: [...(operation.variableDefinitions ?? []), ...pageVariableDefinitions],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
  };
}
