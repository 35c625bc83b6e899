/**
 * Time series of a list for charts: one chart for all masses, in the unit that the viewer prefers,
 * and one for each other unit, with a line for each exercise or measured quantity.
 */
import type { GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../shared/metadata';
import type { PrepareOperation, ResourceEndpoint, ResultData } from '../../../rest/endpoints';
import type { RestContext } from '../../../rest/request';
import { KILOGRAMS_PER_POUND } from '../../../fitness/mass-units';
import { todayIn } from '../../../engine/declare/clock';
import { formatDateTime, relatedTypeOf, selectionOf, visibleFieldsOf, type Row } from './cells';
import { fieldLabelOf } from './labels';
import { prefersPounds } from './row-reader';
import { rowNamingOf } from './row-names';
import type { ChartLine, TimeSeries } from './view-model';
import { groupBy } from '../../../shared/multimap';

/** Selectable periods in days, the default first. 0 means all days. */
export const PERIODS_IN_DAYS = [90, 365, 0] as const;
export const PERIOD_PARAMETER = 'days';

const MAX_LINES = 5;

/** Maximum number of rows that are read if the period is not limited. Older rows are not drawn. */
const MAX_ROWS_WITHOUT_PERIOD = 5000;

/** Maximum number of rows that are read per day of the period, on average. */
const MAX_ROWS_PER_DAY = 12;
const DAY_MS = 86_400_000;
const DATE_LENGTH = 10;
const UNIT_TYPE_PATTERN = /Unit$/;
const KILOGRAMS_PER_MASS_UNIT = { kg: 1, lb: Number(KILOGRAMS_PER_POUND) } as const;
const DECIMAL_PLACES = 2;

export type MassUnit = keyof typeof KILOGRAMS_PER_MASS_UNIT;

const isMassUnit = (unit: string): unit is MassUnit => unit in KILOGRAMS_PER_MASS_UNIT;

/** GraphQL selection of the unit that the viewer prefers. */
export const PREFERRED_UNIT_SELECTION = 'viewer { profile { unitSystem } }';

export function preferredMassUnitOf(data: ResultData): MassUnit {
  const profile = (data?.viewer?.profile ?? {}) as Row;

  return prefersPounds(profile) ? 'lb' : 'kg';
}

interface ChartFields {
  dateField: FieldMetadata;
  valueField: FieldMetadata;

  /** Field whose values become the lines of the chart, such as the exercise. */
  lineField?: FieldMetadata;
  unitField?: FieldMetadata;

  /** Field with the unit of the mass in a unit such as Body Weight, to which the mass is added. */
  massUnitField?: FieldMetadata;
}

/**
 * Chooses the fields to draw: the first date and the first decimal. There is no chart for public
 * rows or if the unit is ambiguous.
 */
function chartFieldsOf(type: GraphQLObjectType): ChartFields | undefined {
  const fields = visibleFieldsOf(type).filter(({ pageReadOnly }) => !pageReadOnly);
  const dateField = fields.find(({ kind }) => kind === 'date');
  const valueField = fields.find(({ kind }) => kind === 'decimal');

  if (!type.extensions.resource!.isOwned || !dateField || !valueField) return undefined;
  const unitRelationFields = fields.filter(
    ({ relation }) => relation && UNIT_TYPE_PATTERN.test(relation.typeName),
  );
  const unitChoiceField = fields.find(isUnitChoice);
  const unitField =
    unitRelationFields.find(({ relation }) =>
      relation!.relationFieldName.startsWith(valueField.name),
    ) ?? unitChoiceField;

  if (unitRelationFields.length > 0 && !unitField) return undefined;
  const lineField =
    fields.find(
      ({ relation }) =>
        relation &&
        !relation.isOwned &&
        !relation.isToMany &&
        !UNIT_TYPE_PATTERN.test(relation.typeName),
    ) ?? fields.find((field) => isRequiredChoice(field) && !isUnitChoice(field));

  const massUnitField = fields.find(({ name }) => name === 'massUnit');

  return { dateField, valueField, lineField, unitField, massUnitField };
}

const isRequiredChoice = ({ kind, allowNull }: FieldMetadata) => kind === 'choice' && !allowNull;
const isUnitChoice = ({ kind, name }: FieldMetadata) => kind === 'choice' && name === 'unit';

/** A value whose mass unit is another field of the row: `weight` and `unit`. */
export function massFieldsOf(
  type: GraphQLObjectType,
): { valueField: FieldMetadata; unitField: FieldMetadata } | undefined {
  const { valueField, unitField } = chartFieldsOf(type) ?? {};

  return valueField && unitField && isUnitChoice(unitField) ? { valueField, unitField } : undefined;
}

/** A mass in the unit that the viewer prefers. Values in other units, such as plates, stay. */
function toPreferredUnit(
  value: number,
  unit: string,
  preferredUnit: MassUnit,
): { value: number; unit: string } {
  if (!isMassUnit(unit) || unit === preferredUnit) return { value, unit };
  const kilograms = value * KILOGRAMS_PER_MASS_UNIT[unit];
  const convertedValue = kilograms / KILOGRAMS_PER_MASS_UNIT[preferredUnit];

  return { value: Number(convertedValue.toFixed(DECIMAL_PLACES)), unit: preferredUnit };
}

function valueLabel(type: GraphQLObjectType, field: FieldMetadata, row: Row): string {
  const id = String(row[field.name] as string | number);

  if (!field.relation) return String(field.choices?.find(({ value }) => value === id)?.label ?? id);
  const relatedRow = row[field.relation.relationFieldName] as Row | null;

  return (relatedRow && rowNamingOf(relatedTypeOf(type, field)).nameOf(relatedRow)) ?? id;
}

interface Measurement {
  row: Row;
  value: number;

  /** Unit of the value: `kg`, `kg added to Body Weight` or `Plates`. Empty if it has none. */
  unit: string;
}

function measurementOf(
  type: GraphQLObjectType,
  { valueField, unitField, massUnitField }: ChartFields,
  row: Row,
  preferredUnit: MassUnit,
): Measurement {
  const value = Number(row[valueField.name]);
  const unit = unitField ? valueLabel(type, unitField, row) : '';
  const addedMassUnit = massUnitField && !isMassUnit(unit) ? row[massUnitField.name] : null;

  if (addedMassUnit == null) return { row, ...toPreferredUnit(value, unit, preferredUnit) };
  const addedMass = toPreferredUnit(value, addedMassUnit as string, preferredUnit);

  return { row, value: addedMass.value, unit: `${addedMass.unit} added to ${unit}` };
}

/**
 * Groups rows into the lines of a chart. The largest value of a day is drawn. Lines with equal
 * names are distinguished by the ids of their rows, such as exercises.
 */
function linesOf(
  type: GraphQLObjectType,
  { dateField, lineField }: ChartFields,
  measurements: readonly Measurement[],
): ChartLine[] {
  const lines = new Map<string, { name: string; points: Map<string, number> }>();

  for (const { row, value } of measurements) {
    const id = lineField ? String(row[lineField.name] as string | number) : '';
    let line = lines.get(id);

    if (!line) {
      line = { name: lineField ? valueLabel(type, lineField, row) : '', points: new Map() };
      lines.set(id, line);
    }

    const date = formatDateTime(String(row[dateField.name]), dateField.kind).slice(0, DATE_LENGTH);

    line.points.set(date, Math.max(line.points.get(date) ?? -Infinity, value));
  }

  const lineCountByName = new Map<string, number>();

  for (const { name } of lines.values()) {
    lineCountByName.set(name, (lineCountByName.get(name) ?? 0) + 1);
  }

  const namedLines = [...lines].map(([id, { name, points }]) => ({
    ...(lineField && { name: lineCountByName.get(name)! > 1 ? `${name} (${id})` : name }),
    points: [...points].sort(([a], [b]) => (a < b ? -1 : 1)),
  }));

  return namedLines.sort((a, b) => b.points.length - a.points.length);
}

const isWorthDrawing = ({ points }: ChartLine): boolean =>
  points.length > 1 && points.some(([, number]) => number !== 0);

/** Filters of a list, and the number of rows that match them. */
interface ListSelection {
  where: object;
  rowCount: number;
}

/** Day on which a period of this length began that ends today. */
const firstDayOf = (periodDays: number, today: string): string =>
  new Date(Date.parse(today) - (periodDays - 1) * DAY_MS).toISOString().slice(0, DATE_LENGTH);

export function createTimeSeriesReader(prepareOperation: PrepareOperation) {
  return async (
    { type, resource }: ResourceEndpoint,
    { where, rowCount }: ListSelection,
    periodDays: number,
    context: Pick<RestContext, 'timeZone'>,
  ): Promise<TimeSeries | undefined> => {
    const chartFields = chartFieldsOf(type);

    if (!chartFields) return undefined;
    const { dateField, valueField, lineField, unitField, massUnitField } = chartFields;
    const selections = [dateField, valueField, lineField, unitField, massUnitField].map(
      (field) => field && selectionOf(type, field),
    );
    const { listQueryName } = resource;
    const run = prepareOperation(
      `query ($future: ${type.name}Where, $period: ${type.name}Where, $first: Int) {
        future: ${listQueryName}(where: $future) { totalCount }
        period: ${listQueryName}(where: $period, first: $first, orderBy: [{ ${dateField.name}: DESC }]) { totalCount nodes { id ${selections.join(' ')} } }
        ${PREFERRED_UNIT_SELECTION}
      }`,
    );
    const today = todayIn(context.timeZone);
    const dated = (condition: object) => ({ ...where, and: [{ [dateField.name]: condition }] });
    const { data } = await run(context, {
      future: dated({ gt: today }),
      period: periodDays ? dated({ gte: firstDayOf(periodDays, today), lte: today }) : where,
      first: periodDays ? periodDays * MAX_ROWS_PER_DAY : MAX_ROWS_WITHOUT_PERIOD,
    });

    if (!data?.period) return undefined;
    const { period, future } = data as Record<'period' | 'future', { totalCount: number }>;
    const rows = data.period.nodes as Row[];
    const futureRowCount = periodDays ? future.totalCount : 0;
    const preferredUnit = preferredMassUnitOf(data);
    const measurements = rows.map((row) => measurementOf(type, chartFields, row, preferredUnit));
    const charts = [...groupBy(measurements, ({ unit }) => unit)].map(([name, group]) => {
      const lines = linesOf(type, chartFields, group);

      return {
        label: fieldLabelOf(valueField),
        unit: name || undefined,
        lines: lines.slice(0, MAX_LINES),
        omittedLineCount: Math.max(0, lines.length - MAX_LINES),
      };
    });

    return {
      charts: charts.filter(({ lines }) => lines.some(isWorthDrawing)),
      periodDays,
      rowCount: period.totalCount,
      omittedRowCount: period.totalCount - rows.length,
      earlierRowCount: rowCount - period.totalCount - futureRowCount,
      futureRowCount,
    };
  };
}
