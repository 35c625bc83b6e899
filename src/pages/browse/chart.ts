/** Rows that have a day and a number, drawn: an SVG made here, in the colours of the page. */
import type { HtmlView } from './view/view';
import { envelopeOf } from './lists';

export interface Chart {
  svg: string;
  title: string;
  /** The same in words, for who does not see it. */
  summary: string;
}

const SIZE = { width: 880, height: 300 };
/** Drawn instead of the page's colours, which only the browser knows, and replaced by them in the finished SVG. */
const TEXT = '#010101';
const RULE = '#020202';
const MARKS = ['#030303', '#040404', '#050505', '#060606', '#070707'];
const INKS: Readonly<Record<string, string>> = {
  [TEXT]: 'var(--muted)',
  [RULE]: 'var(--line)',
  ...Object.fromEntries(['accent', 'link', 'num', 'key', 'bad'].map((colour, index) => [MARKS[index]!, `var(--${colour})`])),
};
/** So many points need no marks of their own. */
const MANY = 100;
/** As many as a page of a list may have; they would be drawn over each other, and for long. */
const TOO_MANY = 10_000;
/** Length of a moment without its zone: it is drawn as it is shown. */
const LOCAL = 19;
const FONT = 'system-ui, sans-serif';

type Point = [moment: string, number: number];
interface Line {
  /** Where each has one. */
  name?: string;
  points: Point[];
}
interface Drawn {
  day: string;
  label: string;
  lines: Line[];
}
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

/** Of the rows of a list: the first day that people set, against the first decimal that they set, else the first whole number. */
function listed(view: HtmlView): Drawn | undefined {
  const { writable, kinds, labels } = view;
  const first = (...wanted: string[]) => wanted.map((kind) => writable.find((key) => kinds[key] === kind)).find(Boolean);
  const day = first('date', 'datetime');
  const key = first('decimal', 'integer');
  if (!day || !key) return undefined;
  const rows = (envelopeOf(view)?.results ?? []) as Row[];
  return { day: labels[day] ?? day, label: labels[key] ?? key, lines: [{ points: pointsOf(rows, day, key) }] };
}

const upperFirst = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());
const isLine = (value: unknown): value is Row[] => Array.isArray(value) && value.every((row) => row !== null && typeof row === 'object');
const DAY = /^\d{4}-\d\d-\d\d/;

/** Of an answer that comes in lines: a day against a decimal, which is a text; a whole number is the same all along a line and names it. */
function lined({ body }: HtmlView): Drawn | undefined {
  const lines = Object.values((body ?? {}) as Row).find((value): value is Row[][] => Array.isArray(value) && value.every(isLine));
  const sample = Object.entries(lines?.[0]?.[0] ?? {});
  const day = sample.find(([, value]) => DAY.test(String(value)))?.[0];
  const key = sample.find(([name, value]) => name !== day && typeof value === 'string' && numberOf(value) !== undefined)?.[0];
  const name = sample.find(([, value]) => typeof value === 'number')?.[0];
  if (!lines || !day || !key) return undefined;
  const nameOf = ([row]: readonly Row[]) => (name === undefined || !row ? undefined : `${String(row[name])} ${name}`);
  return { day, label: upperFirst(key), lines: lines.map((rows) => ({ name: nameOf(rows), points: pointsOf(rows, day, key) })) };
}

export async function chartOf(view: HtmlView): Promise<Chart | undefined> {
  const drawn = view.kind === 'list' ? listed(view) : view.kind === 'action' ? lined(view) : undefined;
  const points = drawn?.lines.flatMap((line) => line.points) ?? [];
  if (!drawn || points.length < 2 || points.length > TOO_MANY) return undefined;
  const { label, day, lines } = drawn;
  // Loaded when the first chart is drawn: most processes draw none for a while, and it is large.
  const { init } = await import('echarts');
  const axis = { axisLabel: { color: TEXT, fontSize: 12, fontFamily: FONT, hideOverlap: true }, axisLine: { lineStyle: { color: RULE } } };
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  const names = lines.flatMap(({ name }) => name ?? []);
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: FONT },
    grid: { left: 8, right: 24, top: 16, bottom: names.length ? 32 : 8, containLabel: true },
    ...(names.length && { legend: { bottom: 0, left: 0, type: 'plain', textStyle: { color: TEXT, fontFamily: FONT } } }),
    xAxis: { type: 'time', ...axis, splitLine: { show: false } },
    yAxis: { type: 'value', scale: true, ...axis, splitLine: { lineStyle: { color: RULE } } },
    series: lines.map((line, index) => {
      // Several rows of one day are not one after the other, so a line through them would mean nothing.
      const once = new Set(line.points.map(([moment]) => moment.slice(0, 10))).size === line.points.length;
      const color = MARKS[index % MARKS.length];
      return {
        name: line.name,
        type: once ? 'line' : 'scatter',
        data: line.points,
        symbol: 'circle',
        symbolSize: once ? (points.length > MANY ? 2 : 5) : 8,
        itemStyle: { color },
        lineStyle: { color, width: 2, type: index < MARKS.length ? 'solid' : 'dashed' },
      };
    }),
  });
  const svg = coloured(chart.renderToSVGString());
  chart.dispose();
  const numbers = points.map(([, number]) => number);
  const moments = points.map(([moment]) => moment.slice(0, 10)).sort();
  const whose = names.length ? ` of ${names.join(', ')}` : '';
  return {
    svg,
    title: `${label} by ${day.toLowerCase()}`,
    summary: `${points.length} values${whose} from ${moments[0]} to ${moments.at(-1)}, between ${Math.min(...numbers)} and ${Math.max(...numbers)}.`,
  };
}

/** Scales with the page, and takes its colours. */
function coloured(svg: string): string {
  let inked = svg;
  for (const [ink, colour] of Object.entries(INKS)) inked = inked.replaceAll(ink, colour);
  return inked.replace(/<svg width="\d+" height="\d+"/, '<svg aria-hidden="true" focusable="false"');
}
