/**
 * Static query cost analysis: estimates the cost of an operation before it runs, from the objects
 * that it may return (page sizes multiply along the path), fields, filters and searches. An object
 * with ten scalar fields costs 2. The extensions `cost` and `listSize` of fields follow IBM's cost
 * directives (https://ibm.github.io/graphql-specs/cost-spec.html).
 */
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  typeFromAST,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { isExcludedByDirective, visitFields } from '../declare/selections';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../shared/page-size';
import { filterCost, mutationInputCost } from './argument-cost';
import { isTypeListField, introspectionListSize } from './introspection';

const OBJECT_COST = 1;

/**
 * If a row costs more, the error about an expensive connection names the costliest field of the
 * row.
 */
const MAX_CHEAP_ROW_COST = 50 * OBJECT_COST;
const LEAF_COST = 0.1;

/** Cost of a root field, which runs at least one SQL statement. */
const ROOT_FIELD_COST = 5;

/** Cost of a page of child rows, per parent row. */
const CHILD_PAGE_COST = 2;
const TOTAL_COUNT_COST = 5;

/** Assumed length of a list without pagination and without `listSize`. */
const DEFAULT_LIST_SIZE = 10;

/** Number of rows that `totalCount` counts for one cost unit. */
const COUNTED_ROWS_PER_COST_UNIT = 200;

/** Number of rows that `offset` skips for one cost unit. */
const SKIPPED_ROWS_PER_COST_UNIT = 100;

/** Numbers of rows in the catalogue. Unknown numbers are 0. */
export interface CatalogueSizes {
  rowCountOf(typeName: string): number;

  /** Length of the longest list that an unpaginated field returns. */
  longestListOf(typeName: string, fieldName: string): number;
}

const UNKNOWN_SIZES: CatalogueSizes = { rowCountOf: () => 0, longestListOf: () => 0 };

/**
 * Introspection objects cost more than others, because introspection blocks the event loop until it
 * is complete.
 */
const INTROSPECTION_COST_FACTOR = 3;

export interface OperationCost {
  total: number;

  /**
   * Share of the total that is charged in full, whatever the result size: introspection and
   * mutations.
   */
  nonRefundableCost?: number;

  /** Schema coordinate of the most expensive field, such as `ExerciseCategory.exercises`. */
  coordinate: string;

  /**
   * Schema coordinate of the argument that most affects the cost of that field: a page size or an
   * expensive argument value. Clients should reduce it.
   */
  argumentToReduce?: string;
}

type Variables = Record<string, unknown>;
type Field = GraphQLField<unknown, unknown>;

/** Field nodes of a selection set with the same response key. */
type FieldGroup = readonly FieldNode[];

export const responseKeyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

const isIntrospectionType = ({ name }: GraphQLCompositeType): boolean => name.startsWith('__');

const isList = (field: Field): boolean => isListType(getNullableType(field.type));

/**
 * Argument that sets a field's page size: `first` or `last`, preferring the one that has a value.
 */
const pageSizeArgumentOf = (field: Field, args: Variables): string | undefined => {
  const names = ['first', 'last'].filter((name) =>
    field.args.some((argument) => argument.name === name),
  );

  return names.find((name) => args[name] != null) ?? names[0];
};

const hasPageSizeArgument = (field: Field): boolean =>
  field.args.some(({ name }) => name === 'first');

class CostEstimator {
  private readonly fragments = new Map<string, FragmentDefinitionNode>();

  /**
   * Memoized costs of selection sets, by their field nodes and `isInTypeList`. The path to a
   * selection set does not affect its cost.
   */
  private readonly costsBySelection = new Map<string, OperationCost>();
  private readonly nodeNumbers = new Map<FieldNode, number>();
  private introspectionCost = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly variables: Variables,
    private readonly catalogueSizes: CatalogueSizes,
  ) {
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) {
        this.fragments.set(definition.name.value, definition);
      }
    }
  }

  estimate(operation: OperationDefinitionNode): OperationCost {
    const rootType = this.schema.getRootType(operation.operation)!;
    const cost = this.selectionCost([operation.selectionSet], rootType, true);
    const isMutation = operation.operation === OperationTypeNode.MUTATION;

    return { ...cost, nonRefundableCost: isMutation ? cost.total : this.introspectionCost };
  }

  /**
   * Cost of one object of a type. `isInTypeList` tells whether the object is an introspection
   * object in the list of all types.
   */
  private selectionCost(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLCompositeType,
    isRootSelection = false,
    isInTypeList = false,
  ): OperationCost {
    let mostExpensiveField: OperationCost = { total: 0, coordinate: type.name };
    let total = isIntrospectionType(type) ? INTROSPECTION_COST_FACTOR * OBJECT_COST : OBJECT_COST;

    for (const { parent, nodes } of this.collectFields(selectionSets, type).values()) {
      const cost = this.fieldCost(nodes, parent, isRootSelection, isInTypeList);

      total += cost.total;
      if (cost.total > mostExpensiveField.total) mostExpensiveField = cost;

      if (isRootSelection && nodes[0]!.name.value.startsWith('__')) {
        this.introspectionCost += cost.total;
      }
    }

    const { coordinate, argumentToReduce } = mostExpensiveField;

    return { total, coordinate, argumentToReduce };
  }

  /** Groups the fields of several selection sets by parent type and response key. */
  private collectFields(selectionSets: readonly SelectionSetNode[], type: GraphQLCompositeType) {
    const fieldGroupsByKey = new Map<
      string,
      { parent: GraphQLCompositeType; nodes: FieldNode[] }
    >();

    visitFields(selectionSets, type, {
      findFragment: (name) => this.fragments.get(name),
      narrowToTypeCondition: (_parent, typeCondition) =>
        typeFromAST(this.schema, typeCondition) as GraphQLCompositeType,
      isSkipped: (selection) => isExcludedByDirective(selection, this.variables),
      visitField(node, parent) {
        const groupKey = `${parent.name} ${responseKeyOf(node)}`;
        const group = fieldGroupsByKey.get(groupKey);

        if (group) group.nodes.push(node);
        else fieldGroupsByKey.set(groupKey, { parent, nodes: [node] });
      },
    });

    return fieldGroupsByKey;
  }

  /** Values of a field's arguments by name, including default values. */
  private argumentValues(field: Field, node: FieldNode): Variables {
    const values: Variables = {};

    for (const { name, defaultValue } of field.args) {
      if (defaultValue !== undefined) values[name] = defaultValue;
    }

    for (const { name, value } of node.arguments ?? []) {
      values[name.value] = valueFromASTUntyped(value, this.variables) ?? values[name.value];
    }

    return values;
  }

  private fieldDefinition(parent: GraphQLCompositeType, name: string): Field | undefined {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;

    return 'getFields' in parent ? (parent.getFields()[name] as Field | undefined) : undefined;
  }

  /** Cost of a field of one object, including its subfields. */
  private fieldCost(
    nodes: FieldGroup,
    parent: GraphQLCompositeType,
    isRootField: boolean,
    isInTypeList: boolean,
  ): OperationCost {
    const node = nodes[0]!;
    const field = this.fieldDefinition(parent, node.name.value);
    const coordinate = `${parent.name}.${node.name.value}`;

    if (!field) return { total: LEAF_COST, coordinate };
    const args = this.argumentValues(field, node);

    const type = getNamedType(field.type);
    const argumentCosts = this.argumentCosts(args, parent);
    const ownCost = this.fieldOwnCost(field, argumentCosts, isRootField);

    /** An argument that causes more than half of the cost, or else the page size. */
    const costliestArgument = (total: number) => {
      const expensiveArgument = argumentCosts.find(([, cost]) => cost > total / 2)?.[0];
      const name = expensiveArgument ?? pageSizeArgumentOf(field, args);

      return name && `${coordinate}(${name}:)`;
    };

    if (!isCompositeType(type)) {
      const size = this.listSize(field, args, parent, isInTypeList);
      const total = ownCost + LEAF_COST * size;

      return { total, coordinate, argumentToReduce: costliestArgument(total) };
    }

    let size: number;
    let costPerRow: OperationCost;
    let fixedCost = 0;
    // Whether errors name an expensive subfield instead of this field.
    let isDominatedBySubfields: boolean;

    if (hasPageSizeArgument(field) && !isList(field)) {
      size = this.pageSize(args);
      ({ costPerRow, fixedCost } = this.connectionCost(nodes, type, args));
      isDominatedBySubfields = costPerRow.total > MAX_CHEAP_ROW_COST;
    } else {
      size = this.listSize(field, args, parent, isInTypeList);
      costPerRow = this.nestedCost(nodes, type, isTypeListField(field.name, isInTypeList));
      isDominatedBySubfields = size < 2 && costPerRow.total > ROOT_FIELD_COST;
    }

    const total = ownCost + fixedCost + size * costPerRow.total;
    const argumentToReduce = costliestArgument(total);
    const ownLocation = { coordinate, argumentToReduce };
    const mostExpensiveField = isDominatedBySubfields ? costPerRow : ownLocation;

    return {
      total,
      coordinate: mostExpensiveField.coordinate,
      argumentToReduce:
        mostExpensiveField.argumentToReduce ?? argumentToReduce ?? costPerRow.argumentToReduce,
    };
  }

  private nestedCost(
    nodes: FieldGroup,
    type: GraphQLCompositeType,
    isInTypeList = false,
  ): OperationCost {
    const cacheKey = `${nodes.map((node) => this.nodeNumberOf(node)).join()} ${isInTypeList}`;
    const cachedCost = this.costsBySelection.get(cacheKey);

    if (cachedCost) return cachedCost;

    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const cost = this.selectionCost(selectionSets, type, false, isInTypeList);

    this.costsBySelection.set(cacheKey, cost);
    return cost;
  }

  private nodeNumberOf(node: FieldNode): number {
    const number = this.nodeNumbers.get(node) ?? this.nodeNumbers.size;

    this.nodeNumbers.set(node, number);
    return number;
  }

  /**
   * Cost of a connection: `costPerRow` for each row of the page, and `fixedCost` once. Catalogue
   * rows that `offset` skips or `totalCount` counts have a price, because PostgreSQL reads them
   * all.
   */
  private connectionCost(
    nodes: FieldGroup,
    type: GraphQLCompositeType,
    { offset }: Variables,
  ): { costPerRow: OperationCost; fixedCost: number } {
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const rowCount = this.catalogueSizes.rowCountOf(this.rowTypeNameOf(type));
    const skippedRowCount = typeof offset === 'number' ? Math.min(offset, rowCount) : 0;
    let costPerRow: OperationCost = { total: 0, coordinate: type.name };
    let fixedCost = OBJECT_COST + skippedRowCount / SKIPPED_ROWS_PER_COST_UNIT;

    for (const { parent, nodes: group } of this.collectFields(selectionSets, type).values()) {
      const name = group[0]!.name.value;
      const field = this.fieldDefinition(parent, name);
      const fieldType = field && getNamedType(field.type);

      if (name === 'totalCount') {
        fixedCost += TOTAL_COUNT_COST + rowCount / COUNTED_ROWS_PER_COST_UNIT;
      } else if (!fieldType || !isCompositeType(fieldType)) {
        fixedCost += LEAF_COST;
      } else if (isList(field)) {
        const cost = this.nestedCost(group, fieldType);
        const mostExpensive = cost.total > costPerRow.total ? cost : costPerRow;

        costPerRow = { ...mostExpensive, total: costPerRow.total + cost.total };
      } else fixedCost += this.nestedCost(group, fieldType).total;
    }

    return { costPerRow, fixedCost };
  }

  private rowTypeNameOf(connectionType: GraphQLCompositeType): string {
    const nodes = this.fieldDefinition(connectionType, 'nodes');

    return nodes ? getNamedType(nodes.type).name : '';
  }

  private pageSize({ first, last }: Variables): number {
    const requestedPageSize = first ?? last ?? DEFAULT_PAGE_SIZE;

    if (typeof requestedPageSize !== 'number') return DEFAULT_PAGE_SIZE;

    return Math.min(Math.max(requestedPageSize, 0), MAX_PAGE_SIZE);
  }

  /** Expected number of values of a field that is not a connection. */
  private listSize(
    field: Field,
    args: Variables,
    parent: GraphQLCompositeType,
    isInTypeList: boolean,
  ): number {
    if (!isList(field)) return 1;
    const listArgument = field.args.find(
      ({ type }) => isNonNullType(type) && isListType(type.ofType),
    );

    if (listArgument) {
      const list = args[listArgument.name];

      return Array.isArray(list) ? list.length : 1;
    }

    const { assumedSize } = field.extensions.listSize ?? {};
    const isComplete = assumedSize !== undefined && args.first == null;

    if (hasPageSizeArgument(field) && !isComplete) return this.pageSize(args);

    if (isIntrospectionType(parent)) {
      return introspectionListSize(this.schema, field.name, isInTypeList);
    }

    if (typeof assumedSize === 'function') return assumedSize(args);

    return Math.max(
      assumedSize ?? DEFAULT_LIST_SIZE,
      this.catalogueSizes.longestListOf(parent.name, field.name),
    );
  }

  /** Costs of list and input-object arguments, by name. */
  private argumentCosts(args: Variables, parent: GraphQLCompositeType): [string, number][] {
    const costOf = parent === this.schema.getMutationType() ? mutationInputCost : filterCost;

    return Object.entries(args)
      .filter(([, value]) => value !== null && typeof value === 'object')
      .map(([name, value]) => [name, costOf(value)]);
  }

  /**
   * Cost of a field without its values: arguments, `cost` annotation, and a fixed cost of root and
   * paginated fields.
   */
  private fieldOwnCost(
    field: Field,
    argumentCosts: readonly [string, number][],
    isRootField: boolean,
  ): number {
    const argumentsCost = argumentCosts.reduce((total, [, cost]) => total + cost, 0);
    let positionCost = 0;

    if (isRootField) positionCost = ROOT_FIELD_COST;
    else if (hasPageSizeArgument(field)) positionCost = CHILD_PAGE_COST;

    return positionCost + argumentsCost + (field.extensions.cost?.weight ?? 0);
  }
}

/** Estimates the cost of an operation. `variables` are coerced and include their defaults. */
export const estimateOperationCost = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  catalogueSizes: CatalogueSizes = UNKNOWN_SIZES,
): OperationCost =>
  new CostEstimator(schema, document, variables, catalogueSizes).estimate(operation);
