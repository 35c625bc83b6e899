/** Charts of the browsable pages: what they show, by the response of a list or an action. */
import type { ChartLine, Point, TimeChart } from './view/timeseries';
import type { HtmlView } from './view/viewmodel';
import { upperFirst } from '../../core/model/inflection';
import { parseMoment, ticksOf, type Tick } from './ticks';

export interface ShownLine {
  /** Absent for a single line without a name. */
  name?: string;
  /** Times in milliseconds since 1970, and values. */
  points: readonly (readonly [time: number, value: number])[];
  /** Name of the CSS variable with the colour. */
  colourVariable: string;
  isDashed: boolean;
}

export interface ShownChart {
  title: string;
  unit?: string;
  /** Text alternative of the chart for screen readers. */
  summary: string;
  /** First and last day of the chart, such as `2026-01-01 to 2026-03-31`. */
  dateRange: string;
  omittedLineCount: number;
  ticks: readonly Tick[];
  lines: readonly ShownLine[];
  lineNames: readonly string[];
  /** Values of the lines by day, for each day in the order of `lineNames`. */
  valuesByDay: readonly (readonly [day: string, numbers: readonly (number | undefined)[]])[];
}

const COLOUR_VARIABLES = ['accent', 'link', 'num', 'key', 'bad'];
/** A chart with more points is not drawn, because they would overlap and take long to draw. */
const MAX_POINTS = 10_000;
/** Length of `YYYY-MM-DDThh:mm:ss`. Charts cut off the UTC offset after it, because they show the same local times as tables. */
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
      const [moment, number] = [row[dayKey], toFiniteNumber(row[valueKey])];
      return number === undefined || typeof moment !== 'string'
        ? []
        : [[moment.slice(0, LOCAL_DATETIME_LENGTH), number]];
    })
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const isRowList = (value: unknown): value is ChartRow[] =>
  Array.isArray(value) && value.every((row) => row !== null && typeof row === 'object');
const DATE_PATTERN = /^\d{4}-\d\d-\d\d/;

/**
 * Derives a chart from a response body in which one key contains a list of lists of rows. Each inner list becomes a line. Its first date field is
 * shown on the horizontal axis, its first decimal field (a string in JSON) on the vertical axis. The first integer field, which is expected to have
 * the same value in all rows of an inner list, names the line.
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

/** Returns the charts of a page: one per unit for a list of rows, at most one for the result of an action such as `log_data`. */
export function chartsOf(view: HtmlView): ShownChart[] {
  const timeCharts =
    view.timeSeries?.charts ??
    (view.kind === 'action' ? [deriveChartFromBody(view) ?? []].flat() : []);
  return timeCharts.map(showChart).filter((chart) => chart !== undefined);
}

function showChart(timeChart: TimeChart): ShownChart | undefined {
  const { label, unit, lines, omittedLineCount } = timeChart;
  const points = lines.flatMap((line) => line.points);
  if (points.length < 2 || points.length > MAX_POINTS) return undefined;

  const sortedDates = points.map(([moment]) => moment.slice(0, DATE_LENGTH)).sort();
  const [firstDate, lastDate] = [sortedDates[0]!, sortedDates.at(-1)!];
  const names = lines.flatMap(({ name }) => name ?? []);
  const namesPhrase = names.length ? ` of ${names.join(', ')}` : '';
  const numbers = points.map(([, number]) => number);
  const range = `between ${Math.min(...numbers)} and ${Math.max(...numbers)}${unit ? ` ${unit}` : ''}`;

  return {
    title: unit ? `${label} in ${unit}` : label,
    unit,
    summary: `${points.length} values${namesPhrase} from ${firstDate} to ${lastDate}, ${range}.`,
    dateRange: `${firstDate} to ${lastDate}`,
    omittedLineCount,
    ticks: ticksOf(firstDate, lastDate),
    lines: lines.map((line, index) => ({
      name: line.name,
      points: line.points.map(([moment, number]) => [parseMoment(moment).toMillis(), number]),
      colourVariable: COLOUR_VARIABLES[index % COLOUR_VARIABLES.length]!,
      isDashed: index >= COLOUR_VARIABLES.length,
    })),
    lineNames: lines.map(({ name }) => name ?? (unit ? `${label} (${unit})` : label)),
    valuesByDay: groupValuesByDay(lines),
  };
}

/** Returns the values of all lines by day, newest day first. */
function groupValuesByDay(lines: readonly ChartLine[]): ShownChart['valuesByDay'] {
  const numbersByDay = new Map<string, (number | undefined)[]>();
  for (const [index, { points }] of lines.entries())
    for (const [moment, number] of points) {
      const day = moment.slice(0, DATE_LENGTH);
      const numbers = numbersByDay.get(day) ?? lines.map(() => undefined);
      numbers[index] = number;
      numbersByDay.set(day, numbers);
    }
  return [...numbersByDay].sort(([a], [b]) => (a < b ? 1 : -1));
}
