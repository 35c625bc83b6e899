/** A drawing in the words of ECharts. */
import type { ComposeOption } from 'echarts/core';
import type { BarSeriesOption, HeatmapSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts/charts';
import type {
  AriaComponentOption,
  GridComponentOption,
  LegendComponentOption,
  TooltipComponentOption,
  VisualMapComponentOption,
} from 'echarts/components';
import type { Drawing, Series } from '../answer/chart';
import type { Colours } from './colours';

export type Option = ComposeOption<
  | BarSeriesOption
  | HeatmapSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | AriaComponentOption
  | GridComponentOption
  | LegendComponentOption
  | TooltipComponentOption
  | VisualMapComponentOption
>;

/** Told apart by most people who see colours differently. (https://jfly.uni-koeln.de/color/, Okabe and Ito) */
const MARKS = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#d55e00',
  '#cc79a7',
  '#56b4e9',
  '#8c8c00',
  '#7f7f7f',
  '#5d3fd3',
  '#a0522d',
  '#20b2aa',
  '#b03060',
];
/** The first ones are too dark for a dark ground. */
const MARKS_IN_THE_DARK = ['#56b4e9', '#f0b429', '#2fbf93', '#ff8a4c', '#e29bc0', '#9ad0f5', ...MARKS.slice(6)];
const HEAT = ['#cfe8f5', '#56b4e9', '#0072b2', '#08306b'];
/** So many points need no marks of their own. */
const MANY = 80;
const FEW = 8;
const SHORT = 10;
/** Of the labels of an axis that run upwards, in pixels and degrees. */
const LABEL = { width: 110, angle: 40, character: 7 };
/** Between an axis and its title, where labels lie beside it. */
const TITLE_GAP = 28;
/** Below a chart, for what explains its colours and marks. */
const ROOM = { heat: 88, legend: 56, none: 28 };

/** Bars with long names lie, so that the names can be read. */
export const lies = ({ kind, x }: Drawing): boolean => kind === 'bar' && x.categories.some((name) => name.length > SHORT);

/** Between an axis and its title, where its labels run upwards: as far as the longest of them reaches, and no further. */
function gapBelow(names: readonly string[]): number {
  const longest = Math.max(0, ...names.map((name) => name.length));
  const width = Math.min(LABEL.width, longest * LABEL.character);
  return Math.round(width * Math.sin((LABEL.angle / 180) * Math.PI)) + TITLE_GAP;
}

function seriesOf(drawing: Drawing, many: boolean): NonNullable<Option['series']> {
  const { kind, series } = drawing;
  const isLying = lies(drawing);
  const data = ({ points }: Series) => points.map(([x, y, name]) => ({ value: isLying ? [y, x] : [x, y], name }));
  return series.map((one) => {
    if (kind === 'line') return { type: 'line', name: one.name, data: data(one), showSymbol: !many, symbolSize: 6 };
    if (kind === 'scatter') return { type: 'scatter', name: one.name, data: data(one), symbolSize: 9 };
    if (kind === 'heatmap') return { type: 'heatmap', name: one.name, data: one.points.map(([x, y, value]) => [x, y, Number(value)]) };
    return { type: 'bar', name: one.name, data: data(one), ...(kind === 'stacked' && { stack: 'all' }), barMaxWidth: 48 };
  });
}

/** How all of a chart is written. */
interface Look {
  font: { color: string; fontFamily: string };
  line: string;
}

const axisOf = ({ font, line }: Look) => ({
  axisLabel: { ...font, hideOverlap: true },
  axisLine: { lineStyle: { color: line } },
  nameTextStyle: font,
});

const isLong = ({ x }: Drawing): boolean => x.categories.length > FEW || x.categories.some((name) => name.length > SHORT);

/** Long names run upwards, so that more of them are seen. */
function labelOfCategories(drawing: Drawing, { font }: Look) {
  if (!lies(drawing) && !isLong(drawing)) return { ...font, hideOverlap: true };
  const every = drawing.x.categories.length <= MANY && { interval: 0 };
  const cut = { overflow: 'truncate' as const, ...every };
  return lies(drawing) ? { ...font, width: 170, ...cut } : { ...font, hideOverlap: true, rotate: LABEL.angle, width: LABEL.width, ...cut };
}

function across(drawing: Drawing, look: Look) {
  const { x } = drawing;
  const hasCategories = x.kind === 'text';
  return {
    ...axisOf(look),
    ...(hasCategories
      ? { type: 'category' as const, data: x.categories, axisLabel: labelOfCategories(drawing, look) }
      : { type: x.kind === 'time' ? ('time' as const) : ('value' as const), scale: true }),
    name: x.name,
    nameLocation: 'middle' as const,
    nameGap: hasCategories && isLong(drawing) ? gapBelow(x.categories) : TITLE_GAP,
    splitLine: { show: false },
  };
}

function upright(drawing: Drawing, look: Look) {
  const { kind, y } = drawing;
  const isLying = lies(drawing);
  return {
    ...axisOf(look),
    ...(kind === 'heatmap'
      ? { type: 'category' as const, data: y.categories }
      : { type: 'value' as const, scale: kind === 'line' || kind === 'scatter' }),
    // Of several the legend says which is which.
    name: y.names.length === 1 ? y.names[0] : '',
    ...(isLying && { nameLocation: 'middle' as const, nameGap: TITLE_GAP }),
    nameTextStyle: { ...look.font, align: isLying ? ('center' as const) : ('left' as const) },
    splitLine: { lineStyle: { color: look.line } },
  };
}

function axes(drawing: Drawing, look: Look): Pick<Option, 'xAxis' | 'yAxis'> {
  const [long, high] = [across(drawing, look), upright(drawing, look)];
  return lies(drawing)
    ? { xAxis: high, yAxis: { ...long, inverse: true, nameLocation: 'start', nameGap: 12 } }
    : { xAxis: long, yAxis: high };
}

function heatScale({ series }: Drawing, { font }: Look): Option['visualMap'] {
  const values = series.flatMap(({ points }) => points.map(([, , value]) => Number(value)));
  return {
    min: Math.min(0, ...values),
    max: Math.max(0, ...values),
    orient: 'horizontal',
    left: 'center',
    bottom: 0,
    itemHeight: 160,
    inRange: { color: HEAT },
    textStyle: font,
    calculable: true,
  };
}

export function optionOf(drawing: Drawing, { text, line, ground, isDark }: Colours, animated: boolean): Option {
  const { kind, series } = drawing;
  const font = { color: text, fontFamily: 'system-ui, sans-serif' };
  const look = { font, line };
  const isHeat = kind === 'heatmap';
  return {
    animation: animated,
    backgroundColor: ground,
    textStyle: font,
    color: isDark ? MARKS_IN_THE_DARK : MARKS,
    aria: { enabled: true },
    grid: { left: 12, right: 24, top: 40, bottom: isHeat ? ROOM.heat : series.length > 1 ? ROOM.legend : ROOM.none, containLabel: true },
    tooltip: {
      trigger: kind === 'scatter' || isHeat ? 'item' : 'axis',
      backgroundColor: ground,
      borderColor: line,
      textStyle: font,
      confine: true,
      // Whatever the answer says is text, and nothing else.
      renderMode: 'richText',
    },
    ...(series.length > 1 && { legend: { type: 'scroll', bottom: 0, textStyle: font, pageTextStyle: font } }),
    ...(isHeat && { visualMap: heatScale(drawing, look) }),
    ...axes(drawing, look),
    series: seriesOf(
      drawing,
      series.some(({ points }) => points.length > MANY),
    ),
  };
}
