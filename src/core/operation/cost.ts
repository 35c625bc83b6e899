/**
 * What an operation may cost, known before it runs: the objects that it may answer, page sizes multiplied along the path and summed over
 * aliases, with what their fields, conditions and searches add. One object with ten plain fields costs two. Facts on fields use the words of IBM's
 * cost directives (https://ibm.github.io/graphql-specs/cost-spec.html); most are derived: a connection has the size of the page asked for.
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
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { DEFAULT_PAGE, MAX_PAGE } from '../read/connection';
import { KnownError } from '../model/errors';
import { BYTES_PER_UNIT, conditionsCost, writtenCost } from './argumentcost';
import { introspectedSize, scopeBelow, type Scope } from './introspection';

const OBJECT = 1;
const LEAF = 0.1;
/** Of a field of the operation itself: a statement at least. */
const ROOT = 5;
/** Of a page below each of several rows. */
const PAGE = 2;
const COUNT = 5;
/** Of a list without pages of which nothing else is known. */
const ASSUMED_SIZE = 10;
/** Of a key in JSON: quotes, colon and comma. */
export const AROUND_KEY = 4;
const WIDTH = 5;

/** Bytes of a value on an average, by the names of a type and of its field. */
export type WidthOf = (type: string, field: string) => number;

/** Of an object of introspection, which runs in one piece while everybody else waits. */
const INTROSPECTED = 3;

export interface Cost {
  total: number;
  /** Of the answer as it is expected, which are part of the total. */
  bytes: number;
  /** Of the total, what no row that there is not takes off: introspection and writes. */
  fixed?: number;
  /** Schema coordinate of the field that most of it comes from, such as `ExerciseCategory.exercises`. */
  coordinate: string;
}

export function tooCostly({ total, coordinate }: Pick<Cost, 'total' | 'coordinate'>, limit: number, schema: GraphQLSchema): KnownError {
  const cost = Math.ceil(total);
  const [type, name] = coordinate.split('.') as [string, string | undefined];
  const field = name && (schema.getType(type) as GraphQLObjectType | undefined)?.getFields()[name];
  const advice = field && takesSize(field) ? 'ask for fewer rows there' : 'select less below it';
  return new KnownError(
    'COST_LIMIT',
    `This operation may cost ${cost}, and at most ${limit} is allowed. Most of it comes from ${coordinate}: ${advice}.`,
    { cost, limit, coordinate },
  );
}

type Variables = Record<string, unknown>;
type Field = GraphQLField<unknown, unknown>;

/** Fields of a selection that answer under the same key. */
type Group = readonly FieldNode[];

export const keyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

const isIntrospected = ({ name }: GraphQLCompositeType): boolean => name.startsWith('__');

const isList = (field: Field): boolean => isListType(getNullableType(field.type));

const takesSize = (field: Field): boolean => field.args.some(({ name }) => name === 'first' || name === 'last');

/** Of as many rows as are asked for: a list, or a connection with one below it. */
const isPaged = (field: Field): boolean => field.args.some(({ name }) => name === 'first');

class Estimate {
  private readonly fragments = new Map<string, FragmentDefinitionNode>();
  /** By the field nodes that share a selection, and what that of introspection is of: whoever leads there, it costs the same. */
  private readonly known = new Map<string, Cost>();
  private readonly numbers = new Map<FieldNode, number>();
  private introspection = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly variables: Variables,
    private readonly widthOf: WidthOf,
  ) {
    for (const definition of document.definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
  }

  of(operation: OperationDefinitionNode): Cost {
    const root = this.schema.getRootType(operation.operation)!;
    const cost = this.selection([operation.selectionSet], root, true);
    const writes = operation.operation === OperationTypeNode.MUTATION;
    const total = cost.total + cost.bytes / BYTES_PER_UNIT;
    return { ...cost, total, fixed: writes ? total : this.introspection };
  }

  /** Of one object of this type; `scope`: what that of introspection is of. */
  private selection(sets: readonly SelectionSetNode[], type: GraphQLCompositeType, atRoot = false, scope?: Scope): Cost {
    let dearest: Cost = { total: 0, bytes: 0, coordinate: type.name };
    let bytes = 0;
    let total = isIntrospected(type) ? INTROSPECTED * OBJECT : OBJECT;
    for (const { parent, nodes } of this.collect(sets, type).values()) {
      const cost = this.field(nodes, parent, atRoot, scope);
      total += cost.total;
      bytes += cost.bytes + keyOf(nodes[0]!).length + AROUND_KEY;
      if (cost.total > dearest.total) dearest = cost;
      if (atRoot && nodes[0]!.name.value.startsWith('__')) this.introspection += cost.total;
    }
    return { total, bytes, coordinate: dearest.coordinate };
  }

  /** As execution collects them: each fragment once for a selection, fields of one key together. */
  private collect(sets: readonly SelectionSetNode[], type: GraphQLCompositeType) {
    const groups = new Map<string, { parent: GraphQLCompositeType; nodes: FieldNode[] }>();
    const spread = new Set<string>();
    const walk = (set: SelectionSetNode, parent: GraphQLCompositeType) => {
      for (const selection of set.selections) {
        if (this.isLeftOut(selection.directives)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = `${parent.name} ${keyOf(selection)}`;
          const group = groups.get(key);
          if (group) group.nodes.push(selection);
          else groups.set(key, { parent, nodes: [selection] });
          continue;
        }
        const name = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : undefined;
        if (name !== undefined && spread.has(name)) continue;
        if (name !== undefined) spread.add(name);
        const inner = name === undefined ? selection : this.fragments.get(name)!;
        const { typeCondition, selectionSet } = inner as Pick<InlineFragmentNode, 'typeCondition' | 'selectionSet'>;
        walk(selectionSet, typeCondition ? (typeFromAST(this.schema, typeCondition) as GraphQLCompositeType) : parent);
      }
    };
    for (const set of sets) walk(set, type);
    return groups;
  }

  private isLeftOut(directives: readonly DirectiveNode[] = []): boolean {
    return directives.some(({ name, arguments: given }) => {
      const condition = given?.find((argument) => argument.name.value === 'if');
      const value = condition && this.value(condition.value);
      return (name.value === 'skip' && value === true) || (name.value === 'include' && value === false);
    });
  }

  private value(node: ValueNode): unknown {
    return valueFromASTUntyped(node, this.variables);
  }

  private definition(parent: GraphQLCompositeType, name: string): Field | undefined {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return 'getFields' in parent ? (parent.getFields()[name] as Field | undefined) : undefined;
  }

  /** Of all that a field answers for one object. */
  private field(nodes: Group, parent: GraphQLCompositeType, atRoot: boolean, scope: Scope): Cost {
    const node = nodes[0]!;
    const field = this.definition(parent, node.name.value);
    const coordinate = `${parent.name}.${node.name.value}`;
    if (!field) return { total: LEAF, bytes: WIDTH, coordinate };
    const given: Variables = {};
    for (const { name, defaultValue } of field.args) if (defaultValue !== undefined) given[name] = defaultValue;
    for (const { name, value } of node.arguments ?? []) given[name.value] = this.value(value) ?? given[name.value];
    const type = getNamedType(field.type);
    const own = this.own(field, given, atRoot, parent);
    if (!isCompositeType(type)) {
      const size = this.size(field, given, parent, scope);
      return { total: own + LEAF * size, bytes: this.widthOf(parent.name, field.name) * size, coordinate };
    }
    if (isPaged(field) && !isList(field)) {
      const { rows, rest, bytes } = this.connection(nodes, type);
      const size = this.page(given);
      const total = own + rest + size * rows.total;
      return { total, bytes: bytes + size * rows.bytes, coordinate: rows.total > OBJECT * 50 ? rows.coordinate : coordinate };
    }
    const one = this.below(nodes, type, isIntrospected(type) ? scopeBelow(this.schema, field.name, given, scope) : undefined);
    const size = this.size(field, given, parent, scope);
    const dearest = size < 2 && one.total > ROOT ? one.coordinate : coordinate;
    return { total: own + size * one.total, bytes: size * one.bytes, coordinate: dearest };
  }

  private below(nodes: Group, type: GraphQLCompositeType, scope?: Scope): Cost {
    const key = `${nodes.map((node) => this.numberOf(node)).join()} ${String(scope ?? '')}`;
    let cost = this.known.get(key);
    if (!cost) {
      const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      this.known.set(key, (cost = this.selection(sets, type, false, scope)));
    }
    return cost;
  }

  private numberOf(node: FieldNode): number {
    const number = this.numbers.get(node) ?? this.numbers.size;
    this.numbers.set(node, number);
    return number;
  }

  /** What a connection shows once for each row, and what once. */
  private connection(nodes: Group, type: GraphQLCompositeType): { rows: Cost; rest: number; bytes: number } {
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    let rows: Cost = { total: 0, bytes: 0, coordinate: type.name };
    let rest = OBJECT;
    let bytes = 0;
    for (const { parent, nodes: group } of this.collect(sets, type).values()) {
      const name = group[0]!.name.value;
      bytes += keyOf(group[0]!).length + AROUND_KEY;
      const field = this.definition(parent, name);
      const inner = field && getNamedType(field.type);
      if (!inner || !isCompositeType(inner)) rest += name === 'totalCount' ? COUNT : LEAF;
      else if (isList(field)) {
        const cost = this.below(group, inner);
        const coordinate = cost.total > rows.total ? cost.coordinate : rows.coordinate;
        rows = { total: rows.total + cost.total, bytes: rows.bytes + cost.bytes, coordinate };
      } else {
        const cost = this.below(group, inner);
        rest += cost.total;
        bytes += cost.bytes;
      }
    }
    return { rows, rest, bytes };
  }

  private page({ first, last }: Variables): number {
    const asked = first ?? last ?? DEFAULT_PAGE;
    return typeof asked === 'number' ? Math.min(Math.max(asked, 0), MAX_PAGE) : DEFAULT_PAGE;
  }

  /** How many values a field answers that is no connection. */
  private size(field: Field, given: Variables, parent: GraphQLCompositeType, scope: Scope): number {
    if (!isList(field)) return 1;
    const named = field.args.find(({ type }) => isNonNullType(type) && isListType(type.ofType));
    if (named) return Array.isArray(given[named.name]) ? (given[named.name] as unknown[]).length : 1;
    if (isPaged(field)) return this.page(given);
    if (isIntrospected(parent)) return introspectedSize(this.schema, field.name, scope);
    const { assumedSize = ASSUMED_SIZE } = field.extensions.listSize ?? {};
    return typeof assumedSize === 'number' ? assumedSize : assumedSize(given);
  }

  /** What a field costs by itself. */
  private own(field: Field, given: Variables, atRoot: boolean, parent: GraphQLCompositeType): number {
    const writes = parent === this.schema.getMutationType();
    const asked = Object.values(given).reduce((total: number, value) => {
      if (value === null || typeof value !== 'object') return total;
      return total + (writes ? writtenCost(value) : conditionsCost(value));
    }, 0);
    const place = atRoot ? ROOT : isPaged(field) ? PAGE : 0;
    return place + asked + (field.extensions.cost?.weight ?? 0);
  }
}

/** `variables` are those that graphql-js has coerced, defaults included. */
export const costOf = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  widthOf: WidthOf = () => WIDTH,
): Cost => new Estimate(schema, document, variables, widthOf).of(operation);
