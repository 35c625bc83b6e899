/** Rows that have a day and a number, drawn: an SVG made here, in the colours of the page. */
import type { HtmlView } from '../../rest/view';
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
const LINE = '#020202';
const MARK = '#030303';
const INKS: Readonly<Record<string, string>> = { [TEXT]: 'var(--muted)', [LINE]: 'var(--line)', [MARK]: 'var(--accent)' };
/** So many points need no marks of their own. */
const MANY = 100;
/** Length of a moment without its zone: it is drawn as it is shown. */
const LOCAL = 19;
const FONT = 'system-ui, sans-serif';

type Point = [string, number];
interface Series {
  day: string;
  label: string;
  points: Point[];
}

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** The first day that people set, against the first decimal that they set, else the first whole number. */
function seriesOf(view: HtmlView): Series | undefined {
  const rows = (envelopeOf(view)?.results ?? []) as Record<string, unknown>[];
  const { writable, kinds, labels } = view;
  const first = (...wanted: string[]) => wanted.map((kind) => writable.find((key) => kinds[key] === kind)).find(Boolean);
  const day = first('date', 'datetime');
  const key = first('decimal', 'integer');
  if (!day || !key) return undefined;
  const points = rows
    .flatMap((row): Point[] => {
      const number = numberOf(row[key]);
      return number === undefined || typeof row[day] !== 'string' ? [] : [[(row[day] as string).slice(0, LOCAL), number]];
    })
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return points.length > 1 ? { day: labels[day] ?? day, label: labels[key] ?? key, points } : undefined;
}

export async function chartOf(view: HtmlView): Promise<Chart | undefined> {
  const series = seriesOf(view);
  if (!series) return undefined;
  const { label, points, day } = series;
  // Loaded when the first chart is drawn: most processes draw none for a while, and it is large.
  const { init } = await import('echarts');
  const axis = { axisLabel: { color: TEXT, fontSize: 12, fontFamily: FONT, hideOverlap: true }, axisLine: { lineStyle: { color: LINE } } };
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  // Several rows of one day are not one after the other, so a line through them would mean nothing.
  const once = new Set(points.map(([moment]) => moment.slice(0, 10))).size === points.length;
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: FONT },
    grid: { left: 8, right: 24, top: 16, bottom: 8, containLabel: true },
    xAxis: { type: 'time', ...axis, splitLine: { show: false } },
    yAxis: { type: 'value', scale: true, ...axis, splitLine: { lineStyle: { color: LINE } } },
    series: {
      type: once ? 'line' : 'scatter',
      data: points,
      symbol: 'circle',
      symbolSize: once ? (points.length > MANY ? 2 : 5) : 8,
      itemStyle: { color: MARK },
      lineStyle: { color: MARK, width: 2 },
    },
  });
  const drawn = chart.renderToSVGString();
  chart.dispose();
  const numbers = points.map(([, number]) => number);
  const [from, to] = [points[0]![0], points.at(-1)![0]].map((moment) => moment.slice(0, 10));
  return {
    svg: coloured(drawn),
    title: `${label} by ${day.toLowerCase()}`,
    summary: `${points.length} values from ${from} to ${to}, between ${Math.min(...numbers)} and ${Math.max(...numbers)}.`,
  };
}

/** Scales with the page, and takes its colours. */
function coloured(svg: string): string {
  let inked = svg;
  for (const [ink, colour] of Object.entries(INKS)) inked = inked.replaceAll(ink, colour);
  return inked
    .replace(/<svg width="\d+" height="\d+"/, '<svg aria-hidden="true" focusable="false"')
    .replace(/<rect width="\d+" height="\d+" x="0" y="0"[^>]*><\/rest>/, '');
}
