/** Which results of GraphQL operations are the same for all anonymous clients. */
import {
  getNamedType,
  isObjectType,
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { rootFields } from '../engine/execution/root-fields';

const INTROSPECTION_FIELDS = ['__schema', '__type', '__typename'];

/** Whether all rows of a type, or of the nodes of a connection, are public. */
function hasPublicRows(type: GraphQLObjectType): boolean {
  const nodeType = getNamedType(type.getFields().nodes?.type);
  const { resource } = (isObjectType(nodeType) ? nodeType : type).extensions;

  return resource !== undefined && !resource.isOwned;
}

/**
 * Returns a function that tells whether an operation only reads public rows, which determine its
 * result. Fields that depend on the time or on the client are of other types.
 */
export function publicOperationTest(
  schema: GraphQLSchema,
): (document: DocumentNode, operation: OperationDefinitionNode) => boolean {
  const publicFields = Object.values(schema.getQueryType()!.getFields()).filter(({ type }) => {
    const namedType = getNamedType(type);

    return isObjectType(namedType) && hasPublicRows(namedType);
  });
  const names = new Set([...INTROSPECTION_FIELDS, ...publicFields.map(({ name }) => name)]);

  return (document, operation) =>
    operation.operation === 'query' &&
    rootFields(document, operation).every(({ name }) => names.has(name.value));
}
