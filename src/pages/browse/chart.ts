/** Rows that have a day and a number, drawn: an SVG made here, in the colours of the page. */
import type { Line, Point, Series } from './view/series';
import type { HtmlView } from './view/view';
import { ticksOf } from './days';

export interface Chart {
  svg: string;
  title: string;
  /** The same in words, for who does not see it. */
  summary: string;
  /** From the first day to the last one. */
  range: string;
  /** Lines that there was no room for. */
  left: number;
  /** How lines are told apart, where there are several. */
  legend: readonly { name: string; colour: string; dashed: boolean }[];
  /** Of the lines, and what each has on a day. */
  names: readonly string[];
  values: readonly (readonly [day: string, numbers: readonly (number | undefined)[]])[];
}

const SIZE = { width: 880, height: 300 };
/** Drawn instead of the page's colours, which only the browser knows, and replaced by them in the finished SVG. */
const TEXT = '#010101';
const RULE = '#020202';
const COLOURS = ['accent', 'link', 'num', 'key', 'bad'];
const MARKS = ['#030303', '#040404', '#050505', '#060606', '#070707'];
const INKS: Readonly<Record<string, string>> = {
  [TEXT]: 'var(--muted)',
  [RULE]: 'var(--line)',
  ...Object.fromEntries(MARKS.map((mark, index) => [mark, `var(--${COLOURS[index]!})`])),
};
/** So many points need no marks of their own. */
const MANY = 60;
/** As many as a page of a list may have; they would be drawn over each other, and for long. */
const TOO_MANY = 10_000;
/** Length of a moment without its zone: it is drawn as it is shown. */
const LOCAL = 19;
const DATE = 10;
const FONT = 'system-ui, sans-serif';

type Row = Readonly<Record<string, unknown>>;

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

const pointsOf = (rows: readonly Row[], day: string, key: string): Point[] =>
  rows
    .flatMap((row): Point[] => {
      const [moment, number] = [row[day], numberOf(row[key])];
      return number === undefined || typeof moment !== 'string' ? [] : [[moment.slice(0, LOCAL), number]];
    })
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const upperFirst = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());
const isLine = (value: unknown): value is Row[] => Array.isArray(value) && value.every((row) => row !== null && typeof row === 'object');
const DAY = /^\d{4}-\d\d-\d\d/;

/** Of an answer that comes in lines: a day against a decimal, which is a text; a whole number is the same all along a line and names it. */
function lined({ body }: HtmlView): Series | undefined {
  const lines = Object.values((body ?? {}) as Row).find((value): value is Row[][] => Array.isArray(value) && value.every(isLine));
  const sample = Object.entries(lines?.[0]?.[0] ?? {});
  const day = sample.find(([, value]) => DAY.test(String(value)))?.[0];
  const key = sample.find(([name, value]) => name !== day && typeof value === 'string' && numberOf(value) !== undefined)?.[0];
  const name = sample.find(([, value]) => typeof value === 'number')?.[0];
  if (!lines || !day || !key) return undefined;
  const nameOf = ([row]: readonly Row[]) => (name === undefined || !row ? undefined : `${String(row[name])} ${name}`);
  return { label: upperFirst(key), left: 0, lines: lines.map((rows) => ({ name: nameOf(rows), points: pointsOf(rows, day, key) })) };
}

/** One for each unit. */
export async function chartsOf(view: HtmlView): Promise<Chart[]> {
  const series = view.drawn?.series ?? (view.kind === 'action' ? [lined(view) ?? []].flat() : []);
  const drawn = await Promise.all(series.map(chartOf));
  return drawn.filter((chart) => chart !== undefined);
}

/** Takes up to some seconds on a busy machine, so a server has it loaded before anybody asks for a chart. */
export const loadCharts = () => import('echarts');

async function chartOf(series: Series): Promise<Chart | undefined> {
  const { label, unit, lines, left } = series;
  const points = lines.flatMap((line) => line.points);
  if (points.length < 2 || points.length > TOO_MANY) return undefined;
  const { init } = await loadCharts();
  const axis = { axisLabel: { color: TEXT, fontSize: 12, fontFamily: FONT, hideOverlap: true }, axisLine: { lineStyle: { color: RULE } } };
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  const names = lines.flatMap(({ name }) => name ?? []);
  const moments = points.map(([moment]) => moment.slice(0, DATE)).sort();
  const ticks = ticksOf(moments[0]!, moments.at(-1)!);
  const labels = new Map(ticks.map(({ at, label: day }) => [at, day]));
  const customValues = [...labels.keys()];
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: FONT },
    grid: { left: 24, right: 8, top: unit ? 34 : 16, bottom: 8, containLabel: true },
    xAxis: {
      type: 'time',
      ...axis,
      axisLabel: { ...axis.axisLabel, customValues, formatter: (at: number) => labels.get(at) ?? '' },
      axisTick: { customValues },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      scale: true,
      // Beside the newest days, which a narrow screen shows first.
      position: 'right',
      ...axis,
      splitLine: { lineStyle: { color: RULE } },
      ...(unit && { name: unit, nameTextStyle: { color: TEXT, fontFamily: FONT, align: 'left' } }),
    },
    series: lines.map((line, index) => {
      const color = MARKS[index % MARKS.length];
      return {
        name: line.name,
        type: 'line',
        data: line.points,
        symbol: 'circle',
        symbolSize: 5,
        showSymbol: points.length <= MANY || line.points.length === 1,
        itemStyle: { color },
        lineStyle: { color, width: 2, type: index < MARKS.length ? 'solid' : 'dashed' },
      };
    }),
  });
  const values = valuesOf(lines);
  const called = lines.map(({ name }) => name ?? (unit ? `${label} (${unit})` : label));
  const svg = coloured(chart.renderToSVGString());
  chart.dispose();
  const numbers = points.map(([, number]) => number);
  const whose = names.length ? ` of ${names.join(', ')}` : '';
  const range = `between ${Math.min(...numbers)} and ${Math.max(...numbers)}${unit ? ` ${unit}` : ''}`;
  return {
    svg,
    title: unit ? `${label} in ${unit}` : label,
    range: `${moments[0]} to ${moments.at(-1)}`,
    summary: `${points.length} values${whose} from ${moments[0]} to ${moments.at(-1)}, ${range}.`,
    left,
    legend: names.map((name, index) => ({ name, colour: COLOURS[index % MARKS.length]!, dashed: index >= MARKS.length })),
    names: called,
    values,
  };
}

/** By day, the newest first. */
function valuesOf(lines: readonly Line[]): Chart['values'] {
  const days = new Map<string, (number | undefined)[]>();
  for (const [index, { points }] of lines.entries())
    for (const [moment, number] of points) {
      const day = moment.slice(0, DATE);
      const numbers = days.get(day) ?? lines.map(() => undefined);
      numbers[index] = number;
      days.set(day, numbers);
    }
  return [...days].sort(([a], [b]) => (a < b ? 1 : -1));
}

/** Scales with the page, and takes its colours. */
function coloured(svg: string): string {
  let inked = svg;
  for (const [ink, colour] of Object.entries(INKS)) inked = inked.replaceAll(ink, colour);
  return inked.replace(/<svg width="\d+" height="\d+"/, '<svg aria-hidden="true" focusable="false"');
}
