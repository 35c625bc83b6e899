/** Which values of an answer are ids of rows, and of which endpoint: told by the selection that made the answer. */
import { getNamedType, isObjectType, Kind, parse, type FragmentDefinitionNode, type GraphQLNamedType, type GraphQLSchema } from 'graphql';
import type { OperationDefinitionNode, SelectionSetNode } from 'graphql';

export interface Links {
  /** The value, or each of a list of values, names a row of this endpoint. */
  readonly endpoint?: string;
  readonly keys: Readonly<Record<string, Links>>;
}

export const NO_LINKS: Links = { keys: {} };

/** `endpointOf` tells the endpoint of a type; `at` is the way from the data of the operation to the answer. */
export function linksOf(
  schema: GraphQLSchema,
  document: string,
  at: readonly string[],
  endpointOf: (type: string) => string | undefined,
): Links {
  const { definitions } = parse(document);
  const operation = definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)!;
  const fragments = new Map(
    definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node.selectionSet]),
  );

  function ofSet(type: GraphQLNamedType, { selections }: SelectionSetNode): Record<string, Links> {
    const keys: Record<string, Links> = {};
    if (!isObjectType(type)) return keys;
    for (const node of selections) {
      if (node.kind === Kind.FRAGMENT_SPREAD) Object.assign(keys, ofSet(type, fragments.get(node.name.value)!));
      if (node.kind !== Kind.FIELD) continue;
      const field = type.getFields()[node.name.value];
      const key = node.alias?.value ?? node.name.value;
      const relation = field?.extensions.field?.relation;
      if (!field) continue;
      if (node.selectionSet) {
        const inner = ofSet(getNamedType(field.type), node.selectionSet);
        // A list of `{ key value }` is shown as one object with keys of its own.
        keys[key] = Object.keys(inner).sort().join() === 'key,value' ? inner.value! : { keys: inner };
      } else if (relation) keys[key] = { endpoint: endpointOf(relation.type), keys: {} };
      else if (node.name.value === 'id' && type.extensions.resource) keys[key] = { endpoint: endpointOf(type.name), keys: {} };
      else keys[key] = NO_LINKS;
    }
    return keys;
  }

  const root = schema.getRootType(operation.operation)!;
  let links: Links = { keys: ofSet(root, operation.selectionSet) };
  for (const key of at) links = links.keys[key] ?? NO_LINKS;
  return links;
}
