/** Time series of a list for charts: one line for each thing that was measured (such as an exercise), one chart for each unit. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import {
  fieldMetadataOf,
  type ResourceEndpoint,
  type PrepareOperation,
} from '../../../rest/endpoints';
import { formatDateTime, relatedTypeOf, selectionOf, visibleFieldsOf, type Row } from './cells';
import { fieldLabelOf } from './labels';
import { nameRuleOf } from './rownames';

export type Point = [moment: string, number: number];

export interface ChartLine {
  /** Name of what was measured; absent if the type of the rows has no field for it. */
  name?: string;
  points: Point[];
}

/** The lines of one chart, which have the same unit. */
export interface TimeChart {
  label: string;
  unit?: string;
  lines: readonly ChartLine[];
  omittedLineCount: number;
}

export interface TimeSeries {
  charts: readonly TimeChart[];
  /** Length of the period in days. It ends with the newest row; 0 means all rows. */
  periodDays: number;
}

/** Selectable periods in days (0 for all). The first one is the default. */
export const PERIOD_CHOICES_DAYS = [90, 365, 0] as const;
export const PERIOD_PARAMETER = 'days';

const MAX_LINES = 5;
const MAX_ROWS_WITHOUT_PERIOD = 5000;
/** Maximum number of rows that are read per day of the period, on average. If there are more, the oldest days are not drawn. */
const MAX_ROWS_PER_DAY = 12;
const DAY_MS = 86_400_000;
const DATE_LENGTH = 10;
const UNIT_TYPE_PATTERN = /Unit$/;

interface ChartFields {
  dateField: FieldMetadata;
  valueField: FieldMetadata;
  /** Field that identifies what was measured, such as the exercise. Each of its values becomes a line of the chart. */
  lineField?: FieldMetadata;
  unitField?: FieldMetadata;
  /** Whether the value of a row without a unit is in the mass unit that the user prefers. */
  isValueInPreferredUnit: boolean;
}

/**
 * Chooses the fields to draw: the first date field and the first decimal field. Returns undefined if one of them is missing, if the rows are public
 * or if the field with the unit cannot be determined.
 */
function chartFieldsOf(type: GraphQLObjectType, schema: GraphQLSchema): ChartFields | undefined {
  const fields = visibleFieldsOf(type).filter(({ restReadOnly }) => !restReadOnly);
  const day = fields.find(({ kind }) => kind === 'date');
  const value = fields.find(({ kind }) => kind === 'decimal');
  if (!type.extensions.resource!.isOwned || !day || !value) return undefined;
  const unitRelationFields = fields.filter(
    ({ relation }) => relation && UNIT_TYPE_PATTERN.test(relation.typeName),
  );
  const unitChoiceField = fieldMetadataOf(type).find(
    ({ kind, name }) => kind === 'choice' && name === 'unit',
  );
  const unitField =
    unitRelationFields.find(({ relation }) => relation!.objectFieldName.startsWith(value.name)) ??
    unitChoiceField;
  if (unitRelationFields.length > 0 && !unitField) return undefined;
  const lineField =
    fields.find(
      ({ relation }) =>
        relation &&
        !relation.isOwned &&
        !relation.isToMany &&
        !UNIT_TYPE_PATTERN.test(relation.typeName),
    ) ?? fields.find(({ kind, allowNull }) => kind === 'choice' && !allowNull);
  const isValueInPreferredUnit =
    unitChoiceField !== undefined && schema.getQueryType()?.getFields().viewer !== undefined;
  return { dateField: day, valueField: value, lineField, unitField, isValueInPreferredUnit };
}

/** Returns the field whose values are in the mass unit that the viewer prefers, if the type has one. */
export function fieldInPreferredUnit(
  type: GraphQLObjectType,
  schema: GraphQLSchema,
): FieldMetadata | undefined {
  const chartFields = chartFieldsOf(type, schema);
  return chartFields?.isValueInPreferredUnit ? chartFields.valueField : undefined;
}

function valueLabel(type: GraphQLObjectType, field: FieldMetadata, row: Row): string {
  const id = String(row[field.name] as string | number);
  if (!field.relation) return String(field.choices?.find(({ value }) => value === id)?.label ?? id);
  const relatedRow = row[field.relation.objectFieldName] as Row | null;
  return (relatedRow && nameRuleOf(relatedTypeOf(type, field)).nameOf(relatedRow)) ?? id;
}

/**
 * Groups the rows into lines of a chart. If a day has several values, the largest is drawn. Lines of equal names are distinguished by the id of the
 * related row for which they stand.
 */
function linesOf(
  type: GraphQLObjectType,
  { dateField, valueField, lineField }: ChartFields,
  rows: readonly Row[],
): ChartLine[] {
  const lines = new Map<string, { name: string; points: Map<string, number> }>();
  for (const row of rows) {
    const id = lineField ? String(row[lineField.name] as string | number) : '';
    let line = lines.get(id);
    if (!line)
      lines.set(
        id,
        (line = { name: lineField ? valueLabel(type, lineField, row) : '', points: new Map() }),
      );
    const date = formatDateTime(String(row[dateField.name]), dateField.kind).slice(0, DATE_LENGTH);
    line.points.set(
      date,
      Math.max(line.points.get(date) ?? -Infinity, Number(row[valueField.name])),
    );
  }
  const lineCountByName = new Map<string, number>();
  for (const { name } of lines.values())
    lineCountByName.set(name, (lineCountByName.get(name) ?? 0) + 1);
  const namedLines = [...lines].map(([id, { name, points }]) => ({
    ...(lineField && { name: lineCountByName.get(name)! > 1 ? `${name} (${id})` : name }),
    points: [...points].sort(([a], [b]) => (a < b ? -1 : 1)),
  }));
  return namedLines.sort((a, b) => b.points.length - a.points.length);
}

const isWorthDrawing = ({ points }: ChartLine): boolean =>
  points.length > 1 && points.some(([, number]) => number !== 0);

export function timeSeriesReader(schema: GraphQLSchema, prepareOperation: PrepareOperation) {
  return async (
    { type, resource }: ResourceEndpoint,
    where: object,
    periodDays: number,
    context: object,
  ): Promise<TimeSeries | undefined> => {
    const chartFields = chartFieldsOf(type, schema);
    if (!chartFields) return undefined;
    const { dateField, valueField, lineField, unitField } = chartFields;
    const selections = [dateField, valueField, lineField, unitField].map(
      (field) => field && selectionOf(type, field),
    );
    const run = prepareOperation(
      `query ($where: ${type.name}Where, $first: Int) {
        page: ${resource.listQueryName}(where: $where, first: $first, orderBy: [{ ${dateField.name}: DESC }]) { nodes { id ${selections.join(' ')} } }
      }`,
    );
    const { data } = await run(context, {
      where,
      first: periodDays ? periodDays * MAX_ROWS_PER_DAY : MAX_ROWS_WITHOUT_PERIOD,
    });
    const allRows = (data?.page.nodes ?? []) as Row[];
    const timeOf = (row: Row) => Date.parse(String(row[dateField.name]).slice(0, DATE_LENGTH));
    const rows = periodDays
      ? allRows.filter((row) => timeOf(allRows[0]!) - timeOf(row) < periodDays * DAY_MS)
      : allRows;
    const rowsByUnit = new Map<string, Row[]>();
    for (const row of rows) {
      const unitName = unitField ? valueLabel(type, unitField, row) : '';
      const unitRows = rowsByUnit.get(unitName) ?? [];
      rowsByUnit.set(unitName, unitRows);
      unitRows.push(row);
    }
    const charts = [...rowsByUnit].map(([name, unitRows]) => {
      const lines = linesOf(type, chartFields, unitRows);
      return {
        label: fieldLabelOf(valueField),
        unit: name || undefined,
        lines: lines.slice(0, MAX_LINES),
        omittedLineCount: Math.max(0, lines.length - MAX_LINES),
      };
    });
    return { charts: charts.filter(({ lines }) => lines.some(isWorthDrawing)), periodDays };
  };
}
