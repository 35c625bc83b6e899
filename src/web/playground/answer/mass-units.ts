/**
 * Finds the units of the values in a query result by the field descriptions of the schema, and
 * converts masses between kilograms and pounds.
 */
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
} from '../../../fitness/mass-units';
import type { ResultList, Table } from './table';

export const DISPLAY_MASS_UNITS = ['kg', 'lb'] as const;
export type DisplayMassUnit = (typeof DISPLAY_MASS_UNITS)[number];

export interface GraphQLRequest {
  query: DocumentNode;
  variables?: Readonly<Record<string, unknown>>;
  operationName?: string | null;
}

/** Units by field path, such as `kg` for `workoutLogs.nodes.weightKg`. */
export type UnitByPath = ReadonlyMap<string, string>;

/** Matches the unit in a description such as `Protein in grams.` Such values are not converted. */
const FIXED_UNIT_PATTERN = /\bin (kcal|kJ|grams|percent)\b/;
const UNIT_SYMBOLS: Readonly<Record<string, string>> = { grams: 'g', percent: '%' };

export const isDisplayMassUnit = (unit: string | undefined): unit is DisplayMassUnit =>
  DISPLAY_MASS_UNITS.some((massUnit) => massUnit === unit);

const KILOGRAMS_PER_UNIT: Record<DisplayMassUnit, number> = {
  kg: 1,
  lb: Number(KILOGRAMS_PER_POUND),
};
const DECIMAL_PLACES = 2;

/**
 * Maximum number of visited selections. Nested fragments with aliases would otherwise be visited
 * exponentially often.
 */
const MAX_VISITED_SELECTIONS = 10_000;

type Field = GraphQLField<unknown, unknown>;

export function unitsOf(
  schema: GraphQLSchema,
  { query, variables: sentVariables = {}, operationName }: GraphQLRequest,
): UnitByPath {
  const operation = getOperationAST(query, operationName);
  const rootType = operation && schema.getRootType(operation.operation);

  if (!rootType) return new Map();
  // Adds the default values of variables. A response to invalid variables contains no masses.
  const { coerced: variables = {} } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    sentVariables,
  );
  const visitedSpreads = new Set<string>();
  let visitedSelectionCount = 0;
  const units = new Map<string, string>();
  const fragments = new Map<string, FragmentDefinitionNode>();

  for (const node of query.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }

  const visitSelections = (
    { selections }: SelectionSetNode,
    type: GraphQLNamedType,
    path: readonly string[],
    requestedUnit: DisplayMassUnit | undefined,
  ): void => {
    for (const node of selections) {
      visitedSelectionCount += 1;
      if (visitedSelectionCount > MAX_VISITED_SELECTIONS) return;

      if (node.kind === Kind.FRAGMENT_SPREAD) {
        // Visits each fragment once per path and unit. Another visit would find the same fields.
        const spreadKey = JSON.stringify([node.name.value, path, requestedUnit]);

        if (visitedSpreads.has(spreadKey)) continue;
        visitedSpreads.add(spreadKey);
      }

      if (node.kind !== Kind.FIELD) {
        const { typeCondition, selectionSet } =
          node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)! : node;
        const conditionType = typeCondition && getNamedType(typeFromAST(schema, typeCondition));

        visitSelections(selectionSet, conditionType ?? type, path, requestedUnit);
        continue;
      }

      const field = isObjectType(type) ? type.getFields()[node.name.value] : undefined;

      if (!field) continue;
      const argument = field.args.find(
        ({ type: argumentType }) => getNamedType(argumentType).name === MASS_UNIT_TYPE_NAME,
      );
      let unit = requestedUnit;

      if (argument) {
        const value = getArgumentValues(field, node, variables)[argument.name];

        unit = DISPLAY_MASS_UNITS.find((massUnit) => massUnit.toUpperCase() === value);
      }

      const fieldPath = [...path, node.alias?.value ?? node.name.value];
      const fieldType = getNamedType(field.type);

      if (node.selectionSet && isCompositeType(fieldType)) {
        visitSelections(node.selectionSet, fieldType, fieldPath, unit);
      } else if (isLeafType(fieldType)) {
        const fieldUnit = massUnitOf(field, argument !== undefined, unit) ?? fixedUnitOf(field);

        if (fieldUnit) units.set(fieldPath.join('.'), fieldUnit);
      }
    }
  };

  visitSelections(operation.selectionSet, rootType, [], undefined);
  return units;
}

function fixedUnitOf({ description }: Field): string | undefined {
  const unit = FIXED_UNIT_PATTERN.exec(description ?? '')?.[1];

  return unit && (UNIT_SYMBOLS[unit] ?? unit);
}

/**
 * Unit of a field that is a mass. A unit argument applies to its field and to the nested fields
 * whose descriptions say so.
 */
function massUnitOf(
  { description, type }: Field,
  hasUnitArgument: boolean,
  unit: DisplayMassUnit | undefined,
): DisplayMassUnit | undefined {
  if (hasUnitArgument || description?.includes(REQUESTED_UNIT_NOTE)) return unit;

  // An integer field whose description mentions kilograms counts distinct masses.
  const isMass = description?.includes(KILOGRAMS_NOTE) && getNamedType(type).name !== 'Int';

  return isMass ? 'kg' : undefined;
}

/**
 * Converts the masses in the table of a list to the chosen unit. Without one they keep their units.
 */
export function convertMasses(
  table: Table,
  unitByPath: UnitByPath,
  list: ResultList | undefined,
  chosenUnit: DisplayMassUnit | undefined,
): Table {
  if (unitByPath.size === 0) return table;
  const unitOf = (name: string) =>
    unitByPath.get(list ? `${list.outermostListPath}.${name}` : name);
  const units = table.columns.map(({ name, kind }) =>
    kind === 'number' ? unitOf(name) : undefined,
  );
  const factors = units.map((unit) => {
    if (!isDisplayMassUnit(unit) || !chosenUnit || unit === chosenUnit) return undefined;

    return KILOGRAMS_PER_UNIT[unit] / KILOGRAMS_PER_UNIT[chosenUnit];
  });
  const columns = table.columns.map((column, index) => {
    const unit = units[index];

    if (!unit) return column;

    return {
      ...column,
      unit: isDisplayMassUnit(unit) ? (chosenUnit ?? unit) : unit,
      ...(factors[index] && { isUnitConverted: true }),
    };
  });

  if (!factors.some(Boolean)) return { columns, rows: table.rows };
  const convert = (cell: unknown, factor: number | undefined) =>
    factor === undefined || cell === null ? cell : (Number(cell) * factor).toFixed(DECIMAL_PLACES);

  return {
    columns,
    rows: table.rows.map((row) => row.map((cell, index) => convert(cell, factors[index]))),
  };
}
