/** JSON schemas of response bodies, derived from the GraphQL selection sets that produce them. */
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { ResponseBodyMetadata } from '../../shared/metadata';
import { parseSelectionSet } from '../drf/metadata';
import { fragmentName, restSelection, type ResourceEndpoint, type Endpoints } from '../endpoints';
import {
  ANY_SCHEMA,
  schemaReference,
  withDescription,
  nullableSchema,
  responseValueSchema,
  type JsonSchema,
} from './schemas';

type Field = GraphQLField<unknown, unknown>;

/**
 * Converts a nullable type to a schema: the schema of its named type, wrapped in one array schema
 * for each list around it.
 */
function wrapInLists(
  type: GraphQLNullableType,
  schemaOf: (namedType: GraphQLNamedType) => JsonSchema,
): JsonSchema {
  if (!isListType(type)) return schemaOf(getNamedType(type));
  const items = wrapInLists(getNullableType(type.ofType), schemaOf);

  return { type: 'array', items: isNonNullType(type.ofType) ? items : nullableSchema(items) };
}

/**
 * Turns the schemas of `{ key, value }` lists into object schemas, because REST sends these lists
 * as JSON objects.
 */
function withKeyValueListsAsMaps(
  value: JsonSchema,
  mapPropertyNames: readonly string[],
): JsonSchema {
  const mappedProperties = { ...(value.properties as Record<string, JsonSchema>) };

  for (const name of mapPropertyNames) {
    const { properties } = mappedProperties[name]!.items as { properties: { value: JsonSchema } };

    mappedProperties[name] = { type: 'object', additionalProperties: properties.value };
  }

  return mapPropertyNames.length ? { ...value, properties: mappedProperties } : value;
}

export class ResponseSchemas {
  private readonly endpointByFragmentName: ReadonlyMap<string, ResourceEndpoint>;

  constructor({ resources }: Endpoints) {
    this.endpointByFragmentName = new Map(
      [...resources].map(([name, endpoint]) => [fragmentName(name), endpoint]),
    );
  }

  rowSchema({ type, selection }: ResourceEndpoint): JsonSchema {
    return withDescription(this.objectSchema(type, parseSelectionSet(selection)), type.description);
  }

  /**
   * Schema of a response that is the value of one GraphQL field. As the metadata requires, the
   * value is under a wrapper key, and its key-value lists are objects.
   */
  fieldResponseSchema({
    field,
    metadata: { graphqlSelection, wrapperKey, keyValueListKeys = [] },
  }: {
    field: Field;
    metadata: ResponseBodyMetadata;
  }): JsonSchema {
    const selectionSet =
      graphqlSelection === undefined ? undefined : parseSelectionSet(graphqlSelection);
    const value = withKeyValueListsAsMaps(
      this.nonNullSchema(field, selectionSet),
      keyValueListKeys,
    );
    const required = isNonNullType(field.type);

    if (wrapperKey === undefined) return required ? value : nullableSchema(value);

    // If the value of the field is null, the response body is an object without the wrapper key.
    return {
      type: 'object',
      properties: { [wrapperKey]: value },
      ...(required && { required: [wrapperKey] }),
    };
  }

  /** Schema of a field. Without a selection set, all fields of its type are included. */
  fieldSchema(field: Field, selectionSet: SelectionSetNode | undefined): JsonSchema {
    const value = this.nonNullSchema(field, selectionSet);

    if (isNonNullType(field.type) || field.extensions.neverNullInRest) return value;

    return nullableSchema(value);
  }

  private nonNullSchema(
    { type, extensions }: Field,
    selectionSet: SelectionSetNode | undefined,
  ): JsonSchema {
    return wrapInLists(getNullableType(type), (namedType) => {
      if (isLeafType(namedType)) return responseValueSchema(extensions.field, namedType);

      if (isObjectType(namedType)) {
        return this.objectSchema(
          namedType,
          selectionSet ?? parseSelectionSet(restSelection(namedType)),
        );
      }

      return ANY_SCHEMA;
    });
  }

  private objectSchema(type: GraphQLObjectType, selectionSet: SelectionSetNode): JsonSchema {
    const [first, ...otherSelections] = selectionSet.selections;

    // A selection set that only spreads the fragment of one endpoint becomes a `$ref` to the
    // component schema of that endpoint.
    if (first?.kind === 'FragmentSpread' && !otherSelections.length) {
      return schemaReference(this.endpointByFragmentName.get(first.name.value)!.view.restName);
    }

    const properties = this.propertySchemas(type, selectionSet);

    return { type: 'object', properties, required: Object.keys(properties) };
  }

  private propertySchemas(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
  ): Record<string, JsonSchema> {
    const fieldSchemas: Record<string, JsonSchema> = {};

    for (const node of selections) {
      if (node.kind === 'InlineFragment') {
        Object.assign(fieldSchemas, this.propertySchemas(type, node.selectionSet));
      } else if (node.kind === 'FragmentSpread') {
        Object.assign(
          fieldSchemas,
          this.propertySchemas(
            type,
            parseSelectionSet(this.endpointByFragmentName.get(node.name.value)!.selection),
          ),
        );
      } else {
        const field = type.getFields()[node.name.value]!;
        const responseKey = node.alias?.value ?? node.name.value;

        fieldSchemas[responseKey] = withDescription(
          this.fieldSchema(field, node.selectionSet),
          field.extensions.field?.description ??
            field.extensions.restDescription ??
            field.description,
        );
      }
    }

    return fieldSchemas;
  }
}
