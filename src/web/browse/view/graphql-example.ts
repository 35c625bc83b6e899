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
  type GraphQLInputObjectType,
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
 * supports it and its variables. Translated documents are cached.
 */
export function createOperationTranslator(
  restSchema: GraphQLSchema,
  publicSchema: GraphQLSchema,
): (
  operation: Pick<RestOperation, 'document'>,
  variables: Variables,
) => HtmlView['graphqlOperation'] {
  const publicDocuments = new Map<string, PublicDocument | undefined>();
  const variableTranslator = new VariableTranslator(restSchema);

  return ({ document }, variables) => {
    if (!publicDocuments.has(document)) {
      publicDocuments.set(document, toPublicDocument(publicSchema, parse(document)));
    }

    const publicDocument = publicDocuments.get(document);

    if (!publicDocument) return undefined;
    const jsonVariables = variableTranslator.translate(variables, publicDocument.variableTypes);

    return jsonVariables && { document: publicDocument.text, variables: jsonVariables };
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

/**
 * Converts variables of REST's operations to JSON for public ones. A file becomes null. Values are
 * undefined if the public schema has no counterpart of an input field, such as a filter.
 */
class VariableTranslator {
  constructor(private readonly restSchema: GraphQLSchema) {}

  /** Omits an empty `where`. */
  translate(
    { where, ...variables }: Variables,
    types: PublicDocument['variableTypes'],
  ): Variables | undefined {
    const isFiltered = Object.keys(where ?? {}).length > 0;

    // Small lists have no filters in the public schema.
    if (isFiltered && !types.where) return undefined;
    const entries = Object.entries(isFiltered ? { where, ...variables } : variables)
      .filter(([name, value]) => types[name] && value !== undefined)
      .map(([name, value]) => [name, this.toJsonValue(types[name]!, value)] as const);

    return objectOfTranslated(entries);
  }

  private toJsonValue(type: GraphQLInputType, value: unknown): unknown {
    const nullableType = getNullableType(type);

    if (value === null) return null;

    if (isListType(nullableType)) {
      if (!Array.isArray(value)) return this.toJsonValue(nullableType.ofType, value);
      const items = value.map((item) => this.toJsonValue(nullableType.ofType, item));

      return items.includes(undefined) ? undefined : items;
    }

    // REST passes the stored values of enums; GraphQL clients send their names.
    if (isEnumType(nullableType)) {
      const enumValue = nullableType
        .getValues()
        .find((item) => String(item.value) === String(value));

      return enumValue?.name ?? null;
    }

    if (!isInputObjectType(nullableType)) return typeof value === 'object' ? null : value;
    const entries = Object.entries(value as Variables).map(([restName, restValue]) => {
      const [name, inner] = this.toPublicEntry(nullableType, restName, restValue);
      const field = nullableType.getFields()[name];

      return [name, field && this.toJsonValue(field.type, inner)] as const;
    });

    return objectOfTranslated(entries);
  }

  /** Replaces an input field that only REST has by its public counterpart, if there is one. */
  private toPublicEntry(
    type: GraphQLInputObjectType,
    name: string,
    value: unknown,
  ): readonly [name: string, value: unknown] {
    const fields = type.getFields();

    if (fields[name]) return [name, value];
    // REST's filter on a set repeats rows; the public one does not.
    if (name === 'each') return ['in', value];
    const restType = this.restSchema.getType(type.name) as GraphQLInputObjectType;
    const restField = restType.getFields()[name]!.extensions.field;
    const relationFieldName = restField?.relation?.relationFieldName;

    // REST sorts by the id of a reference, the public schema by a field of the referenced row.
    if (relationFieldName && isInputObjectType(fields[relationFieldName]?.type)) {
      return [relationFieldName, { id: value }];
    }

    const counterpart = Object.values(fields).find(
      ({ extensions }) => restField && extensions.field?.restKey === restField.restKey,
    );

    return [counterpart?.name ?? name, value];
  }
}

function objectOfTranslated(
  entries: readonly (readonly [name: string, value: unknown])[],
): Variables | undefined {
  if (entries.some(([, value]) => value === undefined)) return undefined;

  return Object.fromEntries(entries);
}
