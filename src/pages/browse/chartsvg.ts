/**
 * Line charts of the browsable pages, rendered as SVG on the server by ECharts (https://echarts.apache.org), in the colours of the page. ECharts is
 * imported as a single file, which loads in 80 ms; its separate modules need 500 ms.
 */
import { init } from 'echarts/dist/echarts.min.js';
import type { ChartLine, Point, TimeChart } from './view/timeseries';
import type { HtmlView } from './view/viewmodel';
import { upperFirst } from '../../core/model/inflection';
import { parseMoment, ticksOf } from './ticks';

export interface RenderedChart {
  svg: string;
  title: string;
  /** Text alternative of the chart for screen readers. */
  summary: string;
  /** First and last day of the chart, such as `2026-01-01 to 2026-03-31`. */
  dateRange: string;
  omittedLineCount: number;
  /** Legend of the chart: one entry per named line; empty for a single line without a name. */
  legend: readonly { name: string; colourVariable: string; isDashed: boolean }[];
  lineNames: readonly string[];
  /** Values of the lines by day, for each day in the order of `lineNames`. */
  valuesByDay: readonly (readonly [day: string, numbers: readonly (number | undefined)[]])[];
}

const CHART_SIZE = { width: 880, height: 300 };
/** Chart colours are CSS variables, because only the browser knows the colours of the page. */
const TEXT_COLOUR = 'var(--muted)';
const GRID_COLOUR = 'var(--line)';
const SERIES_COLOUR_VARIABLES = ['accent', 'link', 'num', 'key', 'bad'];
const MAX_POINTS_WITH_SYMBOLS = 60;
/** A chart with more points is not drawn, because they would overlap and take long to draw. */
const MAX_POINTS = 10_000;
/** Length of `YYYY-MM-DDThh:mm:ss`. Charts cut off the UTC offset after it, because they show the same local times as tables. */
const LOCAL_DATETIME_LENGTH = 19;
const DATE_LENGTH = 10;
const FONT_FAMILY = 'system-ui, sans-serif';

type ChartRow = Readonly<Record<string, unknown>>;

const toFiniteNumber = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

const pointsOf = (rows: readonly ChartRow[], dayKey: string, valueKey: string): Point[] =>
  rows
    .flatMap((row): Point[] => {
      const [moment, number] = [row[dayKey], toFiniteNumber(row[valueKey])];
      return number === undefined || typeof moment !== 'string' ? [] : [[moment.slice(0, LOCAL_DATETIME_LENGTH), number]];
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
    ([name, value]) => name !== dayKey && typeof value === 'string' && toFiniteNumber(value) !== undefined,
  )?.[0];
  const name = sampleEntries.find(([, value]) => typeof value === 'number')?.[0];
  if (!lines || !dayKey || !valueKey) return undefined;
  const lineNameOf = ([row]: readonly ChartRow[]) => (name === undefined || !row ? undefined : `${String(row[name])} ${name}`);
  return {
    label: upperFirst(valueKey),
    omittedLineCount: 0,
    lines: lines.map((rows) => ({ name: lineNameOf(rows), points: pointsOf(rows, dayKey, valueKey) })),
  };
}

/** Renders the charts of a page: one per unit for a list of rows, at most one for the result of an action such as `log_data`. */
export function renderCharts(view: HtmlView): RenderedChart[] {
  const timeCharts = view.timeSeries?.charts ?? (view.kind === 'action' ? [deriveChartFromBody(view) ?? []].flat() : []);
  return timeCharts.map(renderChart).filter((chart) => chart !== undefined);
}

function renderChart(timeChart: TimeChart): RenderedChart | undefined {
  const { label, unit, lines, omittedLineCount } = timeChart;
  const points = lines.flatMap((line) => line.points);
  if (points.length < 2 || points.length > MAX_POINTS) return undefined;
  const commonAxisOptions = {
    axisLabel: { color: TEXT_COLOUR, fontSize: 12, fontFamily: FONT_FAMILY, hideOverlap: true },
    axisLine: { lineStyle: { color: GRID_COLOUR } },
  };
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...CHART_SIZE });
  const names = lines.flatMap(({ name }) => name ?? []);
  const sortedDates = points.map(([moment]) => moment.slice(0, DATE_LENGTH)).sort();
  const ticks = ticksOf(sortedDates[0]!, sortedDates.at(-1)!);
  const labelByTime = new Map(ticks.map(({ time, label: day }) => [time, day]));
  const customValues = [...labelByTime.keys()];
  chart.setOption({
    animation: false,
    useUTC: true,
    textStyle: { fontFamily: FONT_FAMILY },
    grid: { left: 24, right: 8, top: unit ? 34 : 16, bottom: 8, containLabel: true },
    xAxis: {
      type: 'time',
      ...commonAxisOptions,
      axisLabel: { ...commonAxisOptions.axisLabel, customValues, formatter: (time: number) => labelByTime.get(time) ?? '' },
      axisTick: { customValues },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      scale: true,
      // The vertical axis is on the right, next to the newest days, because narrow screens show that end of the chart first.
      position: 'right',
      ...commonAxisOptions,
      splitLine: { lineStyle: { color: GRID_COLOUR } },
      ...(unit && { name: unit, nameTextStyle: { color: TEXT_COLOUR, fontFamily: FONT_FAMILY, align: 'left' } }),
    },
    series: lines.map((line, index) => {
      const color = `var(--${SERIES_COLOUR_VARIABLES[index % SERIES_COLOUR_VARIABLES.length]})`;
      return {
        name: line.name,
        type: 'line',
        data: line.points.map(([moment, number]) => [parseMoment(moment).toMillis(), number]),
        symbol: 'circle',
        symbolSize: 5,
        showSymbol: points.length <= MAX_POINTS_WITH_SYMBOLS || line.points.length === 1,
        itemStyle: { color },
        lineStyle: { color, width: 2, type: index < SERIES_COLOUR_VARIABLES.length ? 'solid' : 'dashed' },
      };
    }),
  });
  const values = groupValuesByDay(lines);
  const lineNames = lines.map(({ name }) => name ?? (unit ? `${label} (${unit})` : label));
  const svg = chart.renderToSVGString().replace(/<svg width="\d+" height="\d+"/, '<svg aria-hidden="true" focusable="false"');
  chart.dispose();
  const numbers = points.map(([, number]) => number);
  const namesPhrase = names.length ? ` of ${names.join(', ')}` : '';
  const range = `between ${Math.min(...numbers)} and ${Math.max(...numbers)}${unit ? ` ${unit}` : ''}`;
  return {
    svg,
    title: unit ? `${label} in ${unit}` : label,
    dateRange: `${sortedDates[0]} to ${sortedDates.at(-1)}`,
    summary: `${points.length} values${namesPhrase} from ${sortedDates[0]} to ${sortedDates.at(-1)}, ${range}.`,
    omittedLineCount,
    legend: names.map((name, index) => ({
      name,
      colourVariable: SERIES_COLOUR_VARIABLES[index % SERIES_COLOUR_VARIABLES.length]!,
      isDashed: index >= SERIES_COLOUR_VARIABLES.length,
    })),
    lineNames,
    valuesByDay: values,
  };
}

/** Returns the values of all lines by day, newest day first. */
function groupValuesByDay(lines: readonly ChartLine[]): RenderedChart['valuesByDay'] {
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
