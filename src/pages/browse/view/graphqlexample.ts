/** Translates the operation behind a REST request into one that clients can send to `/graphql`. */
import {
  getNullableType,
  getOperationAST,
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
  type TypeNode,
} from 'graphql';
import type { RestOperation } from '../../../rest/endpoints';
import type { HtmlView } from './viewmodel';

type Variables = Record<string, unknown>;
interface PublicSchemaDocument {
  text: string;
  variableTypes: Readonly<Record<string, GraphQLInputType>>;
}

/**
 * Returns a function that translates the operation behind a REST request, or returns undefined if the public schema does not support it. Translations are
 * cached.
 */
export function publicSchemaOperationTranslator(
  schema: GraphQLSchema,
): (operation: RestOperation, variables: Variables) => HtmlView['graphqlOperation'] {
  const publicDocuments = new Map<string, PublicSchemaDocument | undefined>();
  return ({ document }, variables) => {
    if (!publicDocuments.has(document))
      publicDocuments.set(document, toPublicSchemaDocument(schema, parse(document)));
    const publicDocument = publicDocuments.get(document);
    return (
      publicDocument && {
        document: publicDocument.text,
        variables: toJsonVariables(variables, publicDocument.variableTypes),
      }
    );
  };
}

/** Removes the fields that the public schema does not have. Returns undefined if no field is left or the document is invalid. */
function toPublicSchemaDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): PublicSchemaDocument | undefined {
  const typeInfo = new TypeInfo(schema);
  const Field = (node: FieldNode) => {
    const field = typeInfo.getFieldDef();
    if (!field) return null;
    return field.extensions.resolveAllRows && node.arguments?.length
      ? withoutPagination(node)
      : undefined;
  };
  const publicDocument = removeUnusedDefinitions(
    visit(document, visitWithTypeInfo(typeInfo, { Field })),
  );
  const { variableDefinitions = [], selectionSet } = getOperationAST(publicDocument)!;
  if (!selectionSet.selections.length || validate(schema, publicDocument).length) return undefined;
  const variableTypeEntries = variableDefinitions.map(({ variable, type }) => [
    variable.name.value,
    typeFromAST(schema, type as TypeNode),
  ]);
  return {
    text: print(publicDocument),
    variableTypes: Object.fromEntries(variableTypeEntries) as PublicSchemaDocument['variableTypes'],
  };
}

/** For a list that is not paginated in the public schema, removes the pagination arguments and `nodes` from its selection. */
function withoutPagination(node: FieldNode): FieldNode {
  const nodes = node.selectionSet!.selections.find(
    (selection): selection is FieldNode =>
      selection.kind === Kind.FIELD && selection.name.value === 'nodes',
  )!;
  return { ...node, arguments: [], selectionSet: nodes.selectionSet };
}

function removeUnusedDefinitions(document: DocumentNode): DocumentNode {
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

/** Converts the variables to JSON values. A file becomes null, and an empty `where` is left out. */
function toJsonVariables(
  variables: Variables,
  types: PublicSchemaDocument['variableTypes'],
): Variables {
  const entries = Object.entries(variables).filter(([name]) => types[name]);
  const jsonVariables = Object.fromEntries(
    entries.map(([name, value]) => [name, toJsonValue(types[name]!, value)]),
  );
  if (jsonVariables.where && !Object.keys(jsonVariables.where).length) delete jsonVariables.where;
  return jsonVariables;
}

function toJsonValue(type: GraphQLInputType, value: unknown): unknown {
  const nullableType = getNullableType(type);
  if (value === null || value === undefined) return value;
  if (isListType(nullableType))
    return Array.isArray(value)
      ? value.map((item) => toJsonValue(nullableType.ofType, item))
      : toJsonValue(nullableType.ofType, value);
  // REST passes enums by their stored values, which are strings in conditions. GraphQL clients send the names of the values instead.
  if (isEnumType(nullableType))
    return (
      nullableType.getValues().find((enumValue) => String(enumValue.value) === String(value))
        ?.name ?? null
    );
  if (!isInputObjectType(nullableType)) return typeof value === 'object' ? null : value;
  const fields = nullableType.getFields();
  const entries = Object.entries(value as Variables).filter(([name]) => fields[name]);
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, toJsonValue(fields[name]!.type, inner)]),
  );
}
