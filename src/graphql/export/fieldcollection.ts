/** Field collection (https://spec.graphql.org/September2025/#CollectFields()): groups selected fields by response key and skips excluded ones. */
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

/** All field nodes with the same response key. */
export interface SelectedField {
  /** Response key: the alias, or the name. */
  key: string;
  name: string;
  nodes: readonly FieldNode[];
  field: GraphQLField<unknown, unknown>;
}

export class FieldCollector {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    /** Coerced variable values. */
    private readonly variables: Record<string, unknown>,
  ) {}

  /** Collects the fields below several nodes, in selection order. */
  collectFields(parents: readonly { selectionSet?: FieldNode['selectionSet'] }[], type: GraphQLCompositeType): SelectedField[] {
    const fieldByKey = new Map<string, SelectedField & { nodes: FieldNode[] }>();
    const visitedFragments = new Set<string>();
    const walk = (selections: readonly SelectionNode[], parent: GraphQLCompositeType): void => {
      for (const selection of selections) {
        if (this.isSkipped(selection)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const fieldWithKey = fieldByKey.get(key);
          if (fieldWithKey) fieldWithKey.nodes.push(selection);
          else
            fieldByKey.set(key, { key, name: selection.name.value, nodes: [selection], field: this.fieldOf(parent, selection.name.value) });
          continue;
        }
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          if (visitedFragments.has(selection.name.value)) continue;
          visitedFragments.add(selection.name.value);
        }
        const { typeCondition, selectionSet } =
          selection.kind === Kind.FRAGMENT_SPREAD ? this.fragments.get(selection.name.value)! : selection;
        walk(selectionSet.selections, typeCondition ? (typeFromAST(this.schema, typeCondition) as GraphQLCompositeType) : parent);
      }
    };
    for (const { selectionSet } of parents) if (selectionSet) walk(selectionSet.selections, type);
    return [...fieldByKey.values()];
  }

  compositeTypeOf({ field }: SelectedField): GraphQLCompositeType | undefined {
    const type = getNamedType(field.type);
    return isObjectType(type) || isAbstractType(type) ? type : undefined;
  }

  private isSkipped(selection: SelectionNode): boolean {
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
