/** Traversal of selection sets, as in CollectFields (https://spec.graphql.org/September2025/#CollectFields()): fragments are visited once. */
import {
  Kind,
  valueFromASTUntyped,
  type FieldNode,
  type NamedTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

export interface FragmentSelection {
  typeCondition?: NamedTypeNode;
  selectionSet: SelectionSetNode;
}

/** Callbacks of `visitFields`, which traverses selection sets. The type parameter `Parent` represents the GraphQL type to which the fields belong. */
export interface FieldVisitor<Parent> {
  findFragment(name: string): FragmentSelection | undefined;
  /** Returns the type to which the fields of a fragment with a type condition (`... on Type`) belong. */
  narrowToTypeCondition(parent: Parent, typeCondition: NamedTypeNode): Parent;
  isSkipped?(selection: SelectionNode): boolean;
  visitField(field: FieldNode, parent: Parent): void;
}

/** Visits the fields of selection sets, including those of fragments, and each fragment once. */
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
      if (fragment)
        visit(
          fragment.selectionSet,
          fragment.typeCondition
            ? visitor.narrowToTypeCondition(type, fragment.typeCondition)
            : type,
        );
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
