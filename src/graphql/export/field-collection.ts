/**
 * Field collection (https://spec.graphql.org/September2025/#CollectFields()): groups selected
 * fields by response key and skips excluded ones.
 */
import {
  getNamedType,
  isCompositeType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  typeFromAST,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { isExcludedByDirective, visitFields } from '../../engine/declare/selections';

export interface SelectedField {
  responseKey: string;
  name: string;
  nodes: readonly FieldNode[];

  /**
   * Types on which the field is selected: the type of its parent, or the type conditions of
   * fragments.
   */
  parentTypes: ReadonlySet<GraphQLCompositeType>;
  field: GraphQLField<unknown, unknown>;
}

export class FieldCollector {
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,

    /** Coerced variable values. */
    private readonly variables: Record<string, unknown>,
  ) {}

  /** Collects the subfields of several nodes in selection order. */
  collectFields(
    parentNodes: readonly { selectionSet?: FieldNode['selectionSet'] }[],
    type: GraphQLCompositeType,
  ): SelectedField[] {
    const fieldByResponseKey = new Map<
      string,
      SelectedField & { nodes: FieldNode[]; parentTypes: Set<GraphQLCompositeType> }
    >();
    const selectionSets = parentNodes.flatMap(({ selectionSet }) => selectionSet ?? []);

    visitFields(selectionSets, type, {
      findFragment: (name) => this.fragments.get(name),
      narrowToTypeCondition: (_parent, typeCondition) =>
        typeFromAST(this.schema, typeCondition) as GraphQLCompositeType,
      isSkipped: (selection) => isExcludedByDirective(selection, this.variables),
      visitField: (node, parent) => {
        const name = node.name.value;
        const responseKey = node.alias?.value ?? name;
        const existingField = fieldByResponseKey.get(responseKey);

        if (!existingField) {
          return void fieldByResponseKey.set(responseKey, {
            responseKey,
            name,
            nodes: [node],
            parentTypes: new Set([parent]),
            field: this.fieldOf(parent, name),
          });
        }

        existingField.nodes.push(node);
        existingField.parentTypes.add(parent);
      },
    });

    return [...fieldByResponseKey.values()];
  }

  compositeTypeOf({ field }: SelectedField): GraphQLCompositeType | undefined {
    const type = getNamedType(field.type);

    return isCompositeType(type) ? type : undefined;
  }

  private fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> {
    const metaField = [TypeNameMetaFieldDef, SchemaMetaFieldDef, TypeMetaFieldDef].find(
      (field) => field.name === name,
    );

    return (
      metaField ??
      (parent as { getFields(): Record<string, GraphQLField<unknown, unknown>> }).getFields()[name]!
    );
  }
}
