/** What a document may hold at most, told before anything of it runs. Every walk is linear: a fragment is looked at once, however often it is spread. */
import {
  GraphQLError,
  Kind,
  type ASTVisitor,
  type GraphQLObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** What every selection of a set counts, with what is in its fragments. */
export function counted(
  set: SelectionSetNode,
  context: ValidationContext,
  weightOf: (name: string) => number,
  known = new Map<string, number>(),
): number {
  let sum = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) sum += weightOf(selection.name.value);
    else if (selection.kind === Kind.INLINE_FRAGMENT) sum += counted(selection.selectionSet, context, weightOf, known);
    else {
      const name = selection.name.value;
      if (!known.has(name)) {
        // A fragment that spreads itself is refused elsewhere, and must not be followed here.
        known.set(name, 0);
        const fragment = context.getFragment(name);
        if (fragment) known.set(name, counted(fragment.selectionSet, context, weightOf, known));
      }
      sum += known.get(name)!;
    }
  }
  return sum;
}

const rootOf = (context: ValidationContext, { operation }: OperationDefinitionNode): GraphQLObjectType | null | undefined =>
  context.getSchema().getRootType(operation);

/** Fields with the fact `once`, such as `login`, which aliases would make a list of guesses. */
export function onceInAnOperation(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      for (const { name, extensions } of Object.values(rootOf(context, node)?.getFields() ?? {}))
        if (extensions.once && counted(node.selectionSet, context, (field) => (field === name ? 1 : 0)) > 1)
          context.reportError(new GraphQLError(`\`${name}\` may stand once in an operation.`, { nodes: [node] }));
    },
  };
}
