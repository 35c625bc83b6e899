/**
 * Finds the ids in a REST response, and the endpoints of their rows, from the GraphQL operation
 * behind it.
 */
import { getNamedType, getOperationAST, isObjectType, Kind, parse } from 'graphql';
import type { GraphQLNamedType, GraphQLSchema, SelectionSetNode } from 'graphql';

/** Describes which parts of a JSON value are ids. An array and its items share one description. */
export interface IdLinkTree {
  /** Endpoint of the rows, if the value is an id or a list of ids. */
  readonly endpointName?: string;

  /** Descriptions of the values of an object, by key. */
  readonly childrenByKey: Readonly<Record<string, IdLinkTree>>;
}

export const EMPTY_ID_LINK_TREE: IdLinkTree = { childrenByKey: {} };

/**
 * Describes the ids in the response to an operation. `bodyPath` leads from the data of the
 * operation to the response body.
 */
export function idLinkTreeOf(
  schema: GraphQLSchema,
  document: string,
  bodyPath: readonly string[],
  endpointNameOf: (type: string) => string | undefined,
): IdLinkTree {
  const documentNode = parse(document);
  const operation = getOperationAST(documentNode)!;
  const fragments = new Map<string, SelectionSetNode>();

  for (const node of documentNode.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node.selectionSet);
  }

  function childLinksOf(
    type: GraphQLNamedType,
    { selections }: SelectionSetNode,
  ): Record<string, IdLinkTree> {
    const childrenByKey: Record<string, IdLinkTree> = {};

    if (!isObjectType(type)) return childrenByKey;

    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        Object.assign(childrenByKey, childLinksOf(type, fragments.get(node.name.value)!));
      }

      if (node.kind !== Kind.FIELD) continue;
      const field = type.getFields()[node.name.value];
      const responseKey = node.alias?.value ?? node.name.value;
      const relation = field?.extensions.field?.relation;

      if (!field) continue;
      if (node.selectionSet) {
        const childLinkTrees = childLinksOf(getNamedType(field.type), node.selectionSet);

        // REST converts a list of `{ key value }` to one object with these keys.
        const isMapEntry = Object.keys(childLinkTrees).sort().join() === 'key,value';

        if (isMapEntry) childrenByKey[responseKey] = childLinkTrees.value!;
        else childrenByKey[responseKey] = { childrenByKey: childLinkTrees };
      } else if (relation) {
        childrenByKey[responseKey] = {
          endpointName: endpointNameOf(relation.typeName),
          childrenByKey: {},
        };
      } else if (node.name.value === 'id' && type.extensions.resource) {
        childrenByKey[responseKey] = { endpointName: endpointNameOf(type.name), childrenByKey: {} };
      } else childrenByKey[responseKey] = EMPTY_ID_LINK_TREE;
    }

    return childrenByKey;
  }

  const rootType = schema.getRootType(operation.operation)!;
  let links: IdLinkTree = {
    childrenByKey: childLinksOf(rootType, operation.selectionSet),
  };

  for (const key of bodyPath) links = links.childrenByKey[key] ?? EMPTY_ID_LINK_TREE;

  return links;
}
