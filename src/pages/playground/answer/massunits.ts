/** Finds the masses in a query result by the descriptions of fields in the schema, and converts them between kilograms and pounds. */
import {
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
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
import {
  KILOGRAMS_NOTE,
  REQUESTED_UNIT_NOTE,
  KILOGRAMS_PER_POUND,
  MASS_UNIT_TYPE_NAME,
} from '../../../contract/massunits';
import type { ResultList, Table } from './table';

export const DISPLAY_MASS_UNITS = ['kg', 'lb'] as const;
export type DisplayMassUnit = (typeof DISPLAY_MASS_UNITS)[number];

export interface GraphQLRequest {
  query: DocumentNode;
  variables?: Readonly<Record<string, unknown>>;
  operationName?: string | null;
}

/** Mass units by the path of the field from the root of the result, such as `workoutLogs.nodes.weightKg`. */
export type MassUnitByPath = ReadonlyMap<string, DisplayMassUnit>;

const KILOGRAMS_PER_UNIT: Record<DisplayMassUnit, number> = {
  kg: 1,
  lb: Number(KILOGRAMS_PER_POUND),
};
const DECIMAL_PLACES = 2;
/** Maximum number of visited selections, far more than a document has. Aliases in fragments that spread others would be visited exponentially often. */
const MAX_VISITED_SELECTIONS = 10_000;

type Field = GraphQLField<unknown, unknown>;

export function massUnitsOf(
  schema: GraphQLSchema,
  { query, variables: sentVariables = {}, operationName }: GraphQLRequest,
): MassUnitByPath {
  const operation = getOperationAST(query, operationName);
  const rootType = operation && schema.getRootType(operation.operation);
  if (!rootType) return new Map();
  // Includes the default values of variables. Variables that cannot be coerced are errors, whose responses contain no masses.
  const { coerced: variables = {} } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    sentVariables,
  );
  const visitedSpreads = new Set<string>();
  let visitedSelectionCount = 0;
  const massUnits = new Map<string, DisplayMassUnit>();
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of query.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  const visitSelections = (
    { selections }: SelectionSetNode,
    type: GraphQLNamedType,
    path: readonly string[],
    requestedUnit: DisplayMassUnit | undefined,
  ): void => {
    for (const node of selections) {
      if ((visitedSelectionCount += 1) > MAX_VISITED_SELECTIONS) return;
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        // Each fragment is visited once per path, as often as its fields occur in the result.
        const spreadKey = JSON.stringify([node.name.value, path, requestedUnit]);
        if (visitedSpreads.has(spreadKey)) continue;
        visitedSpreads.add(spreadKey);
      }
      if (node.kind !== Kind.FIELD) {
        const { typeCondition, selectionSet } =
          node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)! : node;
        visitSelections(
          selectionSet,
          typeCondition ? (getNamedType(typeFromAST(schema, typeCondition)) ?? type) : type,
          path,
          requestedUnit,
        );
        continue;
      }
      const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;
      if (!field) continue;
      const argument = field.args.find(
        ({ type: argumentType }) => getNamedType(argumentType).name === MASS_UNIT_TYPE_NAME,
      );
      const value = argument && getArgumentValues(field, node, variables)[argument.name];
      const unit = argument
        ? DISPLAY_MASS_UNITS.find((massUnit) => massUnit.toUpperCase() === value)
        : requestedUnit;
      const fieldPath = [...path, node.alias?.value ?? node.name.value];
      const fieldType = getNamedType(field.type);
      if (node.selectionSet && isCompositeType(fieldType))
        visitSelections(node.selectionSet, fieldType, fieldPath, unit);
      else if (isLeafType(fieldType)) {
        const massUnit = massUnitOf(field, argument !== undefined, unit);
        if (massUnit) massUnits.set(fieldPath.join('.'), massUnit);
      }
    }
  };
  visitSelections(operation.selectionSet, rootType, [], undefined);
  return massUnits;
}

/** Returns the unit of a field's mass; undefined for other fields. A unit argument applies to its field and to nested fields that are marked. */
function massUnitOf(
  { description, type }: Field,
  hasUnitArgument: boolean,
  unit: DisplayMassUnit | undefined,
): DisplayMassUnit | undefined {
  if (hasUnitArgument || description?.includes(REQUESTED_UNIT_NOTE)) return unit;
  // Integer fields are never masses. One whose description mentions kilograms counts distinct masses.
  return description?.includes(KILOGRAMS_NOTE) && getNamedType(type).name !== 'Int'
    ? 'kg'
    : undefined;
}

/** Converts the masses in the table of a list to the chosen unit. If no unit is chosen, the masses keep their units. */
export function convertMasses(
  table: Table,
  massUnits: MassUnitByPath,
  list: ResultList | undefined,
  chosenUnit: DisplayMassUnit | undefined,
): Table {
  if (massUnits.size === 0) return table;
  const unitOf = (name: string) => massUnits.get(list ? `${list.outermostListPath}.${name}` : name);
  const units = table.columns.map(({ name, kind }) =>
    kind === 'number' ? unitOf(name) : undefined,
  );
  const factors = units.map((unit) =>
    unit && chosenUnit && unit !== chosenUnit
      ? KILOGRAMS_PER_UNIT[unit] / KILOGRAMS_PER_UNIT[chosenUnit]
      : undefined,
  );
  const columns = table.columns.map((column, index) => {
    const unit = units[index];
    return unit
      ? { ...column, unit: chosenUnit ?? unit, ...(factors[index] && { isUnitConverted: true }) }
      : column;
  });
  if (!factors.some(Boolean)) return { columns, rows: table.rows };
  const convert = (cell: unknown, factor: number | undefined) =>
    factor === undefined || cell === null ? cell : (Number(cell) * factor).toFixed(DECIMAL_PLACES);
  return {
    columns,
    rows: table.rows.map((row) => row.map((cell, index) => convert(cell, factors[index]))),
  };
}
