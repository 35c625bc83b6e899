/** The one list that an operation asks for, and the operation that answers a page of it. */
import {
  getNullableType,
  isListType,
  Kind,
  OperationTypeNode,
  valueFromASTUntyped,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import { refused } from './refusal';
import { Selections, type Selected } from './selection';

type Variables = Record<string, unknown>;

/** What is asked of one page; the arguments of the list have it. */
export interface Window {
  first: number;
  /** The same, as series have it. */
  last: number;
  after: string | null;
  offset: number | null;
}

/** As the operation has it: all in all, and from where on. */
type Asked = Omit<Window, 'first' | 'last'> & { first: number | null };

export interface ExportedList {
  /** Of the field. */
  name: string;
  /** Of the rows, in an answer; the last one is `nodes` or `edges` of a connection. */
  path: readonly string[];
  /** What is shown of each row. */
  rows: readonly FieldNode[];
  type: GraphQLCompositeType;
  selections: Selections;
  /** Answers a page. */
  document: DocumentNode;
  /** Absent: the list has no pages. */
  pages?: {
    /** Where `pageInfo` is; absent: a page with fewer rows than were asked for is the last one. */
    info?: readonly string[];
    /** How many rows are there already is said by the context, and not by an argument. */
    isSeries: boolean;
    /** What is worked out of rows is so anew for each page. */
    workedOut: boolean;
    asked: Asked;
    variables(window: Window): Variables;
  };
}

const INFO = 'exportedPage';
/** The arguments that say which page, by their types as variables have them. */
const WINDOW = { first: 'Int!', last: 'Int!', after: 'String', offset: 'Int' } as const;
type Argument = keyof typeof WINDOW;
const [OF_SERIES, OF_PAGES]: Argument[][] = [['last'], ['first', 'after', 'offset']];

const nameNode = (value: string) => ({ kind: Kind.NAME, value }) as const;
const fieldNode = (name: string, selections: readonly SelectionNode[], further: Partial<FieldNode> = {}): FieldNode => ({
  kind: Kind.FIELD,
  name: nameNode(name),
  ...(selections.length && { selectionSet: { kind: Kind.SELECTION_SET, selections } }),
  ...further,
});
const below = ({ nodes }: Selected): SelectionNode[] => nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);
const placeOf = (path: readonly string[]) => `\`${path.join('.')}\``;

/** Throws a Refused that names the field for an operation that is not one list. */
export function exportedList(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): ExportedList {
  if (operation.operation !== OperationTypeNode.QUERY) throw refused('A file is made of a query, which changes nothing.');
  const fragments = document.definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION);
  const selections = new Selections(schema, new Map(fragments.map((node) => [node.name.value, node])), variables);
  const way: Selected[] = [];
  let parent: GraphQLCompositeType = schema.getQueryType()!;
  let parents: readonly { selectionSet?: FieldNode['selectionSet'] }[] = [operation];
  for (;;) {
    const [step, other] = selections.below(parents, parent);
    const path = way.map(({ key }) => key);
    if (!step) throw refused('A file is one list, and this operation asks for nothing.');
    if (other) {
      const both = `${placeOf([...path, step.key])} and ${placeOf([...path, other.key])}`;
      throw refused(`A file is one list. Ask for one field here, not for ${both}.`, [...path, other.key].join('.'));
    }
    way.push(step);
    const type = selections.typeBelow(step);
    if (!type) throw refused(`${placeOf([...path, step.key])} is no list of objects.`, [...path, step.key].join('.'));
    const whole = { ...operation, directives: [] };
    if (isPaged(step) || (isSeries(step) && valueOf(step, 'last', variables) === null))
      return paged(whole, fragments, way, type, selections, variables);
    if (isPlain(step))
      return {
        name: step.name,
        path: way.map(({ key }) => key),
        rows: step.nodes,
        type,
        selections,
        document: { kind: Kind.DOCUMENT, definitions: [whole, ...fragments] },
      };
    [parent, parents] = [type, step.nodes];
  }
}

const isPlain = ({ field }: Selected): boolean => isListType(getNullableType(field.type));

const has = ({ field }: Selected, argument: Argument): boolean => field.args.some(({ name }) => name === argument);

const isSeries = (list: Selected): boolean => isPlain(list) && has(list, 'last');

/** Connections, groups and rankings. */
export const isPaged = (list: Selected): boolean => has(list, 'first') && (has(list, 'after') || has(list, 'offset'));

function paged(
  operation: OperationDefinitionNode,
  fragments: readonly FragmentDefinitionNode[],
  way: readonly Selected[],
  type: GraphQLCompositeType,
  selections: Selections,
  variables: Variables,
): ExportedList {
  const list = way.at(-1)!;
  const listPath = way.map(({ key }) => key);
  const rows = isPlain(list) ? list : rowsOf(list, listPath, type, selections);
  const asked = (name: Argument) => valueOf(list, name, variables);
  if (asked('last') !== null)
    throw refused('A file begins with the first row: turn `orderBy` around, and ask with `first` instead of `last`.', 'last');
  const named = namesOf(list, operation);
  return {
    name: list.name,
    path: rows === list ? listPath : [...listPath, rows.key],
    rows: rows.nodes,
    type: selections.typeBelow(rows)!,
    selections,
    document: { kind: Kind.DOCUMENT, definitions: [pageOf(operation, way, rows, named), ...fragments] },
    pages: {
      ...(rows !== list && { info: [...listPath, INFO] }),
      workedOut: rows === list || !named.some(([argument]) => argument === 'offset'),
      isSeries: isSeries(list),
      asked: { first: asked('first'), after: asked('after'), offset: asked('offset') } as Asked,
      variables: (window) => Object.fromEntries(named.map(([argument, name]) => [name, window[argument]])),
    },
  };
}

const argumentsOf = (list: Selected): readonly ArgumentNode[] => list.nodes[0]!.arguments ?? [];

function valueOf(list: Selected, name: Argument, variables: Variables): unknown {
  const argument = argumentsOf(list).find((one) => one.name.value === name);
  return (argument && valueFromASTUntyped(argument.value, variables)) ?? null;
}

/** The one list below a connection. */
function rowsOf(list: Selected, listPath: readonly string[], type: GraphQLCompositeType, selections: Selections): Selected {
  const [rows, other] = selections.below(list.nodes, type).filter(isPlain);
  if (!rows) throw refused(`Ask for \`nodes\` of ${placeOf(listPath)}: they are the rows of the file.`, listPath.join('.'));
  if (other) throw refused(`A file has the rows of ${placeOf(listPath)} once: ask for \`${rows.key}\` or for \`${other.key}\`.`, other.key);
  return rows;
}

/** The arguments of the list that say which page, with names for their variables which the operation has not taken. */
function namesOf(list: Selected, { variableDefinitions = [] }: OperationDefinitionNode): [Argument, string][] {
  const taken = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const wanted = (isSeries(list) ? OF_SERIES : OF_PAGES)!;
  return wanted.flatMap((argument): [Argument, string][] => {
    if (!has(list, argument)) return [];
    let name = `exported_${argument}`;
    while (taken.has(name)) name += '_';
    return [[argument, name]];
  });
}

/** The operation, with variables that say which page of the list. */
function pageOf(
  operation: OperationDefinitionNode,
  way: readonly Selected[],
  rows: Selected,
  named: readonly [Argument, string][],
): OperationDefinitionNode {
  const variableOf = (name: string) => ({ kind: Kind.VARIABLE, name: nameNode(name) }) as const;
  const own = named.map(([argument, name]): ArgumentNode => ({
    kind: Kind.ARGUMENT,
    name: nameNode(argument),
    value: variableOf(name),
  }));
  const definitions = named.map(([argument, name]): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: variableOf(name),
    type: typeNode(WINDOW[argument]),
  }));
  const others = argumentsOf(way.at(-1)!).filter(({ name }) => !(name.value in WINDOW));
  const info = fieldNode('pageInfo', [fieldNode('hasNextPage', []), fieldNode('endCursor', [])], { alias: nameNode(INFO) });
  const shown = fieldNode(rows.name, below(rows), { alias: nameNode(rows.key) });
  const innermost = rows === way.at(-1) ? below(rows) : [shown, info];
  // From the list outwards.
  const field = way.reduceRight<FieldNode | undefined>((within, { key, name, nodes }) => {
    const selected = within ? [within] : innermost;
    return fieldNode(name, selected, { alias: nameNode(key), arguments: within ? nodes[0]!.arguments : [...others, ...own] });
  }, undefined)!;
  return {
    ...operation,
    variableDefinitions: [...(operation.variableDefinitions ?? []), ...definitions],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
  };
}

function typeNode(name: string): TypeNode {
  const named = { kind: Kind.NAMED_TYPE, name: nameNode(name.replace('!', '')) } as const;
  return name.endsWith('!') ? { kind: Kind.NON_NULL_TYPE, type: named } : named;
}
