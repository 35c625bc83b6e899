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
const INKS: Readonly<Record<string, string>> = {
  '#010101': 'var(--muted)',
  '#020202': 'var(--line)',
  '#030303': 'var(--accent)',
  '#040404': 'var(--num)',
};
const [TEXT, LINE, FIRST, SECOND] = Object.keys(INKS) as [string, string, string, string];
const MAX_SERIES = 2;

type Point = [string, number];
interface Series {
  key: string;
  label: string;
  points: Point[];
}

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/** The series of a list: its first day that people set, against its decimals, else its whole numbers. */
function seriesOf(view: HtmlView): { day: string; series: Series[] } | undefined {
  const rows = (envelopeOf(view)?.results ?? []) as Record<string, unknown>[];
  const { writable, kinds, labels } = view;
  const day = writable.find((key) => kinds[key] === 'date' || kinds[key] === 'datetime');
  if (!day) return undefined;
  const numbers = ['decimal', 'integer'].flatMap((kind) => writable.filter((key) => kinds[key] === kind)).slice(0, MAX_SERIES);
  const series = numbers.map((key) => ({
    key,
    label: labels[key] ?? key,
    points: rows
      .flatMap((row): Point[] => {
        const number = numberOf(row[key]);
        return number === undefined || typeof row[day] !== 'string' ? [] : [[row[day] as string, number]];
      })
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  }));
  const drawn = series.filter(({ points }) => points.length > 1);
  return drawn.length ? { day, series: drawn } : undefined;
}

const range = (numbers: number[]) => [Math.min(...numbers), Math.max(...numbers)] as const;

export async function chartOf(view: HtmlView): Promise<Chart | undefined> {
  const found = seriesOf(view);
  if (!found) return undefined;
  const { series, day } = found;
  // Loaded when the first chart is drawn: most processes draw none for a while, and it is large.
  const { init } = await import('echarts');
  const axis = { axisLabel: { color: TEXT, fontSize: 12, fontFamily: 'inherit' }, axisLine: { lineStyle: { color: LINE } } };
  const chart = init(null, null, { renderer: 'svg', ssr: true, ...SIZE });
  chart.setOption({
    animation: false,
    grid: { left: 8, right: 8, top: 40, bottom: 8, containLabel: true },
    legend: { top: 0, left: 0, icon: 'circle', textStyle: { color: TEXT, fontSize: 13, fontFamily: 'inherit' } },
    xAxis: { type: 'time', ...axis, splitLine: { show: false } },
    yAxis: series.map((_one, index) => ({
      type: 'value',
      scale: true,
      position: index ? 'right' : 'left',
      ...axis,
      splitLine: { show: index === 0, lineStyle: { color: LINE } },
    })),
    series: series.map(({ label, points }, index) => {
      // Several rows of one day are not one after the other, so a line through them would mean nothing.
      const once = new Set(points.map(([moment]) => moment)).size === points.length;
      const color = index ? SECOND : FIRST;
      return {
        type: once ? 'line' : 'scatter',
        name: label,
        yAxisIndex: index,
        data: points,
        symbol: index ? 'diamond' : 'circle',
        symbolSize: once ? 5 : 8,
        itemStyle: { color },
        lineStyle: { color, width: 2 },
      };
    }),
  } as Parameters<typeof chart.setOption>[0]);
  const drawn = chart.renderToSVGString();
  chart.dispose();
  const title = `${series.map(({ label }) => label).join(' and ')} by ${(view.labels[day] ?? day).toLowerCase()}`;
  const summary = series
    .map(({ label, points }) => {
      const [low, high] = range(points.map(([, number]) => number));
      const [from, to] = [points[0]![0], points.at(-1)![0]].map((moment) => moment.slice(0, 10));
      return `${label}: ${points.length} values from ${from} to ${to}, between ${low} and ${high}.`;
    })
    .join(' ');
  return { svg: coloured(drawn), title, summary };
}

/** Scales with the page, and takes its colours. */
function coloured(svg: string): string {
  const inked = Object.entries(INKS).reduce(
    (text, [ink, colour]) =>
      text.replaceAll(new RegExp(`${ink}|rgb\\(${`${parseInt(ink.slice(1, 3), 16)},`.repeat(3).slice(0, -1)}\\)`, 'g'), colour),
    svg,
  );
  const viewBox = /viewBox=/.test(inked) ? '' : ` viewBox="0 0 ${SIZE.width} ${SIZE.height}"`;
  return inked
    .replace(/<svg width="\d+" height="\d+"/, `<svg aria-hidden="true" focusable="false"${viewBox}`)
    .replace(/<rect width="\d+" height="\d+" x="0" y="0"[^>]*><\/rect>/, '');
}
