/** Translates the operation behind a REST request into one that clients can send to `/graphql`. */
import {
  getNullableType,
  getOperationAST,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
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
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLSchema,
  type TypeNode,
} from 'graphql';
import type { RestOperation } from '../../../rest/endpoints';
import type { HtmlView } from './view-model';

type Variables = Record<string, unknown>;
interface PublicDocument {
  text: string;
  variableTypes: Readonly<Record<string, GraphQLInputType>>;
}

/**
 * Creates a function that translates the operation behind a REST request, if the public schema
 * supports it. Translated documents are cached.
 */
export function createOperationTranslator(
  schema: GraphQLSchema,
): (
  operation: Pick<RestOperation, 'document'>,
  variables: Variables,
) => HtmlView['graphqlOperation'] {
  const publicDocuments = new Map<string, PublicDocument | undefined>();

  return ({ document }, variables) => {
    if (!publicDocuments.has(document)) {
      publicDocuments.set(document, toPublicDocument(schema, parse(document)));
    }

    const publicDocument = publicDocuments.get(document);

    if (!publicDocument) return undefined;

    return {
      document: publicDocument.text,
      variables: toJsonVariables(variables, publicDocument.variableTypes),
    };
  };
}

/**
 * Translates a field that only REST has to the public one with the same REST key. Without one, the
 * field is removed.
 */
function toPublicField(
  { name, alias = name }: FieldNode,
  parentType: GraphQLCompositeType | null | undefined,
): FieldNode | null {
  const publicFields = isObjectType(parentType) ? Object.values(parentType.getFields()) : [];
  const field = publicFields.find(({ extensions }) => extensions.field?.restKey === alias.value);

  return field ? { kind: Kind.FIELD, alias, name: { kind: Kind.NAME, value: field.name } } : null;
}

/** Removes the fields that the public schema does not have, if the rest is a valid operation. */
function toPublicDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
): PublicDocument | undefined {
  const typeInfo = new TypeInfo(schema);

  const Field = (node: FieldNode) => {
    const field = typeInfo.getFieldDef();

    if (!field) return toPublicField(node, typeInfo.getParentType());
    const isUnpaginated = field.extensions.resolveAllRows && node.arguments?.length;

    return isUnpaginated ? removePagination(node) : undefined;
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
    variableTypes: Object.fromEntries(variableTypeEntries) as PublicDocument['variableTypes'],
  };
}

/**
 * Removes the pagination arguments and `nodes` from a list that the public schema does not
 * paginate.
 */
function removePagination(node: FieldNode): FieldNode {
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

/** Converts variables to JSON. A file becomes null, and an empty `where` is omitted. */
function toJsonVariables(variables: Variables, types: PublicDocument['variableTypes']): Variables {
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

  if (isListType(nullableType)) {
    if (!Array.isArray(value)) return toJsonValue(nullableType.ofType, value);

    return value.map((item) => toJsonValue(nullableType.ofType, item));
  }

  // REST passes the stored values of enums; GraphQL clients send their names.
  if (isEnumType(nullableType)) {
    const enumValue = nullableType.getValues().find((item) => String(item.value) === String(value));

    return enumValue?.name ?? null;
  }

  if (!isInputObjectType(nullableType)) return typeof value === 'object' ? null : value;
  const fields = nullableType.getFields();
  // REST's filter on a set repeats rows; the public one does not.
  const publicName = (name: string) => (name === 'each' && !fields.each ? 'in' : name);
  const entries = Object.entries(value as Variables)
    .map(([name, inner]): [string, unknown] => [publicName(name), inner])
    .filter(([name]) => fields[name]);

  return Object.fromEntries(
    entries.map(([name, inner]) => [name, toJsonValue(fields[name]!.type, inner)]),
  );
}
