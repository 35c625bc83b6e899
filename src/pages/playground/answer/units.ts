/** Which numbers of an answer are masses, as the schema tells, and a table with them in another unit. */
import {
  getArgumentValues,
  getNamedType,
  getOperationAST,
  isCompositeType,
  isLeafType,
  isObjectType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { IN_KILOGRAMS, IN_UNIT_ASKED_FOR, POUND, UNIT_TYPE } from '../../../contract/masses';
import type { List, Table } from './table';

export const UNITS = ['kg', 'lb'] as const;
export type Unit = (typeof UNITS)[number];

export interface Request {
  query: DocumentNode;
  variables?: Readonly<Record<string, unknown>>;
  operationName?: string | null;
}

/** Units by the paths of fields from the root of the answer, such as `workoutLogs.nodes.weightKg`. */
export type Masses = ReadonlyMap<string, Unit>;

const KILOGRAMS: Record<Unit, number> = { kg: 1, lb: Number(POUND) };
const PLACES = 2;

type Field = GraphQLField<unknown, unknown>;
const fieldOf = (type: GraphQLNamedType, name: string): Field | undefined => (isObjectType(type) ? type.getFields()[name] : undefined);

export function massesOf(schema: GraphQLSchema, { query, variables = {}, operationName }: Request): Masses {
  const found = new Map<string, Unit>();
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of query.definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const walk = ({ selections }: SelectionSetNode, type: GraphQLNamedType, path: readonly string[], asked: Unit | undefined): void => {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) {
        const { typeCondition, selectionSet } = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)! : node;
        walk(selectionSet, typeCondition ? (getNamedType(typeFromAST(schema, typeCondition)) ?? type) : type, path, asked);
        continue;
      }
      const field = fieldOf(type, node.name.value);
      if (!field) continue;
      const argument = field.args.find((one) => getNamedType(one.type).name === UNIT_TYPE);
      const value = argument && getArgumentValues(field, node, variables)[argument.name];
      const unit = argument ? UNITS.find((one) => one.toUpperCase() === value) : asked;
      const at = [...path, node.alias?.value ?? node.name.value];
      const below = getNamedType(field.type);
      if (node.selectionSet && isCompositeType(below)) walk(node.selectionSet, below, at, unit);
      else if (isLeafType(below)) {
        const told = unitIn(field, argument !== undefined, unit);
        if (told) found.set(at.join('.'), told);
      }
    }
  };
  const operation = getOperationAST(query, operationName);
  const root = operation && schema.getRootType(operation.operation);
  if (root) walk(operation.selectionSet, root, [], undefined);
  return found;
}

/** A number that is asked for in a unit is a mass in it. */
function unitIn({ description, type }: Field, isAskedFor: boolean, unit: Unit | undefined): Unit | undefined {
  if (isAskedFor || description?.includes(IN_UNIT_ASKED_FOR)) return unit;
  // How many different ones there are is a number of another kind.
  return description?.includes(IN_KILOGRAMS) && getNamedType(type).name !== 'Int' ? 'kg' : undefined;
}

/** The table of a list, its masses in this unit; each as it came where none is chosen. */
export function withUnits(table: Table, masses: Masses, list: List | undefined, chosen: Unit | undefined): Table {
  if (masses.size === 0) return table;
  const unitOf = (name: string) => masses.get(list ? `${list.root}.${name}` : name);
  const units = table.columns.map(({ name, kind }) => (kind === 'number' ? unitOf(name) : undefined));
  const factors = units.map((unit) => (unit && chosen && unit !== chosen ? KILOGRAMS[unit] / KILOGRAMS[chosen] : undefined));
  const columns = table.columns.map((column, index) => {
    const unit = units[index];
    return unit ? { ...column, unit: chosen ?? unit, ...(factors[index] && { isConverted: true }) } : column;
  });
  if (!factors.some(Boolean)) return { columns, rows: table.rows };
  const shown = (cell: unknown, factor: number | undefined) =>
    factor === undefined || cell === null ? cell : (Number(cell) * factor).toFixed(PLACES);
  return { columns, rows: table.rows.map((row) => row.map((cell, index) => shown(cell, factors[index]))) };
}
