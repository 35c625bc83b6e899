/**
 * Traversal of selection sets that visits each fragment once, like CollectFields
 * (https://spec.graphql.org/September2025/#CollectFields()).
 */
import {
  Kind,
  valueFromASTUntyped,
  type FieldNode,
  type FragmentDefinitionNode,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { addToList } from '../../shared/multimap';

export interface FragmentSelection {
  typeCondition?: NamedTypeNode;
  selectionSet: SelectionSetNode;
}

/** Callbacks of `visitFields`. `Parent` represents the GraphQL type to which the fields belong. */
export interface FieldVisitor<Parent> {
  findFragment(name: string): FragmentSelection | undefined;

  /** Determines the type of the fields in a fragment with a type condition (`... on Type`). */
  narrowToTypeCondition(parent: Parent, typeCondition: NamedTypeNode): Parent;
  isSkipped?(selection: SelectionNode): boolean;
  visitField(field: FieldNode, parent: Parent): void;
}

/** Visits the fields of selection sets and of their fragments. */
export function visitFields<Parent>(
  selectionSets: readonly SelectionSetNode[],
  parent: Parent,
  visitor: FieldVisitor<Parent>,
): void {
  const visitedFragments = new Set<string>();

  const fragmentOf = (
    selection: Exclude<SelectionNode, FieldNode>,
  ): FragmentSelection | undefined => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
    const name = selection.name.value;

    if (visitedFragments.has(name)) return undefined;
    visitedFragments.add(name);
    return visitor.findFragment(name);
  };

  const visit = ({ selections }: SelectionSetNode, type: Parent): void => {
    for (const selection of selections) {
      if (visitor.isSkipped?.(selection)) continue;

      if (selection.kind === Kind.FIELD) {
        visitor.visitField(selection, type);
        continue;
      }

      const fragment = fragmentOf(selection);

      if (!fragment) continue;
      const { selectionSet, typeCondition } = fragment;
      const fragmentType = typeCondition
        ? visitor.narrowToTypeCondition(type, typeCondition)
        : type;

      visit(selectionSet, fragmentType);
    }
  };

  for (const selectionSet of selectionSets) visit(selectionSet, parent);
}

export function isExcludedByDirective(
  { directives = [] }: SelectionNode,
  variables: Readonly<Record<string, unknown>>,
): boolean {
  return directives.some(({ name, arguments: args }) => {
    const condition = args?.find((argument) => argument.name.value === 'if');
    const value = condition && valueFromASTUntyped(condition.value, variables);

    return (
      (name.value === 'skip' && value === true) || (name.value === 'include' && value === false)
    );
  });
}

/**
 * Cache key of the selection set of a field: its field node. A field that is selected several times
 * has an array of nodes, which graphql-js creates anew in each execution, so its cache entries are
 * not reused.
 */
export const selectionCacheKey = (nodes: readonly FieldNode[]): object =>
  nodes.length === 1 ? nodes[0]! : nodes;

/**
 * Collects the subfields of field nodes: a map of field names to the nodes that select them.
 * Without `variables`, fields under `@skip` and `@include` are always contained, so that the result
 * is valid for all variables.
 */
export function selectedFieldNodesByName(
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
  fragments: Record<string, FragmentDefinitionNode>,
  variables?: Readonly<Record<string, unknown>>,
): Map<string, FieldNode[]> {
  const nodesByName = new Map<string, FieldNode[]>();

  visitFields(
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    undefined,
    {
      findFragment: (name) => fragments[name],
      narrowToTypeCondition: () => undefined,
      ...(variables && { isSkipped: (selection) => isExcludedByDirective(selection, variables) }),
      visitField: (node) => addToList(nodesByName, node.name.value, node),
    },
  );

  return nodesByName;
}
