/** Converts the response of a list or an action to charts. */
import type { ChartLine, Point, TimeChart } from './view/view-model';
import type { HtmlView } from './view/view-model';
import { upperFirst } from '../../engine/declare/inflection';
import { parseAsUtc, ticksOf, type Tick } from './ticks';

export interface LineModel {
  /** Name of the line in the legend. */
  name?: string;

  /** Points of the line. Times are in milliseconds since 1970. */
  points: readonly (readonly [time: number, value: number])[];

  /** Name of the CSS variable with the colour. */
  colourVariable: string;
  isDashed: boolean;
}

export interface ChartModel {
  title: string;
  unit?: string;

  /** Text alternative for screen readers. */
  summary: string;

  /** First and last day of the chart, such as `2026-01-01 to 2026-03-31`. */
  dateRange: string;
  omittedLineCount: number;
  ticks: readonly Tick[];
  lines: readonly LineModel[];
  lineNames: readonly string[];

  /** One value per line for each day, in the order of `lineNames`. */
  valuesByDay: readonly (readonly [day: string, numbers: readonly (number | undefined)[]])[];
}

const COLOUR_VARIABLES = ['accent', 'link', 'num', 'key', 'bad'];

/** Charts with more points are not drawn, because they would be slow and unreadable. */
const MAX_POINTS = 10_000;

/**
 * Length of `YYYY-MM-DDThh:mm:ss`. The UTC offset after it is cut off, because charts show the same
 * local times as tables.
 */
const LOCAL_DATETIME_LENGTH = 19;
const DATE_LENGTH = 10;

type ChartRow = Readonly<Record<string, unknown>>;

const toFiniteNumber = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;

  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

const pointsOf = (rows: readonly ChartRow[], dayKey: string, valueKey: string): Point[] =>
  rows
    .flatMap((row): Point[] => {
      const [time, value] = [row[dayKey], toFiniteNumber(row[valueKey])];

      if (value === undefined || typeof time !== 'string') return [];

      return [[time.slice(0, LOCAL_DATETIME_LENGTH), value]];
    })
    .sort(([a], [b]) => Number(a > b) - Number(a < b));

const isRowList = (value: unknown): value is ChartRow[] =>
  Array.isArray(value) && value.every((row) => row !== null && typeof row === 'object');
const DATE_PATTERN = /^\d{4}-\d\d-\d\d/;

/**
 * Derives a chart from a response with a list of lists of rows: each inner list becomes a line. In
 * the rows, the first key with a date is the horizontal axis, the first with a decimal (a string in
 * JSON) the vertical axis, and the first with an integer names the line.
 */
function deriveChartFromBody({ body }: HtmlView): TimeChart | undefined {
  const lines = Object.values((body ?? {}) as ChartRow).find(
    (value): value is ChartRow[][] => Array.isArray(value) && value.every(isRowList),
  );
  const sampleEntries = Object.entries(lines?.[0]?.[0] ?? {});
  const dayKey = sampleEntries.find(([, value]) => DATE_PATTERN.test(String(value)))?.[0];
  const valueKey = sampleEntries.find(
    ([name, value]) =>
      name !== dayKey && typeof value === 'string' && toFiniteNumber(value) !== undefined,
  )?.[0];
  const name = sampleEntries.find(([, value]) => typeof value === 'number')?.[0];

  if (!lines || !dayKey || !valueKey) return undefined;
  const lineNameOf = ([row]: readonly ChartRow[]) =>
    name === undefined || !row ? undefined : `${String(row[name])} ${name}`;

  return {
    label: upperFirst(valueKey),
    omittedLineCount: 0,
    lines: lines.map((rows) => ({
      name: lineNameOf(rows),
      points: pointsOf(rows, dayKey, valueKey),
    })),
  };
}

/**
 * Charts of a page: one per unit for a list of rows, at most one for an action such as `log_data`.
 */
export function chartsOf(view: HtmlView): ChartModel[] {
  const actionCharts = view.kind === 'action' ? [deriveChartFromBody(view) ?? []].flat() : [];
  const timeCharts = view.timeSeries?.charts ?? actionCharts;

  return timeCharts.map(toChartModel).filter((chart) => chart !== undefined);
}

function toChartModel(timeChart: TimeChart): ChartModel | undefined {
  const { label, unit, lines, omittedLineCount } = timeChart;
  const points = lines.flatMap((line) => line.points);

  if (points.length < 2 || points.length > MAX_POINTS) return undefined;

  const sortedDates = points.map(([time]) => time.slice(0, DATE_LENGTH)).sort();
  const [firstDate, lastDate] = [sortedDates[0]!, sortedDates.at(-1)!];
  const names = lines.flatMap(({ name }) => name ?? []);
  const namesPhrase = names.length ? ` of ${names.join(', ')}` : '';
  const values = points.map(([, value]) => value);
  const unitSuffix = unit ? ` ${unit}` : '';
  const range = `between ${Math.min(...values)} and ${Math.max(...values)}${unitSuffix}`;

  return {
    title: unit ? `${label} in ${unit}` : label,
    unit,
    summary: `${points.length} values${namesPhrase} from ${firstDate} to ${lastDate}, ${range}.`,
    dateRange: `${firstDate} to ${lastDate}`,
    omittedLineCount,
    ticks: ticksOf(firstDate, lastDate),
    lines: lines.map((line, index) => ({
      name: line.name,
      points: line.points.map(([time, value]) => [parseAsUtc(time).toMillis(), value]),
      colourVariable: COLOUR_VARIABLES[index % COLOUR_VARIABLES.length]!,
      isDashed: index >= COLOUR_VARIABLES.length,
    })),
    lineNames: lines.map(({ name }) => name ?? (unit ? `${label} (${unit})` : label)),
    valuesByDay: groupValuesByDay(lines),
  };
}

/** Groups the values of all lines by day, newest first. */
function groupValuesByDay(lines: readonly ChartLine[]): ChartModel['valuesByDay'] {
  const numbersByDay = new Map<string, (number | undefined)[]>();

  for (const [index, { points }] of lines.entries()) {
    for (const [time, number] of points) {
      const day = time.slice(0, DATE_LENGTH);
      const numbers = numbersByDay.get(day) ?? lines.map(() => undefined);

      numbers[index] = number;
      numbersByDay.set(day, numbers);
    }
  }

  return [...numbersByDay].sort(([a], [b]) => (a < b ? 1 : -1));
}
