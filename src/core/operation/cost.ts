/**
 * Static query cost analysis: estimates the cost of an operation before it runs. The estimate counts the objects that the operation may return (page
 * sizes multiply along the path) and adds the costs of fields, filters and searches. An object with ten scalar fields costs 2. Annotations of fields
 * follow IBM's cost directives (https://ibm.github.io/graphql-specs/cost-spec.html). Most fields need no annotation: the cost of a connection
 * follows from the requested page size.
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
  type ValueNode,
} from 'graphql';
import { isExcludedByDirective, visitFields } from '../model/selections';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../model/pagesize';
import { filterCost, mutationInputCost } from './argumentcost';
import { describesAllTypes, introspectionListSize } from './introspection';

const OBJECT_COST = 1;
const LEAF_COST = 0.1;
/** Cost of a root field, which runs at least one SQL statement. */
const ROOT_FIELD_COST = 5;
/** Cost of a page of child rows, for each parent row. */
const CHILD_PAGE_COST = 2;
const TOTAL_COUNT_COST = 5;
/** Assumed length of a list without pagination and without `listSize`. */
const DEFAULT_LIST_SIZE = 10;
/** Number of rows that a count of all rows reads for one cost unit. */
const COUNTED_ROWS_PER_COST_UNIT = 200;
/** Number of rows that `offset` skips for one cost unit. */
const SKIPPED_ROWS_PER_COST_UNIT = 100;

/** Sizes of the catalogue. A size that is unknown is 0. */
export interface CatalogueSizes {
  rowCountOf(typeName: string): number;
  /** Length of the longest list of a field without pages. */
  longestListOf(typeName: string, fieldName: string): number;
}

const UNKNOWN_SIZES: CatalogueSizes = { rowCountOf: () => 0, longestListOf: () => 0 };

/** Factor by which introspection objects cost more than others, because introspection blocks the event loop until it is complete. */
const INTROSPECTION_COST_FACTOR = 3;

export interface OperationCost {
  total: number;
  /** Share of the total that is never refunded, whatever the operation uses: the cost of introspection and mutations. */
  nonRefundableCost?: number;
  /** Schema coordinate of the most expensive field, such as `ExerciseCategory.exercises`. */
  coordinate: string;
  /**
   * Schema coordinate of the argument to reduce so that the operation costs less: the innermost page size that multiplies the cost of the most expensive
   * field, or the most expensive argument value of that field.
   */
  argumentToReduce?: string;
}

type Variables = Record<string, unknown>;
type Field = GraphQLField<unknown, unknown>;

/** Field nodes of a selection set that have the same response key. */
type FieldGroup = readonly FieldNode[];

export const responseKeyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

const isIntrospectionType = ({ name }: GraphQLCompositeType): boolean => name.startsWith('__');

const isList = (field: Field): boolean => isListType(getNullableType(field.type));

/**
 * Returns the name of the argument that sets a field's page size: `first` or `last`. If the field has both arguments, returns the one that has a
 * value.
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
  /** Memoized costs of selection sets, by their field nodes and `isOfAllTypes`. The path to a selection set does not affect its cost. */
  private readonly costsBySelection = new Map<string, OperationCost>();
  private readonly nodeNumbers = new Map<FieldNode, number>();
  private introspectionCost = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly variables: Variables,
    private readonly catalogueSizes: CatalogueSizes,
  ) {
    for (const definition of document.definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION)
        this.fragments.set(definition.name.value, definition);
  }

  estimate(operation: OperationDefinitionNode): OperationCost {
    const rootType = this.schema.getRootType(operation.operation)!;
    const cost = this.selectionCost([operation.selectionSet], rootType, true);
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    return { ...cost, nonRefundableCost: isMutation ? cost.total : this.introspectionCost };
  }

  /** Returns the cost of one object of a type. `isOfAllTypes`: whether it is an introspection object in the list of all types. */
  private selectionCost(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLCompositeType,
    isRootSelection = false,
    isOfAllTypes = false,
  ): OperationCost {
    let mostExpensiveField: OperationCost = { total: 0, coordinate: type.name };
    let total = isIntrospectionType(type) ? INTROSPECTION_COST_FACTOR * OBJECT_COST : OBJECT_COST;
    for (const { parent, nodes } of this.collectFields(selectionSets, type).values()) {
      const cost = this.fieldCost(nodes, parent, isRootSelection, isOfAllTypes);
      total += cost.total;
      if (cost.total > mostExpensiveField.total) mostExpensiveField = cost;
      if (isRootSelection && nodes[0]!.name.value.startsWith('__'))
        this.introspectionCost += cost.total;
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

  private argumentValue(node: ValueNode): unknown {
    return valueFromASTUntyped(node, this.variables);
  }

  private fieldDefinition(parent: GraphQLCompositeType, name: string): Field | undefined {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return 'getFields' in parent ? (parent.getFields()[name] as Field | undefined) : undefined;
  }

  /** Returns the cost of a field of one object, including its subfields. */
  private fieldCost(
    nodes: FieldGroup,
    parent: GraphQLCompositeType,
    isRootField: boolean,
    isOfAllTypes: boolean,
  ): OperationCost {
    const node = nodes[0]!;
    const field = this.fieldDefinition(parent, node.name.value);
    const coordinate = `${parent.name}.${node.name.value}`;
    if (!field) return { total: LEAF_COST, coordinate };
    const args: Variables = {};
    for (const { name, defaultValue } of field.args)
      if (defaultValue !== undefined) args[name] = defaultValue;
    for (const { name, value } of node.arguments ?? [])
      args[name.value] = this.argumentValue(value) ?? args[name.value];
    const type = getNamedType(field.type);
    const argumentCosts = this.argumentCosts(args, parent);
    const ownCost = this.fieldOwnCost(field, argumentCosts, isRootField);
    const costliestArgument = (total: number) => {
      const [name] = argumentCosts.find(([, cost]) => cost > total / 2) ?? [
        pageSizeArgumentOf(field, args),
      ];
      return name && `${coordinate}(${name}:)`;
    };
    if (!isCompositeType(type)) {
      const size = this.listSize(field, args, parent, isOfAllTypes);
      const total = ownCost + LEAF_COST * size;
      return { total, coordinate, argumentToReduce: costliestArgument(total) };
    }
    const isConnection = hasPageSizeArgument(field) && !isList(field);
    const { costPerRow, fixedCost } = isConnection
      ? this.connectionCost(nodes, type, args)
      : {
          costPerRow: this.nestedCost(nodes, type, describesAllTypes(field.name, isOfAllTypes)),
          fixedCost: 0,
        };
    const size = isConnection
      ? this.pageSize(args)
      : this.listSize(field, args, parent, isOfAllTypes);
    const total = ownCost + fixedCost + size * costPerRow.total;
    const argumentToReduce = costliestArgument(total);
    const isDominatedBySubfields = isConnection
      ? costPerRow.total > OBJECT_COST * 50
      : size < 2 && costPerRow.total > ROOT_FIELD_COST;
    const mostExpensiveField = isDominatedBySubfields
      ? costPerRow
      : { coordinate, argumentToReduce };
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
    isOfAllTypes = false,
  ): OperationCost {
    const cacheKey = `${nodes.map((node) => this.nodeNumberOf(node)).join()} ${isOfAllTypes}`;
    let cost = this.costsBySelection.get(cacheKey);
    if (!cost) {
      const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      this.costsBySelection.set(
        cacheKey,
        (cost = this.selectionCost(selectionSets, type, false, isOfAllTypes)),
      );
    }
    return cost;
  }

  private nodeNumberOf(node: FieldNode): number {
    const number = this.nodeNumbers.get(node) ?? this.nodeNumbers.size;
    this.nodeNumbers.set(node, number);
    return number;
  }

  /**
   * Returns the cost of a connection in two parts: `costPerRow` for each row of the page, and `fixedCost` once for the whole connection. Rows of the catalogue
   * that `offset` skips or `totalCount` counts have a price, because PostgreSQL reads them all.
   */
  private connectionCost(
    nodes: FieldGroup,
    type: GraphQLCompositeType,
    { offset }: Variables,
  ): { costPerRow: OperationCost; fixedCost: number } {
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    const rowCount = this.catalogueSizes.rowCountOf(this.rowTypeNameOf(type));
    const skippedRowCount = typeof offset === 'number' ? Math.min(offset, rowCount) : 0;
    let rows: OperationCost = { total: 0, coordinate: type.name };
    let fixedCost = OBJECT_COST + skippedRowCount / SKIPPED_ROWS_PER_COST_UNIT;
    for (const { parent, nodes: group } of this.collectFields(selectionSets, type).values()) {
      const name = group[0]!.name.value;
      const field = this.fieldDefinition(parent, name);
      const fieldType = field && getNamedType(field.type);
      if (!fieldType || !isCompositeType(fieldType))
        fixedCost +=
          name === 'totalCount'
            ? TOTAL_COUNT_COST + rowCount / COUNTED_ROWS_PER_COST_UNIT
            : LEAF_COST;
      else if (isList(field)) {
        const cost = this.nestedCost(group, fieldType);
        const { coordinate, argumentToReduce } = cost.total > rows.total ? cost : rows;
        rows = { total: rows.total + cost.total, coordinate, argumentToReduce };
      } else fixedCost += this.nestedCost(group, fieldType).total;
    }
    return { costPerRow: rows, fixedCost };
  }

  private rowTypeNameOf(connectionType: GraphQLCompositeType): string {
    const nodes = this.fieldDefinition(connectionType, 'nodes');
    return nodes ? getNamedType(nodes.type).name : '';
  }

  private pageSize({ first, last }: Variables): number {
    const requestedPageSize = first ?? last ?? DEFAULT_PAGE_SIZE;
    return typeof requestedPageSize === 'number'
      ? Math.min(Math.max(requestedPageSize, 0), MAX_PAGE_SIZE)
      : DEFAULT_PAGE_SIZE;
  }

  /** Returns the expected number of values of a field that is not a connection. */
  private listSize(
    field: Field,
    args: Variables,
    parent: GraphQLCompositeType,
    isOfAllTypes: boolean,
  ): number {
    if (!isList(field)) return 1;
    const listArgument = field.args.find(
      ({ type }) => isNonNullType(type) && isListType(type.ofType),
    );
    if (listArgument)
      return Array.isArray(args[listArgument.name])
        ? (args[listArgument.name] as unknown[]).length
        : 1;
    if (hasPageSizeArgument(field)) return this.pageSize(args);
    if (isIntrospectionType(parent))
      return introspectionListSize(this.schema, field.name, isOfAllTypes);
    const { assumedSize = DEFAULT_LIST_SIZE } = field.extensions.listSize ?? {};
    if (typeof assumedSize !== 'number') return assumedSize(args);
    return Math.max(assumedSize, this.catalogueSizes.longestListOf(parent.name, field.name));
  }

  /** Returns the costs of those arguments of a field that are lists or input objects, by name. */
  private argumentCosts(args: Variables, parent: GraphQLCompositeType): [string, number][] {
    const costOf = parent === this.schema.getMutationType() ? mutationInputCost : filterCost;
    return Object.entries(args).flatMap(([name, value]) =>
      value === null || typeof value !== 'object' ? [] : [[name, costOf(value)]],
    );
  }

  /** Returns the cost of a field itself, without its values: arguments, `cost` annotation, and a fixed cost of root and paginated fields. */
  private fieldOwnCost(
    field: Field,
    argumentCosts: readonly [string, number][],
    isRootField: boolean,
  ): number {
    const argumentsCost = argumentCosts.reduce((total, [, cost]) => total + cost, 0);
    const positionCost = isRootField
      ? ROOT_FIELD_COST
      : hasPageSizeArgument(field)
        ? CHILD_PAGE_COST
        : 0;
    return positionCost + argumentsCost + (field.extensions.cost?.weight ?? 0);
  }
}

/** Estimates the cost of an operation. `variables` must already be coerced, with their defaults. */
export const estimateOperationCost = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  catalogueSizes: CatalogueSizes = UNKNOWN_SIZES,
): OperationCost =>
  new CostEstimator(schema, document, variables, catalogueSizes).estimate(operation);
