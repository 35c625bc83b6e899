/** Fields as execution collects them from selections: those of one name in the answer together, without what is skipped. */
import {
  getDirectiveValues,
  getNamedType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  typeFromAST,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type SelectionNode,
} from 'graphql';

/** All nodes of one field in an answer. */
export interface Selected {
  /** Its name in the answer. */
  key: string;
  name: string;
  nodes: readonly FieldNode[];
  field: GraphQLField<unknown, unknown>;
}

export class Selections {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    /** Coerced. */
    private readonly variables: Record<string, unknown>,
  ) {}

  /** Of what stands below these nodes, in the order in which it was selected. */
  below(parents: readonly { selectionSet?: FieldNode['selectionSet'] }[], type: GraphQLCompositeType): Selected[] {
    const found = new Map<string, Selected & { nodes: FieldNode[] }>();
    const spread = new Set<string>();
    const walk = (selections: readonly SelectionNode[], parent: GraphQLCompositeType): void => {
      for (const selection of selections) {
        if (this.isLeftOut(selection)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const same = found.get(key);
          if (same) same.nodes.push(selection);
          else found.set(key, { key, name: selection.name.value, nodes: [selection], field: this.fieldOf(parent, selection.name.value) });
          continue;
        }
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          if (spread.has(selection.name.value)) continue;
          spread.add(selection.name.value);
        }
        const { typeCondition, selectionSet } =
          selection.kind === Kind.FRAGMENT_SPREAD ? this.fragments.get(selection.name.value)! : selection;
        walk(selectionSet.selections, typeCondition ? (typeFromAST(this.schema, typeCondition) as GraphQLCompositeType) : parent);
      }
    };
    for (const { selectionSet } of parents) if (selectionSet) walk(selectionSet.selections, type);
    return [...found.values()];
  }

  typeBelow({ field }: Selected): GraphQLCompositeType | undefined {
    const type = getNamedType(field.type);
    return isObjectType(type) || isAbstractType(type) ? type : undefined;
  }

  private isLeftOut(selection: SelectionNode): boolean {
    return (
      getDirectiveValues(GraphQLSkipDirective, selection, this.variables)?.if === true ||
      getDirectiveValues(GraphQLIncludeDirective, selection, this.variables)?.if === false
    );
  }

  private fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return (parent as { getFields(): Record<string, GraphQLField<unknown, unknown>> }).getFields()[name]!;
  }
}
