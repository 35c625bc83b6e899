/** Finds the ids in a REST response and the endpoints of their rows, from the GraphQL selection that produced the response. */
import { getNamedType, getOperationAST, isObjectType, Kind, parse } from 'graphql';
import type { GraphQLNamedType, GraphQLSchema, SelectionSetNode } from 'graphql';

/** Describes which parts of a JSON value are ids. All items of an array share the description of the array. */
export interface IdLinks {
  /** If the value is an id or a list of ids: the name of the endpoint of the rows with these ids. */
  readonly endpointName?: string;
  /** If the value is an object: the descriptions of its values by key. */
  readonly keys: Readonly<Record<string, IdLinks>>;
}

export const NO_ID_LINKS: IdLinks = { keys: {} };

/**
 * Describes the ids in the response to the operation `document`. `bodyPath` is the path from the data of the operation to the response body.
 * `endpointOf` returns the name of the endpoint of a type.
 */
export function idLinksOf(
  schema: GraphQLSchema,
  document: string,
  bodyPath: readonly string[],
  endpointOf: (type: string) => string | undefined,
): IdLinks {
  const documentNode = parse(document);
  const operation = getOperationAST(documentNode)!;
  const fragments = new Map<string, SelectionSetNode>();
  for (const node of documentNode.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet);

  function linksOfSelectionSet(type: GraphQLNamedType, { selections }: SelectionSetNode): Record<string, IdLinks> {
    const keys: Record<string, IdLinks> = {};
    if (!isObjectType(type)) return keys;
    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) Object.assign(keys, linksOfSelectionSet(type, fragments.get(node.name.value)!));
      if (node.kind !== Kind.FIELD) continue;
      const field = type.getFields()[node.name.value];
      const key = node.alias?.value ?? node.name.value;
      const relation = field?.extensions.field?.relation;
      if (!field) continue;
      if (node.selectionSet) {
        const childLinks = linksOfSelectionSet(getNamedType(field.type), node.selectionSet);
        // REST converts a list of `{ key value }` to one object with these keys.
        keys[key] = Object.keys(childLinks).sort().join() === 'key,value' ? childLinks.value! : { keys: childLinks };
      } else if (relation) keys[key] = { endpointName: endpointOf(relation.type), keys: {} };
      else if (node.name.value === 'id' && type.extensions.resource) keys[key] = { endpointName: endpointOf(type.name), keys: {} };
      else keys[key] = NO_ID_LINKS;
    }
    return keys;
  }

  const rootType = schema.getRootType(operation.operation)!;
  let links: IdLinks = { keys: linksOfSelectionSet(rootType, operation.selectionSet) };
  for (const key of bodyPath) links = links.keys[key] ?? NO_ID_LINKS;
  return links;
}
