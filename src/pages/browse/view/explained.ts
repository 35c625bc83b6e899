/** An operation of REST as people can send it to GraphQL themselves. */
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  Kind,
  parse,
  print,
  typeFromAST,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type TypeNode,
} from 'graphql';
import type { Operation } from '../../../rest/endpoints';
import type { HtmlView } from './view';

type Variables = Record<string, unknown>;
interface Explained {
  text: string;
  types: Readonly<Record<string, GraphQLInputType>>;
}

/** Undefined for what only REST has. Nothing is worked out before somebody asks. */
export function explanations(schema: GraphQLSchema): (operation: Operation, variables: Variables) => HtmlView['graphql'] {
  const known = new Map<string, Explained | undefined>();
  return ({ document }, variables) => {
    if (!known.has(document)) known.set(document, explainedBy(schema, parse(document)));
    const found = known.get(document);
    return found && { document: found.text, variables: shown(variables, found.types) };
  };
}

function explainedBy(schema: GraphQLSchema, document: DocumentNode): Explained | undefined {
  const info = new TypeInfo(schema);
  const Field = (node: FieldNode) => {
    const field = info.getFieldDef();
    if (!field) return null;
    return field.extensions.wholeList && node.arguments?.length ? withoutPages(node) : undefined;
  };
  const common = withoutUnused(visit(document, visitWithTypeInfo(info, { Field })));
  const { variableDefinitions = [], selectionSet } = common.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === 'OperationDefinition',
  )!;
  if (!selectionSet.selections.length || validate(schema, common).length) return undefined;
  const types = variableDefinitions.map(({ variable, type }) => [variable.name.value, typeFromAST(schema, type as TypeNode)]);
  return { text: print(common), types: Object.fromEntries(types) as Explained['types'] };
}

/** The rows of a page, of a list that has no pages. */
function withoutPages(node: FieldNode): FieldNode {
  const nodes = node.selectionSet!.selections.find((one): one is FieldNode => one.kind === Kind.FIELD && one.name.value === 'nodes')!;
  return { ...node, arguments: [], selectionSet: nodes.selectionSet };
}

/** Without variables and fragments that nothing refers to. */
function withoutUnused(document: DocumentNode): DocumentNode {
  const [variables, fragments] = [new Set<string>(), new Set<string>()];
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void variables.add(name.value),
    FragmentSpread: ({ name }) => void fragments.add(name.value),
  });
  return visit(document, {
    VariableDefinition: ({ variable }) => (variables.has(variable.name.value) ? undefined : null),
    FragmentDefinition: ({ name }) => (fragments.has(name.value) ? undefined : null),
  });
}

/** As JSON that can be sent: a file is none, and no condition is none. */
function shown(variables: Variables, types: Explained['types']): Variables {
  const given = Object.entries(variables).filter(([name]) => types[name]);
  const copy = Object.fromEntries(given.map(([name, value]) => [name, valueOf(types[name]!, value)]));
  if (copy.where && !Object.keys(copy.where).length) delete copy.where;
  return copy;
}

function valueOf(type: GraphQLInputType, value: unknown): unknown {
  const nullable = getNullableType(type);
  if (value === null || value === undefined) return value;
  if (isListType(nullable))
    return Array.isArray(value) ? value.map((item) => valueOf(nullable.ofType, item)) : valueOf(nullable.ofType, value);
  // A name where REST has the stored value, of which ids of conditions are texts.
  if (isEnumType(nullable)) return nullable.getValues().find((one) => String(one.value) === String(value))?.name ?? null;
  if (!isInputObjectType(nullable)) return typeof value === 'object' ? null : value;
  const fields = nullable.getFields();
  const given = Object.entries(value as Variables).filter(([name]) => fields[name]);
  return Object.fromEntries(given.map(([name, inner]) => [name, valueOf(fields[name]!.type, inner)]));
}
